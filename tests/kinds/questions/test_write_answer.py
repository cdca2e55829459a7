"""The tools for problems that ask for a value: what they show, what they take, what they tell."""

import json

from for_each import for_each

from harness.agent.templates.prompt_set import load_prompt
from harness.grading.verdict import Grade
from harness.kinds.questions.judge import LONGEST_LITERAL, grade_answer
from harness.models.protocol import ToolCall, ToolMessage
from harness.problem import Kind, ProblemView, Signature
from harness.run.plan.problem_kinds import rules_for
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
ANSWERS = (OUTPUT, EXECUTION)


def workspace(kind: Kind, **changes: object) -> Workspace:
    async def run_public_tests(_code: str) -> Grade:
        raise AssertionError("there is nothing to run")

    problem = ProblemView(
        id="made/one",
        source="made",
        kind=kind,
        title="Add Them Up" if kind is OUTPUT else "twice",
        statement="Add all numbers." if kind is OUTPUT else "",
        platform="leetcode",
        difficulty="easy",
        tags=(),
        release_date=None,
        starter_code="class Solution:\n    def addUp(self, nums):\n        " * (kind is OUTPUT),
        entry_point="addUp" if kind is OUTPUT else "twice",
        signature=Signature(),
        preamble="",
        public_tests=(),
        call="addUp([1, 2])" if kind is OUTPUT else "twice(x = 3)",
        code="def twice(x):\n    return x + x\n" * (kind is EXECUTION),
    )
    view = problem.model_copy(update=changes)
    return Workspace(view, load_prompt("default", "agentic", kind), run_public_tests, 6.0)


async def call(place: Workspace, name: str, **arguments: object) -> ToolMessage:
    toolbox = Toolbox(rules_for(place.problem.kind).tools, place.texts)
    return await toolbox.call(ToolCall(id="1", name=name, arguments=json.dumps(arguments)), place)


def test_each_kind_has_its_tools() -> None:
    names = {kind: [tool.name for tool in rules_for(kind).tools] for kind in Kind}
    assert names == {
        Kind.CODE_GENERATION: ["read_problem", "write_solution", "run_tests"],
        OUTPUT: ["read_problem", "write_answer"],
        EXECUTION: ["read_problem", "write_answer"],
    }


@for_each("kind", ANSWERS)
def test_value_tools_are_described_without_tests_and_solutions(kind: Kind) -> None:
    read, write = Toolbox(rules_for(kind).tools, load_prompt("default", "agentic", kind)).specs
    assert "call whose value is asked for" in read.description
    assert read.parameters["properties"] == {}
    assert list(write.parameters["properties"]) == write.parameters["required"] == ["answer"]
    for spec in (read, write):
        assert "public" not in spec.description
        assert "solution" not in spec.description


async def test_a_test_output_is_asked_for_with_statement_function_and_call() -> None:
    text = (await call(workspace(OUTPUT), "read_problem")).content
    assert text == (
        "# Add Them Up\n\nAdd all numbers.\n\n"
        "## Function\n\n```python\nclass Solution:\n    def addUp(self, nums):\n```\n\n"
        "## Call\n\n```python\naddUp([1, 2])\n```\n\n"
        "Asked is the value that a correct solution returns for this call, as a Python literal."
    )


async def test_an_execution_is_asked_for_with_program_and_call() -> None:
    text = (await call(workspace(EXECUTION), "read_problem")).content
    assert text == (
        "# twice\n\n## Program\n\n```python\ndef twice(x):\n    return x + x\n```\n\n"
        "## Call\n\n```python\ntwice(x = 3)\n```\n\n"
        "Asked is the value that the program returns for this call, as a Python literal."
    )


@for_each("kind", ANSWERS)
async def test_nothing_is_said_of_tests_or_limits(kind: Kind) -> None:
    text = (await call(workspace(kind), "read_problem")).content
    assert not any(word in text for word in ("test", "Test", "CPU", "second", "stdin"))


async def test_what_is_very_long_is_cut() -> None:
    place = workspace(EXECUTION, code="x = 1\n" * 1_000_000, call="f(" + "1," * 1_000_000 + ")")
    text = (await call(place, "read_problem")).content
    assert len(text) < 150_000
    assert text.count("characters left out") == 2


@for_each("kind", ANSWERS)
async def test_an_answer_is_a_revision_and_the_next_replaces_it(kind: Kind) -> None:
    place = workspace(kind)
    first = await call(place, "write_answer", answer=" [1, 'a'] \n")
    second = await call(place, "write_answer", answer="7")
    assert not first.is_error
    assert first.content.startswith("Saved answer 1. ")
    assert second.content.startswith("Saved answer 2. ")
    assert [revision.code for revision in place.revisions] == ["[1, 'a']", "7"]
    assert place.best is place.latest
    assert place.latest is not None
    assert place.latest.code == "7"
    assert place.latest.report is None
    assert not place.latest.passed


async def test_right_and_wrong_are_answered_alike() -> None:
    replies = [
        (await call(workspace(EXECUTION), "write_answer", answer=answer)).content
        for answer in ("6", "7")
    ]
    assert replies[0] == replies[1]
    assert [grade_answer(EXECUTION, answer, "6").solved for answer in ("6", "7")] == [True, False]


@for_each(
    ("answer", "why"),
    [
        ("assert twice(x = 3) == 6", "not Python"),
        ("3 + 3", "an operation"),
        ("twice(3)", "a call of 'twice'"),
        ("six", "the name 'six'"),
        ("The answer is 6.", "not Python"),
        ("true", "the name 'true'"),
    ],
)
async def test_what_is_no_literal_is_refused_with_the_reason(answer: str, why: str) -> None:
    place = workspace(EXECUTION)
    result = await call(place, "write_answer", answer=answer)
    assert result.is_error
    assert not result.malformed
    assert f"not a literal ({why}" in result.content.replace("(has ", "(")
    assert "Python literal: 3, 'ab' in quotes, [1, 2]" in result.content
    assert place.revisions == []


async def test_json_will_do_for_a_test_s_output() -> None:
    place = workspace(OUTPUT)
    assert not (await call(place, "write_answer", answer="[true, null]")).is_error
    refused = await call(place, "write_answer", answer="x")
    assert "Python literal or JSON" in refused.content


@for_each("answer", ["", "  \n "])
async def test_an_empty_answer_is_refused(answer: str) -> None:
    place = workspace(OUTPUT)
    assert (await call(place, "write_answer", answer=answer)).is_error
    assert place.latest is None


async def test_an_answer_that_is_too_long_is_refused() -> None:
    result = await call(workspace(OUTPUT), "write_answer", answer="1" * (LONGEST_LITERAL + 1))
    assert result.is_error
    assert "longer than 65,536 characters" in result.content


async def test_an_answer_that_is_no_string_is_malformed() -> None:
    result = await call(workspace(OUTPUT), "write_answer", answer=7)
    assert result.malformed
