"""An agent that is started: what it does becomes a transcript, and nothing of it stays."""

import asyncio
import json
import sys

import pytest
from own_agents import Agents, Attend, alive, ends, long_while

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.events import (
    Event,
    PublicTests,
    Request,
    Response,
    Resumed,
    SampleEnd,
    SampleStart,
    ToolResult,
)
from harness.agent.events import Tested as RunByStrategy
from harness.features.external.agent_sandbox import AgentSandbox
from harness.features.external.process import HEAD, TAIL
from harness.features.external.session import Absent
from harness.models.protocol import Usage
from harness.sandbox.execution import SandboxError

pytestmark = pytest.mark.usefixtures("namespaces")
BOTH = pytest.mark.parametrize("confined", [True, False], ids=["in a room", "loose"])
PATIENCE_S = 120.0
SOLVES = ("hello", "read", "wrong", "run", "right", "run")


@BOTH
async def test_an_agent_s_calls_are_a_transcript_and_its_last_solution_the_attempt(
    agents: Agents, attend: Attend, *, confined: bool
) -> None:
    done = await attend(agents.host(*SOLVES, confined=confined))
    attempt = done.attempt
    assert attempt.stop_reason is StopReason.MODEL_STOPPED
    assert attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS
    assert "a + b" in attempt.code
    assert (attempt.model_calls, attempt.tool_calls, attempt.malformed_tool_calls) == (0, 5, 0)
    assert (attempt.usage_known, attempt.confined) == (False, confined)
    wrong, right = attempt.revisions
    assert (wrong.turn, right.turn) == (2, 4)
    assert wrong.report is not None
    assert right.report is not None
    assert (wrong.report.passed, right.report.passed) == (0, 2)
    assert done.calls == [
        *("read_problem", "write_solution", "run_tests", "write_solution", "run_tests")
    ]
    assert "All 2 public tests passed" in done.results[-1]
    assert isinstance(done.events[0], Request)
    assert done.left.client == "test agent 1"
    assert (done.left.exit_code, done.left.confined) == (0, confined)
    assert "All 2 public tests passed" in done.left.stdout


@BOTH
async def test_what_it_started_ends_with_it(
    agents: Agents, attend: Attend, *, confined: bool
) -> None:
    seconds = long_while()
    async with asyncio.timeout(PATIENCE_S):
        done = await attend(agents.host(f"leave-behind={seconds}", "right", confined=confined))
    assert done.left.exit_code == 0
    assert ends(f"sleep({seconds})")


@pytest.mark.thorough
@BOTH
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(seconds=1.5), StopReason.TIME_LIMIT),
        (Limits(wall_seconds=1.5), StopReason.WALL_LIMIT),
    ],
    ids=["working seconds", "wall seconds"],
)
async def test_a_limit_of_time_ends_it_and_all_it_started(
    agents: Agents,
    attend: Attend,
    limits: Limits,
    reason: StopReason,
    *,
    confined: bool,
) -> None:
    seconds = long_while()
    mark = f"leave-behind={seconds}"
    host = agents.host("right", "run", mark, "sleep=60", confined=confined)
    done = await attend(host, limits)
    assert done.attempt.stop_reason is reason
    assert done.left.exit_code is None
    assert ends(f"sleep({seconds})")
    assert ends(mark)
    if done.calls:  # it may not have come so far on a busy machine
        assert done.attempt.confined is confined


@pytest.mark.thorough
@BOTH
async def test_too_much_memory_ends_an_agent_and_all_it_started(
    agents: Agents, attend: Attend, *, confined: bool
) -> None:
    steps = ("right", "run", "use=4x40", "wrong")
    host = agents.host(*steps, confined=confined, memory_bytes=120 << 20)
    done = await attend(host)
    assert done.attempt.stop_reason is StopReason.MEMORY_LIMIT
    assert done.attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS
    assert done.left.exit_code is None
    assert ends("time.sleep(60)", "<< 20")


async def test_no_process_of_it_may_use_more_than_all_together(
    agents: Agents, attend: Attend
) -> None:
    done = await attend(agents.host("hello", "use=1x400", memory_bytes=120 << 20))
    assert done.attempt.stop_reason in {StopReason.MODEL_STOPPED, StopReason.MEMORY_LIMIT}
    assert "MemoryError" in done.left.stderr


@pytest.mark.thorough
async def test_the_limit_of_calls_ends_it(agents: Agents, attend: Attend) -> None:
    host = agents.host("right", "many=5", "sleep=60")
    done = await attend(host, Limits(tool_calls=3))
    assert done.attempt.stop_reason is StopReason.TOOL_CALL_LIMIT
    assert len(done.calls) == 4
    assert "No more than 3 calls" in done.results[-1]
    assert done.attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS


@pytest.mark.thorough
async def test_an_agent_that_submitted_is_ended_soon(agents: Agents, attend: Attend) -> None:
    done = await attend(agents.host("right", "submit", "sleep=60"), submit=True)
    assert done.attempt.stop_reason is StopReason.SUBMITTED
    assert done.results[-1] == "Submitted."
    assert done.left.exit_code is None


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("tell=HOME", "exit=3"), "exit code 3 and called no tool: /scratch"),
        (("say=no key",), "never reached the tools"),
    ],
)
async def test_an_agent_that_fails_before_its_first_call_is_no_failing_of_its_model(
    agents: Agents, attend: Attend, steps: tuple[str, ...], words: str
) -> None:
    done = await attend(agents.host(*steps))
    assert done.attempt.stop_reason is StopReason.MODEL_ERROR
    assert words in done.attempt.error


@pytest.mark.thorough
async def test_an_agent_that_fails_later_is_judged_by_what_it_wrote(
    agents: Agents, attend: Attend
) -> None:
    done = await attend(agents.host("right", "exit=3"))
    assert done.attempt.stop_reason is StopReason.MODEL_STOPPED
    assert (done.attempt.chosen_by, done.left.exit_code) == (ChosenBy.PASSED_PUBLIC_TESTS, 3)
    idle = await attend(agents.host("hello"))
    assert idle.attempt.stop_reason is StopReason.MODEL_STOPPED
    assert idle.attempt.chosen_by is ChosenBy.NONE


async def test_a_bounded_part_of_an_agent_s_output_is_kept(agents: Agents, attend: Attend) -> None:
    done = await attend(agents.host("right", "say=first", "flood=2000000", "say=last"))
    text = done.left.stdout
    assert "first" in text
    assert "last" in text
    assert HEAD + TAIL < len(text) < HEAD + TAIL + 100
    assert "bytes left out" in text


async def test_secrets_that_it_was_given_are_not_kept(agents: Agents, attend: Attend) -> None:
    host = agents.host("hello", "tell=MY_KEY")
    secrets = {"MY_KEY": "sk-planted-secret"}
    room = AgentSandbox(
        confined=True, shows=host.room.shows, env={**(host.room.env or {}), **secrets}
    )
    given = type(host)(host.command, room, secrets)
    done = await attend(given)
    assert done.left.stderr.strip() == "[MY_KEY]"


async def test_an_agent_finds_the_prompt_in_its_command_line(
    agents: Agents, attend: Attend
) -> None:
    host = agents.host("say={prompt}", "tell=HARNESS_PROMPT", "say={mcp_config}", "hello")
    done = await attend(host)
    assert done.left.stdout.count("# Sum of Two\n") == 1
    assert done.left.stderr.count("# Sum of Two\n") == 1
    assert done.left.stdout.endswith("/scratch/mcp.json\n")


@pytest.mark.thorough
async def test_garbage_on_the_protocol_hurts_nobody(agents: Agents, attend: Attend) -> None:
    done = await attend(agents.host("garbage", "right", "run"))
    assert done.attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS
    assert done.left.stdout.split()[:2] in (["huge", "413"], ["huge", "0"])  # refused, or cut off
    assert done.attempt.malformed_tool_calls >= 2
    assert max(map(len, done.results)) < 20_000


@pytest.mark.thorough
async def test_one_that_never_reads_hurts_nobody(agents: Agents, attend: Attend) -> None:
    async with asyncio.timeout(PATIENCE_S):
        host = agents.host("right", "deaf=12", "run", "sleep=1000")
        done = await attend(host, Limits(seconds=8))
    assert done.attempt.stop_reason is StopReason.TIME_LIMIT
    assert done.attempt.chosen_by in {ChosenBy.PASSED_PUBLIC_TESTS, ChosenBy.NEWEST}


@pytest.mark.thorough
@pytest.mark.parametrize("confined", [True, False], ids=["in a room", "loose"])
async def test_an_agent_ends_when_the_harness_is_killed(agents: Agents, *, confined: bool) -> None:
    seconds = long_while()
    mark = f"leave-behind={seconds}"
    host = agents.host("say=on", mark, "sleep=60", confined=confined)
    config = host.room.configuration(host.command, "/scratch" if confined else "/tmp", {})
    config["env"]["HARNESS_MCP_CONFIG"] = "none"
    code = (
        "import json, os, subprocess, sys, time\n"
        "from harness.features.external.agent_sandbox import handed_over, helper\n"
        "config = json.load(sys.stdin) | {'parent': os.getpid()}\n"
        "with handed_over(config) as fd:\n"
        "    nothing = {'env': {}, 'cwd': '/', 'stdin': subprocess.DEVNULL}\n"
        "    subprocess.Popen(helper(fd), pass_fds=[fd], **nothing)\n"
        "    time.sleep(60)\n"
    )
    pipe = asyncio.subprocess.PIPE
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=pipe, stdout=pipe
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(json.dumps(config).encode())
    parent.stdin.close()
    assert await parent.stdout.readline() == b"on\n"
    assert alive(mark)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(60):
        await parent.stdout.read()  # until nobody holds it any more
    assert ends(mark)
    assert ends(f"sleep({seconds})")


@pytest.mark.thorough
async def test_a_run_that_is_stopped_ends_it(agents: Agents, attend: Attend) -> None:
    called = asyncio.Event()

    class Watched(list[Event]):
        def append(self, event: Event) -> None:
            super().append(event)
            if isinstance(event, ToolResult):
                called.set()

    seconds = long_while()
    host = agents.host(f"leave-behind={seconds}", "right", "sleep=60")
    task = asyncio.create_task(attend(host, events=Watched()))
    await asyncio.wait({asyncio.create_task(called.wait()), task}, return_when="FIRST_COMPLETED")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends(f"sleep({seconds})")


@pytest.mark.thorough
async def test_an_interrupted_sample_begins_anew_and_the_transcript_says_so(
    agents: Agents, attend: Attend
) -> None:
    first = await attend(agents.host("wrong", "right"))
    start = SampleStart(sample="s", problem_id="p", index=0, mode="external", model="agent:test")
    cut = [start, *first.events[:3]]
    events: list[Event] = []
    done = await attend(agents.host("right"), recorded=cut, events=events)
    assert isinstance(events[0], Resumed)
    assert "cannot be resumed" in events[0].cause
    assert done.calls == ["write_solution"]


@pytest.mark.thorough
async def test_only_the_grade_is_missing_of_an_agent_that_had_left(
    agents: Agents, attend: Attend
) -> None:
    first = await attend(agents.host(*SOLVES))
    end = SampleEnd(stop_reason="model_stopped", chosen_by="passed_public_tests", usage=Usage())
    start = SampleStart(sample="s", problem_id="p", index=0, mode="external", model="agent:test")
    events: list[Event] = []
    done = await attend(agents.host("right"), recorded=[start, *first.events, end], events=events)
    assert not [event for event in events if isinstance(event, Response)]
    assert not events
    assert done.attempt.code == first.attempt.code
    assert [r.report for r in done.attempt.revisions] == [r.report for r in first.attempt.revisions]


START = SampleStart(sample="s", problem_id="p", index=0, mode="external", model="agent:test")


@pytest.mark.parametrize(
    ("steps", "chosen", "passed"),
    [
        (("right",), ChosenBy.PASSED_PUBLIC_TESTS, 2),
        (("wrong", "run", "right"), ChosenBy.PASSED_PUBLIC_TESTS, 2),
        (("wrong",), ChosenBy.NEWEST, 0),
    ],
    ids=["right", "an older one is wrong", "wrong"],
)
async def test_a_final_solution_that_it_did_not_test_is_run_on_the_public_tests(
    agents: Agents, attend: Attend, steps: tuple[str, ...], chosen: ChosenBy, passed: int
) -> None:
    done = await attend(agents.host(*steps))
    (tested,) = [event for event in done.events if isinstance(event, RunByStrategy)]
    assert (tested.tests.passed, tested.tests.total) == (passed, 2)
    assert done.attempt.chosen_by is chosen
    report = done.attempt.revisions[-1].report
    assert report is not None
    assert (PublicTests.of(report), report.text) == (tested.tests, tested.report)


@pytest.mark.thorough
async def test_a_final_solution_that_it_tested_is_not_run_again(
    agents: Agents, attend: Attend
) -> None:
    done = await attend(agents.host(*SOLVES))
    assert not [event for event in done.events if isinstance(event, RunByStrategy)]


async def test_a_sandbox_that_fails_in_the_last_tests_does_not_lose_the_work(
    agents: Agents, attend: Attend
) -> None:
    async def fails() -> None:
        raise SandboxError("the fork server hung up")

    events: list[Event] = []
    with pytest.raises(SandboxError):
        await attend(agents.host("right"), events=events, before_tests=fails)
    await _goes_on_without_another_agent(attend, [START, *events])


@pytest.mark.thorough
async def test_an_interrupt_in_the_last_tests_does_not_lose_the_work(
    agents: Agents, attend: Attend
) -> None:
    begun = asyncio.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.Event().wait()

    events: list[Event] = []
    task = asyncio.create_task(attend(agents.host("right"), events=events, before_tests=waits))
    async with asyncio.timeout(60):
        await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _goes_on_without_another_agent(attend, [START, *events])


async def _goes_on_without_another_agent(attend: Attend, recorded: list[Event]) -> None:
    """Assert that a recorded sample is tested and graded, though no agent comes."""
    assert not [event for event in recorded if isinstance(event, RunByStrategy)]
    done = await attend(Absent(), recorded=recorded)
    assert [type(event) for event in done.events] == [Resumed, RunByStrategy]
    assert done.attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS
    assert done.attempt.stop_reason is StopReason.MODEL_STOPPED
    assert "a + b" in done.attempt.code
    again = await attend(Absent(), recorded=[*recorded, done.events[1]])
    assert not again.events  # tests that are recorded are not run again
    assert again.attempt.code == done.attempt.code
    assert again.attempt.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS
