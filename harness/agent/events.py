"""Events of a transcript: one a line, written as they happen.

Together the events rebuild the state of a conversation. A request names only the messages that no
earlier event holds: the model's own words stand in its response, a tool's in its result.

Nothing in a transcript is ever written over. Where a sample is taken up again, `Resumed` says how
many of the events before it still stand; `standing` gives those of a whole transcript.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from harness.grading.verdict import Grade, Verdict
from harness.models.protocol import Frozen, Message, ModelTurn, ToolMessage, Usage
from harness.tools.workspace import Report

SCHEMA = 1


class SampleStart(Frozen):
    """The sample, and the hashes of everything that shaped it."""

    event: Literal["sample_start"] = "sample_start"
    schema_version: int = Field(default=SCHEMA, alias="schema")
    sample: str
    problem_id: str
    index: int
    mode: str
    model: str
    problem_hash: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    tools_hash: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    limits: dict[str, Any] = Field(default_factory=dict)
    time: str = ""


class Request(Frozen):
    """A request about to be sent: the hash of all its messages, tools and settings."""

    event: Literal["request"] = "request"
    turn: int
    hash: str
    messages: tuple[Message, ...]


class Response(Frozen):
    """The model's answer in full."""

    event: Literal["response"] = "response"
    turn: int
    response: ModelTurn


class Retried(Frozen):
    """A request that failed and is sent again after `wait_s` seconds; `usage` was paid for it.

    `malformed` and `cut` are those of `harness.models.protocol.Retry`.
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


class Unusable(Frozen):
    """The last answer to a request that came to nothing; it has to be paid for.

    `estimated`: True where a timeout of ours cut the answer off, so that its tokens are estimated.
    """

    event: Literal["unusable"] = "unusable"
    turn: int
    cause: str
    usage: Usage
    estimated: bool | None = None


class PublicTests(Frozen):
    """How a revision did on the public tests: the verdict of all, and how many passed."""

    verdict: Verdict
    passed: int
    total: int

    @classmethod
    def of(cls, report: Report) -> Self:
        """A report without its words."""
        return cls(verdict=report.verdict, passed=report.passed, total=report.total)

    @property
    def solved(self) -> bool:
        """Whether all passed."""
        return self.verdict is Verdict.ACCEPTED


class ToolResult(Frozen):
    """The result of one tool call, and its wall seconds without waiting for a sandbox worker.

    `tests`: what the newest revision came to, where this call had it tested.
    """

    event: Literal["tool_result"] = "tool_result"
    turn: int
    result: ToolMessage
    seconds: float
    tests: PublicTests | None = None


class Tested(Frozen):
    """A strategy had the public tests run, without a tool call; wall seconds as in `ToolResult`."""

    event: Literal["tested"] = "tested"
    turn: int
    tests: PublicTests
    report: str
    seconds: float


class Cleared(Frozen):
    """The request of this turn was too long; these results of tools are left out from here on.

    They stand in the conversation as `text` does. `cause` holds the provider's words.
    """

    event: Literal["cleared"] = "cleared"
    turn: int
    call_ids: tuple[str, ...]
    text: str
    cause: str


class NewConversation(Frozen):
    """After this turn a new conversation begins: nothing said before is sent again, no tools are.

    Turns, tokens and seconds go on.
    """

    event: Literal["new_conversation"] = "new_conversation"
    turn: int


class Resumed(Frozen):
    """The sample is taken up again.

    Attributes:
        kept: how many events before this one stand, those counted that stood then. What came after
            them was void: a request without an answer, an end that was none.
        cause: why recorded answers were not used, where there were some.
    """

    event: Literal["resumed"] = "resumed"
    kept: int
    turn: int
    cause: str = ""
    time: str = ""


class PutOff(Frozen):
    """A limit of the run ended the work on the sample for now; it stays pending.

    Attributes:
        reason: which limit, as in `harness.agent.attempt.RunStop`.
        cause: what is known of it.
        in_flight: whether a request was under way whose answer nobody heard.
    """

    event: Literal["put_off"] = "put_off"
    turn: int
    reason: str
    cause: str = ""
    in_flight: bool = False


class ToolProtocolChanged(Frozen):
    """From this turn's answer on tools are called in another way; at first it is natively."""

    event: Literal["tool_protocol"] = "tool_protocol"
    turn: int
    protocol: Literal["native", "text", "none"]
    cause: str = ""


class AgentLeft(Frozen):
    """An agent of the user's own has left, or was made to.

    Attributes:
        client: how it called itself over MCP; empty where it never spoke.
        confined: whether it was kept from the data.
        exit_code: of its process, beyond 128 the signal that ended it; None where we ended it, or
            it was no process of ours.
        stdout, stderr: what that wrote; of a long text the middle is left out.
        seconds: from its start to its end.
    """

    event: Literal["agent_left"] = "agent_left"
    client: str = ""
    confined: bool = False
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0


class WorkEnded(Frozen):
    """The work of a user's own agent is over; its solution is still to be tested and graded.

    A sample that is interrupted after this event is not given to another agent.

    Attributes:
        stop_reason: why it is over.
        error: what went wrong, if something did.
    """

    event: Literal["work_ended"] = "work_ended"
    stop_reason: str
    error: str = ""


class Graded(Frozen):
    """The final solution, judged on all tests."""

    event: Literal["grade"] = "grade"
    grade: Grade


class SampleEnd(Frozen):
    """How the sample ended. The final solution is the one that `chosen_by` picks from the above."""

    event: Literal["sample_end"] = "sample_end"
    stop_reason: str
    chosen_by: str
    extraction: str = ""
    usage: Usage
    error: str = ""


class NotGraded(Frozen):
    """The sample was not graded: the sandbox or the judge failed. It stays pending."""

    event: Literal["not_graded"] = "not_graded"
    verdict: Verdict
    cause: str


class Damaged(Frozen):
    """A line of a transcript that cannot be read. It keeps its place; it is never written.

    Attributes:
        line: its number in the file, from 1.
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
    | Cleared
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


def standing(events: Iterable[Event]) -> list[Event]:
    """The events of a transcript without those that were void when the sample was taken up again.

    What is left reads as if the sample had never been interrupted.
    """
    kept: list[Event] = []
    for event in events:
        if isinstance(event, Resumed):
            del kept[_kept_by(event, kept) :]
        else:
            kept.append(event)
    return kept


def _kept_by(resumed: Resumed, before: list[Event]) -> int:
    """How many of the events before it stand.

    A damaged line among them may have come in later. Then it was not counted, and the answer of the
    turn that it names is further on.
    """
    damaged = sum(isinstance(event, Damaged) for event in before[: resumed.kept])
    for kept in range(resumed.kept, resumed.kept + damaged + 1):
        turns = [event.turn for event in before[:kept] if isinstance(event, Response)]
        if turns and turns[-1] == resumed.turn:
            return kept
    return resumed.kept
