"""The form of a grade in a transcript, without what its tests repeat.

A problem may have hundreds of tests, and most have the same result as the test before. So a stored
test without an `index` has the next one, and the fields of the test before, except those that it
gives itself. The test before the first one is `BEFORE_FIRST`. A test with an `index` is whole. A
grade whose first test has no `index` also leaves out what `_sums` says of its tests.

The grades of older versions are whole, and are read as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import to_json

from harness.grading.verdict import Grade, TestResult, Verdict

MEASURED = frozenset({"cpu_s", "wall_s"})
"""Fields that every stored test has."""


def stored_grade(grade: Grade) -> bytes:
    """Return a grade as JSON, without defaults and repetitions."""
    tests = [*_stored(grade.tests)]
    left_out = defaults(Grade)
    if tests and "index" not in tests[0]:
        left_out = {**left_out, **_sums([vars(test) for test in grade.tests])}
    values = _without(vars(grade), left_out)
    if tests:
        values["tests"] = tests
    if "judged_again" in values:
        again = grade.judged_again
        values["judged_again"] = _without(vars(again), defaults(type(again)))
    return to_json(values)


def whole_grade(stored: Any) -> Any:
    """Return a stored grade with what `stored_grade` left out, ready to be validated.

    Raises:
        ValueError: a test cannot be completed.
    """
    if not isinstance(stored, dict):
        return stored
    values = cast("dict[str, Any]", stored)
    if not values.get("tests"):
        return values
    try:
        tests = [*_whole(values["tests"])]
        if "index" in values["tests"][0]:
            return {**values, "tests": tests}
        return {**_sums(tests), **values, "tests": tests}
    except (TypeError, LookupError) as error:
        raise ValueError(f"its tests: {error}") from error


def _stored(tests: Sequence[TestResult]) -> Iterator[dict[str, Any]]:
    before = BEFORE_FIRST
    for test in tests:
        now = vars(test)
        if now["index"] == before["index"] + 1:
            known = {**before, "index": now["index"]}
            yield {k: v for k, v in now.items() if k in MEASURED or v != known[k]}
        else:
            yield _without(now, defaults(TestResult))
        before = now


def _whole(tests: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    before = BEFORE_FIRST
    for test in tests:
        before = test if "index" in test else {**before, "index": before["index"] + 1, **test}
        yield before


def _sums(tests: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return what a grade says of its tests, if all were run, and its peak is that of one."""
    public = sum(test["public"] for test in tests)
    return {
        "public_total": public,
        "hidden_total": len(tests) - public,
        "peak_bytes": max(test.get("peak_bytes") or 0 for test in tests),
    }


def _without(values: Mapping[str, Any], left_out: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value != left_out[key]}


@lru_cache
def defaults(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the default of each field; `PydanticUndefined` for a required one."""
    return {name: field.default for name, field in kind.model_fields.items()}


BEFORE_FIRST: Mapping[str, Any] = {
    **defaults(TestResult),
    "index": -1,
    "public": True,
    "verdict": Verdict.ACCEPTED,
}
