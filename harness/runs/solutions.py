"""Files of solutions that somebody has, read for grading.

Three forms, plain or gzipped, told apart by what is in them:

- JSONL, `{"problem_id", "code"}` or `{"problem_id", "output"}` a line, `output` being the model's
  own words; `question_id` will do for `problem_id`. A published verdict may stand beside it:
  `"verdict"`, in this project's words, or `"passed"`, true or false, or a number of tests, with
  `"total"`.
- LiveCodeBench's list for its custom evaluator, `[{"question_id", "code_list"}]`.
- LiveCodeBench's `_eval_all.json`, which adds `output_list`, `graded_list` and `metadata`.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from harness.errors import DataError, UsageError
from harness.grading.verdict import Verdict
from harness.models.protocol import Frozen
from harness.sources.reading import JsonLines, Line, json_complaint

MAX_FILE_BYTES = 4 * 2**30
LONGEST_NOTE = 300


class Published(Frozen):
    """What somebody else said of a solution.

    Attributes:
        verdict: where they said it in a word that is ours.
        note: their reason.
    """

    passed: bool
    verdict: Verdict | None = None
    note: str = ""


class Solution(Frozen):
    """One solution of a file.

    Attributes:
        name: of its problem, as the file has it.
        index: among the solutions of that name, in the file's order, from 0.
        code: the program; None where there is only the model's `output`.
    """

    name: str
    index: int
    code: str | None
    output: str = ""
    published: Published | None = None


def read_solutions(path: Path) -> list[Solution]:
    """The solutions of a file, in its order.

    Raises:
        UsageError: the path cannot be opened, or the file holds none.
        DataError: it is not in one of the three forms.
    """
    counts: Counter[str] = Counter()
    solutions: list[Solution] = []
    for found in _read(path):
        solutions.append(found.solution(counts[found.name]))
        counts[found.name] += 1
    if not solutions:
        raise UsageError(f"{path} holds no solution")
    return solutions


class _Found(NamedTuple):
    name: str
    code: str | None
    output: str
    published: Published | None

    def solution(self, index: int) -> Solution:
        return Solution(
            name=self.name,
            index=index,
            code=self.code,
            output=self.output,
            published=self.published,
        )


def _read(path: Path) -> Iterator[_Found]:
    lines = iter(JsonLines(path))
    for line in lines:
        if line.text().lstrip().startswith(b"["):
            yield from _read_list(path, line, lines)
            return
        yield from _read_row(_object(line), line.where)


def _object(line: Line) -> dict[str, object]:
    try:
        return line.json_object()
    except DataError:
        value = _lenient(line.text())
        if not isinstance(value, dict):
            raise
        return cast("dict[str, object]", value)


def _lenient(text: bytes) -> object:
    """What Python's own parser makes of it.

    It takes halves of surrogate pairs, which models' words that were cut short may end in.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_list(path: Path, first: Line, rest: Iterator[Line]) -> Iterator[_Found]:
    """A file that is one JSON list, over however many lines."""
    data = bytearray(first.text())
    for line in rest:
        data += line.raw
        if len(data) > MAX_FILE_BYTES:
            raise DataError(str(path), None, f"longer than {MAX_FILE_BYTES} bytes")
    try:
        rows: object = from_json(bytes(data))
    except ValueError as error:
        rows = _lenient(bytes(data))
        if not isinstance(rows, list):
            raise DataError(str(path), None, json_complaint(error)) from None
    del data
    for number, row in enumerate(cast("list[object]", rows), 1):
        where = f"{path}: item {number}"
        if not isinstance(row, dict):
            raise DataError(where, None, "not a JSON object")
        yield from _read_row(cast("dict[str, object]", row), where)


def _read_row(row: dict[str, object], where: str) -> Iterator[_Found]:
    name = row.get("problem_id")
    name = row.get("question_id") if name is None else name
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise DataError(where, "problem_id", "missing, or not a name")
    if "code_list" in row or "output_list" in row:
        yield from _read_samples(str(name), row, where)
        return
    code, output = (_text(row, key, where) for key in ("code", "output"))
    if code is None and output is None:
        raise DataError(where, "code", "missing; give code, or the model's words as output")
    yield _Found(str(name), code, output or "", _published(row, where))


def _text(row: dict[str, object], key: str, where: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise DataError(where, key, f"not a string but {value!r:.60}")
    return value


def _published(row: dict[str, object], where: str) -> Published | None:
    match row:
        case {"verdict": str(word)}:
            if word not in set(Verdict):
                known = ", ".join(Verdict)
                raise DataError(where, "verdict", f"{word!r:.60} is not one of {known}")
            return Published(passed=word == Verdict.ACCEPTED, verdict=Verdict(word))
        case {"passed": bool(passed)}:
            return Published(passed=passed)
        case {"passed": int(passed), "total": int(total)}:
            return Published(passed=passed == total, note=f"{passed} of {total} tests")
        case {"passed": passed} if passed is not None:
            what = f"{passed!r:.60} is neither true nor false, nor a number of tests with a total"
            raise DataError(where, "passed", what)
        case _:
            return None


def _read_samples(name: str, row: dict[str, object], where: str) -> Iterator[_Found]:
    """LiveCodeBench's row of all samples of a problem."""
    codes = _list(row, "code_list", where)
    outputs = _list(row, "output_list", where)
    graded = _list(row, "graded_list", where)
    notes = _list(row, "metadata", where)
    count = max(len(codes), len(outputs))
    for key, values in (("code_list", codes), ("output_list", outputs), ("graded_list", graded)):
        if values and len(values) != count:
            raise DataError(where, key, f"{len(values)} entries where there are {count} samples")
    for number in range(count):
        code = _item(codes, number, "code_list", where)
        output = _item(outputs, number, "output_list", where)
        published = None
        if graded:
            note = notes[number] if number < len(notes) else None
            published = _graded(graded[number], _note(note), where)
        yield _Found(name, code if output or code else "", output or "", published)


def _graded(passed: object, note: str, where: str) -> Published | None:
    if passed is None:
        return None
    if passed in (0, 1):  # True and False are
        return Published(passed=bool(passed), note=note)
    raise DataError(where, "graded_list", f"{passed!r:.60} is neither true nor false")


def _list(row: dict[str, object], key: str, where: str) -> list[Any]:
    values = row.get(key)
    if values is None:
        return []
    if not isinstance(values, list):
        raise DataError(where, key, "not a list")
    return cast("list[Any]", values)


def _item(values: list[Any], number: int, key: str, where: str) -> str | None:
    if number >= len(values):
        return None
    value = values[number]
    if value is not None and not isinstance(value, str):
        raise DataError(where, key, f"entry {number + 1} is not a string but {value!r:.60}")
    return value


def _note(metadata: object) -> str:
    """The reason in LiveCodeBench's metadata, which is an object or one as text."""
    if isinstance(metadata, str):
        try:
            metadata = from_json(metadata)
        except ValueError:
            return ""
    match metadata:
        case {"error_message": str(message)}:
            return message[:LONGEST_NOTE]
        case _:
            return ""
