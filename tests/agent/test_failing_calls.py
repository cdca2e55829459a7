"""Calls that fail: what is understood all the same, what is told, and when single shot begins."""

import json
from collections.abc import Awaitable, Callable

from for_each import for_each
from scripted import Played, call, read, run, turn, write

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.episode import FRUITLESS_TURNS
from harness.agent.events import ToolProtocolChanged
from harness.models.protocol import ModelStop, ModelTurn

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = 'print("3")\n'
PROSE = f"```python\n{RIGHT}```"


def failing(arguments: str = '{"code": [1') -> ModelTurn:
    return turn(call("write_solution", arguments))


class TestUnderstoodAllTheSame:
    @for_each(
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

    @for_each("name", ["functions.write_solution", "write_solution<|channel|>commentary"])
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


class TestWhatIsTold:
    async def test_an_error_shows_a_right_call(self, play: Play) -> None:
        played = await play(turn(call("write_solution")), turn(write(RIGHT), run()))
        assert "code: Field required" in played.results[0].content
        right = 'write_solution with the arguments {"code": "# your complete solution"}'
        assert right in played.results[0].content

    @for_each("arguments", ["{}", "{", '{"language": "python"}'])
    async def test_a_call_without_code_is_told_to_test_the_solution_that_stays(
        self, play: Play, arguments: str
    ) -> None:
        empty = call("write_solution", arguments)
        played = await play(
            turn(write(WRONG)), turn(empty), turn(run()), turn(empty), turn(write(RIGHT), run())
        )
        stays, after = played.results[1], played.results[3]
        assert stays.malformed
        assert "stays. Call run_tests to test it." in stays.content
        assert "stays" not in after.content  # it is tested
        assert played.attempt.written == 2

    async def test_the_same_call_again_is_told_differently(self, play: Play) -> None:
        played = await play(failing(), failing(), turn(write(RIGHT), run()))
        first, second = played.results[:2]
        assert "very call before" not in first.content
        assert second.content.startswith("You have made this very call before")
        assert "Do not send it again." in second.content
        assert second.malformed

    async def test_only_the_same_failing_call_again_is_told_differently(self, play: Play) -> None:
        played = await play(turn(run()), turn(run()), turn(write(RIGHT), run()))
        first, second = played.results[:2]
        assert "Hand one in with write_solution first." in first.content
        assert "write_solution with the arguments" in second.content
        played = await play(failing(), failing('{"code": {1'), turn(write(RIGHT), run()))
        assert "very call before" not in played.results[1].content

    async def test_nothing_is_stored_of_a_call_that_was_cut_off(self, play: Play) -> None:
        half = turn(call("write_solution", '{"code": "print(1)\nprint({"a": "b"'))
        half = half.model_copy(update={"stop": ModelStop(reason="max_tokens")})
        played = await play(half, turn(write(RIGHT), run()))
        assert "cut off by the token limit" in played.results[0].content
        assert played.attempt.written == 1


class TestLoopInTextInstead:
    async def test_two_failed_answers_lead_to_the_loop_in_text(self, play: Play) -> None:
        bad = [failing(f'{{"code": [{number}') for number in range(FRUITLESS_TURNS)]
        played = await play(*bad, turn(text=PROSE))
        attempt = played.attempt
        assert (attempt.fallback, attempt.tool_protocol) == (True, "text")
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), "passed_public_tests")
        assert attempt.malformed_tool_calls == FRUITLESS_TURNS
        assert [bool(sent.tools) for sent in played.heard] == [True, True, False]
        changed = [e for e in played.events if isinstance(e, ToolProtocolChanged)]
        assert changed[-1].cause == "no call succeeded in 2 turns"
        again = await play(recorded=played.events)
        assert (again.attempt.code, again.attempt.fallback) == (attempt.code, True)
        assert again.model.sent == []

    async def test_tests_of_a_solution_that_was_never_written_lead_there_too(
        self, play: Play
    ) -> None:
        played = await play(*[turn(run())] * FRUITLESS_TURNS, turn(text=PROSE))
        assert (played.attempt.fallback, played.attempt.code) == (True, RIGHT.strip())
        assert played.attempt.malformed_tool_calls == 0

    async def test_a_call_that_succeeds_begins_the_count_anew(self, play: Play) -> None:
        played = await play(failing(), turn(read()), failing(), turn(write(RIGHT), run()))
        assert not played.attempt.fallback

    async def test_a_model_with_a_solution_goes_on(self, play: Play) -> None:
        bad = [failing(f'{{"code": [{number}') for number in range(FRUITLESS_TURNS)]
        played = await play(turn(write(WRONG)), *bad, turn(write(RIGHT), run()))
        assert not played.attempt.fallback
        assert played.attempt.code == RIGHT


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

    async def test_a_written_solution_goes_before_a_salvaged_one(self, play: Play) -> None:
        other = call("submit_solution", json.dumps({"solution": RIGHT}))
        other = call("submit_solution", json.dumps({"solution": "print(5)"}))
        played = await play(turn(write(WRONG)), turn(other), limits=Limits(turns=2))
        assert played.attempt.code == WRONG
