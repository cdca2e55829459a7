"""The loop in text: what each request holds, when it begins anew, and what it hands in."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from chat_server import ChatServer, completion, in_turn
from for_each import for_each
from scripted import Played, Sent, call, rebuild, turn

from harness.agent.attempt import ChosenBy, Limits, LoopFacts, StopReason
from harness.agent.events import NewConversation
from harness.agent.events import Tested as StrategyTested
from harness.agent.strategies.options import Context, StrategyOptions
from harness.agent.templates.prompt_set import load_prompt
from harness.agent.text_loop import REPEATED
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.protocol import (
    ContextOverflowError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    ToolCall,
)
from harness.problem import ProblemView
from harness.tools.read_problem import ReadProblem
from harness.tools.run_code import RunCode
from harness.tools.run_tests import RunTests
from harness.tools.submit import Submit
from harness.tools.write_solution import WriteSolution

Play = Callable[..., Awaitable[Played]]

RIGHT = "print(sum(map(int, input().split())))"
ONE_PASSES = "input()\nprint(3)"
SAME_TREE = "input()\nprint( 3 )  # the same"
NONE_PASSES = "input()\nprint('x')"
ALSO_NONE = "input()\nprint('y')"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}

REPORT = """1 of 2 public tests passed.

Test 2: wrong answer.
Input:
10 -4
Expected:
6
Got:
3
First difference, line 1, column 1: expected '6', got '3'

Passed: test 1."""
MEND = (
    "First say in two or three sentences what is wrong. If the algorithm itself is at fault, "
    "choose another. Then give the whole corrected program once, in one fenced python code block, "
    "the last thing in your answer."
)


def fence(code: str) -> str:
    return f"So:\n```python\n{code}\n```"


def said(code: str) -> ModelTurn:
    return turn(text=fence(code))


def options(context: Context, **more: Any) -> StrategyOptions:
    return StrategyOptions(context=context, **more)


@pytest.fixture
def play(play: Play) -> Play:
    return partial(play, tool_use="text")


@pytest.fixture
def opening(problem: ProblemView) -> list[str]:
    return [each.content for each in load_prompt("default", "single_shot").render(problem, 2.0)]


def texts(sent: Sent) -> list[str]:
    return [str(getattr(each, "content", getattr(each, "text", ""))) for each in sent.messages]


def last(sent: Sent) -> str:
    return texts(sent)[-1]


def anew(played: Played) -> list[tuple[int, str]]:
    events = [event for event in played.events if isinstance(event, NewConversation)]
    return [(event.turn, event.cause) for event in events]


@for_each("context", ["grow", "fresh"])
async def test_the_requests_of_the_loop_in_text_are_these_bytes(
    play: Play, opening: list[str], context: Context
) -> None:
    """As a loopback server receives them: no tools, the single shot's opening, what failed."""
    answers = [fence(ONE_PASSES), "Let me think.", fence(RIGHT)]
    async with ChatServer(in_turn(*(completion(text, usage=USAGE) for text in answers))) as server:
        client = OpenAIChat("m", model="m", base_url=server.base_url, api_key="none")
        played = await play(through=lambda _: client, options=options(context))
        await client.close()
    system, user = (
        {"role": r, "content": c} for r, c in zip(("system", "user"), opening, strict=True)
    )
    repair = (
        f"{opening[1]}\n\n## Your program\n\nIt does not pass the public tests. This is the "
        f"program that was run:\n\n```python\n{ONE_PASSES}\n```\n\n## What happened\n\n"
        f"{REPORT}\n\n## What to do\n\n{MEND}"
    )
    again = repair.replace("It does", "It still does").replace(
        "## What happened\n\n",
        "## What happened\n\nThere was no program in your last answer; this is the one before "
        "it.\n\n",
    )
    none = (
        "There was no program in your answer.\n\nGive the whole program in one fenced python code "
        "block."
    )

    def answered(text: str) -> dict[str, str]:
        return {"role": "assistant", "content": text}

    def asked(text: str) -> dict[str, str]:
        return {"role": "user", "content": text}

    first = [system, user]
    second = [*first, answered(answers[0]), asked(f"{REPORT}\n\n{MEND}")]
    expected = {
        "grow": [first, second, [*second, answered(answers[1]), asked(none)]],
        "fresh": [first, [system, asked(repair)], [system, asked(again)]],
    }
    assert [each.body["messages"] for each in server.requests] == expected[context]
    assert not any("tools" in each.body for each in server.requests)
    assert rebuild(played.events) == [sent.messages for sent in played.heard]
    attempt = played.attempt
    assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert (attempt.code, attempt.chosen_by) == (RIGHT, ChosenBy.PASSED_PUBLIC_TESTS)
    assert (attempt.tool_protocol, attempt.fallback, attempt.tool_calls) == ("text", False, 0)
    assert attempt.loop == LoopFacts(later=2, new_programs=1, silent=1)


@for_each("mode", ["single_shot", "self_repair", "best_of_k_public"])
async def test_the_first_request_is_the_single_shots(
    play: Play, opening: list[str], mode: str
) -> None:
    for played in (await play(said(RIGHT), mode=mode), await play(said(RIGHT))):
        assert texts(played.heard[0]) == opening


class TestRepeats:
    @for_each("context", ["grow", "fresh"])
    async def test_a_repeat_begins_anew_twice_and_then_ends(
        self, play: Play, opening: list[str], context: Context
    ) -> None:
        script = [said(ONE_PASSES), *[said(SAME_TREE)] * 3]
        played = await play(*script, options=options(context))
        assert played.attempt.stop_reason is StopReason.REPEATED_SOLUTION
        assert played.attempt.loop.repeats == 3
        assert played.attempt.loop.restarts == 2
        begun = [turn for turn, cause in anew(played) if cause == REPEATED]
        assert begun == [2, 3]
        assert [texts(sent) for sent in played.heard[2:]] == [opening] * 2
        tested = [event for event in played.events if isinstance(event, StrategyTested)]
        assert len(tested) == 1  # a program is run once

    async def test_a_cycle_is_a_repeat(self, play: Play, opening: list[str]) -> None:
        codes = [ONE_PASSES, NONE_PASSES, SAME_TREE, RIGHT]
        played = await play(*map(said, codes), options=options("grow"))
        assert anew(played) == [(3, REPEATED)]
        assert texts(played.heard[3]) == opening
        assert played.attempt.code == RIGHT

    @for_each("context", ["grow", "fresh"])
    async def test_at_temperature_0_a_repeat_is_the_end(self, play: Play, context: Context) -> None:
        settings = ModelSettings(temperature=0.0)
        played = await play(
            said(ONE_PASSES), said(ONE_PASSES), options=options(context), settings=settings
        )
        assert played.attempt.stop_reason is StopReason.REPEATED_SOLUTION
        assert anew(played)[1:] == []
        assert played.attempt.code == ONE_PASSES

    async def test_as_many_repeats_as_set_begin_anew(self, play: Play) -> None:
        script = [said(ONE_PASSES), said(ONE_PASSES), said(ONE_PASSES), said(RIGHT)]
        played = await play(*script, options=options("grow", repeats=2))
        assert anew(played) == [(3, REPEATED)]
        assert last(played.heard[2]).startswith(
            "This is the same program as before: 1 of 2 public tests passed."
        )
        assert REPORT not in last(played.heard[2])  # an unchanged report is not sent twice

    async def test_messages_without_a_program_begin_anew_too(
        self, play: Play, opening: list[str]
    ) -> None:
        script = [said(ONE_PASSES), *[turn(text="Hm.")] * 2, said(RIGHT)]
        played = await play(*script, options=options("grow"))
        assert anew(played) == [(3, REPEATED)]
        assert texts(played.heard[3]) == opening
        assert (played.attempt.loop.silent, played.attempt.nudges) == (2, 1)

    @for_each("mode", ["self_repair", "best_of_k_public"])
    async def test_shots_and_self_repair_know_no_repeat(self, play: Play, mode: str) -> None:
        played = await play(
            *[said(ONE_PASSES)] * 3,
            mode=mode,
            options=StrategyOptions(best_of=3, repair_rounds=2),
            settings=ModelSettings(temperature=0.0),
        )
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert played.attempt.model_calls == 3


class TestEnd:
    async def test_the_program_that_passes_most_is_final_and_of_equals_the_earliest(
        self, play: Play
    ) -> None:
        codes = [NONE_PASSES, ONE_PASSES, f"{ONE_PASSES}\nx = 1", ALSO_NONE]
        played = await play(*map(said, codes), options=options("fresh"), limits=Limits(turns=4))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.TURN_LIMIT
        assert (attempt.code, attempt.chosen_by) == (ONE_PASSES, ChosenBy.MOST_PUBLIC_TESTS)
        assert [each.report.passed for each in attempt.revisions if each.report] == [0, 1, 1, 0]

    async def test_without_public_tests_the_first_program_is_the_end(
        self, play: Play, problem: ProblemView
    ) -> None:
        view = problem.model_copy(update={"public_tests": ()})
        played = await play(said(NONE_PASSES), view=view)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.code, played.attempt.model_calls) == (NONE_PASSES, 1)

    async def test_a_refusal_ends_it_and_what_was_written_is_graded(self, play: Play) -> None:
        refusal = turn(text="I can't help.").model_copy(
            update={"stop": ModelStop(reason="refusal")}
        )
        played = await play(said(ONE_PASSES), refusal)
        attempt = played.attempt
        assert (attempt.code, attempt.refused) == (ONE_PASSES, True)
        assert attempt.stop_reason is StopReason.MODEL_STOPPED

    @for_each(
        ("reason", "told"),
        [("max_tokens", "Your answer was cut off"), ("content_filter", "withheld by a content")],
    )
    async def test_an_answer_cut_off_or_withheld_is_told_so(
        self, play: Play, reason: Any, told: str
    ) -> None:
        broken = turn(text="Hm").model_copy(update={"stop": ModelStop(reason=reason)})
        played = await play(broken, said(RIGHT), options=options("grow"))
        assert told in last(played.heard[1])
        assert played.attempt.code == RIGHT

    async def test_going_on_after_passing_ends_with_an_answer_without_a_program(
        self, play: Play
    ) -> None:
        played = await play(
            said(RIGHT), turn(text="Done."), options=options("grow", stop_on_pass=False)
        )
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert "Hidden tests have larger inputs" in last(played.heard[1])


class TestCallsInText:
    """Calls are read whatever the model was told; only further tools are told of."""

    def block(self, name: str, **arguments: str) -> str:
        return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"

    async def test_a_program_in_a_call_is_a_program(self, play: Play) -> None:
        text = self.block("write_solution", code=RIGHT) + "\n" + self.block("run_tests")
        played = await play(turn(text=text))
        assert (played.attempt.code, played.attempt.tool_calls) == (RIGHT, 0)
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_a_further_tool_is_told_of_and_carried_out(
        self, play: Play, opening: list[str]
    ) -> None:
        tools = (WriteSolution(), RunTests(), RunCode())
        text = self.block("run_code", code="print(input()[::-1])", stdin="abc")
        script = [turn(text=text), said(RIGHT)]
        played = await play(*script, tools=tools, options=options("grow"))
        manual = texts(played.heard[0])[0].removeprefix(opening[0]).strip()
        assert manual.startswith("Besides answering with a program you can call tools.")
        assert "- run_code: Run any Python program" in manual
        assert "write_solution" not in manual
        assert "run_tests" not in manual
        assert not any(sent.tools for sent in played.heard)
        assert last(played.heard[1]).startswith("Result of run_code:\n\nThe program finished after")
        assert "cba" in last(played.heard[1])
        assert rebuild(played.events) == [sent.messages for sent in played.heard]
        assert (played.attempt.tool_calls, played.attempt.code) == (1, RIGHT)
        again = await play(recorded=played.events, tools=tools, options=options("grow"))
        assert (again.heard, again.attempt.code) == ([], RIGHT)

    async def test_submit_ends_the_loop_in_text(self, play: Play) -> None:
        tools = (WriteSolution(), RunTests(), Submit())
        script = [said(ONE_PASSES), turn(text=self.block("submit"))]
        played = await play(*script, tools=tools, options=options("grow"))
        assert played.attempt.stop_reason is StopReason.SUBMITTED
        assert played.attempt.code == ONE_PASSES


@for_each("context", ["grow", "fresh"])
async def test_an_overflow_in_one_conversation_opens_a_new_one(
    play: Play, opening: list[str], context: Context
) -> None:
    too_long = ContextOverflowError("HTTP 400: too long")
    played = await play(said(ONE_PASSES), too_long, said(RIGHT), options=options(context))
    if context == "fresh":  # it is new already, and no shorter one is known
        assert played.attempt.stop_reason is StopReason.CONTEXT_LIMIT
        assert (played.attempt.code, played.attempt.error) == (ONE_PASSES, str(too_long))
        return
    assert anew(played) == [(1, "HTTP 400: too long")]
    assert texts(played.heard[2])[0] == opening[0]
    assert ONE_PASSES in last(played.heard[2])
    assert REPORT in last(played.heard[2])
    assert (played.attempt.code, played.attempt.model_calls) == (RIGHT, 2)
    assert played.attempt.loop.renewed == 1
    again = await play(recorded=played.events, options=options(context))
    assert (again.heard, again.attempt.code) == ([], RIGHT)


@for_each("odd", [call("nope"), call("run_code", "{}")])
async def test_no_error_of_a_call_names_a_tool_that_the_model_was_not_told_of(
    play: Play, odd: ToolCall
) -> None:
    """Some servers read calls by themselves, and a model may call what it was trained with."""
    tools = (ReadProblem(), WriteSolution(), RunTests(), RunCode())
    script = [turn(odd), turn(odd), said(RIGHT)]
    played = await play(*script, tools=tools, options=options("grow", repeats=9))
    assert played.attempt.code == RIGHT
    for sent in played.heard[1:]:
        for name in ("read_problem", "write_solution", "run_tests"):
            assert name not in last(sent)
