"""What a model is sent, word for word, as text files in `tests/golden/prompts/`.

    HARNESS_WRITE_GOLDEN=1 pytest tests/agent/test_prompts_sent.py

writes them anew. Read them as a model does: one after the other, and nothing else.
"""

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from contest_packages import only, write_package
from for_each import for_each
from scripted import Played, Sent, run, turn, write

from harness.agent.attempt import Limits
from harness.agent.strategies.options import StrategyOptions
from harness.agent.templates.prompt_set import Told, load_prompt, with_wrong_test
from harness.features.impossible.problem_reports import MARK
from harness.features.info.rendering import Rendering
from harness.models.protocol import AssistantMessage, Message, ModelTurn
from harness.problem import Kind, Problem
from harness.run.settings.spec import RunSpec
from harness.sources.benchmarks import load
from harness.sources.selection import Selection, select

Play = Callable[..., Awaitable[Played]]
GOLDEN = Path(__file__).parents[1] / "golden" / "prompts"
ONCE = "result"
"""A part whose many texts are the same for all problems, so that they stand in one file."""

ROWS: dict[str, dict[str, Any]] = {
    "no_public_tests": {
        "title": "Sum",
        "statement": "Print the sum of two integers.",
        "tests": [{"input": "1 2", "output": "3", "public": False}],
    },
    "code_tests": {
        "title": "Area",
        "statement": "Return the area of a circle.",
        "entry_point": "area",
        "starter_code": "def area(r):\n",
        "test_setup": "import math",
        "public_test": ["assert area(0) == 0"],
        "test": ["assert math.isclose(area(1), math.pi)"],
    },
}
JUDGE = {
    "problem_statement/problem.en.tex": "Guess the judge's number $n$.",
    "output_validators/judge/judge.py": "raise SystemExit(42)",
}
QUESTIONS = {
    Kind.TEST_OUTPUT_PREDICTION: {"statement": "Return twice the number."},
    Kind.CODE_EXECUTION: {"statement": "", "code": "def twice(x):\n    return x + x\n"},
}
NATIVE, IN_TEXT = {"tool_protocol": "native"}, {"tool_protocol": "text"}
RENDERED: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"{problem}-{name}": (problem, {"mode": "agentic", **how})
        for problem in (
            *("program", "function", "cpp_program", "cpp_function", "dialogue"),
            *("no_public_tests", "code_tests", *QUESTIONS),
        )
        for name, how in (("native", NATIVE), ("text", IN_TEXT))
    },
    "further_tools-text": ("program", {"mode": "agentic", "run_code_tool": True, **IN_TEXT}),
    **{
        mode: ("program", {"mode": mode})
        for mode in ("self_repair", "best_of_k_public", "codet", "reflexion", "map_coder")
    },
}


def _question(kind: Kind) -> Problem:
    facts: dict[str, Any] = {
        "id": kind.value,
        "source": "own",
        "title": "Twice",
        "platform": "",
        "difficulty": None,
        "difficulty_word": "",
        "starter_code": "def twice(x):\n    " if kind is Kind.TEST_OUTPUT_PREDICTION else "",
        "entry_point": "twice",
        "call": "twice(3)",
    }
    (any_problem,) = select(load("fixture").problems, Selection(tasks=("bell-and-gong",))).problems
    changed = {**facts, **QUESTIONS[kind], "kind": kind}
    return any_problem.model_copy(update=changed)


@pytest.fixture
def problem_of(tmp_path: Path) -> Callable[[str], tuple[Problem, str]]:
    """Returns a kind's problem and the language of its solutions."""

    def problem_of(kind: str) -> tuple[Problem, str]:
        named = {"program": "till-roll", "function": "second-summit"}
        if kind in QUESTIONS:
            return _question(Kind(kind)), "python"
        if kind == "dialogue":
            settings = "name: Guess\nvalidation: custom interactive\n"
            return only(write_package(tmp_path / "guess", settings, JUDGE)), "python"
        if kind in ROWS:
            path = tmp_path / f"{kind}.jsonl"
            path.write_text(json.dumps({"id": kind, **ROWS[kind]}))
            (problem,) = load(f"jsonl:{path}").problems
            return problem, "python"
        slug = named[kind.removeprefix("cpp_")]
        (problem,) = select(load("fixture").problems, Selection(tasks=(slug,))).problems
        return problem, "cpp" if kind.startswith("cpp_") else "python"

    return problem_of


@for_each("name", RENDERED)
def test_the_texts_of_a_mode_for_a_kind_of_problem_are_as_they_were(
    problem_of: Callable[[str], tuple[Problem, str]], name: str
) -> None:
    kind, settings = RENDERED[name]
    problem, language = problem_of(kind)
    spec = RunSpec.model_validate({"language": language, **settings})
    prompt = load_prompt("default", spec.mode, problem.kind, language)
    texts = [
        f"--- {title}\n{text}\n"
        for title, text in Rendering.of(spec, problem, prompt).texts()
        if name == "program-native" or not title.startswith(f"later, {ONCE}")
    ]
    if name.endswith("-text"):
        assert not any(tool in text for text in texts for tool in ("write_", "run_tests", "read_"))
    _check(name, texts)


NARROW = "a, b = map(int, input().split())\nprint(a + b if a < 100 else 0)"
WRONG = "print(3)"
CASES = "Input:\n```\n1000 1\n```\nOutput:\n```\n1001\n```\n"
HM = turn(text="Hm.")


def _said(code: str) -> ModelTurn:
    return turn(text=f"Add them.\n\n```python\n{code}\n```")


CHECKED = StrategyOptions(check_turns=2)
SPOKEN = (_said(WRONG), HM, _said(WRONG), _said("print("), _said(NARROW), turn(text=CASES), HM)
PLAYED: dict[str, tuple[Sequence[ModelTurn], dict[str, Any]]] = {
    "played-text-fresh": (
        SPOKEN,
        {"tool_use": "text", "options": StrategyOptions(context="fresh", check_turns=2)},
    ),
    "played-text-grow": (
        SPOKEN,
        {"tool_use": "text", "options": StrategyOptions(context="grow", repeats=2, check_turns=2)},
    ),
    "played-native": (
        (
            turn(write(WRONG), run()),
            HM,
            turn(write(WRONG), run()),
            turn(write("print("), run()),
            turn(write(NARROW), run()),
            turn(text=CASES),
            HM,
        ),
        {"options": StrategyOptions(repeats=2, check_turns=2)},
    ),
    "played-self_repair": ((_said(WRONG), _said(NARROW)), {"mode": "self_repair"}),
}


@for_each("name", PLAYED)
async def test_the_messages_of_a_conversation_are_as_they_were(play: Play, name: str) -> None:
    script, settings = PLAYED[name]
    played = await play(*script, limits=Limits(turns=9), **settings)
    _check(name, list(_requests(played.heard)))


def _requests(heard: Sequence[Sent]) -> Iterator[str]:
    """Yield what is new in each request; a new conversation is written whole."""
    before: tuple[Message, ...] = ()
    for number, sent in enumerate(heard, 1):
        goes_on = bool(before) and sent.messages[: len(before)] == before
        yield f"=== request {number}{'' if goes_on else ', a new conversation'}\n"
        for message in sent.messages[len(before) if goes_on else 0 :]:
            yield f"--- {message.role}\n{_text(message)}\n"
        before = sent.messages


def _text(message: Message) -> str:
    if not isinstance(message, AssistantMessage):
        return message.content
    calls = [f"[{call.name} {call.arguments}]" for call in message.tool_calls]
    return "\n".join([*filter(None, [message.text]), *calls])


def _check(name: str, texts: Sequence[str]) -> None:
    path, text = GOLDEN / f"{name}.txt", "\n".join(texts)
    if os.environ.get("HARNESS_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@for_each("tools", [(), ("report_problem",)])
def test_the_model_is_told_the_mark_of_a_wrong_test_that_is_read(tools: tuple[str, ...]) -> None:
    prompt = with_wrong_test(load_prompt("default", "agentic"))
    assert f"begins with `{MARK}`" in (prompt.shared_system(10, Told(native=tools)) or "")


def test_each_file_of_texts_is_compared() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*RENDERED, *PLAYED}
