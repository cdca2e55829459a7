"""How tools are described to a provider. How calls are answered stands in tests/agent."""

import jsonschema
import pytest
from pydantic import Field

from harness.agent.templates.prompt_set import load_prompt
from harness.grading.verdict import Grade, Verdict
from harness.models.protocol import ToolCall
from harness.problem import ProblemView, Signature, TestCase
from harness.tools.read_problem import ReadProblem
from harness.tools.revision import Report
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Arguments, Toolbox
from harness.tools.workspace import Workspace
from harness.tools.write_solution import WriteSolution

TEXTS = load_prompt("default", "agentic")
TOOLBOX = Toolbox((ReadProblem(), WriteSolution(), RunTests()), TEXTS)
SOLVED = Report(Verdict.ACCEPTED, 3, 3)
FAILED = Report(Verdict.WRONG_ANSWER, 2, 3)
ALSO = Report(Verdict.RUNTIME_ERROR, 2, 3)
WORSE = Report(Verdict.WRONG_ANSWER, 1, 3)


@pytest.fixture
def workspace() -> Workspace:
    async def run_public_tests(_code: str) -> Grade:
        return Grade(verdict=Verdict.ACCEPTED)

    problem = ProblemView(
        id="made/one",
        source="made",
        title="One",
        statement="",
        platform="",
        difficulty=None,
        tags=(),
        release_date=None,
        starter_code="",
        entry_point=None,
        signature=Signature(),
        preamble="",
        public_tests=(),
    )
    return Workspace(problem, TEXTS, run_public_tests, 1.0)


def test_every_tool_is_described_with_a_closed_schema() -> None:
    assert [spec.name for spec in TOOLBOX.specs] == ["read_problem", "write_solution", "run_tests"]
    for spec in TOOLBOX.specs:
        assert spec.description
        assert spec.parameters["type"] == "object"
        assert spec.parameters["additionalProperties"] is False
        assert "title" not in str(spec.parameters)


def test_a_schema_names_its_arguments_and_which_must_be_given() -> None:
    (spec,) = (spec for spec in TOOLBOX.specs if spec.name == "write_solution")
    assert spec.parameters["required"] == ["code"]
    assert spec.parameters["properties"] == {
        "code": {"type": "string", "description": "The complete Python source of the solution."}
    }


class Range(Arguments):
    """From one number to another."""

    first: int
    last: int


class NestedArguments(Arguments):
    """Several of them."""

    ranges: list[Range]


def test_nested_arguments_are_described_whole() -> None:
    class Nested:
        name = "nested"
        description = "Takes ranges."
        arguments = NestedArguments

        async def call(self, workspace: Workspace, arguments: NestedArguments) -> str:
            del workspace
            return str(arguments.ranges[0].last)

    (spec,) = Toolbox((Nested(),)).specs
    jsonschema.Draft202012Validator(spec.parameters).validate({"ranges": [{"first": 1, "last": 2}]})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(spec.parameters).validate({"ranges": [{"first": 1}]})


@pytest.mark.parametrize("name", ["read_problem", "write_solution", "run_tests"])
async def test_unreadable_arguments_are_malformed_whatever_the_tool(
    workspace: Workspace, name: str
) -> None:
    """Two calls that a stream merged into one are not carried out."""
    merged = ToolCall(id="1", name=name, arguments='{"code":"print(1)"}{"code":')
    result = await TOOLBOX.call(merged, workspace)
    assert (result.malformed, result.is_error) == (True, True)
    assert "not valid JSON" in result.content


async def test_a_tool_in_a_file_of_its_own_can_be_called(workspace: Workspace) -> None:
    class EchoArguments(Arguments):
        times: int = Field(default=1, ge=1)

    class Echo:
        name = "echo"
        description = "Says the title again."
        arguments = EchoArguments

        async def call(self, workspace: Workspace, arguments: EchoArguments) -> str:
            return workspace.problem.title * arguments.times

    toolbox = Toolbox((Echo(),))
    twice = ToolCall(id="1", name="echo", arguments='{"times": 2}')
    assert (await toolbox.call(twice, workspace)).content == "OneOne"
    for wrong, reason in (("0", "greater than or equal to 1"), ('"2"', "a valid integer")):
        asked = ToolCall(id="2", name="echo", arguments=f'{{"times": {wrong}}}')
        result = await toolbox.call(asked, workspace)
        assert result.malformed
        assert f"times: Input should be {reason}" in result.content


@pytest.mark.parametrize(
    ("code", "reply"),
    [("x", "revision 1 (1 line)"), ("x\ny", "revision 1 (2 lines)")],
)
async def test_writing_says_what_was_kept(workspace: Workspace, code: str, reply: str) -> None:
    arguments = WriteSolution().arguments(code=code)
    assert reply in await WriteSolution().call(workspace, arguments)
    assert [revision.code for revision in workspace.revisions] == [code]


async def test_writing_names_the_tests_where_there_are_any(workspace: Workspace) -> None:
    some = TestCase(input="", output="1\n", public=True)
    for tests, hint in (((some,), "Call run_tests"), ((), "has no public tests")):
        workspace.problem = workspace.problem.model_copy(update={"public_tests": tests})
        reply = await WriteSolution().call(workspace, WriteSolution().arguments(code="x"))
        assert hint in reply


async def test_writing_code_that_failed_before_says_so_and_keeps_its_result(
    workspace: Workspace,
) -> None:
    failed = Report(Verdict.WRONG_ANSWER, 0, 1)
    workspace.write("a", failed)
    workspace.write("b", failed)
    reply = await WriteSolution().call(workspace, WriteSolution().arguments(code="a"))
    assert "This is revision 1 again, which passes 0 of 1 public tests." in reply
    assert workspace.revisions[2] == workspace.revisions[0]


@pytest.mark.parametrize(
    "report", [None, Report(Verdict.ACCEPTED, 1, 1)], ids=["untested", "passed"]
)
async def test_code_that_did_not_fail_may_be_written_again(
    workspace: Workspace, report: Report | None
) -> None:
    workspace.write("a", report)
    reply = await WriteSolution().call(workspace, WriteSolution().arguments(code="a"))
    assert reply.startswith("Saved revision 2")
    assert workspace.revisions[1].report is report  # an unchanged program is not run again


class TestWorkspace:
    def test_an_empty_workspace_has_no_best_solution(self, workspace: Workspace) -> None:
        assert workspace.latest is None
        assert workspace.best is None

    @pytest.mark.parametrize(
        ("reports", "best"),
        [
            ([None], 0),
            ([None, None], 1),
            ([FAILED, None], 0),
            ([SOLVED, FAILED], 0),
            ([FAILED, SOLVED, SOLVED, None], 1),
            ([WORSE, FAILED, ALSO, WORSE], 1),
        ],
    )
    def test_the_best_solution_passes_most_public_tests_and_is_the_earliest_of_equals(
        self, workspace: Workspace, reports: list[Report | None], best: int
    ) -> None:
        for number, report in enumerate(reports):
            workspace.write(str(number), report)
        assert workspace.best is workspace.revisions[best]
        assert workspace.latest is workspace.revisions[-1]
