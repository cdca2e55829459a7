"""Provider-independent model interface: messages in, a turn out. Clients translate it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from harness.frozen import Frozen

if TYPE_CHECKING:
    from harness.problem import ProblemView

FIRST_SETTINGS = frozenset({"temperature", "max_tokens", "reasoning_effort"})


class ToolSpec(Frozen):
    """Tool as described to a provider.

    Attributes:
        parameters: JSON schema of its arguments.
        language: language of the argument `code`; empty without one. It is not sent.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    language: str = Field(default="", exclude=True)

    @cached_property
    def encoded(self) -> bytes:
        """The tool as JSON, as hashes of requests cover it."""
        return self.model_dump_json().encode()

    @cached_property
    def sole_text(self) -> str | None:
        """Name of its only required argument, if that is a string; else None."""
        required: list[str] = self.parameters.get("required", [])
        properties: dict[str, dict[str, Any]] = self.parameters.get("properties", {})
        is_text = len(required) == 1 and properties.get(required[0], {}).get("type") == "string"
        return required[0] if is_text else None


class ToolCall(Frozen):
    """Call that the model requested; `arguments` is its JSON text as it came, broken or not."""

    id: str
    name: str
    arguments: str = "{}"


class SystemMessage(Frozen):
    """Instructions for the whole conversation."""

    role: Literal["system"] = "system"
    content: str


class UserMessage(Frozen):
    """Message of the harness to the model."""

    role: Literal["user"] = "user"
    content: str


class AssistantMessage(Frozen):
    """Message of the model. `reasoning` is sent back to the provider unchanged."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[dict[str, Any], ...] = ()


class ToolMessage(Frozen):
    """Result of one tool call. Every call gets exactly one, in order.

    `malformed`: the call itself could not be parsed (broken JSON, wrong arguments, unknown tool).
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
    """Token counts of one or more requests.

    `input_tokens` includes `cached_input_tokens`, which were read from the provider's cache, and
    `cache_write_tokens`, which were written to it; `output_tokens` includes `reasoning_tokens`.
    `cost_usd`: US dollars that the provider itself says they cost; None if it does not say so.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = Field(default=None, exclude_if=lambda cost: cost is None)

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
            cost_usd=self._cost_with(other),
        )

    def _cost_with(self, other: "Usage") -> float | None:
        """Return what both cost; None if unknown for one that has tokens."""
        costs = [each.cost_usd for each in (self, other) if each.total_tokens or each.cost_usd]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


class ModelStop(Frozen):
    """Reason why the model stopped: a normalised one and the provider's own word."""

    reason: Literal["end_turn", "tool_use", "max_tokens", "refusal", "content_filter", "other"]
    provider_word: str | None = None


def usual_stop(*, has_calls: bool) -> ModelStop:
    """Return the usual reason to stop: to call tools, or at the end of the answer."""
    return CALLED if has_calls else ENDED


CALLED, ENDED = ModelStop(reason="tool_use"), ModelStop(reason="end_turn")


class ModelTurn(Frozen):
    """One answer of a model.

    Attributes:
        usage: token counts; None when the provider reported none; never guessed.
        stop: why the model stopped; by default `usual_stop`.
        latency_s: wall seconds of the request that succeeded.
        request_id: the provider's id of the request, for its support.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[dict[str, Any], ...] = ()
    usage: Usage | None = None
    stop: ModelStop = Field(
        default_factory=lambda turn: usual_stop(has_calls=bool(turn.get("tool_calls")))
    )
    latency_s: float = 0.0
    request_id: str | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the answer ended because it reached the token limit."""
        return self.stop.reason == "max_tokens"

    def message(self) -> AssistantMessage:
        """Return the turn as a message of the conversation."""
        return AssistantMessage(
            text=self.text, tool_calls=self.tool_calls, reasoning=self.reasoning
        )


class ModelSettings(Frozen):
    """Settings of every request; None leaves the provider's default, and is not sent.

    `model_seed` is sent as `seed`; a run's own `seed` picks problems. `extra_body` holds further
    fields of the request's body, by their names in the API.
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
    """Failed request that is about to be retried.

    Attributes:
        status: HTTP status of the failure, None where there was none.
        throttled: whether the provider asked for fewer requests.
        usage: tokens of an unusable answer, which are billed all the same; None if none were
            reported.
        malformed: True for an answer that violates the protocol.
        cut: True where an answer under way was lost, by a timeout of the harness or a broken
            connection; the provider may bill it.
        loading: True where the server is loading its model.
    """

    attempt: int
    cause: str
    wait_s: float
    status: int | None = None
    throttled: bool = False
    usage: Usage | None = None
    malformed: bool | None = None
    cut: bool | None = None
    loading: bool | None = None


class ModelError(Exception):
    """The provider did not answer, after every retry that could help.

    This does not count against the model: the sample stays pending and is asked again on resume.

    Attributes:
        usage: tokens of an unusable last answer, as in `Retry`.
        cut: whether the last request's answer was lost, as in `Retry`.
        unavailable: whether the provider did not answer at all, and may answer later.
        stops_run: whether the provider will refuse every further request of the run, too.
    """

    usage: Usage | None = None
    cut: bool = False
    unavailable: bool = False
    stops_run: bool = False


class UserInterruptError(Exception):
    """The user's own code as model raised KeyboardInterrupt: the run is to stop."""


class ContextOverflowError(ModelError):
    """The conversation no longer fits the model's context window."""


class HistoryRefusedError(ModelError):
    """The provider refused the conversation for reasoning or calls of its earlier answers.

    Sent again unchanged, it would be refused again. What may help is to leave the reasoning of all
    earlier answers out (`AssistantMessage.reasoning`), or a new conversation.
    """


class RecordingEndedError(ModelError):
    """The recording ended, because a limit stopped the sample when it was recorded.

    Args:
        text: one line.
        stop_reason: limit that stopped the recorded sample.
        asked: whether a request was under way then.
    """

    def __init__(self, text: str, stop_reason: str, *, asked: bool) -> None:
        self.stop_reason = stop_reason
        self.asked = asked
        super().__init__(text)


Resume = Callable[[], Awaitable[None]]

RetryObserver = Callable[[Retry], Resume | None]
"""Function called with a retry before its wait.

The callable that it returns is called and awaited after the wait, before the request is sent
again: the place to queue.
"""


class Model(Protocol):
    """A language model.

    `name` is its name in results. `for_sample` returns the model that answers for one sample: the
    same object for a provider, the sample's recording for a replay.
    """

    @property
    def name(self) -> str:
        """Name of the model in results."""
        ...

    def for_sample(self, problem: "ProblemView", index: int) -> "Model":
        """Return the model that answers for one sample of a problem."""
        ...

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying transient failures.

        Raises:
            ModelError: the provider did not answer; the message holds its error text.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
