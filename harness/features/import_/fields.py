"""Typed access to fields of imported JSON; errors name the file, line and field."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from harness.errors import DataError
from harness.models.protocol import Usage
from harness.text import writable

PROBLEM_FIELDS = ("problem_id", "question_id", "task_id")
MOST_TOKENS = 1 << 53


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a JSON object; each method raises DataError for one of another type.

    Attributes:
        values: the object.
        where: location of the object, for error messages.
    """

    values: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, value: object, where: str) -> "Fields":
        """Return the fields of a JSON object. Raises DataError for another value."""
        if not isinstance(value, dict):
            raise DataError(where, None, "not a JSON object")
        return cls(cast("dict[str, Any]", value), where)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str) -> Any:
        """Return a field of any type; None if it is missing."""
        return self.values.get(key)

    def text(self, key: str) -> str:
        """Return a string; an empty one if the field is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise self._fault(key, f"not a string but {_shown(value)}")
        return writable(value or "")

    def inner(self, key: str) -> "Fields":
        """Return an object at the same location; an empty one if it is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._fault(key, f"not an object but {_shown(value)}")
        return Fields(cast("dict[str, Any]", value or {}), self.where)

    def items(self, key: str) -> list[Any]:
        """Return a list; an empty one if the field is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, list):
            raise self._fault(key, f"not a list but {_shown(value)}")
        return cast("list[Any]", value or [])

    def each(self, key: str, name: str = "", first: int = 1) -> list["Fields"]:
        """Return a list of objects.

        Args:
            key: field of the list.
            name: what an object is; with its number it is added to the location.
            first: number of the first object.
        """
        fields: list[Fields] = []
        for number, value in enumerate(self.items(key)):
            if not isinstance(value, dict):
                raise self._fault(f"{key}[{number}]", f"not an object but {_shown(value)}")
            where = f"{self.where}: {name} {number + first}" if name else self.where
            fields.append(Fields(cast("dict[str, Any]", value), where))
        return fields

    def whole(self, key: str) -> int | None:
        """Return a whole number of at least 0; None if the field is missing or null."""
        value = self.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
            return value
        raise self._fault(key, f"not a whole number of at least 0 but {_shown(value)}")

    def tokens(self, key: str) -> int:
        """Return a number of tokens; 0 if the field is missing or null."""
        return self.whole(key) or 0

    def amount(self, key: str) -> float | None:
        """Return a finite number of at least 0; None if the field is missing or null."""
        value = self.get(key)
        if value is None:
            return None
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if not plain or not math.isfinite(value) or value < 0:
            raise self._fault(key, f"not a number of at least 0 but {_shown(value)}")
        return float(value)

    def usage(self) -> Usage | None:
        """Return a call's tokens, in OpenAI's or Anthropic's names; None if there are none."""
        read = self.whole("prompt_tokens")
        read = self.whole("input_tokens") if read is None else read
        written = self.whole("completion_tokens")
        written = self.whole("output_tokens") if written is None else written
        if read is None and written is None:
            return None
        return Usage(
            input_tokens=read or 0,
            cached_input_tokens=self.inner("prompt_tokens_details").tokens("cached_tokens"),
            output_tokens=written or 0,
            reasoning_tokens=self.inner("completion_tokens_details").tokens("reasoning_tokens"),
        )

    def problem(self, path: str | None, *others: "Fields") -> str:
        """Return the problem's name: at `path`, if the user gave it, else in a usual field.

        Args:
            path: path of the field in this object, such as `metadata.problem_id`.
            others: other objects that may name the problem.
        """
        if path is not None:
            return self.at(path)
        values = named((self, *others), PROBLEM_FIELDS)
        if values is None:
            usual = " or ".join(PROBLEM_FIELDS)
            what = f"missing; name the problem in {usual}, or give --problem-field"
            raise self._fault(PROBLEM_FIELDS[0], what)
        return values

    def at(self, path: str) -> str:
        """Return the problem's name, a string or a number, at a dotted path."""
        value: Any = self.values
        for name in path.split("."):
            value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            fault = "missing" if value is None else f"not a name but {_shown(value)}"
            raise self._fault(path, f"{fault}; it must name the problem")
        return writable(value)

    def _fault(self, field: str, what: str) -> DataError:
        return DataError(self.where, field, what)


def named(rows: Iterable[Fields], keys: Iterable[str]) -> str | None:
    """Return the first name of a problem in some fields; None if there is none."""
    return next((row.at(key) for row in rows for key in keys if row.get(key) is not None), None)


def _shown(value: object) -> str:
    """Return the beginning of a value, for error messages."""
    return ascii(value)[:60]
