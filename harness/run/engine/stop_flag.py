"""Whether a run sends further requests, and why not."""

import asyncio

from harness.agent.attempt import RunStop, RunStoppedError


class StopFlag:
    """Flag set when a run is to end before it is done, and which tasks need not wait for that.

    Strategies can reach it, so it holds no task: a task leads to its problem's hidden tests.

    Attributes:
        reason: why the run is to end; None while it goes on.
        cause: what is known of it, in one line.
        event: set as soon as there is a reason.
    """

    def __init__(self) -> None:
        self.reason: RunStop | None = None
        self.cause = ""
        self.event = asyncio.Event()
        self._waiting: set[int] = set()

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return self.reason is not None

    def stop(self, reason: RunStop, cause: str = "") -> None:
        """Send no further request; the first reason stands."""
        if self.reason is None:
            self.reason, self.cause = reason, cause
        self.event.set()

    def check(self) -> None:
        """Go on, unless the run is to end. Raises RunStoppedError."""
        if self.reason is not None:
            raise RunStoppedError(self.reason, self.cause)

    def waits(self) -> None:
        """The current task waits before it sends a request: nothing is lost if it is cancelled."""
        self._waiting.add(id(asyncio.current_task()))

    def goes_on(self) -> None:
        """That wait is over."""
        self._waiting.discard(id(asyncio.current_task()))

    def is_waiting(self, task: asyncio.Task[None]) -> bool:
        """Whether a task does nothing but wait."""
        return id(task) in self._waiting
