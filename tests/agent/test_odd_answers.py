"""Whatever a model answers, something defined comes of it: the table in `harness.agent.episode`."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from scripted import Played, call, read, rebuild, run, turn, write

from harness.agent.attempt import NUDGE, Limits, StopReason
from harness.agent.episode import CUT_OFF, FILTERED, MOST_IN_A_ROW
from harness.agent.events import SampleEnd, ToolProtocolChanged
from harness.agent.reminder import NO_CALL
from harness.features.show.transcript_command import transcript_text
from harness.models.protocol import Model, ModelStop, ModelTurn, UserMessage
from harness.models.text_tools.instructions import TextTools, with_tools
from harness.run.store.transcript import EVENT

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = "print(3)\n"
PROSE = f"```python\n{RIGHT}```"


def stopped(model_turn: ModelTurn, reason: Any, word: str | None = None) -> ModelTurn:
    return model_turn.model_copy(update={"stop": ModelStop(reason=reason, provider_word=word)})


def block(name: str, **arguments: Any) -> str:
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"


def told(played: Played) -> list[str]:
    """What the harness said to the model after the opening, tools apart."""
    messages = [message for message in played.last_sent if isinstance(message, UserMessage)]
    return [message.content for message in messages[1:]]


class TestCalls:
    @pytest.mark.parametrize(
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
        assert reminder.startswith(f"{FILTERED} {NUDGE}")
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert not played.attempt.refused

    async def test_a_second_content_filter_is_a_refusal(self, play: Play) -> None:
        filtered = stopped(turn(), "content_filter", "content_filter")
        played = await play(turn(write(WRONG)), filtered, filtered)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.refused, played.attempt.error) == (True, "content_filter")
        assert played.attempt.code == WRONG


class TestToolsInText:
    @pytest.fixture
    def play_text(self, play: Play) -> Play:
        return partial(play, through=TextTools)

    async def test_calls_in_text_are_carried_out(self, play_text: Play) -> None:
        played = await play_text(
            turn(text=f"Let me see. {block('read_problem')}"),
            turn(text=f"{block('write_solution', code=WRONG)}\n{block('run_tests')}"),
            turn(text=f"<tool_call>{block('write_solution', code=RIGHT)}</tool_call>"),
            turn(text="<function=run_tests></function>"),
        )
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (attempt.code, attempt.tool_calls, attempt.nudges) == (RIGHT, 5, 0)
        assert (attempt.tool_protocol, attempt.fallback) == ("text", False)
        assert all(not sent.tools for sent in played.model.sent)
        assert 'tool_result id="text_1_1" name="run_tests"' in str(played.last_sent[-3])

    async def test_an_unknown_tool_and_broken_json_come_back_as_errors(
        self, play_text: Play
    ) -> None:
        cut = stopped(turn(text=block("write_solution", code=RIGHT)[:60]), "max_tokens")
        played = await play_text(
            turn(text=block("compile", code=RIGHT)),
            cut,
            turn(text=f"{block('write_solution', code=RIGHT)}{block('run_tests')}"),
        )
        assert "The tools are: read_problem, write_solution, run_tests" in played.results[0].content
        assert "cut off by the token limit" in played.results[1].content
        assert played.attempt.malformed_tool_calls == 2
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_code_may_be_handed_in_without_json(self, play_text: Play) -> None:
        cut = stopped(turn(text=f"```write_solution\n{RIGHT[:20]}"), "max_tokens")
        whole = turn(text=f"```write_solution\n{RIGHT}```\n{block('run_tests')}")
        played = await play_text(cut, whole)
        assert "Call write_solution again" in played.results[0].content
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (played.attempt.code, played.attempt.written) == (RIGHT, 1)

    async def test_the_protocol_is_in_the_transcript(self, play_text: Play) -> None:
        played = await play_text(turn(text=block("read_problem")), limits=Limits(turns=1))
        protocol_changes = [
            event for event in played.events if isinstance(event, ToolProtocolChanged)
        ]
        assert [(event.turn, event.protocol) for event in protocol_changes] == [(1, "text")]
        assert "--- from turn 1 on tools are called in text" in transcript_text(played.events)

    async def test_native_tools_leave_no_text_protocol_in_the_transcript(self, play: Play) -> None:
        played = await play(turn(read()), limits=Limits(turns=1))
        assert not [event for event in played.events if isinstance(event, ToolProtocolChanged)]
        assert played.attempt.tool_protocol == "native"


class TestFallback:
    @pytest.fixture
    def play_text(self, play: Play) -> Play:
        return partial(play, through=TextTools)

    async def test_tagged_code_without_a_call_is_handed_in(self, play_text: Play) -> None:
        played = await play_text(turn(text=f"There:\n{PROSE}"), turn(run()))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.code.strip() == RIGHT.strip()
        assert not played.attempt.nudges

    @pytest.mark.parametrize("tag", ["", "text", "code"])
    async def test_a_block_without_a_language_is_code_as_in_single_shot(
        self, play_text: Play, tag: str
    ) -> None:
        text = f"For example:\n```\n2 2\n```\nThis is it:\n```{tag}\n{RIGHT}```"
        played = await play_text(turn(text=text))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (attempt.code.strip(), attempt.nudges) == (RIGHT.strip(), 0)

    @pytest.mark.parametrize("text", ["3\n1 2 3", "f(2, [1]) == 3", "The output is 4."])
    async def test_a_block_of_data_is_no_code(self, play_text: Play, text: str) -> None:
        played = await play_text(turn(text=f"See:\n```\n{text}\n```"), turn(write(RIGHT), run()))
        assert (played.attempt.nudges, played.attempt.written) == (1, 1)

    async def test_code_said_last_is_the_solution(self, play_text: Play) -> None:
        played = await play_text(turn(text="I will think."), turn(text=f"There:\n\n{RIGHT}"))
        attempt = played.attempt
        assert (attempt.tool_protocol, attempt.fallback) == ("none", True)
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), "prose")
        assert attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (attempt.model_calls, attempt.nudges) == (2, 1)

    async def test_a_model_without_tool_calls_is_asked_once_for_code(self, play_text: Play) -> None:
        played = await play_text(turn(text="Hm."), turn(text="Hm!"), turn(text=PROSE))
        attempt = played.attempt
        assert (attempt.fallback, attempt.code) == (True, RIGHT.strip())
        assert attempt.model_calls == 3
        system, user = played.last_sent
        assert "complete, correct Python 3 solution in one fenced python code block" in str(system)
        assert "Read two integers and print their sum." in str(user)
        assert attempt.usage.output_tokens == 30

    async def test_the_transcript_rebuilds_what_was_sent(self, play_text: Play) -> None:
        played = await play_text(turn(text="Hm."), turn(text="Hm!"), turn(text=PROSE))
        events = [EVENT.validate_json(e.model_dump_json(by_alias=True)) for e in played.events]
        requests = rebuild(events)
        assert len(requests) == 3
        assert requests[-1] == played.last_sent
        assert len({request.hash for request in played.requests}) == 3
        changed = [e for e in events if isinstance(e, ToolProtocolChanged)]
        assert [(e.turn, e.protocol) for e in changed] == [(1, "text"), (2, "none")]
        assert changed[-1].cause == "no tool was called in 2 turns"

    async def test_fallback_without_code_has_no_solution(self, play_text: Play) -> None:
        played = await play_text(*[turn(text="Hm.")] * 3)
        assert (played.attempt.code, played.attempt.chosen_by) == ("", "none")
        assert played.attempt.fallback

    async def test_the_turn_limit_holds_for_the_fallback(self, play_text: Play) -> None:
        played = await play_text(*[turn(text="Hm.")] * 2, limits=Limits(turns=2))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.TURN_LIMIT
        assert (attempt.fallback, attempt.tool_protocol) == (False, "text")

    async def test_a_single_successful_call_prevents_the_fallback(self, play_text: Play) -> None:
        played = await play_text(
            turn(text="Hm."),
            turn(text=block("nope")),
            turn(text="Hm."),
            turn(text=block("write_solution", code=WRONG)),
            *[turn(text="Enough.")] * 2,
        )
        assert not played.attempt.fallback
        assert (played.attempt.code, played.attempt.tool_protocol) == (WRONG, "text")

    async def test_a_model_that_only_reads_is_asked_for_code_at_last(self, play_text: Play) -> None:
        comment = "```python\n# your complete solution\n```"
        played = await play_text(
            turn(text=block("read_problem")), *[turn(text=comment)] * 3, turn(text=PROSE)
        )
        attempt = played.attempt
        assert (attempt.fallback, attempt.code) == (True, RIGHT.strip())
        assert attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (attempt.model_calls, attempt.nudges) == (5, MOST_IN_A_ROW)

    async def test_a_refusal_is_a_refusal_and_no_fallback(self, play_text: Play) -> None:
        refusal = stopped(turn(text="No."), "refusal")
        played = await play_text(turn(text="Hm."), refusal)
        assert (played.attempt.refused, played.attempt.fallback) == (True, False)

    async def test_native_tools_have_no_fallback(self, play: Play) -> None:
        played = await play(*[turn(text=PROSE)] * 3)
        attempt = played.attempt
        assert (attempt.fallback, attempt.tool_protocol) == (False, "native")
        assert (attempt.chosen_by, attempt.nudges) == ("prose", MOST_IN_A_ROW)

    async def test_tools_that_are_ignored_are_told_in_text_before(self, play: Play) -> None:
        def auto(model: Model) -> Model:
            return with_tools(model, "auto")

        played = await play(*[turn(text="Hm.")] * 3, turn(text=PROSE), through=auto)
        assert [bool(sent.tools) for sent in played.model.sent] == [True, True, False, False]
        assert "# Tools" in str(played.model.sent[2].messages[0])
        assert (played.attempt.fallback, played.attempt.tool_protocol) == (True, "none")
        assert played.attempt.code == RIGHT.strip()


def test_events_of_older_versions_are_read_without_later_fields() -> None:
    line = (
        '{"event":"sample_end","stop_reason":"model_stopped","chosen_by":"newest",'
        '"usage":{"input_tokens":1,"output_tokens":1}}'
    )
    assert isinstance(EVENT.validate_json(line), SampleEnd)
