"""Reader of LiveCodeBench's files of solutions.

An item of the JSON list holds all samples of a problem, as LiveCodeBench writes it
(`…_eval_all.json`) and as its custom evaluator reads it
(https://github.com/LiveCodeBench/LiveCodeBench, `lcb_runner/benchmarks` and
`lcb_runner/runner/custom_evaluator.py`).
"""

from collections.abc import Iterator
from typing import Any, cast

from pydantic_core import from_json

from harness.errors import DataError
from harness.features.grade.solution import Published, ReadSolution

LONGEST_NOTE = 300
_LISTS = ("code_list", "pred_list", "output_list")


def is_of_samples(row: dict[str, object]) -> bool:
    """Whether a row holds all samples of a problem."""
    return any(name in row for name in _LISTS)


def read_samples(row: dict[str, object], where: str) -> Iterator[ReadSolution]:
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
    published = _published(row, codes, count, where)
    for number in range(count):
        code = _item(codes, number, key, where)
        output = _item(outputs, number, "output_list", where)
        yield ReadSolution(name, code if output or code else "", output or "", published[number])


def read_place(values: list[object], place: int, where: str) -> Iterator[ReadSolution]:
    """Yield the solutions of the problem at index `place` of an unnamed list.

    Raises:
        DataError: the list is empty, or an entry is not a string.
    """
    if not values:
        raise DataError(where, None, "an empty list; one solution at least is wanted")
    for number, value in enumerate(values, 1):
        if not isinstance(value, str):
            raise DataError(where, None, f"entry {number} is not a string but {value!r:.60}")
        yield ReadSolution("", value, place=place)


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


def _published(
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
    found: list[Published | None] = [None] * count
    for order, (place, passed) in enumerate(zip(places, graded, strict=True)):
        found[place] = _graded(passed, _note(notes[order] if order < len(notes) else None), where)
    return found


def _unlike(found: int, count: int) -> str:
    return f"{found} entries where there are {count} samples"


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
