"""The queue of a sample's requests, for a free place in flight and for money."""

from typing import Protocol

from harness.models.protocol import ModelError, ModelTurn, Retry, Usage


class Gate(Protocol):
    """Admits the requests of one sample, one after another."""

    @property
    def dollars_left(self) -> float | None:
        """US dollars the sample may still spend; None without a limit."""
        ...

    async def enter(self) -> None:
        """Wait until the next request may be sent.

        Raises:
            BudgetSpentError: the sample's own budget does not cover another request.
            RunStoppedError: the run sends no further requests.
        """
        ...

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        """Free the request's place while it waits for its retry.

        Args:
            retry: the failure.
            estimate: estimated tokens, if the harness's timeout cut the request off.
        """
        ...

    async def enter_again(self) -> None:
        """Queue again after the wait of `step_aside`."""
        ...

    def may_be_dropped(self) -> None:
        """Allow cancelling the task if the user stops the run before the next request."""
        ...

    def recall(self, usage: Usage | None) -> None:
        """Charge a reused answer of an earlier attempt to the sample, but not to the run."""
        ...

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        """Finish the request.

        Args:
            turn: the answer, if there is one.
            billed: whether it is billed, which also holds for an abandoned answer.
            usage: tokens of an unusable answer, which are billed all the same.
            estimate: estimated tokens of an answer that was lost or did not report them.
        """
        ...

    def comes_back(self, error: ModelError) -> bool:
        """Whether a failed request is to be sent again, once `enter` admits it."""
        ...

    def refuse(self, error: ModelError) -> None:
        """Stop the run, since the provider will refuse all its requests.

        Raises:
            RunStoppedError: the run stops.
        """
        ...


class _Open:
    """A gate without queue or budget."""

    dollars_left: float | None = None

    async def enter(self) -> None:
        pass

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        pass

    async def enter_again(self) -> None:
        pass

    def may_be_dropped(self) -> None:
        pass

    def recall(self, usage: Usage | None) -> None:
        pass

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        pass

    def comes_back(self, error: ModelError) -> bool:  # noqa: ARG002 - protocol
        return False

    def refuse(self, error: ModelError) -> None:
        pass


OPEN: Gate = _Open()
