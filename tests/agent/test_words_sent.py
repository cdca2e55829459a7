"""Every word that a model is sent comes from a template, or is a value put into one.

Here the letters of all templates are Cyrillic, so a Latin word in a message is a value: code, a
verdict, a name. Any other would be a string that reaches the model without a template.
"""

import json
import re
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import Any

import pytest
from for_each import for_each
from jinja2 import Environment
from scripted import Played, Sent, call, read, run, turn, write

from harness.agent.attempt import Limits
from harness.agent.events import Refused, Request
from harness.agent.strategies.options import StrategyOptions
from harness.agent.templates.prompt_set import PromptSet, load_prompt, with_wrong_test
from harness.features.impossible.problem_reports import MARK
from harness.grading.verdict import Difference, Grade, Verdict
from harness.grading.verdict import TestResult as OneResult
from harness.models.protocol import ContextOverflowError, ModelStop, ModelTurn
from harness.problem import Kind, ProblemView, TestCase
from harness.run.plan.problem_kinds import rules_for
from harness.tools.report_problem import ReportProblem
from harness.tools.run_code import RunCode
from harness.tools.submit import Submit

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)"
NARROW = "a, b = map(int, input().split())\nprint(a + b if a < 100 else 0)"
WRONG = "print(3)"
BROKEN = "def ("
CRASHING = "raise ValueError(5)"
CPP = '#include <cstdio>\nint main() { puts("3"); }'
CASES = "Input:\n```\n1000 1\n```\nOutput:\n```\n1001\n```\n"
CODES = (RIGHT, NARROW, WRONG, BROKEN, CRASHING, CPP)

WORDS = frozenset(
    {
        # tools and their arguments, and the keys of JSON schemas
        *("read_problem", "write_solution", "write_answer", "run_tests", "run_code", "submit"),
        *("report_problem", "code", "stdin", "answer", "reason", "compile", "path"),
        *("type", "object", "string", "properties", "required", "additionalProperties", "false"),
        *("description", "default", "name", "arguments"),
        "write_sol",  # a name that the model did not finish
        # languages, the tags of fences, a template's placeholders for examples
        *("python", "Python", "cpp", "C", "your", "complete", "solution"),
        # a compiler's flags
        *("std", "gnu", "c", "O"),
        # verdicts, and where two outputs differ, as a grade has them
        *("wrong", "answer", "runtime", "error", "time", "memory", "limit", "exceeded"),
        *("line", "column", "GiB", "MiB"),
    }
)
SAID = frozenset({"s", "is", "are"})
"""Words in expressions of the bundled templates that are said, and not compared."""
OF_OTHERS = (
    # pydantic's errors
    r"Field required|Input should be a valid string|EOF while parsing[ a-z]*|expected[ a-z`]*"
    r"|key must be a string at line \d+ column \d+"
    # Python's own
    r"|(?s:Traceback \(most recent call last\):.*?Error: [^\n]*)|File \"[^\"]*\"[^\n]*"
    r"|SyntaxError: [^\n]*|ValueError: [^\n]*"
)
"""What others than the harness say in an error."""


@pytest.fixture
def strange() -> Callable[..., PromptSet]:
    def strange(mode: str = "agentic", **where: Any) -> PromptSet:
        prompt = load_prompt("default", mode, **where)
        parts = {name: in_cyrillic(source) for name, source in prompt.parts.items()}
        return prompt.model_copy(update={"parts": parts})

    return strange


def in_cyrillic(template: str) -> str:
    """Return a template that says everything in one letter.

    Words in its expressions are its own as well; other strings there are compared with values.
    """
    pieces: list[str] = []
    for _, kind, text in Environment(autoescape=True).lex(template):
        said = kind == "string" and (" " in text or text[1:2].isupper() or text[1:-1] in SAID)
        if kind == "data" or said:
            pieces.append(re.sub(r"(?<!%)[A-Za-z]", "ж", text))
        else:
            pieces.append(text)
    return "".join(pieces)


def latin(sent: Sent) -> set[str]:
    """The Latin words of a request that are no known value."""
    texts = [getattr(each, "content", "") for each in sent.messages]
    for spec in sent.tools:
        texts += [spec.description, json.dumps(spec.parameters, ensure_ascii=False)]
    words: set[str] = set()
    for text in texts:
        rest = text
        for code in CODES:
            for given in (code, json.dumps(code)[1:-1]):
                rest = rest.replace(given, " ")
        rest = re.sub(OF_OTHERS, " ", rest)
        words |= set(re.findall(r"[A-Za-z][A-Za-z_]*", rest))
    return words - WORDS


def stopped(model_turn: ModelTurn, reason: Any) -> ModelTurn:
    return model_turn.model_copy(update={"stop": ModelStop(reason=reason)})


def said(code: str, tag: str = "python") -> ModelTurn:
    return turn(text=f"```{tag}\n{code}\n```")


def in_text(name: str, **arguments: str) -> str:
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"


LONG = {"limits": Limits(turns=99, tokens=10**6)}
FRESH = {"options": StrategyOptions(context="fresh", show_budget=True, repeats=9), **LONG}
GROW = {"options": StrategyOptions(context="grow", show_budget=True, repeats=9), **LONG}
CHECK = {"options": StrategyOptions(check_turns=2)}
FURTHER = {"tools": (*rules_for(Kind.CODE_GENERATION).tools, RunCode(), Submit(), ReportProblem())}
HM = turn(text="Hm.")
TOO_LONG = ContextOverflowError("HTTP 400: too long")

NATIVE: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "errors of calls": (
        [
            turn(run(), read(), call("compile"), call("write_solution", '{"code": [1')),
            turn(read(), call("write_solution"), call("write_solution", '{"code": [1')),
            turn(write(" "), write("#" * 300_000), call("run_tests", '{"path": 1}')),
            turn(read(), stopped(turn(call("write_solution", "{")), "max_tokens").tool_calls[0]),
            stopped(turn(read(), call("write_solution", '{"code": "a, b')), "max_tokens"),
            stopped(turn(read(), call("write_sol")), "max_tokens"),
            turn(write(WRONG), call("write_solution"), run(), run(), write(WRONG)),
            turn(write(BROKEN), run()),
            turn(write(CRASHING), run()),
            turn(write(RIGHT), run()),
        ],
        GROW,
    ),
    "bounds of calls": ([turn(write(WRONG), *[run()] * 40)], {"limits": Limits(tool_calls=34)}),
    "reminders": (
        [
            HM,
            turn(read()),
            stopped(HM, "max_tokens"),
            turn(write(WRONG)),
            HM,
            turn(run()),
            HM,
            turn(read()),
            said(NARROW),
            turn(read()),
            stopped(HM, "content_filter"),
            turn(write(RIGHT), run()),
        ],
        LONG,
    ),
    "repairs": ([turn(write(WRONG), run()), TOO_LONG, turn(write(RIGHT), run())], FRESH),
    "check turns": (
        [turn(write(NARROW), run()), turn(text=CASES), turn(write(RIGHT), run())],
        CHECK,
    ),
    "the loop in text at last": ([HM, HM, said(WRONG), said(RIGHT)], {}),
    "calls in text": (
        [
            turn(text=f"{in_text('write_solution', code=WRONG)}\n{in_text('run_tests')}"),
            turn(write(RIGHT), run()),
        ],
        {},
    ),
    "further tools": (
        [
            turn(call("submit"), call("report_problem", '{"reason": " "}')),
            turn(call("run_code", json.dumps({"code": "", "stdin": "1"})), call("run_code")),
            turn(call("run_code", json.dumps({"code": BROKEN}))),
            turn(call("run_code", json.dumps({"code": WRONG}))),
            turn(write(WRONG), call("submit"), run()),
        ],
        FURTHER | LONG,
    ),
}
TEXT: dict[str, tuple[list[Any], dict[str, Any]]] = {
    name: (
        [
            said(WRONG),
            HM,
            said(WRONG),
            stopped(HM, "max_tokens"),
            said(BROKEN),
            stopped(HM, "content_filter"),
            said(CRASHING),
            said(RIGHT),
        ],
        how,
    )
    for name, how in (("grow", GROW), ("fresh", FRESH))
} | {
    "overflow": ([said(WRONG), TOO_LONG, said(RIGHT)], GROW),
    "check turns in text": ([said(NARROW), turn(text=CASES), said(RIGHT)], CHECK),
    "going on": (
        [said(RIGHT), HM],
        {"options": StrategyOptions(context="grow", stop_on_pass=False)},
    ),
    "further tools in text": (
        [turn(text=in_text("run_code", code=WRONG)), turn(text=in_text("submit")), said(RIGHT)],
        FURTHER | GROW,
    ),
}
OTHER_MODES: dict[str, list[ModelTurn]] = {
    "single_shot": [said(WRONG)],
    "self_repair": [said(WRONG), said(RIGHT)],
    "best_of_k_public": [said(WRONG), said(RIGHT)],
    "reflexion": [turn(text=CASES), said(WRONG), turn(text="7"), said(RIGHT)],
    "codet": [turn(text=CASES), said(WRONG), said(RIGHT)],
    "map_coder": [*(turn(text=each) for each in "789"), said(WRONG), said(RIGHT)],
}
CELLS = [("native", *each) for each in NATIVE.items()] + [("text", *each) for each in TEXT.items()]


@pytest.fixture
def wordless(problem: ProblemView) -> ProblemView:
    return problem.model_copy(update={"title": "1", "statement": "2 3"})


@for_each(("protocol", "cell"), [(p, cell) for p, _, cell in CELLS])
async def test_every_word_of_a_program_s_requests_is_a_template_s_or_a_value(
    play: Play,
    wordless: ProblemView,
    strange: Callable[..., PromptSet],
    protocol: str,
    cell: tuple[list[Any], dict[str, Any]],
) -> None:
    script, how = cell
    played = await play(*script, view=wordless, prompt=strange(), tool_use=protocol, **how)
    asked = [event for event in played.events if isinstance(event, Request | Refused)]
    in_another_way = sum(isinstance(event, Refused) for event in asked[:-1])
    assert len(played.heard) == min(len(script), played.attempt.model_calls + in_another_way)
    _look(played)


@for_each("mode", OTHER_MODES)
async def test_every_word_of_other_modes_is_a_template_s_or_a_value(
    play: Play, wordless: ProblemView, strange: Callable[..., PromptSet], mode: str
) -> None:
    script, options = OTHER_MODES[mode], StrategyOptions(best_of=2)
    played = await play(*script, view=wordless, prompt=strange(mode), mode=mode, options=options)
    assert len(played.heard) == len(script)
    _look(played)


@for_each("protocol", ["native", "text"])
async def test_every_word_about_wrong_tests_is_a_template_s_or_a_value(
    play: Play, wordless: ProblemView, strange: Callable[..., PromptSet], protocol: str
) -> None:
    report = turn(call("report_problem", json.dumps({"reason": "7"})))
    played = await play(
        report if protocol == "native" else said(RIGHT),
        view=wordless,
        prompt=with_wrong_test(strange()),
        tool_use=protocol,
        **FURTHER,
    )
    _look(played, set(MARK.strip(":").split()))


@for_each("kind", [Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION])
@for_each("protocol", ["native", "text"])
async def test_every_word_of_a_value_question_is_a_template_s_or_a_value(
    play: Play,
    wordless: ProblemView,
    strange: Callable[..., PromptSet],
    kind: Kind,
    protocol: str,
) -> None:
    view = wordless.model_copy(
        update={"kind": kind, "public_tests": (), "call": "1", "code": WRONG}
    )
    asked = [call("write_answer", json.dumps({"answer": text})) for text in ("", "x", "7")]
    native = [turn(read(), *asked[:2]), HM, turn(asked[2]), HM]
    script = native if protocol == "native" else [HM, turn(text="[ANSWER]7[/ANSWER]")]
    prompt = strange(kind=kind)
    played = await play(*script, view=view, prompt=prompt, tool_use=protocol)
    _look(played, {"has", "the", "name", "x"})  # why it is no literal, as the judge says it


@for_each("protocol", ["native", "text"])
@for_each("language", ["cpp", "python"])
async def test_every_word_of_a_dialogue_in_either_language_is_a_template_s_or_a_value(
    play: Play,
    wordless: ProblemView,
    strange: Callable[..., PromptSet],
    protocol: str,
    language: str,
) -> None:
    tests = (TestCase(input="70\n", output="", public=True),)
    view = wordless.model_copy(update={"judge": "dialogue", "public_tests": tests})
    failed = OneResult(
        index=0,
        public=True,
        verdict=Verdict.WRONG_ANSWER,
        cpu_s=0.1,
        wall_s=0.1,
        got=">5\n<7",
        difference=Difference(where="7 7", expected="", got="5"),
    )
    code = CPP if language == "cpp" else WRONG
    grade = Grade(verdict=Verdict.WRONG_ANSWER, tests=(failed,), public_total=1)
    steps = {
        "native": [turn(read()), turn(write(code), run()), HM, HM],
        "text": [said(code, language), HM],
    }
    script = steps[protocol]
    played = await play(
        *script,
        view=view,
        prompt=strange(language=language),
        tool_use=protocol,
        judged={(view, language, code): grade},
        language=language,
        limits=Limits(turns=len(script)),
    )
    _look(played)


def _look(played: Played, also: frozenset[str] | set[str] = frozenset()) -> None:
    assert any("ж" in str(sent.messages) for sent in islice(played.heard, 1))
    found = {number: latin(sent) - also for number, sent in enumerate(played.heard, 1)}
    assert {number: words for number, words in found.items() if words} == {}
