"""Readers of files of solutions to grade.

There are five forms, plain or gzipped, recognized by their content:

- JSONL with `{"problem_id", "code"}` or `{"problem_id", "output"}` a line. `output` is the model's
  text. `question_id` is accepted for `problem_id`, and `answer` for `code` in problems that ask for
  a value. A published verdict may be added: `"verdict"`, a word of this project; or `"passed"`,
  true or false, or a number of tests together with `"total"`.
- Samples of EvalPlus and HumanEval: `{"task_id", "solution"}` or `{"task_id", "completion"}` a
  line. A completion continues the problem's prompt.
- LiveCodeBench's list for its custom evaluator: `[{"question_id", "code_list"}]`; for test outputs
  `[{"question_id", "test_id", "pred_list"}]`; for code execution `[{"id", "pred_list"}]`.
- LiveCodeBench's list of lists for the same: a list for each problem, in the order of their ids.
- LiveCodeBench's `_eval_all.json`, which adds `output_list`, `graded_list` and `metadata`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from harness.errors import DataError, UsageError
from harness.features.grade.livecodebench_outputs import (
    is_of_samples,
    problem_name,
    read_place,
    read_samples,
)
from harness.features.grade.solution import Published, ReadSolution, Solution
from harness.grading.verdict import Verdict
from harness.sources.files.lines import JsonLines, Line, json_complaint

MAX_FILE_BYTES = 4 * 2**30


def read_solutions(path: Path) -> list[Solution]:
    """Return the solutions of a file, in its order.

    Raises:
        UsageError: the file cannot be opened, or holds no solution.
        DataError: the file has none of the known forms.
    """
    solutions = numbered(_read(path))
    if not solutions:
        raise UsageError(f"{path} holds no solution")
    return solutions


def numbered(found: Iterable[ReadSolution]) -> list[Solution]:
    """Give each solution its index among those of its problem."""
    counts: Counter[tuple[str, int | None]] = Counter()
    solutions: list[Solution] = []
    for each in found:
        problem = each.name, each.place
        solutions.append(each.solution(counts[problem]))
        counts[problem] += 1
    return solutions


def _read(path: Path) -> Iterator[ReadSolution]:
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
        value = _lenient(line.text())
        if not isinstance(value, dict):
            raise
        return cast("dict[str, object]", value)


def _lenient(text: bytes) -> object:
    """Parse JSON with Python's own parser; None if it fails.

    It accepts halves of surrogate pairs, with which truncated texts of models may end.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_list(path: Path, first: Line, rest: Iterator[Line]) -> Iterator[ReadSolution]:
    """Read a file that is one JSON list, over any number of lines."""
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
        if isinstance(row, list):
            yield from read_place(cast("list[object]", row), number - 1, where)
        elif isinstance(row, dict):
            yield from read_row(cast("dict[str, object]", row), where)
        else:
            raise DataError(where, None, "not a JSON object, nor a list of solutions")


def read_row(row: dict[str, object], where: str) -> Iterator[ReadSolution]:
    """Yield the solutions of a JSON object at `where`. Raises DataError."""
    if is_of_samples(row):
        yield from read_samples(row, where)
        return
    if "task_id" in row and not {"problem_id", "question_id"} & row.keys():
        yield _of_evalplus(row, where)
        return
    name = problem_name(row, where, ("problem_id", "question_id"))
    code, answer, output = (_text(row, key, where) for key in ("code", "answer", "output"))
    code = answer if code is None else code
    if code is None and output is None:
        raise DataError(where, "code", "missing; give code, or the model's words as output")
    yield ReadSolution(name, code, output or "", _published(row, where))


def _of_evalplus(row: dict[str, object], where: str) -> ReadSolution:
    """Read a sample of HumanEval, MBPP or EvalPlus: a solution or a completion."""
    name = problem_name(row, where, ("task_id",))
    solution, completion = (_text(row, key, where) for key in ("solution", "completion"))
    code = completion if solution is None else solution
    if code is None:
        raise DataError(where, "solution", "missing; give solution, or completion")
    return ReadSolution(name, code, published=_published(row, where), completion=solution is None)


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
