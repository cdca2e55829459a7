"""A conversation from its events: what stands, in order, and when it was."""

from harness.agent.events import (
    Event,
    NewConversation,
    PublicTests,
    Request,
    Response,
    Resumed,
    Retried,
    SampleStart,
    ToolResult,
)
from harness.agent.events import Tested as RanTests
from harness.grading.verdict import Verdict
from harness.models.protocol import ModelStop, ModelTurn, SystemMessage, ToolMessage, UserMessage
from harness.run.store.transcript_contents import entries

ANSWER = ModelTurn(text="hi", stop=ModelStop(reason="end_turn"), latency_s=2.0)
SYSTEM, USER = SystemMessage(content="s"), UserMessage(content="u")
START = SampleStart(sample="a#0", problem_id="a", index=0, mode="agentic", model="m")


def test_messages_answers_results_and_tests_with_their_times() -> None:
    result = ToolResult(turn=1, result=ToolMessage(call_id="c", name="t", content="r"), seconds=0.5)
    tests = PublicTests(verdict=Verdict.ACCEPTED, passed=1, total=1)
    tested = RanTests(turn=1, tests=tests, report="ok", seconds=0.25)
    events: list[Event] = [
        START,
        Request(turn=1, hash="h", messages=(SYSTEM, USER)),
        Retried(turn=1, attempt=1, cause="503", wait_s=4.0),
        Response(turn=1, response=ANSWER),
        result,
        tested,
        NewConversation(turn=2),
        Request(turn=2, hash="h", messages=(USER,)),
        Response(turn=2, response=ANSWER),
    ]
    transcript_entries = list(entries(events))
    assert [entry.item for entry in transcript_entries] == [
        SYSTEM,
        USER,
        *events[3:7],
        USER,
        events[8],
    ]
    assert [(entry.began, entry.ended) for entry in transcript_entries] == [
        (0, 0), (0, 0), (4, 6), (6, 6.5), (6.5, 6.75), (6.75, 6.75), (6.75, 6.75),
        (6.75, 8.75),
    ]  # fmt: skip
    assert [entry.retries for entry in transcript_entries if isinstance(entry.item, Response)] == [
        1,
        0,
    ]


def test_void_events_are_left_out_of_a_conversation() -> None:
    void = Response(turn=1, response=ANSWER)
    asked = Request(turn=1, hash="h", messages=(USER,))
    events: list[Event] = [START, asked, void, Resumed(kept=1, turn=0), asked]
    assert [entry.item for entry in entries(events)] == [USER]
