"""Which words say that a test is wrong."""

import pytest

from harness.agent.events import Response
from harness.agent.problem_reports import MARK, ProblemReports, says_wrong_test
from harness.models.protocol import ModelStop, ModelTurn, ToolCall


@pytest.mark.parametrize(
    "text",
    [
        f"{MARK} the first",
        "Done.\n\n**WRONG TEST:** test 2 contradicts the statement.",
        "- wrong test: 3",
        "The expected output is wrong.",
        "I believe the expected value of test 2 is incorrect, so I leave my solution as it is.",
        "My solution is right: test 3 contradicts the statement.",
        "It seems that one of the public tests is inconsistent.",
        "This test is impossible. I stop here.",
        "However the given output seems to be a mistake.",
        "Public test 1 conflicts with test 2.",
    ],
)
def test_words_that_report_a_wrong_test(text: str) -> None:
    assert says_wrong_test(text)


@pytest.mark.parametrize(
    "text",
    [
        "My output for test 3 is wrong; let me fix the loop.",
        "The solution fails test 2. The result is incorrect because of the overflow.",
        "The output of my code for the test is incorrect.",
        "In the test my answer is wrong.",
        "It is impossible to pass all tests in this time.",
        "```python\n# the expected output is wrong\n```\nDone.",
        "I use `the test is wrong` as a name.",
        "Is there a wrong test? No.",
        "",
    ],
)
def test_words_that_do_not(text: str) -> None:
    assert not says_wrong_test(text)


def heard(*turns: ModelTurn) -> str | None:
    reports = ProblemReports()
    for number, turn in enumerate(turns, 1):
        reports.hear(Response(turn=number, response=turn))
    return reports.reported


def said(text: str, *tools: str) -> ModelTurn:
    calls = tuple(ToolCall(id=name, name=name, arguments="{}") for name in tools)
    return ModelTurn(text=text, tool_calls=calls, stop=ModelStop(reason="end_turn"))


def test_a_call_of_the_tool_outranks_words() -> None:
    assert heard(said("Hello."), said("All good.", "run_tests")) is None
    assert heard(said("The test is wrong."), said("Done.")) == "words"
    assert heard(said("The test is wrong."), said("", "report_problem"), said("")) == "tool"
