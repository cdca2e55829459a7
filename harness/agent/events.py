"""What a transcript holds: one event a line, written as it happens.

Together the events rebuild the state of a conversation. A request names only the messages that no
earlier event holds: the model's own words stand in its response, a tool's in its result.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from harness.grading.verdict import Grade
from harness.models.protocol import Frozen, Message, ModelTurn, ToolMessage, Usage

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
    settings: dict[str, Any] = Field(default_factory=dict)
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
    """A request that failed and is sent again after `wait_s` seconds."""

    event: Literal["retry"] = "retry"
    turn: int
    attempt: int
    cause: str
    wait_s: float
    status: int | None = None
    throttled: bool = False


class ToolResult(Frozen):
    """The result of one tool call, and the wall seconds it took."""

    event: Literal["tool_result"] = "tool_result"
    turn: int
    result: ToolMessage
    seconds: float


class ToolProtocolChanged(Frozen):
    """From this turn's answer on tools are called in another way; at first it is natively.

    After `none` a new conversation begins, without tools: nothing said before is sent again.
    """

    event: Literal["tool_protocol"] = "tool_protocol"
    turn: int
    protocol: Literal["native", "text", "none"]
    cause: str = ""


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


Event = Annotated[
    SampleStart
    | Request
    | Response
    | Retried
    | ToolResult
    | ToolProtocolChanged
    | Graded
    | SampleEnd,
    Field(discriminator="event"),
]
