"""APPS: rows as in `codeparrot/apps`, or the folders of its original archive.

The columns of a row; all but the question may be missing or null:

- `problem_id`, or `id`: a number; without one the problem is named by its content's hash;
- `question`, `difficulty` (introductory, interview or competition), `url`, `starter_code`: text;
- `solutions`: a list of programs, and `input_output`: an object of `inputs`, `outputs` and, for
  functions, `fn_name`. Both are JSON within a string, or JSON itself in copies of the data.

A problem without tests is read like any other, but never graded.
"""

from functools import partial
from pathlib import Path

from harness.errors import DataError
from harness.problem import Problem
from harness.sources.apps.apps_problem import Columns, core_of, native_id, problem_of
from harness.sources.apps.folders import load_folders
from harness.sources.files.download import Watch, quiet
from harness.sources.files.json_text import members, string
from harness.sources.files.lines import Line
from harness.sources.files.rows import Loaded, load_paths, load_rows


def load(where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the problems of files that a path or glob names, or of a folder.

    Raises:
        UsageError: no path is given, or nothing is there.
        DataError: a row or folder does not have APPS's format.
    """
    folder = Path(where or "").expanduser()
    if where and folder.is_dir():
        return load_folders(folder, skip_bad_rows=skip_bad_rows)
    return load_paths("apps", where, read_rows, skip_bad_rows=skip_bad_rows, watch=watch)


def parse_row(line: Line) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is invalid.
    """
    columns = _columns(line)
    return problem_of(columns, core_of(columns))


read_rows = partial(load_rows, parse=parse_row)
"""Read the problems of some files, in order."""


def _columns(line: Line) -> Columns:
    row = _members(line)
    return Columns(
        where=line.where,
        native_id=_native_id(row, line.where),
        question=_text(row, "question", line.where, required=True),
        solutions=_json(row, "solutions", line.where),
        input_output=_json(row, "input_output", line.where),
        difficulty=_text(row, "difficulty", line.where),
        url=_text(row, "url", line.where),
        starter_code=_text(row, "starter_code", line.where),
    )


def _members(line: Line) -> dict[str, str]:
    """Return the raw texts of a row's columns, which may hold numbers of any length."""
    try:
        return members(line.text().decode())
    except ValueError as error:
        complaint = str(error)
    line.json_object()  # has a better message for most lines
    raise DataError(line.where, None, complaint)


def _native_id(row: dict[str, str], where: str) -> str | None:
    for name in ("problem_id", "id"):
        raw = row.get(name, "null")
        if raw.lstrip("-").isdigit():
            return native_id(raw, where)
        if raw != "null":
            return native_id(_text(row, name, where), where)
    return None


def _text(row: dict[str, str], name: str, where: str, *, required: bool = False) -> str:
    raw = row.get(name, "null")
    if raw == "null" and not required:
        return ""
    if name not in row:
        raise DataError(where, name, "missing")
    try:
        return string(raw)
    except ValueError as error:
        raise DataError(where, name, str(error)) from None


def _json(row: dict[str, str], name: str, where: str) -> str:
    """Return a column's JSON text: the content of a string, or a list or object itself."""
    raw = row.get(name, "null")
    return raw if raw.startswith(("[", "{")) else _text(row, name, where)
