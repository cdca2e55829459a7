"""Single shot: one request without tools, and the code in the answer."""

from collections.abc import Awaitable, Callable
from typing import Literal

from for_each import for_each
from scripted import NEVER, USAGE, Played, rebuild, turn

from harness.agent.attempt import Limits, StopReason
from harness.models.protocol import ContextOverflowError, ModelError, ModelStop

Play = Callable[..., Awaitable[Played]]

RIGHT = "print(sum(map(int, input().split())))"


async def test_single_shot_asks_once_and_takes_the_code(play: Play) -> None:
    played = await play(turn(text=f"So:\n```python\n{RIGHT}\n```\n"), mode="single_shot")
    attempt = played.attempt
    assert (attempt.code, attempt.chosen_by) == (RIGHT, "answer")
    assert attempt.extraction == "python block with entry point"
    assert attempt.stop_reason is StopReason.MODEL_STOPPED
    assert (attempt.model_calls, attempt.written, attempt.tool_calls) == (1, 1, 0)
    assert attempt.usage == USAGE


async def test_the_model_is_told_of_no_tool(play: Play) -> None:
    played = await play(turn(text="No."), mode="single_shot")
    (sent,) = played.model.sent
    assert sent.tools == ()
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert rebuild(played.events) == [sent.messages]


async def test_an_answer_without_code_is_no_solution(play: Play) -> None:
    attempt = (await play(turn(text="I give up."), mode="single_shot")).attempt
    assert (attempt.code, attempt.chosen_by, attempt.written) == ("", "none", 0)


@for_each("word", ["refusal", "content_filter"])
async def test_a_refusal_is_told_from_giving_up(
    word: Literal["refusal", "content_filter"], play: Play
) -> None:
    for text, refused in (("I can't.", True), (f"```python\n{RIGHT}\n```", False)):
        model_turn = turn(text=text).model_copy(update={"stop": ModelStop(reason=word)})
        assert (await play(model_turn, mode="single_shot")).attempt.refused is refused


async def test_unknown_usage_is_not_zero(play: Play) -> None:
    attempt = (await play(turn(text=RIGHT, usage=None), mode="single_shot")).attempt
    assert not attempt.usage_known


async def test_a_provider_that_does_not_answer_is_no_exception(play: Play) -> None:
    attempt = (await play(ModelError("HTTP 500"), mode="single_shot")).attempt
    assert (attempt.stop_reason, attempt.error) == (StopReason.MODEL_ERROR, "HTTP 500")


async def test_a_problem_too_long_for_the_model_is_not_asked_for_ever(play: Play) -> None:
    attempt = (await play(ContextOverflowError("too long"), mode="single_shot")).attempt
    assert (attempt.stop_reason, attempt.error) == (StopReason.CONTEXT_LIMIT, "too long")


async def test_the_time_limit_ends_a_single_shot(play: Play) -> None:
    played = await play(NEVER, mode="single_shot", limits=Limits(seconds=0.2))
    assert played.attempt.stop_reason is StopReason.TIME_LIMIT
    assert not played.attempt.usage_known
