"""Base class of the providers' clients, and their connections."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from harness.models.clients.amendments import Amendment
from harness.models.clients.connections import opened
from harness.models.clients.endpoint import Endpoint
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.timeouts import Timeouts
from harness.models.clients.wire import Json
from harness.models.faults import RejectedError
from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    Retry,
    RetryObserver,
    ToolSpec,
)
from harness.models.text_tools.thoughts import calls_in_thoughts
from harness.problem import ProblemView


class Client:
    """Model at an endpoint; each protocol has a subclass.

    Args:
        name: name of the model in results.
        model: the model's name at the endpoint.
        base_url: the endpoint, as `https://host/v1`.
        api_key: bearer token, masked in every message.
        headers: headers of every request, their values masked as well.
        policy: retry policy.
        timeouts: timeouts of one request.
        pace: clock and sleep function of the retries.

    Attributes:
        ANSWER_FIELD: field that an answer has and an error has not.
        ERROR_STATUSES: HTTP status of each error type, for errors sent with HTTP 200.
        REQUEST, TURN: translate a request to JSON, and an answer from it.
        STREAM: stream format of the protocol.
        AMENDMENTS: changes to a refused request that may help.
    """

    ANSWER_FIELD: ClassVar[str]
    ERROR_STATUSES: ClassVar[Mapping[str, int]] = MappingProxyType({})
    REQUEST: ClassVar[Callable[..., Json]]
    TURN: ClassVar[Callable[..., ModelTurn]]
    STREAM: ClassVar[StreamFormat]
    AMENDMENTS: ClassVar[tuple[Amendment, ...]] = ()

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        api_key: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.name = name
        self._model = model
        self._base_url = base_url
        self._parameters: frozenset[str] = frozenset()
        self._needed: set[Amendment] = set()  # changes that this endpoint requires
        self._endpoint = Endpoint(
            base_url,
            api_key,
            answer_field=self.ANSWER_FIELD,
            error_statuses=self.ERROR_STATUSES,
            read_usage=self.STREAM.read_usage,
            secrets=headers.values(),
            policy=policy,
            timeouts=timeouts,
            pace=pace,
        )
        http = self._endpoint.http
        self._client = opened(self.sdk(), headers, base_url=base_url, api_key=api_key, http=http)

    @staticmethod
    def sdk() -> Callable[..., Any]:
        """Return the SDK's class of clients: OpenAI's, which speaks two of the protocols."""
        from openai import AsyncOpenAI

        return AsyncOpenAI

    @classmethod
    def body(
        cls,
        model: str,
        base_url: str,  # noqa: ARG003 - decides a field of chat completions
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
    ) -> Json:
        """Return the JSON body of a request; a setting that is None is left out.

        Args:
            model: the model's name at the endpoint.
            base_url: the endpoint.
            messages: the conversation so far.
            tools: tools that the model may call.
            settings: settings of the model.

        Raises:
            ModelError: the protocol does not support a setting or its value.
        """
        return cls.REQUEST(model, messages, tools, settings)

    def _resource(self) -> Any:
        """Return the SDK's resource, whose `create` sends a request."""
        raise NotImplementedError

    def _read(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        """Return the turn of an answer. Raises MalformedAnswerError."""
        return self.TURN(data, messages)

    def _arguments(self, method: Callable[..., Any], body: Json) -> Json:
        """Return the arguments of the SDK's method; unknown fields go into `extra_body`."""
        if not self._parameters:
            self._parameters = frozenset(inspect.signature(method).parameters)
        unknown = {name: value for name, value in body.items() if name not in self._parameters}
        if not unknown:
            return body
        known = {name: value for name, value in body.items() if name in self._parameters}
        return {**known, "extra_body": unknown}

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """Return this object: a provider keeps no state between samples."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying transient failures.

        A request that the endpoint refuses is sent once more with each of the `AMENDMENTS` that
        fits. If that helps, all later requests are changed likewise. Calls that the server left at
        the end of the thoughts of an empty answer are its calls.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            HistoryRefusedError: the provider refused the conversation's own reasoning or calls.
            ModelError: the provider did not answer; the message holds its error text. Or a setting
                is not supported, and nothing was sent.
        """
        body = self.body(self._model, self._base_url, messages, tools, settings)
        tried = set(self._needed)
        for amendment in tried:
            body = amendment.apply(body) or body
        while True:
            try:
                turn = await self._ask(body, messages, on_retry)
            except RejectedError as error:
                body = self._amended(body, error, tried, on_retry)
            else:
                self._needed |= tried
                return calls_in_thoughts(turn, messages, tools)

    def _amended(
        self,
        body: Json,
        error: RejectedError,
        tried: set[Amendment],
        on_retry: RetryObserver | None,
    ) -> Json:
        """Return the body with the next change that may help, or raise the error."""
        for amendment in self.AMENDMENTS:
            changed = amendment.apply(body) if amendment.fits(error) else None
            if changed is not None and amendment not in tried:
                tried.add(amendment)
                if on_retry is not None:
                    cause = f"{error} ({amendment.title})"
                    on_retry(Retry(attempt=1, cause=cause, wait_s=0.0))
                return changed
        raise error

    async def _ask(
        self, body: Json, messages: Sequence[Message], on_retry: RetryObserver | None
    ) -> ModelTurn:
        resource = self._resource()
        return await self._endpoint.ask(
            resource.with_streaming_response.create,
            self._arguments(resource.create, body),
            partial(self._read, messages=messages),
            on_retry,
            self.STREAM,
        )

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self._endpoint.close()
