"""`grade`: every form that solutions come in, judged as `harness grade` judges them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import ECHO
from program import harness as program

import harness
from harness import DataError, NothingSelectedError, UsageError, agrade, grade
from harness.features.grade.solutions import Solution

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]
ECHOES, REVERSES, DOUBLES = (
    "print(input())",
    "print(input()[::-1])",
    "def double(n): return 2 * n",
)
CODES = {"own/echo": ECHOES, "own/reverse": ECHOES, "double": DOUBLES}
WORDS = {name: f"I think:\n```python\n{code}\n```\nDone." for name, code in CODES.items()}
VERDICTS = ["accepted", "wrong_answer", "accepted"]
ROWS = [{"problem_id": name, "code": code} for name, code in CODES.items()]


@pytest.mark.parametrize(
    ("solutions", "extract"),
    [
        (CODES, None),
        (CODES, "code"),
        (WORDS, "harness"),
        (WORDS, "lcb"),
        ([*CODES.values()], None),
        (ROWS, None),
        ([{"problem_id": name, "output": text} for name, text in WORDS.items()], None),
        ([Solution(name=name, code=code) for name, code in CODES.items()], None),
    ],
)
def test_grade_takes_solutions_in_every_form(
    solutions: Any, extract: str | None, problems: Problems
) -> None:
    grades = grade(problems, solutions, extract=extract)
    assert [str(each.verdict) for each in grades] == VERDICTS
    assert (len(grades), grades[1].tests_total, grades[1].tests_passed) == (3, 2, 0)
    assert grades.pass_at_1 == pytest.approx(2 / 3)
    assert [each.problem_id for each in grades[:2]] == ["own/echo", "own/reverse"]
    assert "2 accepted of 3" in repr(grades)


def test_a_file_as_the_command_grades_it(benchmark: str, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(json_lines(ROWS))
    done = program(tmp_path, "grade", "--problems", benchmark, "--solutions", file, "--json")
    theirs = json.loads(done.stdout)
    ours = grade(benchmark, file)
    assert [str(each.verdict) for each in ours] == [r["verdict"] for r in theirs["results"]]
    assert ours.summary.model_dump(mode="json")["pass_at_1"] == theirs["summary"]["pass_at_1"]
    assert grade(benchmark, str(file)).summary.accepted == 2


def test_several_of_one_problem(problems: Problems) -> None:
    grades = grade(problems, {"own/echo": [ECHOES, "print(1)", ECHOES]})
    assert [(each.index, each.passed) for each in grades] == [(0, True), (1, False), (2, True)]


def test_words_are_no_code_unless_that_is_said(problems: Problems) -> None:
    assert grade(problems, WORDS)[0].verdict == "compile_error"


def test_published_verdicts_stand_beside(problems: Problems) -> None:
    grades = grade(problems, [{**row, "passed": True} for row in ROWS])
    assert [each.agrees for each in grades] == [True, False, True]
    assert grades.summary.published is not None


@pytest.mark.thorough
def test_keys_of_a_spec(benchmark: str) -> None:
    slow = "while True: pass"
    grades = grade(benchmark, {"own/echo": slow}, test_timeout=0.2, all_tests=True, workers=1)
    assert [str(test.verdict) for test in grades[0].tests] == ["time_limit"] * 3
    few = grade(benchmark, [ECHOES], task="own/echo", rule="tokens")
    assert few.summary.solutions == 1


@pytest.mark.thorough
async def test_grade_works_in_a_running_loop(problems: Problems) -> None:
    assert grade(problems, CODES).summary.accepted == 2
    assert (await agrade(problems, CODES)).summary.accepted == 2


@pytest.mark.parametrize(
    ("solutions", "arguments", "error", "message"),
    [
        ([ECHOES], {}, UsageError, "1 text for 3 problems: give one for each"),
        ([], {}, UsageError, "there is no solution"),
        (3, {}, UsageError, "solutions is a int: give a file"),
        ([3], {}, UsageError, "solutions[0] is a int; give problem_id and code"),
        ({"own/echo": 3}, {}, UsageError, "solutions['own/echo']: give the id, and a text"),
        ({"own/echo": [3]}, {}, UsageError, "a int is not a text"),
        ([{"code": ECHOES}], {}, DataError, "solutions[0]: field 'problem_id'"),
        ("none.jsonl", {}, UsageError, "none.jsonl"),
        ({"nobody": ECHOES}, {}, NothingSelectedError, "none of 1 solution is for one of 3"),
        (CODES, {"extract": "ours"}, UsageError, "known are harness, lcb"),
        (CODES, {"test_timout": 1}, UsageError, "did you mean 'test_timeout'"),
        (CODES, {"rule": "exact"}, UsageError, "known are lcb, equality, tokens, apps_legacy"),
        (CODES, {"timing": "mercury"}, UsageError, "give that too"),
        (CODES, {"test_timeout": "reference*4"}, UsageError, "benchmark by its name"),
    ],
)
def test_grade_refuses_mistakes_in_one_line(
    solutions: Any,
    arguments: dict[str, Any],
    error: type[Exception],
    message: str,
    problems: Problems,
) -> None:
    with pytest.raises(error) as caught:
        grade(problems, solutions, **arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_solutions_of_no_problem_are_counted(
    problems: Problems, caplog: pytest.LogCaptureFixture
) -> None:
    grades = grade(problems, {**CODES, "nobody": ECHOES})
    assert (grades.summary.unmatched, len(grades)) == (1, 3)
    assert "1 solution with no or several matching problems: 'nobody'" in caplog.text


@pytest.mark.thorough
def test_grade_times_solutions(write_problems: Callable[..., str]) -> None:
    row: Mapping[str, Any] = {**ECHO, "references": [ECHOES]}
    grades = grade(write_problems(row), {"own/echo": [ECHOES, "print(1)"]}, efficiency=True)
    assert [each.efficiency.lack for each in grades if each.efficiency] == [
        *("one reference passes", "one reference passes"),
    ]
    assert grades.summary.efficiency is not None
