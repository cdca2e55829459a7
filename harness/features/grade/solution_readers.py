"""Readers of files of solutions to grade.

There are seven forms, plain or gzipped, recognized by their content:

- JSONL with `{"problem_id", "code"}` or `{"problem_id", "output"}` a line. `output` is the model's
  text. `question_id` is accepted for `problem_id`, and `answer` for `code` in problems that ask for
  a value. A published verdict may be added: `"verdict"`, a word of this project; or `"passed"`,
  true or false, or a number of tests together with `"total"`. `"language"` is `python` or `cpp`.
- Samples of EvalPlus and HumanEval: `{"task_id", "solution"}` or `{"task_id", "completion"}` a
  line. A completion continues the problem's prompt.
- Results of MapCoder and of Reflexion: `{"task_id", "source_codes", "is_solved"}` or
  `{"task_id", "solution", "is_solved"}` a line, with `prompt_tokens`, `completion_tokens` and
  `api_calls` where they were counted.
- A program itself, in a file that has its problem's native id for a name: `abc300_a.cpp`.
- LiveCodeBench's list for its custom evaluator: `[{"question_id", "code_list"}]`; for test outputs
  `[{"question_id", "test_id", "pred_list"}]`; for code execution `[{"id", "pred_list"}]`.
- LiveCodeBench's list of lists for the same: a list for each problem, in the order of their ids.
- LiveCodeBench's `_eval_all.json`, which adds `output_list`, `graded_list` and `metadata`.

An item of LiveCodeBench's list holds all samples of a problem, as LiveCodeBench writes it
(`…_eval_all.json`) and as its custom evaluator reads it
(https://github.com/LiveCodeBench/LiveCodeBench, `lcb_runner/benchmarks` and
`lcb_runner/runner/custom_evaluator.py`).
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from harness.errors import DataError, UsageError
from harness.features.grade.solutions import Published, Solution
from harness.features.grade.solved_rows import read_solved
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES, named, of_file
from harness.languages.language import Language
from harness.sources.files.lines import JsonLines, Line, json_complaint

LONGEST_NOTE = 300
_LISTS = ("code_list", "pred_list", "output_list")
MAX_FILE_BYTES = 4 * 2**30


def is_of_samples(row: dict[str, object]) -> bool:
    """Whether a row holds all samples of a problem."""
    return any(name in row for name in _LISTS)


def read_samples(row: dict[str, object], where: str) -> Iterator[Solution]:
    """Yield the solutions of a LiveCodeBench row, all samples of a problem.

    For code execution, its grader skips answers that contain the call, so there are fewer verdicts
    than answers. The skipped answers get no published verdict here.

    Raises:
        DataError: a column is malformed.
    """
    name = _name(row, where)
    key = "pred_list" if "pred_list" in row else "code_list"
    codes = _list(row, key, where)
    outputs = _list(row, "output_list", where)
    count = max(len(codes), len(outputs))
    for column, values in ((key, codes), ("output_list", outputs)):
        if values and len(values) != count:
            raise DataError(where, column, _unlike(len(values), count))
    published = _published_of_livecodebench_outputs(row, codes, count, where)
    for number in range(count):
        code = _item(codes, number, key, where)
        output = _item(outputs, number, "output_list", where)
        yield Solution(name, code if output or code else "", output or "", published[number])


def read_place(values: list[object], place: int, where: str) -> Iterator[Solution]:
    """Yield the solutions of the problem at index `place` of an unnamed list.

    Raises:
        DataError: the list is empty, or an entry is not a string.
    """
    if not values:
        raise DataError(where, None, "an empty list; one solution at least is wanted")
    for number, value in enumerate(values, 1):
        if not isinstance(value, str):
            raise DataError(where, None, f"entry {number} is not a string but {value!r:.60}")
        yield Solution("", value, place=place)


def problem_name(row: dict[str, object], where: str, keys: tuple[str, ...]) -> str:
    """Return the first column present. Raises DataError if it is not a name."""
    name = next((row[key] for key in keys if row.get(key) is not None), None)
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise DataError(where, keys[0], "missing, or not a name")
    return str(name)


def _name(row: dict[str, object], where: str) -> str:
    """Return the problem's name; in some files its `problem_id` is something else."""
    if "code_list" not in row and row.get("test_id") is not None:
        parts = (problem_name(row, where, (key,)) for key in ("question_id", "test_id"))
        return "_".join(parts)
    if "code_list" not in row and row.get("id") is not None:
        return problem_name(row, where, ("id",))
    return problem_name(row, where, ("problem_id", "question_id"))


def _published_of_livecodebench_outputs(
    row: dict[str, object], codes: list[Any], count: int, where: str
) -> list[Published | None]:
    """Return the published verdict on each sample, None where there is none."""
    graded = _list(row, "graded_list", where)
    if not graded:
        return [None] * count
    places = list(range(count))
    call = row.get("input")
    if len(graded) < count and "pred_list" in row and isinstance(call, str):
        places = [number for number, code in enumerate(codes) if call not in str(code)]
    if len(graded) != len(places):
        raise DataError(where, "graded_list", _unlike(len(graded), count))
    notes = _list(row, "metadata", where)
    published: list[Published | None] = [None] * count
    for order, (place, passed) in enumerate(zip(places, graded, strict=True)):
        published[place] = _graded(
            passed, _note(notes[order] if order < len(notes) else None), where
        )
    return published


def _unlike(number: int, count: int) -> str:
    return f"{number} entries where there are {count} samples"


def _graded(passed: object, note: str, where: str) -> Published | None:
    if passed is None:
        return None
    if passed in (0, 1):  # also matches True and False
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
    """Return the error message in LiveCodeBench's metadata, an object or JSON text."""
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


def read_solutions(path: Path) -> list[Solution]:
    """Return the solutions of a file, in its order.

    Raises:
        UsageError: the file cannot be opened, or holds no solution.
        DataError: the file has none of the known forms.
    """
    kind = of_file(path.name)
    solutions = list(_read(path) if kind is None else _read_program(path, kind))
    if not solutions:
        raise UsageError(f"{path} holds no solution")
    return solutions


def _read_program(path: Path, kind: Language) -> Iterator[Solution]:
    """Yield the one solution of a program's file, which is named like its problem."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    yield Solution(path.stem, text, language=kind.name)


def _read(path: Path) -> Iterator[Solution]:
    lines = iter(JsonLines(path))
    for line in lines:
        if line.text().lstrip().startswith(b"["):
            yield from _read_list(path, line, lines)
            return
        yield from read_row(_object(line), line.where)


def _object(line: Line) -> dict[str, object]:
    try:
        return line.json_object()
    except DataError:
        with suppress(DataError):
            value = parsed(line.text(), line.where)
            if isinstance(value, dict):
                return cast("dict[str, object]", value)
        raise


def parsed(text: bytes, where: str) -> object:
    """Parse JSON, also with halves of surrogate pairs, with which models' texts may end.

    Raises:
        DataError: it is not JSON.
    """
    try:
        return from_json(text)
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(text)
        raise DataError(where, None, json_complaint(error)) from None


def _read_list(path: Path, first: Line, rest: Iterator[Line]) -> Iterator[Solution]:
    """Read a file that is one JSON list, over any number of lines."""
    data = bytearray(first.text())
    for line in rest:
        data += line.raw
        if len(data) > MAX_FILE_BYTES:
            raise DataError(str(path), None, f"longer than {MAX_FILE_BYTES} bytes")
    rows = parsed(bytes(data), str(path))  # it begins with a bracket
    del data
    for number, row in enumerate(cast("list[object]", rows), 1):
        where = f"{path}: item {number}"
        if isinstance(row, list):
            yield from read_place(cast("list[object]", row), number - 1, where)
        elif isinstance(row, dict):
            yield from read_row(cast("dict[str, object]", row), where)
        else:
            raise DataError(where, None, "not a JSON object, nor a list of solutions")


def read_row(row: dict[str, object], where: str) -> Iterator[Solution]:
    """Yield the solutions of a JSON object at `where`. Raises DataError."""
    if is_of_samples(row):
        yield from read_samples(row, where)
        return
    if "is_solved" in row:
        yield from read_solved(row, where)
        return
    if "task_id" in row and not {"problem_id", "question_id"} & row.keys():
        yield _of_evalplus(row, where)
        return
    name = problem_name(row, where, ("problem_id", "question_id"))
    code, answer, output = (_text(row, key, where) for key in ("code", "answer", "output"))
    code = answer if code is None else code
    if code is None and output is None:
        raise DataError(where, "code", "missing; give code, or the model's words as output")
    published = Published.in_row(row, where)
    yield Solution(name, code, output or "", published, language=_language(row, where))


def _language(row: dict[str, object], where: str) -> str:
    """Return the language of a row's solution; Python where it says nothing."""
    name = _text(row, "language", where)
    if name is None:
        return PYTHON
    known = named(name)
    if known is None:
        names = ", ".join(LANGUAGES)
        raise DataError(where, "language", f"{name!r:.60} is not one of {names}")
    return known.name


def _of_evalplus(row: dict[str, object], where: str) -> Solution:
    """Read a sample of HumanEval, MBPP or EvalPlus: a solution or a completion."""
    name = problem_name(row, where, ("task_id",))
    solution, completion = (_text(row, key, where) for key in ("solution", "completion"))
    code = completion if solution is None else solution
    if code is None:
        raise DataError(where, "solution", "missing; give solution, or completion")
    return Solution(name, code, published=Published.in_row(row, where), completion=solution is None)


def _text(row: dict[str, object], key: str, where: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise DataError(where, key, f"not a string but {value!r:.60}")
    return value
