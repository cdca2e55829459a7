"""The record of a conversation: it rebuilds every request, and names each by its hash."""

from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from for_each import for_each
from scripted import Pause, Played, Step, call, read, rebuild, run, turn, write

from harness.agent.attempt import Limits, StopReason
from harness.agent.events import Request, Retried
from harness.agent.templates.prompt_set import load_prompt
from harness.models.protocol import ModelError, ModelSettings, Retry
from harness.problem import ProblemView
from harness.run.store.transcript import EVENT
from harness.tools.read_problem import ReadProblem
from harness.tools.write_solution import WriteSolution

Play = Callable[..., Awaitable[Played]]

RIGHT = "print(sum(map(int, input().split())))\n"
RETRY = Retry(attempt=1, cause="HTTP 429", wait_s=600.0)
THOUGHTFUL = turn(read(), text="Hm.").model_copy(
    update={"reasoning": ({"type": "thinking", "thinking": "a\u2028b", "signature": "Zm9v+/="},)}
)

CONVERSATIONS: dict[str, list[Step]] = {
    "straight": [turn(read()), turn(write("print(3)"), run()), turn(write(RIGHT), run())],
    "all in one message": [turn(read(), write("print(3)"), run()), turn(write(RIGHT), run())],
    "nudged": [turn(text="Well…"), turn(write("print(3)")), *[turn(text="Fine.")] * 2],
    "nudged after code": [turn(write("1"), run()), *[turn(text="```python\n1\n```")] * 3],
    "malformed": [turn(call("nope"), call("run_tests", "{")), turn(write(RIGHT), run())],
    "retried": [RETRY, turn(read()), RETRY, RETRY, turn(write(RIGHT), run())],
    "reasoning": [THOUGHTFUL, THOUGHTFUL, turn(write(RIGHT), run())],
    "broken off": [turn(read()), turn(write("print(3)")), ModelError("gone")],
    "hostile": [turn(read(), text="\x1b[31m\0\r\u202e"), turn(write(RIGHT), run())],
}


@pytest.fixture(params=CONVERSATIONS, ids=str)
def script(request: pytest.FixtureRequest) -> list[Step]:
    return CONVERSATIONS[request.param]


async def test_the_transcript_rebuilds_what_the_model_was_sent(
    play: Play, script: list[Step]
) -> None:
    played = await play(*script)
    lines = [event.model_dump_json(by_alias=True) for event in played.events]
    assert all("\n" not in line for line in lines)
    sent = [request.messages for request in played.model.sent]
    assert rebuild([EVENT.validate_json(line) for line in lines]) == sent


async def test_each_request_extends_the_one_before(play: Play, script: list[Step]) -> None:
    sent = [request.messages for request in (await play(*script)).model.sent]
    for before, after in pairwise(sent):
        assert len(after) > len(before)
        assert after[: len(before)] == before


async def test_an_event_holds_no_message_that_an_earlier_one_holds(
    play: Play, script: list[Step]
) -> None:
    played = await play(*script)
    roles = [message.role for event in played.requests for message in event.messages]
    assert roles[:2] == ["system", "user"]
    assert set(roles[2:]) <= {"user"}


async def test_turns_count_from_one(play: Play, script: list[Step]) -> None:
    played = await play(*script)
    assert [event.turn for event in played.requests] == list(range(1, len(played.requests) + 1))


class TestHash:
    async def test_a_longer_hash_of_an_older_version_is_the_same(
        self, play: Play, script: list[Step]
    ) -> None:
        played = await play(*script)
        longer = [
            each.model_copy(update={"hash": f"{each.hash}00"})
            if isinstance(each, Request)
            else each
            for each in played.events
        ]
        changed = [
            each.model_copy(update={"hash": f"0{each.hash}"}) if isinstance(each, Request) else each
            for each in played.events
        ]
        broken_off = isinstance(script[-1], ModelError)
        again = await play(*script[-1:], recorded=longer)
        assert len(again.model.sent) == broken_off
        assert (await play(*script, recorded=changed)).model.sent

    async def hashes(self, play: Play, *script: Step, **options: object) -> list[str]:
        return [event.hash for event in (await play(*script, **options)).requests]

    async def test_equal_conversations_have_equal_hashes(
        self, play: Play, script: list[Step]
    ) -> None:
        first, second = [await self.hashes(play, *script) for _ in range(2)]
        assert first == second
        assert len(set(first)) == len(first)

    @for_each(
        "settings",
        [
            ModelSettings(temperature=0.0),
            ModelSettings(max_tokens=100),
            ModelSettings(reasoning_effort="high"),
        ],
    )
    async def test_a_setting_changes_the_hash_of_a_request(
        self, play: Play, settings: ModelSettings
    ) -> None:
        failure = ModelError("gone")
        assert await self.hashes(play, failure) != await self.hashes(
            play, failure, settings=settings
        )

    async def test_a_tool_changes_the_hash_of_a_request(self, play: Play) -> None:
        fewer = (ReadProblem(), WriteSolution())
        failure = ModelError("gone")
        assert await self.hashes(play, failure) != await self.hashes(play, failure, tools=fewer)

    async def test_the_opening_changes_the_hash_of_a_request(
        self, play: Play, problem: ProblemView
    ) -> None:
        other = problem.model_copy(update={"title": "Sum of two"})
        failure = ModelError("gone")
        assert await self.hashes(play, failure) != await self.hashes(play, failure, view=other)

    @for_each(
        "changed",
        [
            {"text": "hm."},
            {"tool_calls": ()},
            {"reasoning": ({"type": "thinking", "thinking": "other"},)},
            {"tool_calls": (call("read_problem", "{ }"),)},
        ],
    )
    async def test_an_answer_changes_the_hashes_of_later_requests(
        self, play: Play, changed: dict[str, object]
    ) -> None:
        failure = ModelError("gone")
        before = await self.hashes(play, THOUGHTFUL, failure)
        after = await self.hashes(play, THOUGHTFUL.model_copy(update=changed), failure)
        assert before[0] == after[0]
        assert before[1] != after[1]

    async def test_a_tool_result_changes_the_hashes_of_later_requests(
        self, play: Play, problem: ProblemView
    ) -> None:
        first_turn, failure = turn(read()), ModelError("gone")
        unsaid = load_prompt("default", "agentic")
        unsaid = unsaid.model_copy(update={"parts": {**unsaid.parts, "user": "Read the problem."}})
        other = problem.model_copy(update={"statement": "Print the sum of two integers."})
        before = await self.hashes(play, first_turn, failure, prompt=unsaid)
        after = await self.hashes(play, first_turn, failure, prompt=unsaid, view=other)
        assert before[0] == after[0]  # the statement is not in the opening
        assert before[1] != after[1]


class TestRetries:
    async def test_retries_are_recorded_with_their_cause(self, play: Play) -> None:
        played = await play(turn(read()), RETRY, turn(write(RIGHT), run()))
        assert [event for event in played.events if isinstance(event, Retried)] == [
            Retried(turn=2, attempt=1, cause="HTTP 429", wait_s=600.0)
        ]

    @pytest.mark.thorough
    async def test_waiting_for_a_provider_does_not_count_as_work(self, play: Play) -> None:
        script = [RETRY, Pause(2.1), turn(read()), turn(write(RIGHT), run())]
        played = await play(*script, limits=Limits(seconds=2))
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    @pytest.mark.thorough
    async def test_a_slow_answer_counts_as_work(self, play: Play) -> None:
        played = await play(Pause(2.1), turn(read()), limits=Limits(seconds=2))
        assert played.attempt.stop_reason is StopReason.TIME_LIMIT
