"""The agent loop: when it stops, what it hands in, and how it answers the model."""

from collections.abc import Awaitable, Callable

import pytest
from for_each import for_each
from open_gate import Broke
from scripted import NEVER, USAGE, Played, Step, call, read, run, turn, write

from harness.agent import events as kinds
from harness.agent.attempt import Attempt, Limits, StopReason
from harness.agent.episode import MOST_REMINDERS
from harness.agent.events import (
    Event,
    PublicTests,
    Request,
    Response,
    Resumed,
    SampleEnd,
    standing,
)
from harness.agent.session import BudgetSpentError
from harness.agent.strategies.options import StrategyOptions
from harness.agent.text_loop import REPEATED
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelSettings,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.problem import ProblemView

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
ALSO_RIGHT = "print(sum(map(int, input().split())))\n"
WRONG = "print(3)\n"
OTHER_WRONG = "print(1 + 2)\n"
NONE = "print(5)\n"


def reminders(played: Played) -> list[str]:
    """The reminders that the model was sent."""
    users = [message for message in played.last_sent if isinstance(message, UserMessage)]
    return [message.content for message in users[1:]]


def final_tests(played: Played) -> list[kinds.Tested]:
    return [event for event in played.events if isinstance(event, kinds.Tested)]


class TestStopping:
    async def test_the_loop_stops_when_the_public_tests_pass(self, play: Play) -> None:
        played = await play(turn(read()), turn(write(WRONG), run()), turn(write(RIGHT), run()))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (attempt.code, attempt.chosen_by) == (RIGHT, "passed_public_tests")
        assert (attempt.model_calls, attempt.tool_calls, attempt.written) == (3, 5, 2)
        assert (attempt.malformed_tool_calls, attempt.nudges) == (0, 0)
        assert attempt.usage == Usage(input_tokens=300, output_tokens=30)
        assert attempt.usage_known
        assert not attempt.error

    async def test_the_same_solution_again_confirms_it_where_there_is_no_public_test(
        self, play: Play, problem: ProblemView
    ) -> None:
        untested = problem.model_copy(update={"public_tests": ()})
        played = await play(*[turn(write(WRONG))] * 2, view=untested)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.code, played.attempt.model_calls) == (WRONG, 2)

    async def test_turns_are_model_calls(self, play: Play) -> None:
        script = [turn(write(WRONG), run()), turn(write(OTHER_WRONG), run())]
        played = await play(*script, limits=Limits(turns=2))
        assert played.attempt.stop_reason is StopReason.TURN_LIMIT
        assert len(played.model.sent) == played.attempt.model_calls == 2

    async def test_passing_in_the_last_turn_is_passing(self, play: Play) -> None:
        played = await play(turn(write(RIGHT), run()), limits=Limits(turns=1))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    @for_each("again", [[write(WRONG), run()], [write(f"{WRONG}# 1")], [run()]])
    async def test_a_repeat_begins_anew_twice_and_then_ends(
        self, play: Play, again: list[ToolCall]
    ) -> None:
        script = [turn(write(WRONG), run())]
        script += [turn(*again), turn(write(WRONG), run()), turn(write(WRONG), run())]
        if again[0].name == "run_tests":  # in a new conversation it is a repeat of the program
            script[1:] = [turn(*again), *[turn(write(WRONG), run())] * 2]
        played = await play(*script)
        assert played.attempt.stop_reason is StopReason.REPEATED_SOLUTION
        assert (played.attempt.code, played.attempt.loop.restarts) == (WRONG, 2)
        begun = [each for each in played.events if isinstance(each, kinds.NewConversation)]
        assert [(each.turn, each.cause) for each in begun] == [(2, REPEATED), (3, REPEATED)]
        opening = played.heard[0]
        assert [sent.messages for sent in played.heard[2:]] == [opening.messages] * 2
        assert all(sent.tools == opening.tools for sent in played.heard)
        again_played = await play(recorded=played.events)
        assert (again_played.heard, again_played.attempt.code) == ([], WRONG)

    async def test_a_cycle_is_a_repeat(self, play: Play) -> None:
        codes = [WRONG, OTHER_WRONG, WRONG, RIGHT]
        played = await play(*[turn(write(code), run()) for code in codes])
        assert played.attempt.code == RIGHT
        begun = [each.turn for each in played.events if isinstance(each, kinds.NewConversation)]
        assert begun == [3]

    @for_each("again", [[write(WRONG), run()], [run()]])
    async def test_at_temperature_0_a_repeat_is_the_end(
        self, play: Play, again: list[ToolCall]
    ) -> None:
        settings = ModelSettings(temperature=0.0)
        played = await play(turn(write(WRONG), run()), turn(*again), settings=settings)
        assert played.attempt.stop_reason is StopReason.REPEATED_SOLUTION
        assert played.attempt.loop.restarts == 0

    async def test_as_many_repeats_as_set_begin_anew(self, play: Play) -> None:
        script = [*[turn(write(WRONG), run())] * 3, turn(write(RIGHT), run())]
        played = await play(*script, options=StrategyOptions(repeats=2))
        begun = [each.turn for each in played.events if isinstance(each, kinds.NewConversation)]
        assert begun == [3]
        assert played.attempt.code == RIGHT

    async def test_tests_of_an_unchanged_solution_are_answered_in_one_line(
        self, play: Play
    ) -> None:
        played = await play(turn(write(WRONG), run(), run()), turn(write(RIGHT), run()))
        first, second = (result.content for result in played.results[1:3])
        assert "Test 2: wrong answer" in first
        assert second == "Nothing has changed since the last run: 1 of 2 public tests passed."
        same = await play(turn(write(WRONG), run(), write(WRONG)), turn(write(RIGHT), run()))
        assert same.results[2].content == (
            "This is revision 1 again, which passes 1 of 2 public tests. Write a program that does "
            "something else."
        )

    async def test_fresh_shows_the_program_and_its_report_in_a_new_conversation(
        self, play: Play
    ) -> None:
        script = [turn(write(WRONG)), turn(run()), turn(write(RIGHT), run())]
        played = await play(*script, options=StrategyOptions(context="fresh"))
        assert played.attempt.code == RIGHT
        system, user = played.heard[2].messages
        assert system == played.heard[0].messages[0]
        shown = str(getattr(user, "content", ""))
        assert shown.startswith(str(getattr(played.heard[0].messages[1], "content", "")))
        assert f"```python\n{WRONG}```" in shown
        assert "Test 2: wrong answer" in shown
        assert shown.endswith(
            "Call write_solution with the whole corrected program, and run_tests "
            "in the same message."
        )
        assert played.heard[2].tools == played.heard[0].tools
        assert len(played.heard[1].messages) == 4  # not tested yet: it grows
        again = await play(recorded=played.events, options=StrategyOptions(context="fresh"))
        assert (again.heard, again.attempt.code) == ([], RIGHT)

    async def test_a_conversation_that_no_longer_fits_keeps_its_solution(self, play: Play) -> None:
        too_long = ContextOverflowError("HTTP 400: too long")
        played = await play(turn(write(WRONG)), too_long, too_long)
        assert played.attempt.stop_reason is StopReason.CONTEXT_LIMIT
        assert (played.attempt.code, played.attempt.chosen_by) == (WRONG, "newest")
        assert played.attempt.error == "HTTP 400: too long"
        assert played.attempt.usage_known  # a request that is refused costs nothing

    async def test_a_provider_that_does_not_answer_ends_the_attempt(self, play: Play) -> None:
        played = await play(turn(read()), ModelError("HTTP 503: down"))
        assert played.attempt.stop_reason is StopReason.MODEL_ERROR
        assert played.attempt.error == "HTTP 503: down"
        assert played.attempt.code == ""
        assert played.attempt.usage == USAGE


class TestTimeLimit:
    @pytest.mark.thorough
    async def test_a_request_is_cut_off_where_the_time_ends(self, play: Play) -> None:
        played = await play(turn(write(WRONG)), NEVER, limits=Limits(seconds=1))
        assert played.attempt.stop_reason is StopReason.TIME_LIMIT
        assert played.attempt.code == WRONG
        assert played.attempt.model_calls == 2

    @pytest.mark.thorough
    async def test_what_a_cut_request_cost_is_not_known(self, play: Play) -> None:
        played = await play(turn(write(WRONG)), NEVER, limits=Limits(seconds=1))
        assert played.attempt.usage == USAGE
        assert not played.attempt.usage_known

    @pytest.mark.thorough
    async def test_time_spent_in_tools_counts(self, play: Play) -> None:
        slow = "import time\nwhile time.process_time() < 0.6: pass\n"
        played = await play(turn(write(slow), run()), limits=Limits(seconds=0.5))
        assert played.attempt.stop_reason is StopReason.TIME_LIMIT
        assert len(played.results) == 2


class TestReminders:
    async def test_a_reminder_names_the_result_the_turns_left_and_how_to_give_up(
        self, play: Play
    ) -> None:
        script = [turn(write(WRONG), run()), turn(text="Test 2 failed; let me think.")]
        played = await play(*script, turn(write(RIGHT), run()), limits=Limits(turns=9))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.nudges == 1
        assert reminders(played) == [
            "No tool was called. Your newest solution passes 1 of 2 public tests. 7 turns left. "
            "Hand in the corrected program, or call no tool again to give up."
        ]

    async def test_a_reminder_says_that_the_solution_is_untested(self, play: Play) -> None:
        script = [turn(write(RIGHT)), turn(text="I have written the solution."), turn(run())]
        played = await play(*script, limits=Limits(turns=4))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert reminders(played) == [
            "No tool was called. Your newest solution has not been tested. 2 turns left. "
            "Call run_tests, or call no tool again to give up."
        ]

    async def test_a_word_after_a_reminder_gives_up(self, play: Play) -> None:
        played = await play(turn(write(WRONG), run()), *[turn(text="I cannot do better.")] * 2)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.code, played.attempt.chosen_by) == (WRONG, "newest")
        assert (played.attempt.model_calls, played.attempt.nudges) == (3, 1)

    async def test_a_reminder_is_sent_again_after_a_tool_call(self, play: Play) -> None:
        text_turn = turn(text="Let me think.")
        script = [
            turn(write(WRONG), run()),
            text_turn,
            turn(write(OTHER_WRONG)),
            text_turn,
            turn(run()),
        ]
        played = await play(*script, text_turn, turn(write(RIGHT), run()))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.nudges == len(reminders(played)) == 3

    async def test_the_number_of_reminders_is_bounded(self, play: Play) -> None:
        script = [turn(write(WRONG))] + [turn(text="Hm."), turn(read())] * (MOST_REMINDERS + 2)
        played = await play(*script, limits=Limits(turns=99))
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert played.attempt.nudges == len(reminders(played)) == MOST_REMINDERS

    async def test_no_reminder_is_sent_without_a_turn_left(self, play: Play) -> None:
        played = await play(turn(write(RIGHT)), turn(text="Done."), limits=Limits(turns=2))
        assert played.attempt.stop_reason is StopReason.TURN_LIMIT
        assert played.attempt.nudges == 0
        assert played.attempt.chosen_by == "passed_public_tests"

    async def test_an_empty_message_is_answered_too(self, play: Play) -> None:
        played = await play(turn(), turn(write(RIGHT), run()))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.nudges == len(reminders(played)) == 1

    async def test_code_that_was_not_handed_in_is_no_giving_up(self, play: Play) -> None:
        text_turn = turn(text=f"Better:\n```python\n{RIGHT}```")
        played = await play(
            turn(write(WRONG), run()), text_turn, text_turn, turn(write(RIGHT), run())
        )
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert all("code outside a call is not run" in text for text in reminders(played))

    async def test_text_after_passing_ends_the_attempt_without_a_reminder(self, play: Play) -> None:
        script = [turn(write(RIGHT), run()), turn(text="Done.")]
        played = await play(*script, options=StrategyOptions(stop_on_pass=False))
        assert (played.attempt.stop_reason, played.attempt.nudges) == ("model_stopped", 0)

    async def test_a_reminder_that_is_never_sent_is_not_counted(self, play: Play) -> None:
        gate = Broke(2, BudgetSpentError(StopReason.COST_LIMIT))
        played = await play(turn(write(WRONG), run()), turn(text="Hm."), gate=gate)
        assert (played.attempt.stop_reason, played.attempt.nudges) == ("cost_limit", 0)


class TestCodeInWords:
    async def test_code_beside_a_tool_call_can_be_salvaged(self, play: Play) -> None:
        model_turn = turn(read(), text=f"My plan:\n```python\n{RIGHT}```")
        played = await play(model_turn, limits=Limits(turns=1))
        assert played.attempt.stop_reason is StopReason.TURN_LIMIT
        assert played.attempt.code == RIGHT.strip()
        assert played.attempt.chosen_by == "prose"

    @for_each(("said", "final"), [(RIGHT, RIGHT), (NONE, WRONG)])
    async def test_a_program_in_a_message_is_run_and_wins_if_it_passes_more(
        self, play: Play, said: str, final: str
    ) -> None:
        prose = turn(text=f"```python\n{said}```")
        played = await play(turn(write(WRONG), run()), *[prose] * 3)
        attempt = played.attempt
        assert attempt.code.strip() == final.strip()
        assert attempt.chosen_by == ("prose" if final == RIGHT else "most_public_tests")
        assert (attempt.nudges, len(final_tests(played))) == (2, 1)
        again = await play(recorded=played.events)
        assert again.events == again.heard == []
        assert again.attempt.code == attempt.code


def timeless(played: Played) -> Attempt:
    """The attempt without the seconds, which differ each time."""
    revisions = [each.model_copy(update={"seconds": 0}) for each in played.attempt.revisions]
    return played.attempt.model_copy(update={"revisions": tuple(revisions)})


class TestFinalSolution:
    async def test_a_write_after_the_pass_in_one_message_changes_nothing(self, play: Play) -> None:
        played = await play(turn(write(RIGHT), run(), write(WRONG)))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (attempt.code, attempt.chosen_by) == (RIGHT, "passed_public_tests")
        assert (attempt.model_calls, final_tests(played)) == (1, [])

    @for_each(
        ("codes", "final"),
        [
            ((WRONG, NONE), WRONG),  # the newer one passes fewer
            ((NONE, WRONG), WRONG),
            ((WRONG, OTHER_WRONG), WRONG),  # equals: the earliest
            ((NONE, RIGHT, ALSO_RIGHT, WRONG), RIGHT),
        ],
    )
    async def test_revisions_never_run_are_run_and_the_best_is_final(
        self, play: Play, codes: tuple[str, ...], final: str
    ) -> None:
        played = await play(*[turn(write(code)) for code in codes], *[turn(text="Done.")] * 2)
        assert played.attempt.code == final
        assert len(final_tests(played)) == len(codes)
        assert all(each.report for each in played.attempt.revisions)
        again = await play(recorded=played.events)
        assert again.events == again.heard == []
        assert timeless(again) == timeless(played)

    @for_each(
        ("last", "limits", "reason"),
        [
            ([turn(text="Done.")] * 2, Limits(), "model_stopped"),
            ([turn(text="Hm.")], Limits(turns=2), "turn_limit"),
            ([turn(read())], Limits(tool_calls=2), "tool_call_limit"),
            ([ContextOverflowError("too long")] * 2, Limits(), "context_limit"),
            ([NEVER], Limits(seconds=1), "time_limit"),
            ([NEVER], Limits(wall_seconds=1), "wall_limit"),
        ],
    )
    async def test_an_untested_solution_is_tested_before_the_attempt_ends(
        self, play: Play, last: list[Step], limits: Limits, reason: str
    ) -> None:
        played = await play(turn(write(RIGHT)), *last, limits=limits)
        attempt = played.attempt
        assert attempt.stop_reason == reason
        assert (attempt.code, attempt.chosen_by) == (RIGHT, "passed_public_tests")
        assert [event.tests.solved for event in final_tests(played)] == [True]
        assert [each.report.solved for each in attempt.revisions if each.report] == [True]

    async def test_what_the_public_tests_said_is_in_the_transcript_and_not_run_again(
        self, play: Play
    ) -> None:
        whole = await play(turn(write(WRONG)), *[turn(text="Done.")] * 2)
        again = await play(recorded=whole.events)
        assert again.events == again.heard == []
        (kept,), (tested,) = again.attempt.revisions, final_tests(whole)
        assert kept.report is not None
        assert (PublicTests.of(kept.report), kept.report.text) == (tested.tests, tested.report)

    async def test_a_provider_that_is_down_leaves_a_solution_untested(self, play: Play) -> None:
        played = await play(turn(write(RIGHT)), ModelError("HTTP 503: down"))
        assert final_tests(played) == []

    async def test_running_before_writing_tells_what_to_do(self, play: Play) -> None:
        played = await play(turn(run()), turn(write(RIGHT), run()))
        first = played.results[0]
        assert first.is_error
        assert not first.malformed
        assert "write_solution" in first.content
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED


class TestToolCalls:
    async def test_every_call_gets_one_result_in_the_order_asked(self, play: Play) -> None:
        calls = (run(), read(), write(WRONG), call("compile"), run(), write(RIGHT), run())
        played = await play(turn(*calls, text="All at once."))
        assert [result.call_id for result in played.results] == [asked.id for asked in calls]
        assert [result.name for result in played.results] == [asked.name for asked in calls]
        assert played.attempt.tool_calls == len(calls)
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_results_stand_right_after_the_message_that_asked(self, play: Play) -> None:
        calls = (read(), write(WRONG), run())
        played = await play(turn(*calls), turn(write(RIGHT), run()))
        results = played.last_sent[-len(calls) :]
        assert all(isinstance(result, ToolMessage) for result in results)
        assert list(results) == played.results[: len(calls)]
        assert played.last_sent[-len(calls) - 1] == turn(*calls).message()

    async def test_two_calls_of_one_id_get_two_results(self, play: Play) -> None:
        twin = ToolCall(id="same", name="read_problem", arguments="{}")
        played = await play(turn(twin, twin), turn(write(RIGHT), run()))
        assert [result.call_id for result in played.results[:2]] == ["same", "same"]

    @for_each(
        ("asked", "error"),
        [
            (call("write_solution", '{"code": "print(1)'), "not valid JSON"),
            (call("write_solution", "print(1)"), "not valid JSON"),
            (call("write_solution", '{"code": 5}'), "code: Input should be a valid string"),
            (call("write_solution", '{"code": null}'), "code: Input should be a valid string"),
            (call("write_solution", '{"code": ["print(1)"]}'), "code: Input should be"),
            (call("write_solution", "{}"), "code: Field required"),
            (call("write_solution", ""), "code: Field required"),
            (call("write_solution", "[]"), "JSON object"),
            (call("write_solution", '"print(1)"'), "JSON object"),
            (call("write_solution", '{"code": "\\ud800"}'), "not valid JSON"),
            (call("write_solution", "[" * 100_000), "not valid JSON"),
            (call("submit"), "The tools are: read_problem, write_solution, run_tests."),
            (call("x" * 100_000), "The tools are: read_problem, write_solution, run_tests."),
        ],
    )
    async def test_a_call_not_understood_comes_back_as_an_error(
        self, play: Play, asked: ToolCall, error: str
    ) -> None:
        played = await play(turn(asked), turn(write(RIGHT), run()))
        answer = played.results[0]
        assert (answer.call_id, answer.name) == (asked.id, asked.name)
        assert answer.is_error
        assert answer.malformed
        assert error in answer.content
        assert len(answer.content) <= 1_000
        assert played.attempt.malformed_tool_calls == 1
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    @for_each("arguments", ["", "  ", "{}", "null"])
    async def test_a_tool_without_arguments_takes_nothing_in_any_spelling(
        self, play: Play, arguments: str
    ) -> None:
        played = await play(turn(call("read_problem", arguments)), turn(write(RIGHT), run()))
        assert not played.results[0].is_error
        assert played.attempt.malformed_tool_calls == 0

    @for_each("arguments", ['{"problem": "Sum', "Sum of Two"])
    async def test_arguments_that_cannot_be_read_are_malformed_whatever_the_tool(
        self, play: Play, arguments: str
    ) -> None:
        played = await play(turn(call("read_problem", arguments)), turn(write(RIGHT), run()))
        assert played.results[0].is_error
        assert "not valid JSON" in played.results[0].content
        assert played.attempt.malformed_tool_calls == 1

    @for_each("arguments", ['["Sum"]', '"Sum"', "5"])
    async def test_a_tool_without_arguments_leaves_out_what_is_no_object(
        self, play: Play, arguments: str
    ) -> None:
        played = await play(turn(call("read_problem", arguments)), turn(write(RIGHT), run()))
        assert not played.results[0].is_error
        assert "left out" in played.results[0].content
        assert played.attempt.malformed_tool_calls == 0

    @for_each("code", ["", " \n\t", "#" * 300_000])
    async def test_code_that_cannot_be_kept_is_refused(self, play: Play, code: str) -> None:
        played = await play(turn(write(code)), turn(write(RIGHT), run()))
        assert played.results[0].is_error
        assert not played.results[0].malformed
        assert played.attempt.written == 1

    async def test_failed_tests_are_no_error_of_the_tool_call(self, play: Play) -> None:
        played = await play(turn(write(WRONG), run()), turn(write(RIGHT), run()))
        outcomes = [result.is_error for result in played.results]
        assert not any(outcomes)
        assert "1 of 2 public tests passed." in played.results[1].content
        assert played.attempt.malformed_tool_calls == 0

    async def test_tool_calls_of_one_message_are_bounded(self, play: Play) -> None:
        played = await play(turn(write(WRONG), *[run()] * 50), limits=Limits(turns=1))
        assert len(played.results) == 51
        assert [result.is_error for result in played.results] == [False] * 32 + [True] * 19

    @pytest.mark.thorough
    async def test_tool_calls_after_the_time_limit_are_answered_but_not_run(
        self, play: Play
    ) -> None:
        slow = "import time; time.sleep(2)"
        played = await play(
            turn(write(slow), run(), run(), run()), limits=Limits(turns=5, seconds=1)
        )
        assert played.attempt.stop_reason == "time_limit"
        assert len(played.results) == 4
        assert [result.is_error for result in played.results] == [False, False, True, True]


class TestUsage:
    async def test_a_turn_without_usage_makes_the_sum_of_usage_unknown(self, play: Play) -> None:
        played = await play(turn(read(), usage=None), turn(write(RIGHT), run()))
        assert not played.attempt.usage_known
        assert played.attempt.usage == USAGE

    async def test_turns_are_recorded_in_full(self, play: Play) -> None:
        model_turn = turn(write(RIGHT), run(), text="Here.")
        model_turn = model_turn.model_copy(
            update={"reasoning": ({"type": "thinking", "signature": "S="},), "request_id": "r-1"}
        )
        played = await play(model_turn)
        responses = [event for event in played.events if isinstance(event, Response)]
        assert [event.response for event in responses] == [model_turn]


class TestShowBudget:
    """The last result of a message says what is left; the report on a revision does not."""

    SCRIPT = (turn(read(), write(WRONG), run()), turn(run()), turn(write(RIGHT), run()))
    BUDGET = StrategyOptions(show_budget=True)

    async def test_the_shown_budget_counts_down(self, play: Play) -> None:
        played = await play(*self.SCRIPT, options=self.BUDGET, limits=Limits(turns=5, tokens=1_000))
        last_paragraphs = [result.content.rpartition("\n\n")[2] for result in played.results]
        assert [each for each in last_paragraphs if "Left" in each] == [
            "[Left: 4 turns, 890 tokens]",
            "[Left: 3 turns, 780 tokens]",
            "[Left: 2 turns, 670 tokens]",
        ]
        assert all(result.content.count("[Left: ") <= 1 for result in played.results)

    async def test_the_shown_budget_is_told_once_after_a_resume(self, play: Play) -> None:
        whole = await play(*self.SCRIPT, options=self.BUDGET)
        for length in range(1, len(whole.events)):
            known = sum(isinstance(event, Response) for event in whole.events[:length])
            again = await play(
                *self.SCRIPT[known:], options=self.BUDGET, recorded=whole.events[:length]
            )
            assert all(result.content.count("[Left: ") <= 1 for result in again.results)
            assert again.attempt.code == RIGHT
            assert again.heard == whole.heard[known:]


class TestOlderRecords:
    """Transcripts of versions whose loop ended with the first message without a tool call."""

    async def old(self, play: Play) -> list[Event]:
        played = await play(turn(write(RIGHT)), turn(text="Done."), turn(text="Done."))
        events = [each for each in played.events if not isinstance(each, kinds.Tested)]
        last = max(place for place, each in enumerate(events) if isinstance(each, Request))
        return events[:last]

    async def test_an_older_record_that_had_ended_stays_ended_and_its_solution_is_tested(
        self, play: Play
    ) -> None:
        end = SampleEnd(stop_reason="model_stopped", chosen_by="newest", usage=Usage())
        played = await play(recorded=[*await self.old(play), end])
        assert played.heard == []
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.chosen_by, played.attempt.nudges) == ("passed_public_tests", 0)
        assert isinstance(played.events[0], Resumed)
        assert len(final_tests(played)) == 1

    async def test_an_older_record_under_way_goes_on_with_a_reminder(self, play: Play) -> None:
        old = await self.old(play)
        played = await play(turn(run()), recorded=old)
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert len(played.heard) == 1
        assert reminders(played)[0].startswith("No tool was called.")
        assert standing([*old, *played.events])[: len(old)] == old
