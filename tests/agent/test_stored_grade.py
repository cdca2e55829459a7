"""A stored grade leaves out what its tests repeat, and is read as it was."""

import json
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.agent.events import Graded
from harness.grading.verdict import (
    Difference,
    Grade,
    JudgedAgain,
    TestResult,
    Verdict,
    stored_grade,
)
from harness.run.store.transcript import EVENT, line_of

SECONDS = st.sampled_from([0.0, 0.001, 2.5])
WORDS = st.sampled_from(["", "none", "0"])
TEST = st.builds(
    TestResult,
    index=st.integers(0, 3),
    public=st.booleans(),
    verdict=st.sampled_from([Verdict.ACCEPTED, Verdict.WRONG_ANSWER]),
    cpu_s=SECONDS,
    wall_s=SECONDS,
    peak_bytes=st.sampled_from([None, 0, 9]),
    difference=st.none() | st.builds(Difference, where=WORDS, expected=WORDS, got=WORDS),
    got=WORDS,
    error=WORDS,
)


@st.composite
def grades(draw: st.DrawFn) -> Grade:
    tests = draw(st.lists(TEST, max_size=5))
    if draw(st.booleans()):
        tests = [test.model_copy(update={"index": n}) for n, test in enumerate(tests)]
    return Grade(
        verdict=draw(st.sampled_from([*Verdict])),
        tests=tuple(tests),
        public_total=draw(st.integers(0, 5)),
        hidden_total=draw(st.integers(0, 5)),
        peak_bytes=draw(st.sampled_from([0, 9])),
        judged_again=draw(st.builds(JudgedAgain, retried=st.integers(0, 1))),
        isolation=draw(WORDS),
        solved_by_rule=draw(st.sampled_from([None, True, False])),
    )


@given(grades())
def test_a_grade_is_read_as_it_was_written(grade: Grade) -> None:
    assert EVENT.validate_json(line_of(Graded(grade=grade))) == Graded(grade=grade)


@given(grades())
def test_a_grade_of_an_older_version_is_read_as_it_was_written(grade: Grade) -> None:
    for defaults in (True, False):
        text = Graded(grade=grade).model_dump_json(exclude_defaults=defaults, exclude_none=True)
        stored = json.dumps({"event": "grade", **json.loads(text)})
        assert EVENT.validate_json(stored) == Graded(grade=grade)


def accepted(index: int, *, public: bool) -> TestResult:
    return TestResult(index=index, public=public, verdict=Verdict.ACCEPTED, cpu_s=0.1, wall_s=0.2)


def test_a_test_has_only_what_the_one_before_has_not() -> None:
    tests = [accepted(n, public=n < 2) for n in range(4)]
    tests.append(tests[0].model_copy(update={"index": 4, "verdict": Verdict.WRONG_ANSWER}))
    grade = Grade(verdict=Verdict.WRONG_ANSWER, tests=tuple(tests), public_total=3, hidden_total=2)
    times = {"cpu_s": 0.1, "wall_s": 0.2}
    assert json.loads(stored_grade(grade)) == {
        "verdict": "wrong_answer",
        "tests": [
            times,
            times,
            {"public": False, **times},
            times,
            {"public": True, "verdict": "wrong_answer", **times},
        ],
    }


def test_totals_of_tests_that_were_not_run_are_stored() -> None:
    grade = Grade(
        verdict=Verdict.ACCEPTED, tests=(accepted(0, public=True),), public_total=1, hidden_total=40
    )
    assert json.loads(stored_grade(grade)).keys() == {"verdict", "tests", "hidden_total"}


BAD: list[Any] = [
    [{}],
    ["index"],
    "tests",
    7,
    [{"index": "one", "public": True}, {"cpu_s": 0, "wall_s": 0}],
    [{"cpu_s": 0, "wall_s": 0, "peak_bytes": "much"}],
    [{"cpu_s": 0, "wall_s": 0, "public": []}],
    {"0": {}},
]


@for_each("tests", BAD)
def test_tests_that_cannot_be_completed_are_not_valid(tests: object) -> None:
    line = {"event": "grade", "grade": {"verdict": "accepted", "tests": tests}}
    with pytest.raises(ValidationError):
        EVENT.validate_python(line)
