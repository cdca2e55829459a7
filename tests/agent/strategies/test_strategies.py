"""Each strategy by itself, the limits of a sample, and the tools that come on request."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from for_each import for_each
from open_gate import Broke
from scripted import NEVER, USAGE, Pause, Played, Sent, call, read, rebuild, run, turn, write

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.events import NewConversation, Resumed, ToolResult
from harness.agent.events import Tested as StrategyTested
from harness.agent.session import BudgetSpentError, RunStoppedError
from harness.agent.strategies.options import StrategyOptions
from harness.models.protocol import ContextOverflowError, ModelError, ModelTurn, Retry, Usage
from harness.problem import ProblemView, TestCase
from harness.run.store.transcript import EVENT
from harness.sandbox.pool import SandboxPool
from harness.tools.read_problem import ReadProblem
from harness.tools.run_code import LONGEST_OUTPUT, RunCode
from harness.tools.run_tests import RunTests
from harness.tools.submit import Submit
from harness.tools.write_solution import LONGEST_CODE, WriteSolution

Play = Callable[..., Awaitable[Played]]

NO_CODE = "There was no program in your last answer, so nothing could be run."
NO_NEW_CODE = "There was no program in your last answer; this is the one before it."
RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
ONE_PASSES = "input()\nprint(3)\n"
ALSO_ONE = "input()\nprint(6)\n"
NONE_PASSES = "input()\nprint('x')\n"
ALSO_NONE = "input()\nprint('y')\n"
TOOLS = (ReadProblem(), WriteSolution(), RunTests(), Submit(), RunCode())


def said(code: str) -> ModelTurn:
    return turn(text=f"Like this:\n```python\n{code}```")


def shown(sent: Sent) -> str:
    """What the model is told last."""
    return str(getattr(sent.messages[-1], "content", ""))


@pytest.fixture
def untested(problem: ProblemView) -> ProblemView:
    return problem.model_copy(update={"public_tests": ()})


@pytest.fixture
def doubling(problem: ProblemView) -> ProblemView:
    tests = (TestCase(input="1", output="2", public=True),)
    return problem.model_copy(update={"entry_point": "double", "public_tests": tests})


class TestBestOfK:
    @pytest.fixture
    def shoot(self, play: Play) -> Play:
        return partial(play, mode="best_of_k_public", options=StrategyOptions(best_of=3))

    async def test_the_one_that_passes_most_public_tests_wins(self, shoot: Play) -> None:
        played = await shoot(said(NONE_PASSES), said(ONE_PASSES), said(ALSO_NONE))
        attempt = played.attempt
        assert attempt.code == ONE_PASSES.strip()
        assert attempt.chosen_by is ChosenBy.MOST_PUBLIC_TESTS
        assert attempt.extraction == "python block with entry point"
        assert attempt.stop_reason is StopReason.MODEL_STOPPED
        passed = [each.report.passed for each in attempt.revisions if each.report]
        assert passed == [0, 1, 0]

    async def test_best_of_k_takes_the_earliest_of_equals(self, shoot: Play) -> None:
        played = await shoot(said(NONE_PASSES), said(ONE_PASSES), said(ALSO_ONE))
        assert played.attempt.code == ONE_PASSES.strip()

    async def test_best_of_k_ends_at_the_first_that_passes_all(self, shoot: Play) -> None:
        played = await shoot(said(ONE_PASSES), said(RIGHT))
        attempt = played.attempt
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), ChosenBy.PASSED_PUBLIC_TESTS)
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (attempt.model_calls, attempt.usage) == (2, USAGE + USAGE)

    async def test_each_shot_is_asked_for_anew(self, shoot: Play) -> None:
        played = await shoot(said(NONE_PASSES), turn(text="No idea."), said(ONE_PASSES))
        assert len({sent.messages for sent in played.heard}) == 1
        anew = [event.turn for event in played.events if isinstance(event, NewConversation)]
        assert anew == [1, 2]
        assert rebuild(played.events) == [sent.messages for sent in played.heard]

    async def test_a_shot_without_code_is_one_of_them(self, shoot: Play) -> None:
        played = await shoot(*[turn(text="No idea.")] * 3)
        assert (played.attempt.code, played.attempt.chosen_by) == ("", ChosenBy.NONE)
        assert (played.attempt.model_calls, played.attempt.written) == (3, 0)

    async def test_best_of_k_takes_the_first_code_without_public_tests(
        self, shoot: Play, untested: ProblemView
    ) -> None:
        played = await shoot(turn(text="Hm."), said(NONE_PASSES), view=untested)
        attempt = played.attempt
        assert (attempt.code, attempt.chosen_by) == (NONE_PASSES.strip(), ChosenBy.ANSWER)
        assert (attempt.stop_reason, attempt.model_calls) == (StopReason.MODEL_STOPPED, 2)
        assert not [event for event in played.events if isinstance(event, StrategyTested)]

    async def test_a_limit_leaves_the_best_so_far(self, shoot: Play) -> None:
        shots = [said(ONE_PASSES), said(NONE_PASSES)]
        played = await shoot(*shots, limits=Limits(turns=2))
        assert played.attempt.stop_reason is StopReason.TURN_LIMIT
        assert played.attempt.code == ONE_PASSES.strip()

    @pytest.mark.thorough
    async def test_a_shot_whose_tests_are_cut_short_is_still_a_solution(self, shoot: Play) -> None:
        sleeper = "import time\ninput()\ntime.sleep(60)\n"
        played = await shoot(said(sleeper), limits=Limits(wall_seconds=0.7))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.WALL_LIMIT
        assert (attempt.code, attempt.written) == (sleeper.strip(), 1)

    async def test_a_refused_shot_is_one_of_them(self, shoot: Play) -> None:
        refusal = turn(text="No.").model_copy(
            update={"stop": turn().stop.model_copy(update={"reason": "refusal"})}
        )
        assert (await shoot(refusal, refusal, refusal)).attempt.refused
        played = await shoot(refusal, said(ONE_PASSES), refusal)
        assert (played.attempt.refused, played.attempt.code) == (False, ONE_PASSES.strip())


class TestSelfRepair:
    @pytest.fixture
    def repair(self, play: Play) -> Play:
        return partial(play, mode="self_repair")

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("code", "outcome"),
        [
            (ONE_PASSES, "wrong answer"),
            ("raise ValueError('boom')\n", "ValueError: boom"),
            ("def (:\n", "does not compile"),
            ("while True: pass\n", "time limit exceeded"),
            ("x = bytearray(3 << 30)\n", "memory limit exceeded"),
            ("while True: print('x' * 10**6)\n", "output limit exceeded"),
            ("import sys; sys.exit(3)\n", "runtime error"),
            ("import os, signal; os.kill(os.getpid(), 9)\n", "runtime error"),
        ],
        ids=["wrong", "raises", "compile", "time", "memory", "output", "exits", "killed"],
    )
    async def test_the_model_is_told_what_went_wrong(
        self, repair: Play, code: str, outcome: str
    ) -> None:
        played = await repair(said(code), said(RIGHT))
        message = shown(played.heard[1])
        assert outcome in message
        assert code.strip() in message
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (played.attempt.code, played.attempt.written) == (RIGHT.strip(), 2)

    async def test_the_model_is_told_of_a_missing_method(
        self, repair: Play, doubling: ProblemView
    ) -> None:
        missing = "def triple(n): return 3 * n\n"
        played = await repair(said(missing), said("def double(n): return 2 * n\n"), view=doubling)
        report = next(e.report for e in played.events if isinstance(e, StrategyTested))
        assert "double" in report
        assert report in shown(played.heard[1])
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_a_report_of_any_text_can_be_recorded(
        self, repair: Play, doubling: ProblemView
    ) -> None:
        """Judged code may return what no file can hold."""
        lone = "def double(n): return '\\ud800'\n"
        played = await repair(said(lone), said("def double(n): return 2 * n\n"), view=doubling)
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        for event in played.events:
            EVENT.validate_json(event.model_dump_json(by_alias=True))

    async def test_each_round_is_a_conversation_of_its_own(self, repair: Play) -> None:
        played = await repair(
            said(NONE_PASSES),
            said(ONE_PASSES),
            said(ALSO_ONE),
            options=StrategyOptions(repair_rounds=2),
        )
        assert [len(sent.messages) for sent in played.heard] == [2, 2, 2]
        assert len({sent.messages[0].model_dump_json() for sent in played.heard}) == 1
        assert "does not pass" in shown(played.heard[1])
        assert "still does not pass" in shown(played.heard[2])
        assert NONE_PASSES.strip() not in shown(played.heard[2])
        assert rebuild(played.events) == [sent.messages for sent in played.heard]

    @for_each("rounds", [1, 3])
    async def test_self_repair_has_as_many_rounds_as_set(self, repair: Play, rounds: int) -> None:
        shots = [said(f"{NONE_PASSES}print({number})\n") for number in range(rounds + 1)]
        played = await repair(*shots, options=StrategyOptions(repair_rounds=rounds))
        attempt = played.attempt
        assert attempt.model_calls == rounds + 1
        assert attempt.stop_reason is StopReason.MODEL_STOPPED
        assert attempt.chosen_by is ChosenBy.MOST_PUBLIC_TESTS
        assert attempt.code.endswith("print(0)")  # the earliest of equals

    async def test_self_repair_ends_when_the_first_solution_passes(self, repair: Play) -> None:
        played = await repair(said(RIGHT))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert played.attempt.model_calls == 1

    async def test_self_repair_ends_at_once_without_public_tests(
        self, repair: Play, untested: ProblemView
    ) -> None:
        played = await repair(said(NONE_PASSES), view=untested)
        attempt = played.attempt
        assert (attempt.stop_reason, attempt.model_calls) == (StopReason.MODEL_STOPPED, 1)
        assert (attempt.code, attempt.chosen_by) == (NONE_PASSES.strip(), ChosenBy.ANSWER)

    async def test_an_answer_without_code_is_told_so(self, repair: Play) -> None:
        played = await repair(turn(text="Let me think."), said(RIGHT))
        assert NO_CODE in shown(played.heard[1])
        assert played.attempt.code == RIGHT.strip()

    async def test_self_repair_without_code_has_no_solution(self, repair: Play) -> None:
        played = await repair(turn(text="Hm."), turn(text="Hm!"))
        attempt = played.attempt
        assert (attempt.code, attempt.chosen_by, attempt.written) == ("", ChosenBy.NONE, 0)
        assert attempt.stop_reason is StopReason.MODEL_STOPPED

    async def test_a_repair_without_code_leaves_what_there_was(self, repair: Play) -> None:
        played = await repair(said(ONE_PASSES), turn(text="I give up."))
        assert played.attempt.code == ONE_PASSES.strip()
        assert played.attempt.extraction == "python block with entry point"

    async def test_after_a_repair_without_code_the_failure_is_shown_again(
        self, repair: Play
    ) -> None:
        played = await repair(
            said(ONE_PASSES),
            turn(text="Let me think."),
            said(RIGHT),
            options=StrategyOptions(repair_rounds=2),
        )
        first, second = map(shown, played.heard[1:])
        assert "1 of 2 public tests passed" in first
        assert NO_NEW_CODE not in first
        for part in (NO_NEW_CODE, "1 of 2 public tests passed", ONE_PASSES.strip()):
            assert part in second
        assert played.attempt.code == RIGHT.strip()


class TestLimits:
    """Each has a stop reason of its own, and leaves the sample its best solution."""

    CALLS = (turn(write(ONE_PASSES), run()), turn(write(NONE_PASSES), run()))
    WORDS = (said(ONE_PASSES), said(NONE_PASSES))

    async def test_each_limit_ends_the_agent_loop_with_its_stop_reason(self, play: Play) -> None:
        async def is_kept(limits: Limits, more: Sequence[Any], reason: StopReason) -> None:
            attempt = (await play(self.CALLS[0], *more, limits=limits)).attempt
            assert attempt.stop_reason is reason
            assert (attempt.code, attempt.chosen_by) == (ONE_PASSES, ChosenBy.NEWEST)
            assert attempt.model_calls == 1 + len(more)

        await asyncio.gather(
            is_kept(Limits(turns=1), (), StopReason.TURN_LIMIT),
            is_kept(Limits(tool_calls=2), (), StopReason.TOOL_CALL_LIMIT),
            is_kept(Limits(tokens=USAGE.total_tokens), (), StopReason.TOKEN_LIMIT),
            is_kept(Limits(seconds=2), (NEVER,), StopReason.TIME_LIMIT),
            is_kept(Limits(wall_seconds=2), (NEVER,), StopReason.WALL_LIMIT),
        )

    @pytest.mark.thorough
    @pytest.mark.parametrize("mode", ["self_repair", "best_of_k_public"])
    @pytest.mark.parametrize(
        ("limits", "more", "reason"),
        [
            (Limits(turns=1), (), StopReason.TURN_LIMIT),
            (Limits(tokens=USAGE.total_tokens), (), StopReason.TOKEN_LIMIT),
            (Limits(seconds=2), (NEVER,), StopReason.TIME_LIMIT),
            (Limits(wall_seconds=2), (NEVER,), StopReason.WALL_LIMIT),
        ],
        ids=["turns", "tokens", "working seconds", "wall seconds"],
    )
    async def test_each_limit_ends_strategies_without_tools_with_its_stop_reason(
        self, play: Play, mode: str, limits: Limits, more: Sequence[Any], reason: StopReason
    ) -> None:
        played = await play(self.WORDS[0], *more, mode=mode, limits=limits)
        assert played.attempt.stop_reason is reason
        assert played.attempt.code == ONE_PASSES.strip()

    @for_each(
        ("limits", "reason"),
        [
            (Limits(seconds=0.3), StopReason.TIME_LIMIT),
            (Limits(wall_seconds=0.3), StopReason.WALL_LIMIT),
        ],
    )
    async def test_time_limits_end_a_single_shot(
        self, play: Play, limits: Limits, reason: StopReason
    ) -> None:
        played = await play(NEVER, mode="single_shot", limits=limits)
        assert played.attempt.stop_reason is reason
        assert not played.attempt.usage_known

    @for_each("mode", ["agentic", "self_repair", "best_of_k_public"])
    async def test_the_cost_limit_leaves_the_best_solution(self, play: Play, mode: str) -> None:
        script = self.CALLS if mode == "agentic" else self.WORDS
        gate = Broke(1, BudgetSpentError(StopReason.COST_LIMIT))
        played = await play(*script, mode=mode, gate=gate)
        assert played.attempt.stop_reason is StopReason.COST_LIMIT
        assert played.attempt.code.strip() == ONE_PASSES.strip()
        assert len(played.requests) == 1  # what is not sent is not recorded

    @for_each("mode", ["agentic", "single_shot", "self_repair", "best_of_k_public"])
    async def test_a_stopped_run_is_no_end_of_a_sample(self, play: Play, mode: str) -> None:
        with pytest.raises(RunStoppedError):
            await play(mode=mode, gate=Broke(0, RunStoppedError()))

    @pytest.mark.thorough
    async def test_waiting_for_a_retry_counts_on_the_wall_alone(self, play: Play) -> None:
        waits = Retry(attempt=1, cause="HTTP 429", wait_s=5.0, throttled=True)
        script = (waits, Pause(2.1), turn(write(RIGHT), run()))
        played = await play(*script, limits=Limits(seconds=2))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        played = await play(*script, limits=Limits(seconds=30, wall_seconds=0.3))
        assert played.attempt.stop_reason is StopReason.WALL_LIMIT

    async def test_calls_beyond_their_limit_are_answered_and_not_carried_out(
        self, play: Play
    ) -> None:
        calls = (write(ONE_PASSES), write(NONE_PASSES), run())
        played = await play(turn(*calls), limits=Limits(tool_calls=1))
        assert [result.is_error for result in played.results] == [False, True, True]
        assert "No more than 1 calls" in played.results[1].content
        assert (played.attempt.code, played.attempt.written) == (ONE_PASSES, 1)

    async def test_passing_with_the_last_call_is_passing(self, play: Play) -> None:
        played = await play(turn(write(RIGHT), run()), limits=Limits(tool_calls=2))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_a_model_that_does_not_tell_its_tokens_has_one_turn_within_them(
        self, play: Play
    ) -> None:
        silent = turn(write(ONE_PASSES), usage=None)
        played = await play(silent, limits=Limits(tokens=10**9))
        assert played.attempt.stop_reason is StopReason.TOKEN_LIMIT
        assert played.attempt.code == ONE_PASSES

    async def test_recorded_seconds_count_towards_the_time_limit(self, play: Play) -> None:
        """A sample that is taken up again does not begin to work anew."""
        slow = turn(write(ONE_PASSES), run()).model_copy(update={"latency_s": 50.0})
        first = await play(slow, ModelError("HTTP 503"), limits=Limits(seconds=60))
        kept = first.events[:4]
        again = await play(NEVER, recorded=kept, limits=Limits(seconds=50))
        assert again.attempt.stop_reason is StopReason.TIME_LIMIT
        assert len(again.heard) == 0
        assert again.attempt.code == ONE_PASSES

    async def test_recorded_costs_count_towards_the_sample_s_cost_limit(self, play: Play) -> None:
        paid = Retry(attempt=1, cause="no use", wait_s=0.0, usage=Usage(output_tokens=7))
        first = await play(paid, self.CALLS[0], ModelError("HTTP 503"))
        gate = Broke(0, BudgetSpentError(StopReason.COST_LIMIT))
        again = await play(recorded=first.events[:5], gate=gate)
        assert gate.recalled == [Usage(output_tokens=7), USAGE]
        assert again.attempt.usage == USAGE + Usage(output_tokens=7)


class TestGoingOnAfterPassing:
    GO_ON = StrategyOptions(stop_on_pass=False)

    async def test_the_loop_goes_on_until_the_model_ends_it(self, play: Play) -> None:
        played = await play(
            turn(write(RIGHT), run()), turn(read()), turn(text="Done."), options=self.GO_ON
        )
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert (played.attempt.model_calls, played.attempt.nudges) == (3, 0)

    async def test_the_loop_ends_once_the_model_only_repeats_what_passed(self, play: Play) -> None:
        for again in (turn(run()), turn(write(RIGHT), run())):
            played = await play(turn(write(RIGHT), run()), again, options=self.GO_ON)
            assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
            assert (played.attempt.model_calls, played.attempt.code) == (2, RIGHT)

    async def test_what_passed_stays_the_solution(self, play: Play) -> None:
        later = turn(write(ONE_PASSES), run())
        played = await play(
            turn(write(RIGHT), run()), later, turn(text="Hm, done."), options=self.GO_ON
        )
        assert (played.attempt.code, played.attempt.chosen_by) == (
            RIGHT,
            ChosenBy.PASSED_PUBLIC_TESTS,
        )

    async def test_the_earliest_solution_that_passed_is_handed_in(self, play: Play) -> None:
        better = f"{RIGHT}x = 1\n"
        played = await play(
            turn(write(RIGHT), run()),
            turn(write(better), run()),
            turn(text="Done."),
            options=self.GO_ON,
        )
        assert played.attempt.code == RIGHT


class TestSubmit:
    @pytest.fixture
    def play(self, play: Play) -> Play:
        return partial(play, tools=TOOLS)

    async def test_submit_ends_the_attempt(self, play: Play) -> None:
        played = await play(turn(write(ONE_PASSES), call("submit")))
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.SUBMITTED
        assert (attempt.code, attempt.chosen_by) == (ONE_PASSES, ChosenBy.NEWEST)

    async def test_calls_after_it_are_answered_and_not_carried_out(self, play: Play) -> None:
        played = await play(turn(write(ONE_PASSES), call("submit"), write(RIGHT), run()))
        assert [result.is_error for result in played.results] == [False, False, True, True]
        assert "is submitted" in played.results[2].content
        assert played.attempt.code == ONE_PASSES

    async def test_submit_without_a_solution_is_an_error(self, play: Play) -> None:
        played = await play(turn(call("submit")), turn(write(RIGHT), run()))
        assert "write a solution first" in played.results[0].content
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_the_solution_is_chosen_as_its_description_says(self, play: Play) -> None:
        played = await play(
            turn(write(RIGHT), run()),
            turn(write(ONE_PASSES), call("submit")),
            options=StrategyOptions(stop_on_pass=False),
        )
        assert played.attempt.stop_reason is StopReason.SUBMITTED
        assert played.attempt.code == RIGHT
        described = {spec.name: spec.description for spec in played.heard[0].tools}
        assert "the one that passes most public tests is judged" in described["submit"]

    async def test_submit_ends_the_attempt_when_resumed(self, play: Play) -> None:
        first = await play(turn(write(ONE_PASSES), call("submit")))
        again = await play(recorded=first.events)
        assert again.attempt.stop_reason is StopReason.SUBMITTED
        assert not again.heard


class TestRunCode:
    @pytest.fixture
    def tried(self, play: Play) -> Callable[..., Awaitable[str]]:
        async def tried(code: str, stdin: str = "") -> str:
            asked = call("run_code", json.dumps({"code": code, "stdin": stdin}))
            played = await play(turn(asked), turn(text="."), limits=Limits(turns=1), tools=TOOLS)
            assert (played.attempt.code, played.attempt.written) == ("", 0)
            return played.results[0].content

        return tried

    @pytest.mark.parametrize(
        ("code", "parts"),
        [
            ("print(input()[::-1])", ["finished", "Printed to stdout:\ncba"]),
            ("x = 1", ["finished", "Nothing was printed to stdout"]),
            ("print(1)\nraise ValueError('boom')", ["exception", "stdout:\n1", "ValueError: boom"]),
            ("def (:", ["does not compile", "SyntaxError"]),
            ("import sys; sys.exit(3)", ["exit code 3"]),
            ("import sys; print('oops', file=sys.stderr)", ["Printed to stderr:\noops"]),
            ("import os; os.kill(os.getpid(), 9)", ["ended with signal 9"]),
            pytest.param("while True: pass", ["too much CPU time"], marks=pytest.mark.thorough),
            ("x = bytearray(3 << 30)", ["too much memory"]),
            ("while True: print('x' * 10**6)", ["printed too much"]),
        ],
    )
    async def test_the_model_sees_what_became_of_a_program(
        self, tried: Callable[..., Awaitable[str]], code: str, parts: list[str]
    ) -> None:
        report = await tried(code, "abc")
        assert [each for each in parts if each not in report] == []
        assert len(report) < 8_000

    async def test_run_code_may_neither_fork_nor_use_the_network(
        self, tried: Callable[..., Awaitable[str]]
    ) -> None:
        report = await tried("import os\nprint(os.fork())")
        assert "exception" in report
        report = await tried("import socket\nsocket.create_connection(('127.0.0.1', 9))")
        assert "exception" in report

    async def test_run_code_shows_head_and_tail_of_much_output(
        self, tried: Callable[..., Awaitable[str]]
    ) -> None:
        for size in (10_000, 3_000_000):
            report = await tried(f"print('begin' + 'é' * {size} + 'end')")
            assert report.count("é") < LONGEST_OUTPUT
            assert "stdout:\nbegin" in report
            assert report.rstrip().endswith("end")
            assert "left out" in report

    async def test_bytes_that_are_no_text_are_shown_as_such(
        self, tried: Callable[..., Awaitable[str]]
    ) -> None:
        assert "\ufffd" in await tried("import os; os.write(1, b'\\xff\\xfe')")

    async def test_a_program_that_is_too_long_is_not_run(
        self, tried: Callable[..., Awaitable[str]]
    ) -> None:
        assert "longer than" in await tried("#" * (LONGEST_CODE + 1))

    @pytest.mark.thorough
    async def test_run_code_is_not_repeated_on_resume(
        self, play: Play, pool: SandboxPool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = call("run_code", json.dumps({"code": "while True: pass", "stdin": ""}))
        first = await play(turn(write(ONE_PASSES), asked), limits=Limits(turns=1), tools=TOOLS)
        ran: list[object] = []
        monkeypatch.setattr(pool, "call", ran.append)
        again = await play(recorded=first.events, limits=Limits(turns=1), tools=TOOLS)
        assert again.attempt.code == ONE_PASSES
        assert not again.events
        assert not ran

    async def test_run_code_tells_the_model_that_programs_cannot_be_run(self, play: Play) -> None:
        from harness.tools.toolbox import ToolError

        played = await play(turn(text="."), limits=Limits(turns=1))
        workspace = replace(played.workspace, run_code=None)
        arguments = RunCode().arguments(code="print(1)")
        with pytest.raises(ToolError, match="cannot be run here"):
            await RunCode().call(workspace, arguments)


async def test_a_first_request_that_is_too_long_is_warned_of(play: Play) -> None:
    played = await play(ContextOverflowError("HTTP 400: too long"))
    assert played.attempt.stop_reason is StopReason.CONTEXT_LIMIT
    ((kind, line),) = played.warned
    assert kind == "too long"
    assert line.startswith("the first request of a sample is too long for the model (HTTP 400")
    later = await play(turn(read()), *[ContextOverflowError("HTTP 400: too long")] * 2)
    assert later.attempt.stop_reason is StopReason.CONTEXT_LIMIT
    assert len(later.heard) == 3  # the third was a new conversation
    assert later.warned == []


async def test_a_server_that_is_loading_its_model_is_told_of(play: Play) -> None:
    message = "HTTP 503: Loading model"
    loading = Retry(attempt=1, cause=message, wait_s=5.0, status=503, loading=True)
    played = await play(loading, loading, turn(write(RIGHT), run()))
    assert {kind for kind, _ in played.warned} == {"loading"}
    assert played.warned[0][1].startswith(f"the server is still loading its model ({message}); ")
    assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED


class Checked:
    """A tool of one's own that tests the solution and says it in its own words."""

    name = "check"
    description = "Check the solution."
    arguments = ReadProblem.arguments

    async def call(self, workspace: Any, arguments: Any) -> str:
        del arguments
        report = await workspace.test()
        return f"{report.passed} of {report.total}"


@pytest.mark.thorough
async def test_a_report_made_by_a_user_s_tool_is_the_same_on_resume(play: Play) -> None:
    tools = (ReadProblem(), WriteSolution(), RunTests(), Checked())
    first = await play(
        turn(write(ONE_PASSES), call("check"), run()),
        NEVER,
        tools=tools,
        limits=Limits(seconds=9, wall_seconds=4),
    )
    results = [place for place, e in enumerate(first.events) if isinstance(e, ToolResult)]
    again = await play(*[turn(text="Done.")] * 2, tools=tools, recorded=first.events[: results[2]])
    assert isinstance(again.events[0], Resumed)
    assert again.results[0].content == (
        "Nothing has changed since the last run: 1 of 2 public tests passed."
    )


@for_each("mode", ["agentic", "self_repair", "best_of_k_public"])
async def test_resume_runs_no_recorded_test_again(play: Play, mode: str) -> None:
    script = TestLimits.CALLS if mode == "agentic" else TestLimits.WORDS
    play = partial(play, mode=mode, limits=Limits(turns=2))
    first = await play(*script)
    judged: dict[Any, Any] = {}
    again = await play(recorded=first.events, judged=judged)
    assert not judged
    assert [each.report for each in again.attempt.revisions] == [
        each.report for each in first.attempt.revisions
    ]
    assert all(each.report for each in again.attempt.revisions)
