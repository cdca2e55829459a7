"""Base of the clients of all providers."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from harness.models.clients.endpoint import Endpoint
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.wire import Json
from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
    Usage,
)
from harness.models.timeouts import Timeouts
from harness.problem import ProblemView


class Client:
    """A model at an endpoint; each protocol has a class of its own, with `generate`.

    Args:
        name: what results are filed under.
        model: the name the endpoint knows it by.
        base_url: the endpoint, as `https://host/v1`.
        api_key: sent as a bearer token, and masked in every message.
        headers: sent with every request, their values masked as well.
        policy: which failures are repeated, and how often.
        timeouts: of one request.
        pace: time as the retries see it.

    Attributes:
        ANSWER_FIELD: what an answer has that an error has not.
        ERROR_STATUSES: the HTTP status that an error's type stands for, where HTTP says 200.
        READ_USAGE: the tokens that an answer's `usage` tells of.
    """

    ANSWER_FIELD: ClassVar[str]
    ERROR_STATUSES: ClassVar[Mapping[str, int]] = MappingProxyType({})
    READ_USAGE: ClassVar[Callable[[Any], Usage | None]]

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
        self._name = name
        self._model = model
        self._parameters: frozenset[str] = frozenset()
        self._endpoint = Endpoint(
            base_url,
            api_key,
            answer_field=self.ANSWER_FIELD,
            error_statuses=self.ERROR_STATUSES,
            read_usage=type(self).READ_USAGE,
            secrets=headers.values(),
            policy=policy,
            timeouts=timeouts,
            pace=pace,
        )
        http = self._endpoint.http
        # The SDKs' own retries are off. With a timeout of ours Anthropic's does not refuse answers
        # that may take ten minutes.
        self._client = self._open(
            headers,
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
        )

    def _open(self, headers: Mapping[str, str], *, base_url: str, **settings: Any) -> Any:
        """The SDK's client."""
        raise NotImplementedError

    def _arguments(self, method: Callable[..., Any], body: Json) -> Json:
        """A body as the SDK's method takes it: fields that it does not know as `extra_body`."""
        if not self._parameters:
            self._parameters = frozenset(inspect.signature(method).parameters)
        unknown = {name: value for name, value in body.items() if name not in self._parameters}
        if not unknown:
            return body
        known = {name: value for name, value in body.items() if name in self._parameters}
        return {**known, "extra_body": unknown}

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """The same object: a provider keeps nothing between samples."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying what can help.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its own words.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self._endpoint.close()
