"""What models are asked where a problem asks for a value: every bundled set, as it is sent."""

from datetime import date

from for_each import for_each

from harness.agent.templates.prompt_set import Told, load_prompt
from harness.kinds.questions.extraction import extract_answer, extract_lcb_execution
from harness.problem import Kind, ProblemView, Signature
from harness.run.plan.problem_kinds import rules_for

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
SETS = ("default", "cot", "livecodebench")
CASES = [
    (native, name, kind)
    for native in (False, True)
    for name in SETS
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


def sent(name: str, problem: ProblemView, *, native: bool = False) -> tuple[str, str]:
    tools = tuple(tool.name for tool in rules_for(problem.kind).tools) if native else ()
    prompt = load_prompt(name, "agentic", problem.kind)
    system, user = prompt.render(problem, 6.0, told=Told(native=tools))
    return system.content, user.content


@for_each(("native", "name", "kind"), CASES)
def test_prompts_for_values_say_what_is_asked_and_how_to_answer(
    native: bool, name: str, kind: Kind
) -> None:
    problem = view(kind)
    system, user = sent(name, problem, native=native)
    both = f"{system}\n{user}"
    assert "{#" not in both
    assert "second" not in both.replace("a second time", "")  # no program runs, nothing is timed
    assert not any(word in both for word in ("public test", "hidden", "stdin", "CPU"))
    assert CALL in user
    for text in (problem.statement, problem.starter_code.rstrip(), problem.code.rstrip()):
        assert text in user
    for tool in rules_for(kind).tools:
        assert (tool.name in both) == native
    if native:
        assert "literal" in system
    elif (name, kind) == ("livecodebench", OUTPUT):
        assert "assertion" in system
    else:
        assert "literal" in both
        assert "[ANSWER]" in both


@for_each("kind", [OUTPUT, EXECUTION])
def test_with_tools_the_default_asks_for_no_answer_in_the_message(kind: Kind) -> None:
    assert "[ANSWER]" not in "\n".join(sent("default", view(kind), native=True))


@for_each("name", SETS)
def test_a_problem_without_starter_code_has_no_empty_block(name: str) -> None:
    if name != "livecodebench":
        assert "```python\n\n```" not in sent(name, view(OUTPUT, starter_code=" "))[1]


@for_each(("native", "name", "kind"), CASES)
def test_the_question_itself_holds_no_answer(native: bool, name: str, kind: Kind) -> None:
    """A model that says the question again, and nothing else, has not answered it."""
    _, user = sent(name, view(kind), native=native)
    question = user.rpartition("Now yours.")[2]  # what the examples answer is theirs
    if name == "livecodebench" and kind is EXECUTION:
        question = user[user.rindex("[PYTHON]") :]
    assert extract_answer(kind, question, "spiral").code == ""


def test_the_examples_of_livecodebench_s_structure_are_right() -> None:
    """Their programs are run here, and answered as our extractions would read the examples."""
    for name in ("cot", "livecodebench"):
        _, user = sent(name, view(EXECUTION))
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
