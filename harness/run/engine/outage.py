"""A pause in an outage of the provider.

A single failed request says little. Several failures in a row, without an answer to any sample in
between, are an outage: all samples wait, and one request at a time is sent as a probe, after
growing waits. Each probe is another sample's request, so that a request that always fails does not
block the run. The first answer ends the outage. After `timeout_s` seconds the run is stopped.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harness.agent.attempt import RunStop
from harness.models.protocol import Retry
from harness.run.engine.stop_flag import StopFlag

FAILURES = 3  # in a row that count as an outage
FIRST_WAIT_S, LONGEST_WAIT_S, GROWTH = 1.0, 60.0, 2.0
TIMEOUT_S = 600.0
UNSEEN_TIMEOUT_S = 60.0
"""Used if the endpoint has never answered this process: its address may be wrong."""

LEAST_STATUS = 500


async def _sleep_until(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


@dataclass(slots=True)
class Outage:
    """Tracks for all samples of a run whether the provider answers.

    Args:
        stopping: set when the outage lasts too long.
        timeout_s: longest duration of an outage in seconds; None for the defaults.
        tell: called with a line when an outage starts and when it ends.
        clock: returns monotonic seconds.
        wait: waits for some seconds, or until an event is set.

    Attributes:
        answers: number of answered requests.
    """

    stopping: StopFlag
    timeout_s: float | None = None
    tell: Callable[[str], None] = lambda _line: None
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[asyncio.Event, float], Awaitable[None]] = _sleep_until
    answers: int = 0
    _failures: int = 0
    _since: float | None = None
    _cause: str = ""
    _wait_s: float = FIRST_WAIT_S
    _probing: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def under_way(self) -> bool:
        """Whether an outage is under way, in which only probes are sent."""
        return self._since is not None

    @property
    def allowed_s(self) -> float:
        """Longest duration of an outage in seconds."""
        if self.timeout_s is not None:
            return self.timeout_s
        return TIMEOUT_S if self.answers else UNSEEN_TIMEOUT_S

    async def turn(self) -> bool:
        """Wait until a request may be sent; True for a probe, to be ended with `probed`.

        Raises:
            RunStoppedError: the outage lasted too long, or the run is stopping.
        """
        while self.under_way:
            self._expire()
            self.stopping.check()
            if self._probing:
                await self._changed.wait()
                continue
            self._probing = True
            try:
                await self.wait(self.stopping.event, min(self._wait_s, self._left()))
                self.stopping.check()
            except BaseException:
                self.probed()
                raise
            if self.under_way:
                self._wait_s = min(self._wait_s * GROWTH, LONGEST_WAIT_S)
                return True
            self.probed()
        return False

    def probed(self) -> None:
        """Note that a probe has ended, with whatever result."""
        self._probing = False
        self._wake()

    def failed(self, retry: Retry) -> None:
        """Note that a request failed and will be retried."""
        if not _is_down(retry):
            return
        self._failures += 1
        self._cause = retry.cause
        if not self.under_way and self._failures >= FAILURES:
            self._begin()

    def gave_up(self, cause: str, answers_before: int) -> bool:
        """Note that a request was given up; return whether to retry it after an outage.

        Args:
            cause: cause of its last failure.
            answers_before: number of answers when it was first sent.
        """
        if self.answers > answers_before:
            return False
        self._cause = cause
        if not self.under_way:
            self._begin()
        return True

    def answered(self) -> None:
        """Note that a request was answered, which ends any outage."""
        self.answers += 1
        self._failures = 0
        if self._since is None:
            return
        lasted = self.clock() - self._since
        self._since, self._wait_s = None, FIRST_WAIT_S
        self.tell(f"the provider answers again after {lasted:,.0f} s; the run goes on")
        self._wake()

    def _begin(self) -> None:
        self._since = self.clock()
        self.tell(
            f"the provider does not answer ({self._cause}); the run is paused, and one request at "
            f"a time is tried for up to {self.allowed_s:,.0f} s (--set outage_timeout)"
        )

    def _left(self) -> float:
        since = self.clock() if self._since is None else self._since
        return max(0.0, since + self.allowed_s - self.clock())

    def _expire(self) -> None:
        if self.under_way and not self._left():
            message = f"the provider did not answer for {self.allowed_s:,.0f} s: {self._cause}"
            self.stopping.stop(RunStop.OUTAGE, message)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_down(retry: Retry) -> bool:
    """Whether a failure means that nothing answers; a garbled answer is an answer.

    A server that is loading its model is there, too: each request waits for it.
    """
    if retry.malformed or retry.throttled or retry.loading:
        return False
    return retry.status is None or retry.status >= LEAST_STATUS
