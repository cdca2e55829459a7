"""What models are asked where a problem asks for a value: every bundled set, as it is sent."""

from datetime import date

import pytest

from harness.agent.extraction.answers import extract_answer
from harness.agent.extraction.code import extract_lcb_execution
from harness.agent.templates.prompt_set import load_prompt
from harness.problem import Kind, ProblemView, Signature
from harness.run.plan.problem_kinds import tools_for

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
SETS = {
    "single_shot": ("default", "cot", "livecodebench"),
    "agentic": ("default", "cot", "read_first"),
}
CASES = [
    (mode, name, kind)
    for mode, names in SETS.items()
    for name in names
    for kind in (OUTPUT, EXECUTION)
]
CALL, CODE = "spiral(rows = [[1, 2]])", "def spiral(rows):\n    return rows[0] + ['}}{%']\n"


def view(kind: Kind, **changes: object) -> ProblemView:
    plain = ProblemView(
        id="made/spiral",
        source="made",
        kind=kind,
        title="Spiral Order",
        statement="Walk the rows inward {{ so to speak }}." if kind is OUTPUT else "",
        platform="leetcode",
        difficulty=None,
        tags=(),
        release_date=date(2024, 1, 1),
        starter_code="class Solution:\n    def spiral(self, rows):\n        " * (kind is OUTPUT),
        entry_point="spiral",
        signature=Signature(),
        preamble="",
        public_tests=(),
        call=CALL,
        code=CODE * (kind is EXECUTION),
    )
    return plain.model_copy(update=changes)


def sent(mode: str, name: str, problem: ProblemView) -> tuple[str, str]:
    system, user = load_prompt(name, mode, problem.kind).render(problem, 6.0)
    return system.content, user.content


@pytest.mark.parametrize(("mode", "name", "kind"), CASES)
def test_prompts_for_values_say_what_is_asked_and_how_to_answer(
    mode: str, name: str, kind: Kind
) -> None:
    problem = view(kind)
    system, user = sent(mode, name, problem)
    both = f"{system}\n{user}"
    assert "{#" not in both
    assert "second" not in both.replace("a second time", "")  # no program runs, nothing is timed
    assert not any(word in both for word in ("public test", "hidden", "stdin", "CPU"))
    if mode == "agentic":
        for tool in tools_for(kind):
            assert tool.name in system
        assert "literal" in system
        assert (CALL in user) == (name == "default")
        return
    assert CALL in user
    for text in (problem.statement, problem.starter_code.rstrip(), problem.code.rstrip()):
        assert text in user
    if (name, kind) == ("livecodebench", OUTPUT):
        assert "assertion" in system
    else:
        assert "literal" in both
        assert "[ANSWER]" in both


@pytest.mark.parametrize("name", SETS["single_shot"])
def test_a_problem_without_starter_code_has_no_empty_block(name: str) -> None:
    if name != "livecodebench":
        assert (
            "```python\n\n```" not in sent("single_shot", name, view(OUTPUT, starter_code=" "))[1]
        )


@pytest.mark.parametrize(("mode", "name", "kind"), CASES)
def test_the_question_itself_holds_no_answer(mode: str, name: str, kind: Kind) -> None:
    """A model that says the question again, and nothing else, has not answered it."""
    _, user = sent(mode, name, view(kind))
    question = user.rpartition("Now yours.")[2]  # what the examples answer is theirs
    if name == "livecodebench" and kind is EXECUTION:
        question = user[user.rindex("[PYTHON]") :]
    assert extract_answer(kind, question, "spiral").code == ""


def test_the_examples_of_livecodebench_s_structure_are_right() -> None:
    """Their programs are run here, and answered as our extractions would read the examples."""
    for name in ("cot", "livecodebench"):
        _, user = sent("single_shot", name, view(EXECUTION))
        examples = user.split("[PYTHON]\n")[1:-1]
        assert examples
        for example in examples:
            program, _, reply = example.partition("[/PYTHON]\n")
            code, _, question = program.rpartition("assert ")
            call = question.removesuffix(" == ??\n")
            scope: dict[str, object] = {}
            exec(f"from typing import List\n{code}", scope)
            value = eval(call, scope)
            entry_point = call.partition("(")[0]
            assert eval(extract_answer(EXECUTION, reply, entry_point).code) == value
            if name == "livecodebench":
                assert eval(extract_lcb_execution(reply, entry_point).code) == value
