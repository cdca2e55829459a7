"""`harness.verify`: what the command says, as an object, in a program and in a notebook."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from program import harness as command

import harness

pytestmark = pytest.mark.usefixtures("kept_sandbox")

WRONG: dict[str, Any] = {
    "id": "wrong",
    "statement": "Print the number.",
    "tests": [{"input": "2\n", "output": "2\n"}],
    "references": ["print(int(input()))", "print(0)"],
}


@pytest.mark.thorough
def test_verify_returns_what_the_command_prints(tmp_path: Path) -> None:
    data = json.loads(command(tmp_path, "verify", "fixture", "--json").stdout)
    verification = harness.verify("fixture", fresh=True)
    summary = verification.summary.model_dump(mode="json")
    assert {**data["summary"], "isolation": None} == {**summary, "isolation": None}
    assert [each.problem_id for each in verification.problems] == [
        each["problem_id"] for each in data["problems"]
    ]
    assert "pass every test" in verification._repr_html_()


def test_verify_takes_rows_and_names_the_failing_reference() -> None:
    verification = harness.verify([WRONG], fresh=True)
    (problem,) = verification.problems
    assert [str(each.verdict) for each in problem.references] == ["accepted", "wrong_answer"]
    assert repr(verification) == "<VerifiedBenchmark: 1 of 2 references pass>"
    assert harness.verify([WRONG], references=1).summary.references == 1


async def test_verify_works_in_a_running_loop() -> None:
    asyncio.get_running_loop()
    assert harness.verify([WRONG], fresh=True).summary.accepted == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"references": 0}, "references 0: give 1 or more"),
        ({"wrokers": 2}, "did you mean 'workers'"),
    ],
)
def test_faulty_references_are_told(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(harness.UsageError, match=words):
        harness.verify([WRONG], **arguments)


def test_a_mistake_is_told_in_the_words_of_python() -> None:
    with pytest.raises(harness.UsageError, match=r"^verify\(\): references 0: give 1 or more$"):
        harness.verify("fixture", references=0)
