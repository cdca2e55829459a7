"""What is said of a value that does not fit: plain words, for each kind of fault."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from for_each import for_each
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.value_faults import fault_words


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    turns: int = Field(default=1, ge=1, le=9)
    share: float = Field(default=0.5, gt=0, lt=1, allow_inf_nan=False)
    quiet: bool = False
    name: str = Field(default="ab", min_length=2, max_length=3)
    code: str = Field(default="a1", pattern="^a[0-9]$")
    day: date = date(2025, 1, 1)
    words: tuple[Annotated[str, Field()], ...] = Field(default=("x",), min_length=1, max_length=2)
    prices: dict[str, float] = {}
    context: Literal["auto", "grow"] = "auto"
    even: int = 2

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("odd; give an even number")
        return value


@for_each(
    ("key", "value", "words"),
    [
        ("turns", "x", "must be a whole number"),
        ("turns", 1.5, "must be a whole number"),
        ("turns", None, "must be a whole number"),
        ("turns", 0, "must be at least 1"),
        ("turns", 10, "must be at most 9"),
        ("share", "x", "must be a number"),
        ("share", 0, "must be more than 0"),
        ("share", 1, "must be less than 1"),
        ("share", float("nan"), "must be a number that is not infinite"),
        ("quiet", "perhaps", "must be true or false"),
        ("name", 5, "must be text"),
        ("name", "a", "must have at least 2 characters"),
        ("name", "abcd", "must have at most 3 characters"),
        ("code", "b1", "string should match pattern '^a[0-9]$'"),
        ("day", "soon", "must be a day such as 2025-01-31"),
        ("words", "x", "must be a list"),
        ("words", [], "must have at least 1 entry"),
        ("words", ["a"] * 3, "must have at most 2 entries"),
        ("prices", 5, "must be keys with values"),
        ("context", "none", "must be 'auto' or 'grow'"),
        ("even", 3, "odd; give an even number"),
        ("odd", 3, "unknown key"),
    ],
)
def test_a_fault_is_said_in_plain_words(key: str, value: Any, words: str) -> None:
    with pytest.raises(ValidationError) as error:
        Settings.model_validate({key: value})
    (fault,) = error.value.errors()
    assert fault_words(fault) == words
