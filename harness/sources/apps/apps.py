"""APPS: rows as in `codeparrot/apps`, or the folders of its original archive.

The columns of a row; all but the question may be missing or null:

- `problem_id`, or `id`: a number; without one the problem is named by its content's hash;
- `question`, `difficulty` (introductory, interview or competition), `url`, `starter_code`: text;
- `solutions`: a list of programs, and `input_output`: an object of `inputs`, `outputs` and, for
  functions, `fn_name`. Both are JSON within a string, or JSON itself in copies of the data.

A problem without tests is read like any other, but never graded.

train/0042/question.txt          the statement
               input_output.json     the tests; may be missing, as all that follows
               solutions.json        a list of programs
               metadata.json         difficulty and url
               starter_code.py       for functions

A path is one such folder, a split (`train`, `test`), or the folder that holds the splits. Both
splits of the whole archive count from 0, so loading them together is refused: ids come from the
data, and each would name two problems.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.errors import DataError, UsageError
from harness.problem import Problem
from harness.sources.apps.apps_problem import AppsColumns, native_id, problem_of
from harness.sources.files.deferred import from_again
from harness.sources.files.download import Watch, quiet
from harness.sources.files.folder import Folder
from harness.sources.files.json_text import members, string
from harness.sources.files.lines import MAX_LINE_BYTES, DataFile, Line
from harness.sources.files.rows import Loaded, load_paths, load_rows

SPLITS = ("train", "test")

_QUESTION = "question.txt"
_TESTS = "input_output.json"
_SOLUTIONS = "solutions.json"
_METADATA = "metadata.json"
_STARTER = "starter_code.py"


def load_folders(folder: Path, *, skip_bad_rows: bool = False) -> Loaded:
    """Load the problems of a folder, by number, one split after the other.

    Args:
        folder: folder of a problem, a split, or the archive.
        skip_bad_rows: whether to skip invalid folders.

    Returns:
        The problems; one record stands for all files that were read.

    Raises:
        UsageError: the folder holds no problem.
        DataError: a problem's folder is invalid; two problems have one id.
    """
    reader = Folder(folder)
    problems: list[Problem] = []
    skipped: list[DataError] = []
    places: dict[str, Path] = {}
    for place in _problem_folders(reader):
        try:
            problem = _problem(reader, place)
            if (first := places.setdefault(problem.id, place)) != place:
                what = f"{problem.id!r} was already at {first}; name one of the folders"
                raise DataError(str(place), None, what)  # noqa: TRY301 - as of a bad folder
        except DataError as error:
            if not skip_bad_rows:
                raise
            error.__context__ = None  # its traceback references the data read
            skipped.append(error.with_traceback(None))
        else:
            problems.append(problem)
    file = DataFile.of(folder, str(folder), reader.sha256.hexdigest(), reader.size)
    return Loaded(tuple(problems), tuple(skipped), (file,))


def _problem_folders(reader: Folder) -> list[Path]:
    root = reader.root
    try:
        if (root / _QUESTION).exists():
            return [root]
        splits = [root / name for name in SPLITS if (root / name).is_dir()]
        places = [place for split in splits or [root] for place in _numbered(reader, split)]
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be listed: {error.strerror}") from None
    if not places:
        raise UsageError(
            f"{root} has no folders of APPS problems; for rows name its files, as '{root}/*.jsonl'"
        )
    return places


def _numbered(reader: Folder, split: Path) -> list[Path]:
    if not reader.holds(split):
        raise UsageError(f"{split} links out of {reader.root}; name where it leads")
    places = (
        path
        for path in split.iterdir()
        if _is_number(path.name) and (path.is_dir() or path.is_symlink())
    )
    return sorted(places, key=lambda path: (int(path.name), path.name))


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _problem(reader: Folder, place: Path) -> Problem:
    columns = _folder_columns(reader, place)
    problem = problem_of(columns)
    again = _Again(reader, place.absolute(), columns.where, problem.id, problem.content_hash)
    return from_again(problem, again)


@dataclass(frozen=True, slots=True)
class _Again:
    """Reads a folder again for hidden tests or references, or when it is pickled."""

    reader: Folder
    place: Path
    where: str
    problem_id: str
    content_hash: str

    def __call__(self) -> Problem:
        try:
            problem = problem_of(_folder_columns(self.reader, self.place))
        except DataError:
            problem = None
        if problem is None or problem.content_hash != self.content_hash:
            what = f"no longer the problem {self.problem_id!r} that was loaded"
            raise DataError(self.where, None, what)
        return problem

    def __reduce__(self) -> tuple[type[partial[Problem]], tuple[Callable[..., Any], Problem]]:
        return partial, (_itself, self())


def _itself(problem: Problem) -> Problem:
    return problem


def _folder_columns(reader: Folder, place: Path) -> AppsColumns:
    def read(name: str) -> str | None:
        return reader.text(place / name, MAX_LINE_BYTES)

    where = str(place)
    question = read(_QUESTION)
    if question is None:
        raise DataError(where, None, f"has no {_QUESTION}")
    difficulty, url = _metadata(read(_METADATA) or "", f"{where}/{_METADATA}")
    name = place.absolute().name
    return AppsColumns(
        where=where,
        native_id=native_id(name, where) if _is_number(name) else None,
        question=question,
        solutions=read(_SOLUTIONS) or "",
        input_output=read(_TESTS) or "",
        difficulty=difficulty,
        url=url,
        starter_code=read(_STARTER) or "",
    )


def _metadata(text: str, where: str) -> tuple[str, str]:
    """Return difficulty and URL; empty where there are none."""
    if not text.strip():
        return "", ""
    try:
        values = members(text)
        raw = [values.get(name, "null") for name in ("difficulty", "url")]
        difficulty, url = ("" if value == "null" else string(value) for value in raw)
    except ValueError as error:
        raise DataError(where, None, str(error)) from None
    return difficulty, url


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
    row, where = _members(line), line.where
    return problem_of(
        AppsColumns(
            where=where,
            native_id=_native_id(row, where),
            question=_text(row, "question", where, required=True),
            solutions=_json(row, "solutions", where),
            input_output=_json(row, "input_output", where),
            difficulty=_text(row, "difficulty", where),
            url=_text(row, "url", where),
            starter_code=_text(row, "starter_code", where),
        )
    )


read_rows = partial(load_rows, parse=parse_row)
"""Read the problems of some files, in order."""


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
