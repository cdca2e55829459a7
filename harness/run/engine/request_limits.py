"""Limits on a run's requests: the stop flag, a pause in an outage, fewer in flight after refusals.

A single failed request says little. Several failures in a row, without an answer to any sample in
between, are an outage: all samples wait, and one request at a time is sent as a probe, after
growing waits. Each probe is another sample's request, so that a request that always fails does not
block the run. The first answer ends the outage. After `timeout_s` seconds the run is stopped.

The number in flight follows additive increase and multiplicative decrease, as TCP uses to share a
line of unknown capacity (Chiu and Jain, 1989). Each answer that arrives while all places are taken
adds a fraction of a place, so that a full round adds one; a refusal halves the number in flight.
Refusals in one burst count once: those of requests sent before the last decrease say nothing about
it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from harness.agent.attempt import RunStop, RunStoppedError
from harness.models.protocol import Retry

FAILURES = 3  # in a row that count as an outage
FIRST_WAIT_S, LONGEST_WAIT_S, GROWTH = 1.0, 60.0, 2.0
TIMEOUT_S = 600.0
UNSEEN_TIMEOUT_S = 60.0
"""Used if the endpoint has never answered this process: its address may be wrong."""

LEAST_STATUS = 500
DECREASE = 0.5


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
    """Whether a failure means that nothing answers; a garbled answer is an answer.

    A server that is loading its model is there, too: each request waits for it.
    """
    if retry.malformed or retry.throttled or retry.loading:
        return False
    return retry.status is None or retry.status >= LEAST_STATUS


class RateLimiter:
    """Places for requests in flight, between 1 and `most`, granted in order.

    Args:
        most: initial and largest number of places: a provider that can handle them is used fully
            from the start.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._taken = 0
        self._decreases = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def places(self) -> int:
        """Current number of places."""
        return int(self._limit)

    async def acquire(self) -> int:
        """Wait for a place.

        Returns:
            A ticket to return with the place: the number of decreases before the request.
        """
        if self._queue or self._taken >= self.places:
            await self._wait()
        else:
            self._taken += 1
        return self._decreases

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # granted at the same moment
                self.release()
            with suppress(ValueError):
                self._queue.remove(turn)
            raise

    def release(self) -> None:
        """Return a place after a request that says nothing about the provider's load."""
        self._taken -= 1
        self._admit()

    def answered(self) -> None:
        """Return a place after an answer."""
        if self._taken >= self.places:
            self._limit = min(self._most, self._limit + 1 / self._limit)
        self.release()

    def refused(self, ticket: int) -> None:
        """Return a place after the provider asked for fewer requests."""
        if ticket == self._decreases:
            self._limit = max(1.0, min(self._limit, self._taken) * DECREASE)
            self._decreases += 1
        self.release()

    def _admit(self) -> None:
        while self._queue and self._taken < self.places:
            turn = self._queue.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
