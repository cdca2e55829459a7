"""Calls that fail: what is understood all the same, what is told, and when single shot begins."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from scripted import Played, call, read, run, turn, write

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.episode import FAILED_TURNS
from harness.agent.events import ToolProtocolChanged
from harness.models.protocol import Model, ModelStop, ModelTurn
from harness.models.text_tools.instructions import TextTools, with_tools

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = 'print("3")\n'
PROSE = f"```python\n{RIGHT}```"


def failing(arguments: str = '{"code": [1') -> ModelTurn:
    return turn(call("write_solution", arguments))


@pytest.fixture
def play_text(play: Play) -> Play:
    return partial(play, through=TextTools)


class TestUnderstoodAllTheSame:
    @pytest.mark.parametrize(
        "arguments",
        [
            json.dumps({"code": f"```python\n{RIGHT}```"}),
            f'{{"code": """{RIGHT}"""}}',
            json.dumps({"code": RIGHT}).replace("\\n", "\n"),
            str({"code": RIGHT}),
            json.dumps({"code": RIGHT, "language": "python"}),
            json.dumps({"solution": RIGHT}),
            f'{{"solution": """{RIGHT}"""}}',
        ],
        ids=[
            *("fenced", "triple quotes", "real newlines", "Python's quotes", "extra"),
            *("another name", "another name and triple quotes"),
        ],
    )
    async def test_a_native_call_is_carried_out(self, play: Play, arguments: str) -> None:
        played = await play(turn(call("write_solution", arguments), run()))
        assert played.attempt.code == RIGHT
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.malformed_tool_calls == 0

    async def test_one_line_under_another_name_is_no_code(self, play: Play) -> None:
        named = call("write_solution", '{"path": "solution.py"}')
        played = await play(turn(write(WRONG)), turn(named), turn(write(RIGHT), run()))
        assert played.results[1].malformed
        assert [written.code for written in played.attempt.revisions] == [WRONG, RIGHT]

    @pytest.mark.parametrize(
        "name", ["functions.write_solution", "write_solution<|channel|>commentary"]
    )
    async def test_a_call_with_more_around_its_name_is_carried_out(
        self, play: Play, name: str
    ) -> None:
        named = call(name, json.dumps({"code": RIGHT}))
        played = await play(turn(named, call("functions.run_tests")))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.results[0].name == name
        again = await play(recorded=played.events)
        assert (again.attempt.code, again.model.sent) == (RIGHT, [])

    async def test_arguments_that_no_tool_takes_are_left_out_and_named(self, play: Play) -> None:
        odd = call("read_problem", '{"statement": "x", "public_tests": []}')
        played = await play(turn(odd), turn(write(RIGHT), run()))
        first = played.results[0]
        assert (first.is_error, first.malformed) == (False, False)
        assert "(read_problem takes no statement, public_tests; left out.)" in first.content

    async def test_code_after_a_call_in_text_is_its_argument(self, play_text: Play) -> None:
        empty = '```json\n{"name": "write_solution", "arguments": {}}\n```'
        played = await play_text(
            turn(text=f'{empty}\n\n{PROSE}\n\n```json\n{{"name": "run_tests"}}\n```')
        )
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.code == RIGHT


class TestWhatIsTold:
    async def test_an_error_shows_a_right_call(self, play: Play, play_text: Play) -> None:
        played = await play(turn(call("write_solution")), turn(write(RIGHT), run()))
        assert "code: Field required" in played.results[0].content
        right = 'write_solution with the arguments {"code": "# your complete solution"}'
        assert right in played.results[0].content
        played = await play_text(
            turn(text='```json\n{"name": "write_solution"}\n```'), turn(write(RIGHT), run())
        )
        assert "write the whole code in one fenced python block" in played.results[0].content

    @pytest.mark.parametrize("arguments", ["{}", "{", '{"language": "python"}'])
    async def test_a_call_without_code_is_told_to_test_the_solution_that_stays(
        self, play: Play, arguments: str
    ) -> None:
        empty = call("write_solution", arguments)
        played = await play(
            turn(write(WRONG)), turn(empty), turn(run()), turn(empty), turn(write(RIGHT), run())
        )
        stays, after = played.results[1], played.results[3]
        assert stays.malformed
        assert "stays. Test it now. Write it like this: run_tests" in stays.content
        assert "stays" not in after.content  # it is tested
        assert played.attempt.written == 2

    async def test_such_a_call_in_text_is_shown_the_call_that_tests(self, play_text: Play) -> None:
        played = await play_text(
            turn(write(WRONG)),
            turn(text='```json\n{"name": "write_solution"}\n```'),
            turn(write(RIGHT), run()),
        )
        test = '```json\n{"name": "run_tests", "arguments": {}}\n```'
        assert played.results[1].content.endswith(test)

    async def test_the_same_call_again_is_told_differently(self, play: Play) -> None:
        played = await play(failing(), failing(), turn(write(RIGHT), run()))
        first, second = played.results[:2]
        assert "very call before" not in first.content
        assert second.content.startswith("You have made this very call before")
        assert "Send exactly this" in second.content
        assert second.malformed

    async def test_only_the_same_failing_call_again_is_told_differently(self, play: Play) -> None:
        played = await play(turn(run()), turn(run()), turn(write(RIGHT), run()))
        first, second = played.results[:2]
        assert "Call write_solution first" in first.content
        assert "write_solution with the arguments" in second.content
        played = await play(failing(), failing('{"code": {1'), turn(write(RIGHT), run()))
        assert "very call before" not in played.results[1].content

    async def test_nothing_is_stored_of_a_call_that_was_cut_off(self, play: Play) -> None:
        half = turn(call("write_solution", '{"code": "print(1)\nprint({"a": "b"'))
        half = half.model_copy(update={"stop": ModelStop(reason="max_tokens")})
        played = await play(half, turn(write(RIGHT), run()))
        assert "cut off by the token limit" in played.results[0].content
        assert played.attempt.written == 1


class TestSingleShotInstead:
    @pytest.mark.parametrize("protocol", ["native", "text", "auto"])
    async def test_failed_turns_lead_to_a_single_shot_without_tools(
        self, play: Play, protocol: Any
    ) -> None:
        def through(model: Model) -> Model:
            return with_tools(model, protocol)

        bad = [failing(f'{{"code": [{number}') for number in range(FAILED_TURNS)]
        played = await play(*bad, turn(text=PROSE), through=through)
        attempt = played.attempt
        assert (attempt.fallback, attempt.tool_protocol) == (True, "none")
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), ChosenBy.PROSE)
        assert attempt.malformed_tool_calls == FAILED_TURNS
        assert "one fenced python code block" in str(played.last_sent[0])
        changed = [e for e in played.events if isinstance(e, ToolProtocolChanged)]
        assert changed[-1].cause == "no call succeeded in 3 turns"
        again = await play(recorded=played.events, through=through)
        assert (again.attempt.code, again.attempt.fallback) == (attempt.code, True)
        assert again.model.sent == []

    async def test_tests_of_a_solution_that_was_never_written_lead_there_too(
        self, play: Play
    ) -> None:
        played = await play(*[turn(run())] * FAILED_TURNS, turn(text=PROSE))
        assert (played.attempt.fallback, played.attempt.code) == (True, RIGHT.strip())
        assert played.attempt.malformed_tool_calls == 0

    async def test_a_call_that_succeeds_begins_the_count_anew(self, play: Play) -> None:
        bad = [failing(f'{{"code": [{number}') for number in range(FAILED_TURNS - 1)]
        played = await play(*bad, turn(read()), *bad, turn(write(RIGHT), run()))
        assert not played.attempt.fallback

    async def test_a_model_with_a_solution_goes_on(self, play: Play) -> None:
        bad = [failing(f'{{"code": [{number}') for number in range(FAILED_TURNS)]
        played = await play(turn(write(WRONG)), *bad, turn(write(RIGHT), run()))
        assert not played.attempt.fallback
        assert played.attempt.code == RIGHT

    async def test_native_calls_that_fail_go_on_in_text_first(self, play: Play) -> None:
        def auto(model: Model) -> Model:
            return with_tools(model, "auto")

        text = turn(text=f"```write_solution\n{RIGHT}```\n```run_tests\n```")
        played = await play(failing(), failing('{"code": {2'), text, through=auto)
        assert [bool(sent.tools) for sent in played.model.sent] == [True, True, False]
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (played.attempt.fallback, played.attempt.tool_protocol) == (False, "text")

    async def test_an_older_recording_goes_on_as_it_did(
        self, play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where it asked on after such turns, no recorded answer is asked for again."""
        bad = [failing(f'{{"code": [{number}') for number in range(FAILED_TURNS)]
        with monkeypatch.context() as patch:
            patch.setattr("harness.agent.episode.FAILED_TURNS", 100)
            old = await play(*bad, turn(write(RIGHT), run()))
        again = await play(recorded=old.events)
        assert (again.attempt.fallback, again.model.sent) == (False, [])
        assert again.attempt.code == RIGHT


class TestSalvage:
    async def test_code_in_a_failed_call_is_the_solution_rather_than_nothing(
        self, play: Play
    ) -> None:
        other = call("submit_solution", json.dumps({"solution": RIGHT}))
        played = await play(turn(other), limits=Limits(turns=1))
        attempt = played.attempt
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip("\n"), ChosenBy.FAILED_CALL)
        assert attempt.extraction == "failed call"
        assert attempt.stop_reason is StopReason.TURN_LIMIT

    async def test_code_in_a_broken_call_is_salvaged(self, play: Play) -> None:
        broken = call("write_solution", '{"code": "' + RIGHT.replace("\n", "\\n"))
        played = await play(turn(broken), limits=Limits(turns=1))
        assert played.attempt.code == RIGHT.strip("\n")
        assert played.attempt.chosen_by is ChosenBy.FAILED_CALL

    async def test_code_in_a_call_of_the_single_shot_s_answer_is_salvaged(self, play: Play) -> None:
        bad = [failing(f'{{"code": [{number}') for number in range(FAILED_TURNS)]
        written = json.dumps({"name": "write_solution", "arguments": {"code": RIGHT}})
        played = await play(*bad, turn(text=f"```json\n{written}\n```"))
        assert (played.attempt.fallback, played.attempt.code) == (True, RIGHT.strip("\n"))
        assert played.attempt.chosen_by is ChosenBy.FAILED_CALL

    async def test_a_written_solution_goes_before_a_salvaged_one(self, play: Play) -> None:
        other = call("submit_solution", json.dumps({"solution": RIGHT}))
        played = await play(turn(write(WRONG)), turn(other), limits=Limits(turns=2))
        assert (played.attempt.code, played.attempt.chosen_by) == (WRONG, ChosenBy.NEWEST)
