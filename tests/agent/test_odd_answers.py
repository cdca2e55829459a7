"""Whatever a model answers, something defined comes of it: the table in `harness.agent.episode`."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from for_each import for_each
from scripted import Played, call, read, run, turn, write

from harness.agent.attempt import Limits, StopReason
from harness.agent.episode import MOST_IN_A_ROW
from harness.agent.events import SampleEnd
from harness.models.protocol import ModelStop, ModelTurn, UserMessage
from harness.run.store.transcript import EVENT

Play = Callable[..., Awaitable[Played]]

NO_CALL = "No tool was called."
CUT_OFF = "Your message was cut off by its token limit before any tool was called. Be brief."
FILTERED = "Your message was withheld by a content filter. Put it in other words and go on."
RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = "print(3)\n"
PROSE = f"```python\n{RIGHT}```"


def stopped(model_turn: ModelTurn, reason: Any, word: str | None = None) -> ModelTurn:
    return model_turn.model_copy(update={"stop": ModelStop(reason=reason, provider_word=word)})


def told(played: Played) -> list[str]:
    """What the harness said to the model after the opening, tools apart."""
    messages = [message for message in played.last_sent if isinstance(message, UserMessage)]
    return [message.content for message in messages[1:]]


class TestCalls:
    @for_each(
        "arguments",
        [json.dumps({"code": RIGHT}), json.dumps(json.dumps({"code": RIGHT}))],
        ids=["once", "twice"],
    )
    async def test_arguments_may_be_encoded_twice(self, play: Play, arguments: str) -> None:
        played = await play(turn(call("write_solution", arguments), run()))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (played.attempt.code, played.attempt.malformed_tool_calls) == (RIGHT, 0)

    async def test_arguments_encoded_three_times_are_refused(self, play: Play) -> None:
        thrice = json.dumps(json.dumps(json.dumps({"code": RIGHT})))
        played = await play(turn(call("write_solution", thrice)), limits=Limits(turns=1))
        assert "a JSON object is expected" in played.results[0].content

    async def test_a_call_cut_off_by_the_token_limit_is_told_as_such(self, play: Play) -> None:
        cut = stopped(turn(read(), call("write_solution", '{"code": "a, b = m')), "max_tokens")
        played = await play(cut, turn(write(RIGHT), run()))
        first, second = played.results[:2]
        assert not first.is_error
        assert (second.is_error, second.malformed) == (True, True)
        assert "cut off by the token limit" in second.content
        assert "Call write_solution again" in second.content
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_an_earlier_call_of_a_message_is_not_taken_as_cut_off(self, play: Play) -> None:
        broken = call("write_solution", '{"code": 5}')
        played = await play(stopped(turn(broken, read()), "max_tokens"), turn(write(RIGHT), run()))
        assert "code: Input should be a valid string" in played.results[0].content

    async def test_a_call_cut_off_within_its_name_is_answered_with_the_tools(
        self, play: Play
    ) -> None:
        cut = stopped(turn(call("write_sol")), "max_tokens")
        played = await play(cut, turn(write(RIGHT), run()))
        assert "cut off by its token limit" in played.results[0].content
        assert "The tools are: read_problem, write_solution" in played.results[0].content

    async def test_broken_arguments_without_a_token_limit_are_not_told_as_cut_off(
        self, play: Play
    ) -> None:
        played = await play(turn(call("write_solution", '{"code": "a')), turn(write(RIGHT), run()))
        assert "not valid JSON" in played.results[0].content
        assert "token limit" not in played.results[0].content

    async def test_a_whole_call_at_the_token_limit_is_carried_out(self, play: Play) -> None:
        played = await play(stopped(turn(write(RIGHT), run()), "max_tokens"))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED


class TestMessagesWithoutCalls:
    async def test_a_message_cut_off_is_told_so_though_something_is_handed_in(
        self, play: Play
    ) -> None:
        cut = stopped(turn(text="Let me think about"), "max_tokens")
        played = await play(turn(write(WRONG), run()), cut, turn(write(RIGHT), run()))
        (reminder,) = told(played)
        assert reminder.startswith(f"{CUT_OFF} {NO_CALL} Your newest solution passes 1 of 2")
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.nudges == 1

    async def test_an_empty_message_is_nudged_though_something_is_handed_in(
        self, play: Play
    ) -> None:
        played = await play(turn(write(WRONG), run()), turn(text=" \n"), turn(write(RIGHT), run()))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        (reminder,) = told(played)
        assert reminder.startswith(f"{NO_CALL} Your newest solution passes 1 of 2")

    async def test_an_answer_of_thoughts_alone_is_told_to_the_user(self, play: Play) -> None:
        thoughts = turn().model_copy(update={"reasoning": ({"thinking": "Let me see."},)})
        played = await play(thoughts, turn(write(RIGHT), run()))
        assert [kind for kind, _ in played.warned] == ["only thoughts"]
        assert "reasoning parser" in played.warned[0][1]
        assert not (await play(turn(), turn(write(RIGHT), run()))).warned

    async def test_empty_messages_are_nudged_twice_and_no_more(self, play: Play) -> None:
        played = await play(turn(write(WRONG), run()), turn(), turn(), turn())
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.nudges, played.attempt.code) == (MOST_IN_A_ROW, WRONG)


class TestRefusals:
    async def test_a_refusal_ends_the_attempt_and_its_solution_is_graded(self, play: Play) -> None:
        refusal = stopped(turn(text="I can't help with that."), "refusal")
        played = await play(turn(write(WRONG), run()), refusal)
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.MODEL_STOPPED
        assert attempt.refused
        assert attempt.error == "I can't help with that."
        assert (attempt.code, attempt.nudges) == (WRONG, 0)

    async def test_a_refusal_without_text_has_the_provider_s_reason(self, play: Play) -> None:
        played = await play(stopped(turn(), "refusal", "refusal_stop"))
        assert (played.attempt.refused, played.attempt.error) == (True, "refusal_stop")
        assert played.attempt.code == ""

    async def test_a_call_beside_a_refusal_is_carried_out(self, play: Play) -> None:
        played = await play(stopped(turn(write(RIGHT), run()), "refusal"))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert not played.attempt.refused

    async def test_a_content_filter_is_given_one_more_chance(self, play: Play) -> None:
        filtered = stopped(turn(), "content_filter")
        played = await play(filtered, turn(write(RIGHT), run()))
        (reminder,) = told(played)
        assert reminder.startswith(f"{FILTERED} {NO_CALL} Hand your solution in")
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert not played.attempt.refused

    async def test_a_second_content_filter_is_a_refusal(self, play: Play) -> None:
        filtered = stopped(turn(), "content_filter", "content_filter")
        played = await play(turn(write(WRONG)), filtered, filtered)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.refused, played.attempt.error) == (True, "content_filter")
        assert played.attempt.code == WRONG


def test_events_of_older_versions_are_read_without_later_fields() -> None:
    line = (
        '{"event":"sample_end","stop_reason":"model_stopped","chosen_by":"newest",'
        '"usage":{"input_tokens":1,"output_tokens":1}}'
    )
    assert isinstance(EVENT.validate_json(line), SampleEnd)
