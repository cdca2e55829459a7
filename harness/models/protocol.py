"""One vocabulary for all providers: messages in, a turn out. Each client translates at its edge."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from harness.problem import ProblemView


class Frozen(BaseModel):
    """Data that never changes once made."""

    model_config = ConfigDict(frozen=True)


class ToolSpec(Frozen):
    """A tool as a provider is told of it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Frozen):
    """A call the model asked for; `arguments` is its JSON text as it came, broken or not."""

    id: str
    name: str
    arguments: str


class SystemMessage(Frozen):
    """Instructions that stand over the conversation."""

    role: Literal["system"] = "system"
    content: str


class UserMessage(Frozen):
    """What the harness says to the model."""

    role: Literal["user"] = "user"
    content: str


class AssistantMessage(Frozen):
    """What the model said. `reasoning` goes back to the provider as it came, byte for byte."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[dict[str, Any], ...] = ()


class ToolMessage(Frozen):
    """The result of one tool call. Every call gets exactly one, in the order asked.

    `malformed`: the call itself was not understood (broken JSON, wrong arguments, unknown tool).
    """

    role: Literal["tool"] = "tool"
    call_id: str
    name: str
    content: str
    is_error: bool = False
    malformed: bool = False


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class Usage(Frozen):
    """Tokens of one or more calls.

    `input_tokens` includes `cached_input_tokens`, which were read from the provider's cache, and
    `cache_write_tokens`, which were written to it; `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ModelStop(Frozen):
    """Why the model stopped: a normalised reason and the provider's own word."""

    reason: Literal["end_turn", "tool_use", "max_tokens", "refusal", "content_filter", "other"]
    provider_word: str | None = None


class ModelTurn(Frozen):
    """One response.

    Attributes:
        usage: None when the provider reported none; never guessed.
        latency_s: wall seconds of the request that succeeded.
        request_id: the provider's own, for its support desk.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[dict[str, Any], ...] = ()
    usage: Usage | None = None
    stop: ModelStop
    latency_s: float = 0.0
    request_id: str | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the answer ended because it reached the token limit."""
        return self.stop.reason == "max_tokens"

    def message(self) -> AssistantMessage:
        """The turn as the conversation keeps it."""
        return AssistantMessage(
            text=self.text, tool_calls=self.tool_calls, reasoning=self.reasoning
        )


FIRST_SETTINGS = frozenset({"temperature", "max_tokens", "reasoning_effort"})


class ModelSettings(Frozen):
    """Settings of every request; None leaves the provider's default, and is not sent.

    `model_seed` is sent as `seed`; a run's own `seed` picks problems. `extra_body` holds further
    fields of the request's body, by their names on the wire.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    model_seed: int | None = None
    stop: tuple[str, ...] | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    service_tier: str | None = None
    extra_body: dict[str, Any] | None = None

    @model_serializer(mode="wrap")
    def _without_unset(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out unset settings that are newer than the first transcripts.

        The hash of a request covers this text: transcripts of older versions stay valid.
        """
        values: dict[str, Any] = dump(self)
        return {k: v for k, v in values.items() if v is not None or k in FIRST_SETTINGS}


class Retry(Frozen):
    """A failed request that is about to be repeated.

    Attributes:
        status: the HTTP status of the failure, None where there was none.
        throttled: whether the provider asked for fewer requests.
        usage: tokens of an answer that is of no use, and paid for all the same; None where there
            was no answer, or none that told.
        malformed: True for an answer that is not what the protocol says.
        cut: True where a timeout of ours ended the request, which the provider may bill.
    """

    attempt: int
    cause: str
    wait_s: float
    status: int | None = None
    throttled: bool = False
    usage: Usage | None = None
    malformed: bool | None = None
    cut: bool | None = None


class ModelError(Exception):
    """A provider that did not answer, after every retry that could help.

    It says nothing of the model: its sample stays pending and is asked again on resume.

    Attributes:
        usage: tokens of a last answer that is of no use, as in `Retry`.
        cut: whether a timeout of ours ended the last request, as in `Retry`.
        unavailable: whether the provider did not answer at all, and may answer later.
        stops_run: whether the provider will refuse every further request of the run, too.
    """

    usage: Usage | None = None
    cut: bool = False
    unavailable: bool = False
    stops_run: bool = False


class ContextOverflowError(ModelError):
    """The conversation no longer fits the model's context window."""


class RecordingEndedError(ModelError):
    """A recording has come to its end, for the reason that the sample had when it was made.

    Args:
        text: one line.
        stop_reason: what stopped the recorded sample: a limit.
        asked: whether a request was under way then.
    """

    def __init__(self, text: str, stop_reason: str, *, asked: bool) -> None:
        self.stop_reason = stop_reason
        self.asked = asked
        super().__init__(text)


Resume = Callable[[], Awaitable[None]]

RetryObserver = Callable[[Retry], Resume | None]
"""Is told of a retry before its wait. What it returns is called and awaited when the wait is over,
before the request is sent again: the place to queue for that."""


class Model(Protocol):
    """A language model.

    `name` is what results are filed under. `for_sample` returns the model that answers for one
    sample: the same object for a provider, the right tape for a recording.
    """

    @property
    def name(self) -> str:
        """What results are filed under."""
        ...

    def for_sample(self, problem: ProblemView, index: int) -> "Model":
        """The model that answers for one sample of a problem."""
        ...

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying what can help.

        Raises:
            ModelError: the provider did not answer; the message holds its own words.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
