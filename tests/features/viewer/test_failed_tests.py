"""Failed tests of a report, as the viewer shows them."""

import asyncio
from typing import Any

from for_each import for_each
from judged_tests_made import judged_test

from harness.agent.templates.prompt_set import load_prompt
from harness.features.viewer.failed_tests import failures_in
from harness.grading.verdict import Difference, Grade, Verdict
from harness.problem import Judge, ProblemView, TestCase
from harness.tools.workspace import Workspace


def _report(judge: Judge, **changes: Any) -> str:
    """Return the report of a failed test without an expected output, or with other facts."""
    failed = judged_test(
        got=">5\n<more",
        difference=Difference(where="no guess after 7", expected="", got=">5"),
        stderr="odd",
        **changes,
    )
    grade = Grade(verdict=Verdict.WRONG_ANSWER, tests=(failed,), public_total=2)

    async def run_public_tests(_code: str) -> Grade:
        return grade

    test = TestCase(input="70\n", output="", public=True)
    view = ProblemView(
        id="p/a",
        source="p",
        platform="",
        difficulty=None,
        title="A",
        statement="?",
        public_tests=(test, test),
        judge=judge,
    )
    texts = load_prompt("default", "agentic")
    workspace = Workspace(view, texts, run_public_tests, 6.0)
    workspace.write("x")
    return asyncio.run(workspace.test()).text


@for_each(
    ("judge", "given", "printed", "where"),
    [
        (
            "dialogue",
            "Given to the judge",
            "Dialogue (> is your program, < the judge)",
            "The judge says: no guess after 7",
        ),
        ("checker", "Input", "Got", "The checker says: no guess after 7"),
    ],
)
def test_an_answer_that_is_not_compared_has_no_expected_side(
    judge: Judge, given: str, printed: str, where: str
) -> None:
    (failed,) = failures_in(_report(judge))
    assert failed.sides is None
    assert failed.where == where
    assert failed.given is not None
    assert (failed.given[0], failed.given[1].text) == (given, "70")
    assert [(name, excerpt.text) for name, excerpt in failed.boxes] == [
        (printed, ">5\n<more"),
        ("Printed to stderr", "odd"),
    ]


def test_what_follows_a_failing_test_is_in_none_of_its_boxes() -> None:
    report = _report("checker")
    assert "Test 2 was not run after that." in report
    (failed,) = failures_in(report)
    assert failed.boxes[-1][1].text == "odd"


def test_a_compared_answer_stands_beside_the_expected_one() -> None:
    (failed,) = failures_in(_report("rule"))
    assert failed.sides is not None
    assert failed.given is not None
    assert failed.given[0] == "Input"
    assert failed.where.startswith("First difference, no guess after 7")
    assert [name for name, _ in failed.boxes] == ["Printed to stderr"]
