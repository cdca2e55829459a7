"""Pause a run while its provider does not answer.

One sample's failed request says little. Several failures in a row, with no answer to any sample in
between, are an outage: then all samples wait, and one request at a time is sent as a probe, after
waits that grow. Each probe is another sample's request, so that a request that always fails holds
up no run. The first answer ends the outage. After `timeout_s` seconds the run is stopped.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harness.agent.attempt import RunStop
from harness.models.protocol import Retry
from harness.run.engine.stop_flag import StopFlag

FAILURES = 3  # in a row, until they are an outage
FIRST_WAIT_S, LONGEST_WAIT_S, GROWTH = 1.0, 60.0, 2.0
TIMEOUT_S = 600.0
UNSEEN_TIMEOUT_S = 60.0
"""Where the endpoint has not answered this process yet: its address may be wrong."""
LEAST_STATUS = 500


async def _sleep_until(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


@dataclass(slots=True)
class Outage:
    """Whether the provider answers, as all samples of a run see it.

    Args:
        stopping: stopped when the outage has taken too long.
        timeout_s: seconds that an outage may take; None for the defaults.
        tell: is handed a line when an outage begins and when it ends.
        clock: monotonic seconds.
        wait: waits some seconds, or until an event is set.

    Attributes:
        answers: how many requests were answered.
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
        """Whether nothing is sent but probes."""
        return self._since is not None

    @property
    def allowed_s(self) -> float:
        """Seconds that an outage may take."""
        if self.timeout_s is not None:
            return self.timeout_s
        return TIMEOUT_S if self.answers else UNSEEN_TIMEOUT_S

    async def turn(self) -> bool:
        """Wait until a request may be sent; True if it is a probe, to be handed back by `probed`.

        Raises:
            RunStoppedError: the outage has taken too long, or the run is to end.
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
        """A probe has come back, whatever came of it."""
        self._probing = False
        self._wake()

    def failed(self, retry: Retry) -> None:
        """A request failed and is to be sent again."""
        if not _is_down(retry):
            return
        self._failures += 1
        self._cause = retry.cause
        if not self.under_way and self._failures >= FAILURES:
            self._begin()

    def gave_up(self, cause: str, answers_before: int) -> bool:
        """A request was given up; whether that is an outage, and it is to be sent again later.

        Args:
            cause: of its last failure.
            answers_before: how many answers there were when it was first sent.
        """
        if self.answers > answers_before:
            return False
        self._cause = cause
        if not self.under_way:
            self._begin()
        return True

    def answered(self) -> None:
        """A request was answered: whatever there was is over."""
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
            f"a time is tried for up to {self.allowed_s:,.0f} s (--outage-timeout)"
        )

    def _left(self) -> float:
        since = self.clock() if self._since is None else self._since
        return max(0.0, since + self.allowed_s - self.clock())

    def _expire(self) -> None:
        if self.under_way and not self._left():
            words = f"the provider did not answer for {self.allowed_s:,.0f} s: {self._cause}"
            self.stopping.stop(RunStop.OUTAGE, words)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_down(retry: Retry) -> bool:
    """Whether a failure says that nobody answers; a garbled answer comes from somebody."""
    if retry.malformed or retry.throttled:
        return False
    return retry.status is None or retry.status >= LEAST_STATUS
