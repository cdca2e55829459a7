"""Files of agent runs: detect the format and read one trajectory after another.

Each reading starts at the beginning of the file and holds one trajectory at a time.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.errors import DataError, UsageError
from harness.features.grade.solution_readers import parsed
from harness.features.import_.atif import read_atif
from harness.features.import_.chat_messages import read_message_log
from harness.features.import_.eval_archive import EvalArchive
from harness.features.import_.fields import Fields
from harness.features.import_.inspect_log import read_inspect_log
from harness.features.import_.trajectory import Trajectory, read_revision_rows
from harness.features.import_.verifiers_traces import read_verifiers
from harness.run.store.files import read_json
from harness.sources.files.lines import JsonLines
from harness.sources.files.paths import open_regular

LARGEST_RESULT = 4 << 20
TRAJECTORY = "trajectory.json"
LONGEST_ROW = 64 << 20
"""Most bytes of one trajectory."""

LONGEST_DOCUMENT = 512 << 20
"""Most bytes of a file that is one JSON value over many lines."""

LONGEST_PEEK = 1 << 20
MOST_FILES = 100_000
SOLUTIONS = "solutions"
RowReader = Callable[[Fields, str | None], Iterator[Trajectory]]
"""Reads the trajectories of one JSON object, given the path of the field that names the problem.

Raises DataError.
"""
READERS: Mapping[str, RowReader] = {
    "messages": read_message_log,
    "inspect": read_inspect_log,
    "atif": read_atif,
    "verifiers": read_verifiers,
}
REVISIONS = "revisions"
"""The format of which a trajectory has several rows."""
FORMATS = (SOLUTIONS, REVISIONS, *READERS)


def trial_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a trajectory's trial, named like fields of its `extra`.

    Args:
        path: path of the trajectory.

    Returns:
        `task_id`, `passed` (if there is one reward and it is 0 or 1) and `error`, as far as known.
    """
    if path.name != TRAJECTORY:
        return {}
    try:
        record: Any = read_json(path.parent.parent / "result.json", LARGEST_RESULT)
    except (OSError, ValueError):
        return {}
    if not isinstance(record, dict):
        return {}
    result = cast("dict[str, Any]", record)
    facts: dict[str, Any] = {}
    if isinstance(result.get("task_name"), str):
        facts["task_id"] = result["task_name"]
    match result:
        case {"verifier_result": {"rewards": {**rewards}}} if len(rewards) == 1:
            reward = next(iter(rewards.values()))
            if reward in (0, 1):
                facts["passed"] = reward == 1
        case _:
            pass
    match result:
        case {"exception_info": {"exception_type": str(kind)}} if "Timeout" not in kind:
            facts["error"] = kind
        case _:
            pass
    return facts


class TrajectoryFile(NamedTuple):
    """A file, or a folder, of agent runs.

    Attributes:
        format: one of `READERS`, or `solutions`, which have no trajectories.
        problem_field: path of the field that names the problem, if the user gave it.
    """

    path: Path
    format: str
    problem_field: str | None = None

    def trajectories(self) -> Iterator[Trajectory]:
        """Yield the trajectories in the file's order.

        Raises:
            UsageError: a file cannot be opened.
            DataError: a row does not have its format, or is too large.
        """
        where = str(self.path)
        try:
            for trajectory in self._trajectories():
                where = trajectory.where
                yield trajectory
        except RecursionError:
            raise DataError(where, None, "at or after this place: nested too deep") from None

    def _trajectories(self) -> Iterator[Trajectory]:
        if self.format == REVISIONS:
            return read_revision_rows(self._rows(), self.problem_field)
        read = READERS[self.format]
        return (each for row in self._rows() for each in read(row, self.problem_field))

    def sha256(self) -> str:
        """Return the hash of the file; for a folder, of its files' names and hashes."""
        if not self.path.is_dir():
            with open_regular(self.path) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        for each in files_in(self.path):
            with open_regular(each) as file:
                inner = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{each.relative_to(self.path)}\0{inner}\n".encode(errors="replace"))
        return digest.hexdigest()

    def _rows(self) -> Iterator[Fields]:
        """Yield the objects that the format's reader takes."""
        if self.path.is_dir():
            if self.format != "atif":
                raise UsageError(
                    f"{self.path} is a folder; only atif is read from one: name a file"
                )
            for each in files_in(self.path):
                yield from _with_trial_facts(each)
        elif self.format == "atif":
            yield from _with_trial_facts(self.path)
        elif self.format == "inspect" and is_zip(self.path):
            with closing(EvalArchive(self.path)) as archive:
                yield from archive.samples()
        else:
            yield from rows_in(self.path)


def _with_trial_facts(path: Path) -> Iterator[Fields]:
    """Yield the objects of a file, their `extra` with the facts of their trial."""
    beside = trial_facts(path)
    for row in rows_in(path):
        extra = row.get("extra")
        if beside and isinstance(extra, dict | None):
            more = {**beside, **cast("dict[str, Any]", extra or {})}
            yield Fields({**row.values, "extra": more}, row.where)
        else:
            yield row


def format_of(path: Path) -> str:
    """Detect the format of a file by its content.

    Raises:
        UsageError: the file cannot be opened, or a folder holds no trajectory.
        DataError: the file holds no JSON.
    """
    if path.is_dir():
        if not files_in(path):
            raise UsageError(f"{path} holds no {TRAJECTORY}; name a file")
        return "atif"
    if is_zip(path):
        return "inspect"
    first = _peek(path)
    return SOLUTIONS if first is None else _format_of_row(first)


def _peek(path: Path) -> Fields | None:
    """Return the first object of a file; None if it is too long, or there is none."""
    line = next(iter(JsonLines(path, max_line_bytes=LONGEST_DOCUMENT)), None)
    text = b"" if line is None else line.text().lstrip()
    value: object = None
    if text.startswith(b"["):
        head = text[1:LONGEST_PEEK].decode(errors="replace").lstrip()
        with suppress(ValueError, RecursionError):
            value, _ = json.JSONDecoder().raw_decode(head)
    if isinstance(value, dict):
        return Fields(cast("dict[str, Any]", value), str(path))
    with suppress(DataError):
        if line is not None and value is None:
            return next(rows_in(path), None)
    return None


def _format_of_row(row: Fields) -> str:
    if str(row.get("schema_version")).startswith("ATIF"):
        return "atif"
    if "task" in row and ("nodes" in row or "traces" in row):
        return "verifiers"
    if isinstance(row.get("messages"), list):
        return "messages"
    if "samples" in row and "eval" in row:
        return "inspect"
    return REVISIONS if "revisions" in row or "turn" in row else SOLUTIONS


def files_in(folder: Path) -> list[Path]:
    """Return the trajectories in a folder at any depth, sorted. Raises UsageError."""
    files: list[Path] = []
    for each in folder.rglob(TRAJECTORY):
        files.append(each)
        if len(files) > MOST_FILES:
            raise UsageError(f"{folder} holds more than {MOST_FILES:,} trajectories; name a part")
    return sorted(files)


def is_zip(path: Path) -> bool:
    """Whether a file begins as a zip archive. Raises UsageError."""
    with open_regular(path) as file:
        return file.read(4) == b"PK\x03\x04"


def rows_in(path: Path) -> Iterator[Fields]:
    """Yield the objects of a file: one a line, a list, or one over many lines.

    Raises:
        UsageError: the file cannot be opened.
        DataError: the file holds something else, or an object is too large.
    """
    lines = iter(JsonLines(path, max_line_bytes=LONGEST_DOCUMENT))
    first = next(lines, None)
    if first is None:
        return
    text = first.text().strip()
    if not (text.startswith(b"{") and text.endswith(b"}")):  # a list, or the first of many lines
        yield from _document(path)
        return
    for line in chain((first,), lines):
        if len(line.text()) > LONGEST_ROW:
            raise DataError(line.where, None, f"longer than {LONGEST_ROW:,} bytes")
        yield Fields.of(parsed(line.text(), line.where), line.where)


def _document(path: Path) -> Iterator[Fields]:
    data = bytearray()
    for line in JsonLines(path, max_line_bytes=LONGEST_DOCUMENT):
        data += line.text() + b"\n"
        if len(data) > LONGEST_DOCUMENT:
            raise DataError(str(path), None, f"longer than {LONGEST_DOCUMENT:,} bytes")
    value = parsed(bytes(data), str(path))
    if isinstance(value, dict):
        yield Fields(cast("dict[str, Any]", value), str(path))
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[Any]", value), 1):
            yield Fields.of(each, f"{path}: item {number}")
