"""Types of request settings, and presets of their values."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from harness.models.user_headers import check_header, stored

Preset = Literal["livecodebench"]
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    # LiveCodeBench's own runner: https://github.com/LiveCodeBench/LiveCodeBench
    {"livecodebench": {"temperature": 0.2, "top_p": 0.95, "samples_per_problem": 10}}
)
"""Published settings by name."""

MOST_HEADERS = 100
MOST_TOP_K = 2**31 - 1


def with_preset(values: Any) -> Any:
    """Add the values of a preset for keys that are not given."""
    if not isinstance(values, Mapping):
        return values
    keys = cast("Mapping[str, Any]", values)
    name = keys.get("sampling_preset")
    if not isinstance(name, str) or name not in PRESETS:
        return keys
    return {**PRESETS[name], **keys, "sampling_preset": None}


def read_extra_body(value: Any) -> dict[str, Any] | None:
    """Read a JSON object, or its text; None if empty. Raises PydanticCustomError."""
    wrong = PydanticCustomError("extra_body", 'give a JSON object, as {"top_k": 20}')
    try:
        if value is None:
            return None
        parsed: Any = json.loads(value) if isinstance(value, str) else value
        copy: Any = json.loads(json.dumps(parsed, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise wrong from None
    if not isinstance(copy, dict):
        raise wrong
    return cast("dict[str, Any]", copy) or None


def read_header(value: Any) -> tuple[str, ...]:
    """Read headers: texts `NAME:VALUE`, or a mapping of names to values.

    Messages never contain a value, which may be a secret.

    Raises:
        PydanticCustomError: a header is invalid.
    """
    given: Any = value
    if isinstance(given, Mapping):
        pairs = cast("Mapping[Any, Any]", given).items()
        given = [f"{name}: {text}" for name, text in pairs]
    if not isinstance(given, list | tuple) or len(cast("list[Any]", given)) > MOST_HEADERS:
        raise PydanticCustomError("header", "give NAME:VALUE, or a list of such")
    try:
        return tuple(check_header(str(each)) for each in cast("list[Any]", given))
    except ValueError as error:
        raise PydanticCustomError("header", "{why}", {"why": str(error)}) from None


def read_stop(value: Any) -> Any:
    """Check that no stop text is empty. Raises PydanticCustomError."""
    if not isinstance(value, list | tuple):
        return value
    given = cast("list[Any]", value)
    if "" in given:
        raise PydanticCustomError("stop", "give texts that are not empty")
    return given


Probability = Annotated[float | None, Field(ge=0, le=1)]
TopK = Annotated[int | None, Field(ge=-1, le=MOST_TOP_K)]
ModelSeed = Annotated[int | None, Field(ge=-(2**63), lt=2**63)]
Penalty = Annotated[float | None, Field(ge=-2, le=2)]
Word = Annotated[str | None, Field(min_length=1, max_length=100)]
Variable = Annotated[str | None, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Stop = Annotated[tuple[str, ...], BeforeValidator(read_stop)]
ExtraBody = Annotated[dict[str, Any] | None, BeforeValidator(read_extra_body)]
# Values of headers are never stored.
Headers = Annotated[
    tuple[str, ...],
    BeforeValidator(read_header),
    PlainSerializer(lambda headers: [stored(each) for each in headers], return_type=list[str]),
]
