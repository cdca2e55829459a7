"""Where a sample's requests queue: for a place among those in flight, and for money."""

from typing import Protocol

from harness.models.protocol import ModelError, ModelTurn, Retry, Usage


class Gate(Protocol):
    """Lets the requests of one sample through, one after another."""

    @property
    def dollars_left(self) -> float | None:
        """US dollars that the sample may still spend; None without a limit."""
        ...

    async def enter(self) -> None:
        """Wait until the next request may be sent.

        Raises:
            BudgetSpentError: the sample's own budget holds no further request.
            RunStoppedError: the run sends no further request.
        """
        ...

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        """The request failed and waits before it is sent again: its place is free meanwhile.

        Args:
            retry: the failure.
            estimate: tokens of a request that a timeout of ours cut off.
        """
        ...

    async def enter_again(self) -> None:
        """That wait is over: queue once more."""
        ...

    def may_be_dropped(self) -> None:
        """Should the user stop the run before it leaves, the task may be cancelled."""
        ...

    def recall(self, usage: Usage | None) -> None:
        """An answer of an earlier attempt is used again: the sample's money, and not the run's."""
        ...

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        """The request has come to its end.

        Args:
            turn: the answer, if there was one.
            billed: whether it has to be paid for: an answer that nobody waited for is, too.
            usage: tokens of an answer that is of no use, which are paid for all the same.
            estimate: tokens of an answer that nobody heard, or that did not report them.
        """
        ...

    def comes_back(self, error: ModelError) -> bool:
        """Whether a request that was given up is to be sent again, once `enter` lets it."""
        ...

    def refuse(self, error: ModelError) -> None:
        """The provider will refuse every request of the run.

        Raises:
            RunStoppedError: the run stops.
        """
        ...


class _Open:
    """No queue, no budget."""

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
