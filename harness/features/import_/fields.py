"""Typed access to fields of imported JSON; errors name the file, line and field."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.errors import DataError
from harness.models.protocol import Usage
from harness.text import writable

PROBLEM_FIELDS = ("problem_id", "question_id", "task_id")
MOST_TOKENS = 1 << 53
Object = Mapping[str, Any]


def text(row: Object, key: str, where: str) -> str:
    """Return a string; an empty one if the field is missing or null.

    Raises:
        DataError: the field is not a string.
    """
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(where, key, f"not a string but {_shown(value)}")
    return writable(value)


def object_in(row: Object, key: str, where: str) -> dict[str, Any]:
    """Return an object; an empty one if the field is missing or null.

    Raises:
        DataError: the field is not an object.
    """
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise DataError(where, key, f"not an object but {_shown(value)}")
    return cast("dict[str, Any]", value)


def list_in(row: Object, key: str, where: str) -> list[Any]:
    """Return a list; an empty one if the field is missing or null.

    Raises:
        DataError: the field is not a list.
    """
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise DataError(where, key, f"not a list but {_shown(value)}")
    return cast("list[Any]", value)


def objects_in(row: Object, key: str, where: str) -> list[dict[str, Any]]:
    """Return a list of objects. Raises DataError if it is not one."""
    found = list_in(row, key, where)
    for number, each in enumerate(found):
        if not isinstance(each, dict):
            raise DataError(where, f"{key}[{number}]", f"not an object but {_shown(each)}")
    return cast("list[dict[str, Any]]", found)


def whole(row: Object, key: str, where: str) -> int | None:
    """Return a whole number of at least 0; None if the field is missing or null.

    Raises:
        DataError: the field is anything else.
    """
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise DataError(where, key, f"not a whole number of at least 0 but {_shown(value)}")
    return value


def amount(row: Object, key: str, where: str) -> float | None:
    """Return a finite number of at least 0; None if the field is missing or null.

    Raises:
        DataError: the field is anything else.
    """
    value = row.get(key)
    if value is None:
        return None
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not math.isfinite(value) or value < 0:
        raise DataError(where, key, f"not a number of at least 0 but {_shown(value)}")
    return float(value)


def usage_in(row: Object, key: str, where: str) -> Usage | None:
    """Return a call's tokens, in OpenAI's or Anthropic's names; None if missing.

    Raises:
        DataError: a field is not a number of tokens.
    """
    found = object_in(row, key, where)
    read = whole(found, "prompt_tokens", where)
    read = whole(found, "input_tokens", where) if read is None else read
    written = whole(found, "completion_tokens", where)
    written = whole(found, "output_tokens", where) if written is None else written
    if read is None and written is None:
        return None
    of_input = object_in(found, "prompt_tokens_details", where)
    of_output = object_in(found, "completion_tokens_details", where)
    return Usage(
        input_tokens=read or 0,
        cached_input_tokens=whole(of_input, "cached_tokens", where) or 0,
        output_tokens=written or 0,
        reasoning_tokens=whole(of_output, "reasoning_tokens", where) or 0,
    )


def at_path(row: Object, path: str, where: str) -> str:
    """Return the string or number at a dotted path, such as `metadata.problem_id`.

    Raises:
        DataError: there is none.
    """
    value: Any = row
    for name in path.split("."):
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return name_of(value, where, path)


def name_of(value: object, where: str, field: str) -> str:
    """Return a problem's name, a string or a number. Raises DataError otherwise."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        told = "missing" if value is None else f"not a name but {_shown(value)}"
        raise DataError(where, field, f"{told}; it must name the problem")
    return writable(value)


def problem_in(rows: Sequence[Object], where: str, path: str | None) -> str:
    """Return the problem's name: at `path` of the first row, else in a usual field.

    Args:
        rows: objects of a trajectory that may name the problem, the likeliest first.
        where: location of the trajectory, for error messages.
        path: path of the field, if the user gave it.

    Raises:
        DataError: no row names the problem.
    """
    if path is not None:
        return at_path(rows[0], path, where)
    for row in rows:
        for key in PROBLEM_FIELDS:
            if row.get(key) is not None:
                return name_of(row[key], where, key)
    what = f"missing; name the problem in {' or '.join(PROBLEM_FIELDS)}, or give --problem-field"
    raise DataError(where, PROBLEM_FIELDS[0], what)


def sample_name_in(name: str) -> tuple[str, int | None]:
    """Split `PROBLEM#INDEX` into problem and index; the index is None if missing."""
    problem, _, index = name.rpartition("#")
    known = problem and index.isascii() and index.isdecimal() and len(index) < 10  # noqa: PLR2004
    return (problem, int(index)) if known else (name, None)


def _shown(value: object) -> str:
    """Return the beginning of a value, for error messages."""
    return ascii(value)[:60]
