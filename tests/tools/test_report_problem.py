"""`report_problem` ends the attempt with a reason."""

import pytest

from harness.agent.templates.prompt_set import load_prompt
from harness.problem import ProblemView
from harness.tools.report_problem import ReportProblem, ReportProblemArguments
from harness.tools.toolbox import ToolError
from harness.tools.workspace import Workspace


async def unused(code: str) -> object:
    raise AssertionError(code)


def workspace() -> Workspace:
    view = ProblemView(
        id="a/b",
        source="a",
        title="",
        statement="",
        platform="",
        difficulty=None,
        public_tests=(),
    )
    return Workspace(view, load_prompt("default", "agentic"), unused, 1.0)  # type: ignore[arg-type]


async def test_a_report_ends_the_attempt_even_without_a_solution() -> None:
    space = workspace()
    reply = await ReportProblem().call(space, ReportProblemArguments(reason="Test 1 is wrong."))
    assert (reply, space.submitted) == ("Reported.", True)


async def test_a_report_without_a_reason_is_refused() -> None:
    space = workspace()
    with pytest.raises(ToolError, match="reason"):
        await ReportProblem().call(space, ReportProblemArguments(reason="  "))
    assert not space.submitted
