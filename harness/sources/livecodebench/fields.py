"""Columns that LiveCodeBench's rows of all kinds share."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import cast

from pydantic_core import from_json

from harness.errors import DataError
from harness.problem import Level
from harness.sources.files.lines import Line, json_complaint
from harness.sources.files.row_checks import text_column
from harness.sources.files.rows import LEVELS

Row = dict[str, object]


def columns(line: Line, names: Sequence[str], parsed: Row | None = None) -> Row:
    """Return a row after checking that it has some columns.

    Args:
        line: the row.
        names: names of the columns.
        parsed: the line's parsed content, if known.

    Raises:
        DataError: it is not a JSON object, or lacks a column.
    """
    row = line.json_object() if parsed is None else parsed
    for name in names:
        if name not in row:
            raise DataError(line.where, name, "missing")
    return row


def written(row: Row, name: str, where: str) -> str:
    """Return a column of text that is not blank. Raises DataError."""
    value = text_column(row, name, where)
    if not value.strip():
        raise DataError(where, name, "empty")
    return value


def number_or_name(row: Row, name: str, where: str) -> str:
    """Return a column that holds a name or a number, as text. Raises DataError."""
    value = row[name]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise DataError(where, name, f"neither a string nor an integer but {value!r:.60}")
    return written(row, name, where)


def function_name(row: Row, where: str) -> str:
    """Return the column `function_name`. Raises DataError."""
    value = text_column(row, "function_name", where)
    if not value.isidentifier():
        raise DataError(where, "function_name", f"{value!r:.60} is not a Python name")
    return value


def level(row: Row, where: str) -> Level:
    """Return the level of the column `difficulty`. Raises DataError."""
    word = text_column(row, "difficulty", where)
    if word not in LEVELS:
        raise DataError(where, "difficulty", f"{word!r:.60} is not one of {', '.join(LEVELS)}")
    return LEVELS[word]


def release_date(row: Row, where: str) -> date:
    """Return the column `contest_date`: ISO, in Parquet a time stamp. Raises DataError."""
    day = text_column(row, "contest_date", where)
    try:
        return datetime.fromisoformat(day).date()
    except ValueError:
        raise DataError(where, "contest_date", f"{day!r:.60} is not an ISO date") from None


def json_list(text: bytes, name: str, where: str) -> list[object]:
    """Return the JSON list in a column. Raises DataError."""
    try:
        value: object = from_json(text)
    except ValueError as error:
        raise DataError(where, name, json_complaint(error)) from None
    if not isinstance(value, list):
        raise DataError(where, name, "not a JSON list")
    return cast("list[object]", value)
