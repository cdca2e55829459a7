"""Checks of a row's columns."""

import ast
import json
from contextlib import suppress

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from harness.errors import DataError
from harness.problem import Reference
from harness.python_source import UNREADABLE, parse, reason
from harness.sources.files.json_bounds import MOST_VALUES, has_too_many_values
from harness.value_faults import fault_words


def text_column(row: dict[str, object], name: str, where: str) -> str:
    """Return a column of text. Raises DataError."""
    if name not in row:
        raise DataError(where, name, "missing")
    if not isinstance(value := row[name], str):
        raise DataError(where, name, f"not a string but {value!r:.60}")
    return value


def valid_python(source: str, name: str, where: str) -> ast.Module:
    """Return the syntax tree of a column of Python source. Raises DataError."""
    try:
        return parse(source)
    except UNREADABLE as error:
        raise DataError(where, name, f"not valid Python: {reason(error)}") from None


def references_of(*codes: str) -> tuple[Reference, ...]:
    """Return the references of Python programs, without blank ones."""
    return tuple(Reference(code=code) for code in codes if code.strip())


def name_fault(where: str, error: ValidationError) -> DataError:
    """Return the first error of a row's model, in one line."""
    first = error.errors(include_url=False)[0]
    return fault(where, ".".join(str(part) for part in first["loc"]), first)


def fault(where: str, field: str, error: ErrorDetails) -> DataError:
    """Return an error of a row's model, in one line."""
    what, given = fault_words(error), error["input"]
    return DataError(
        where, field, what if isinstance(given, dict) else f"{what}, not {given!r:.60}"
    )


def check_function_test(arguments: str, result: str, where: str, field: str) -> None:
    """Raise DataError for a functional test that a grader could not read.

    The convention is LiveCodeBench's: one JSON value per line, an argument each, and one JSON value
    as the result. An empty input calls the function without arguments.

    Raises:
        DataError: a line is not a JSON value, or has too many values.
    """
    if has_too_many_values(arguments) or has_too_many_values(result):
        raise DataError(where, field, f"it has more than {MOST_VALUES:,} values")
    for number, text in enumerate(arguments.split("\n") if arguments else (), start=1):
        if not _is_json(text):
            raise DataError(where, field, f"line {number} of the input is not a JSON value")
    if not _is_json(result):
        raise DataError(where, field, "the output is not a JSON value")


def _is_json(text: str) -> bool:
    with suppress(ValueError):
        from_json(text)
        return True
    with suppress(ValueError, RecursionError):  # long integers, deeper nesting
        json.loads(text, parse_int=str)
        return True
    return False
