"""Check turns: the model names edge cases after the public tests have passed, and they are run."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from for_each import for_each
from scripted import Played, rebuild, run, turn, write

from harness.agent.attempt import ChosenBy, StopReason
from harness.agent.events import RanWrittenTests
from harness.agent.strategies.options import StrategyOptions
from harness.models.protocol import ModelTurn

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)"
NARROW = "a, b = map(int, input().split())\nprint(a + b if a < 100 else 0)"
AS_NARROW = "a, b = map(int, input().split())\nprint(a + b if a < 100 else 7)"
WRONG = "print(3)"
CASES = "Mine:\n\nInput:\n```\n1000 1\n```\nOutput:\n```\n1001\n```\n\nInput:\n```\n1 1\n```\n"
CASES += "Output:\n```\n2\n```\n"
FINE = "Input:\n```\n1 1\n```\nOutput:\n```\n2\n```\n"
WAYS = [("native", "grow"), ("native", "fresh"), ("text", "grow"), ("text", "fresh")]


@pytest.fixture(params=WAYS, ids="-".join)
def check(request: pytest.FixtureRequest, play: Play) -> Play:
    """Plays programs and words with as many check turns as given, in one of the ways."""
    protocol, context = request.param

    async def check(*steps: str, turns: int, **more: Any) -> Played:
        script = [handed_in(step) for step in steps]
        options = StrategyOptions(context=context, check_turns=turns)
        return await play(*script, options=options, tool_use=protocol, **more)

    def handed_in(step: str) -> ModelTurn:
        if step not in (RIGHT, NARROW, AS_NARROW, WRONG):
            return turn(text=step)
        if protocol == "native":
            return turn(write(step), run())
        return turn(text=f"So:\n```python\n{step}\n```")

    return check


def asked(played: Played) -> list[str]:
    return [str(getattr(sent.messages[-1], "content", "")) for sent in played.heard[1:]]


def ran(played: Played) -> list[tuple[tuple[bool, ...], ...]]:
    return [event.passed for event in played.events if isinstance(event, RanWrittenTests)]


async def test_a_contradiction_leads_to_one_more_turn_and_the_better_program_replaces(
    check: Play,
) -> None:
    played = await check(NARROW, CASES, RIGHT, turns=2)
    attempt = played.attempt
    assert (attempt.code, attempt.chosen_by) == (RIGHT, ChosenBy.PASSED_PUBLIC_TESTS)
    assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert (attempt.model_calls, ran(played)) == (3, [((False, True),), ((True, True),)])
    question, contradiction = asked(played)
    assert "All public tests passed." in question
    assert "Your program gives another answer than you expect:" in contradiction
    for part in ("1 of your own 2 tests passed.", "1000 1", "1001"):
        assert part in contradiction
    assert rebuild(played.events) == [sent.messages for sent in played.heard]
    again = await check(turns=2, recorded=played.events)
    assert again.events == again.heard == []
    assert again.attempt.code == RIGHT


@for_each("newer", [WRONG, AS_NARROW, NARROW, "The test is wrong."])
async def test_a_program_that_fails_a_public_test_or_a_case_does_not_replace(
    check: Play, newer: str
) -> None:
    played = await check(NARROW, CASES, newer, turns=2)
    assert played.attempt.code == NARROW
    assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert played.attempt.model_calls == 3


async def test_without_a_contradiction_the_sample_ends(check: Play) -> None:
    played = await check(NARROW, FINE, turns=5)
    assert (played.attempt.code, played.attempt.model_calls) == (NARROW, 2)
    assert ran(played) == [((True,),)]


async def test_there_are_no_more_check_turns_than_set(check: Play) -> None:
    played = await check(NARROW, CASES, turns=1)
    assert (played.attempt.code, played.attempt.model_calls) == (NARROW, 2)
    assert (await check(NARROW, turns=0)).attempt.model_calls == 1


@for_each("context", ["grow", "fresh"])
async def test_the_question_shows_the_problem_where_the_conversation_is_new(
    play: Play, context: Any
) -> None:
    options = StrategyOptions(context=context, check_turns=1)
    script = [turn(text=f"```python\n{NARROW}\n```"), turn(text=FINE)]
    played = await partial(play, tool_use="text", options=options)(*script)
    opening = str(getattr(played.heard[0].messages[1], "content", ""))
    (question,) = asked(played)
    assert question.startswith(opening) is (context == "fresh")
    assert (f"```python\n{NARROW}\n```" in question) is (context == "fresh")
    assert len(played.heard[1].messages) == (2 if context == "fresh" else 4)
