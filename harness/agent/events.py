"""Events of a transcript: one per line, written as they happen.

The events together reconstruct the state of a conversation. A request contains only messages that
are in no earlier event: the model's messages are in its responses, a tool's in its results. They
are the bytes that are sent.

Fields that have their default values are left out of a line. Since schema 2 a run's manifest holds
the parts that all transcripts of the run share (`harness.run.store.transcript.SharedParts`).

A transcript is append-only. When a sample is resumed, `Resumed` says how many of the earlier
events remain valid; `standing` returns the valid ones.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from harness.frozen import Frozen
from harness.grading.verdict import Grade, Verdict, whole_grade
from harness.models.protocol import Message, ModelTurn, ToolMessage, Usage
from harness.problem import TestCase
from harness.tools.revision import Report

SCHEMA = 3
CALL_IN_TEXT = "call-in-text-"
"""Beginning of the ids of calls that stand in a model's text."""
WAYS = {"native": "by native calls", "text": "in text", "none": "in text, without a loop"}
"""How programs come from the model, in words."""
REFUSED = {
    "length": "the conversation is too long",
    "history": "the conversation has reasoning that the provider refuses",
    "tools": "the endpoint takes no tools",
}
"""What a provider refused, in words."""


class SampleStart(Frozen):
    """Start of a sample, with the hashes of everything that affects it.

    `language` is the language of solutions; None for Python.
    A line leaves out the problem's id and the index if `sample` consists of them.
    """

    event: Literal["sample_start"] = "sample_start"
    schema_version: int = Field(default=SCHEMA, alias="schema")
    sample: str
    problem_id: str
    index: int
    problem_hash: str = ""
    mode: str
    language: str | None = None
    model: str
    prompt: str = ""
    prompt_hash: str = ""
    tools_hash: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    limits: dict[str, Any] = Field(default_factory=dict)
    time: str = ""

    @model_validator(mode="before")
    @classmethod
    def _with_problem(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "problem_id" in values:
            return cast("Any", values)
        start = cast("dict[str, Any]", values)
        problem_id, _, index = str(start.get("sample")).rpartition("#")
        return {"problem_id": problem_id, "index": index, **start}


class Request(Frozen):
    """A request about to be sent; the hash covers all messages, tools and settings."""

    event: Literal["request"] = "request"
    turn: int
    hash: str
    messages: tuple[Message, ...] = ()


class Response(Frozen):
    """The model's complete answer."""

    event: Literal["response"] = "response"
    turn: int
    response: ModelTurn


class Retried(Frozen):
    """A failed request that is retried after `wait_s` seconds; it cost `usage`.

    `malformed`, `cut` and `loading` are described in `harness.models.protocol.Retry`.
    """

    event: Literal["retry"] = "retry"
    turn: int
    attempt: int
    cause: str
    wait_s: float
    status: int | None = None
    throttled: bool = False
    usage: Usage | None = None
    malformed: bool | None = None
    cut: bool | None = None
    loading: bool | None = None


class Unusable(Frozen):
    """The final, unusable answer to a request; it is billed.

    `estimated`: True if the harness's timeout cut the answer off, so that its tokens are
    estimated.
    """

    event: Literal["unusable"] = "unusable"
    turn: int
    cause: str
    usage: Usage
    estimated: bool | None = None


class PublicTests(Frozen):
    """A revision's result on the public tests: overall verdict and number passed."""

    verdict: Verdict
    passed: int
    total: int

    @classmethod
    def of(cls, report: Report) -> Self:
        """Return the verdict and counts of a report."""
        return cls(verdict=report.verdict, passed=report.passed, total=report.total)

    @property
    def solved(self) -> bool:
        """Whether all tests passed."""
        return self.verdict is Verdict.ACCEPTED


class ToolResult(Frozen):
    """The result of a tool call; seconds, to the millisecond, exclude waiting for a worker.

    `tests`: the newest revision's result, if this call ran the tests; `report`: where the result's
    content has its report: first character, and the one after the last.
    """

    event: Literal["tool_result"] = "tool_result"
    turn: int
    result: ToolMessage
    seconds: float = 0.0
    tests: PublicTests | None = None
    report: tuple[int, int] | None = None

    @property
    def is_sent_alone(self) -> bool:
        """Whether it is a message of its own; the result of a call in a text is not."""
        return not self.result.call_id.startswith(CALL_IN_TEXT)


class Tested(Frozen):
    """Public tests run by a strategy without a tool call; seconds as in `ToolResult`."""

    event: Literal["tested"] = "tested"
    turn: int
    tests: PublicTests
    report: str
    seconds: float


class RanWrittenTests(Frozen):
    """Tests that the model wrote, run on some solutions; seconds as in `ToolResult`.

    Attributes:
        tests: the tests.
        passed: for each solution, which of the tests it passed.
        report: what the model is told about the last solution.
    """

    event: Literal["written_tests"] = "written_tests"
    turn: int
    tests: tuple[TestCase, ...]
    passed: tuple[tuple[bool, ...], ...]
    report: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The tests, and how many of the solutions pass each."""
        lines = [f"{len(self.tests)} tests, {len(self.passed)} solutions"]
        for number, test in enumerate(self.tests):
            passing = sum(row[number] for row in self.passed if row)
            lines.append(f"passed by {passing}:\n{test.input.strip()}\n-> {test.output.strip()}")
        return "\n\n".join(lines)


class Refused(Frozen):
    """The provider refused the request for good, and the sample goes on in another way.

    Attributes:
        refusal: what it refused: the length of the conversation, the reasoning in it, or tools.
        cause: its message.
    """

    event: Literal["refused"] = "refused"
    turn: int
    refusal: Literal["length", "history", "tools"]
    cause: str = ""


class ReasoningLeftOut(Frozen):
    """The reasoning of all answers up to this turn is no longer sent."""

    event: Literal["reasoning_left_out"] = "reasoning_left_out"
    turn: int


class NewConversation(Frozen):
    """A new conversation starts after this turn, without the earlier messages.

    Tools are reset too. Turns, tokens and seconds continue. `cause` says why, if the strategy does
    not begin one for each request.
    """

    event: Literal["new_conversation"] = "new_conversation"
    turn: int
    cause: str = ""


class Resumed(Frozen):
    """The sample was resumed.

    Attributes:
        kept: number of earlier events that remain valid, not counting already invalid ones. Later
            ones became void: a request without an answer, or an end that did not hold.
        cause: why recorded answers were not used, if there were any.
    """

    event: Literal["resumed"] = "resumed"
    kept: int
    turn: int
    cause: str = ""
    time: str = ""


class PutOff(Frozen):
    """A limit of the run interrupted the sample, which stays pending.

    Attributes:
        reason: the limit, as in `harness.agent.attempt.RunStop`.
        cause: details.
        in_flight: whether a request was in flight whose answer was lost.
    """

    event: Literal["put_off"] = "put_off"
    turn: int
    reason: str
    cause: str = ""
    in_flight: bool = False


class ToolProtocolChanged(Frozen):
    """From this turn's answer on, tools are called differently; initially natively."""

    event: Literal["tool_protocol"] = "tool_protocol"
    turn: int
    protocol: Literal["native", "text", "none"]
    cause: str = ""


class AgentLeft(Frozen):
    """A user's own agent exited, or was ended.

    Attributes:
        client: name of its MCP client; empty if it never connected.
        confined: whether it was isolated from the hidden tests.
        exit_code: exit code of its process, above 128 for the signal that ended it; None if the
            harness ended it, or did not start it.
        stdout, stderr: its output; the middle of a long text is left out.
        seconds: wall seconds from its start to its end.
    """

    event: Literal["agent_left"] = "agent_left"
    client: str = ""
    confined: bool = False
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0


class WorkEnded(Frozen):
    """A user's own agent finished; its solution is still to be tested and graded.

    A sample interrupted after this event is not given to another agent.

    Attributes:
        stop_reason: why it finished.
        error: the error, if any.
    """

    event: Literal["work_ended"] = "work_ended"
    stop_reason: str
    error: str = ""


class Graded(Frozen):
    """The final solution's grade on all tests; stored as in `harness.grading.verdict`."""

    event: Literal["grade"] = "grade"
    grade: Annotated[Grade, BeforeValidator(whole_grade)]


class SampleEnd(Frozen):
    """End of the sample; `chosen_by` tells which revision is the final solution."""

    event: Literal["sample_end"] = "sample_end"
    stop_reason: str
    chosen_by: str
    extraction: str = ""
    usage: Usage
    error: str = ""


class NotGraded(Frozen):
    """The sample was not graded: sandbox or judge failed. It stays pending."""

    event: Literal["not_graded"] = "not_graded"
    verdict: Verdict
    cause: str


class Damaged(Frozen):
    """An unreadable line of a transcript; used only in reading, never written.

    Attributes:
        line: line number in the file, from 1.
        cause: what is wrong with it.
    """

    event: Literal["damaged"] = "damaged"
    line: int
    cause: str = ""


Event = Annotated[
    SampleStart
    | Request
    | Response
    | Retried
    | Unusable
    | ToolResult
    | ToolProtocolChanged
    | Tested
    | RanWrittenTests
    | Refused
    | ReasoningLeftOut
    | NewConversation
    | Resumed
    | PutOff
    | AgentLeft
    | WorkEnded
    | Graded
    | SampleEnd
    | NotGraded
    | Damaged,
    Field(discriminator="event"),
]


def title_of(event: Event) -> str:
    """Return what an event did to the sample; of the others, its kind in words."""
    match event:
        case ToolProtocolChanged():
            since = f"from turn {event.turn} on " if event.turn > 1 else ""
            title = f"{since}programs come {WAYS[event.protocol]}"
        case Refused():
            title = f"turn {event.turn} was refused: {REFUSED[event.refusal]}"
        case ReasoningLeftOut():
            title = f"the reasoning up to turn {event.turn} is left out from here on"
        case NewConversation():
            title = f"a new conversation after turn {event.turn}"
        case Resumed():
            title = f"taken up again after turn {event.turn} {event.time}".strip()
        case WorkEnded():
            title = f"the work of the agent has ended: {event.stop_reason}"
        case NotGraded():
            title = f"not graded: {event.verdict.replace('_', ' ')}; the sample stays pending"
        case _:
            title = event.event.replace("_", " ")
    return title


def standing(events: Iterable[Event]) -> list[Event]:
    """Return the valid events of a transcript, as if it had never been interrupted.

    Events that became void when the sample was resumed are left out.
    """
    kept: list[Event] = []
    for event in events:
        if isinstance(event, Resumed):
            del kept[_kept_by(event, kept) :]
        else:
            kept.append(event)
    return kept


def _kept_by(resumed: Resumed, before: list[Event]) -> int:
    """Return how many of the events before `resumed` remain valid.

    A damaged line among them may have been added later. It was not counted then, and the answer of
    the turn named in `resumed` comes later.
    """
    damaged = sum(isinstance(event, Damaged) for event in before[: resumed.kept])
    for kept in range(resumed.kept, resumed.kept + damaged + 1):
        turns = [event.turn for event in before[:kept] if isinstance(event, Response)]
        if turns and turns[-1] == resumed.turn:
            return kept
    return resumed.kept
