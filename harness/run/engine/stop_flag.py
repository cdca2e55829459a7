"""The flag that stops a run: no further request is sent."""

import asyncio

from harness.agent.attempt import RunStop
from harness.agent.session import RunStoppedError


class StopFlag:
    """Set when a run is to end early; also knows which tasks may be cancelled then.

    Strategies can reach it, so it holds no tasks: a task leads to its problem's hidden tests.

    Attributes:
        reason: why the run is to end; None while it continues.
        cause: details, in one line.
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
        """Set the flag; the first reason is kept."""
        if self.reason is None:
            self.reason, self.cause = reason, cause
        self.event.set()

    def check(self) -> None:
        """Raise RunStoppedError if the flag is set."""
        if self.reason is not None:
            raise RunStoppedError(self.reason, self.cause)

    def waits(self) -> None:
        """Mark the current task as waiting to send a request; it may then be cancelled."""
        self._waiting.add(id(asyncio.current_task()))

    def goes_on(self) -> None:
        """Unmark the current task."""
        if self._waiting:
            self._waiting.discard(id(asyncio.current_task()))

    def is_waiting(self, task: asyncio.Task[None]) -> bool:
        """Whether a task is only waiting."""
        return id(task) in self._waiting
