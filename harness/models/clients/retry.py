"""Retries of failed requests: which ones, and how long to wait before.

The waits are exponential with full jitter, so that many samples refused at the same moment do not
retry at the same moment. A wait that the provider names is kept, with a little added on top.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from tenacity import AsyncRetrying, RetryCallState

from harness.models.clients.rate_limits import THROTTLED
from harness.models.faults import MalformedAnswerError, TransientError
from harness.models.protocol import ModelError, Resume, Retry, RetryObserver

T = TypeVar("T")

LOADING_WAIT_S = 5.0  # between requests to a server that is loading its model, at most
SERVER_WAIT_SPREAD = 0.1  # random addition, as a share of the wait the provider named


class RetryPolicy(NamedTuple):
    """Limits of retries, and their waits.

    Attributes:
        attempts: largest number of requests, including the first, excluding those refused by a rate
            limit, or by a server that is loading its model.
        limited_attempts: largest number of refusals by a rate limit. It is higher, because the
            limit will let the request through, and a narrow one refuses many times.
        malformed_attempts: largest number of answers that violate the protocol.
        total_s: seconds after the first failure by which every wait must end.
        first_wait_s: upper end of the first wait; it doubles with each attempt.
        longest_wait_s: upper end of every wait that the provider did not name.
    """

    attempts: int = 8
    limited_attempts: int = 30
    malformed_attempts: int = 3
    total_s: float = 1800.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0


def _full_jitter(high: float) -> float:
    return random.uniform(0.0, high)  # noqa: S311 - spreads load, no security


class Pace(NamedTuple):
    """Clock and sleep function of the retries.

    Attributes:
        sleep: function that waits the given seconds.
        clock: function that returns monotonic seconds.
        jitter: function that returns a random number between 0 and its argument.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[float], float] = _full_jitter


async def ask_until_answered(
    ask: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    on_retry: RetryObserver | None = None,
    pace: Pace | None = None,
) -> T:
    """Await `ask()`, again after each TransientError, as the policy allows.

    Raises:
        ModelError: the policy allows no more; the message holds the last cause and the number of
            attempts. Any other exception of `ask` passes through at once.
    """
    attempts = _Attempts(policy, pace or Pace(), on_retry)
    retrying = AsyncRetrying(
        sleep=attempts.sleep,
        retry=attempts.can_help,
        wait=attempts.wait,
        stop=attempts.spent,
        before_sleep=attempts.report,
        reraise=True,
    )

    async def attempt() -> T:
        return await ask()

    try:
        return await retrying(attempt)
    except TransientError as error:
        given_up = ModelError(attempts.epitaph(error))
        given_up.usage, given_up.cut = error.usage, error.cut
        given_up.unavailable = not isinstance(error, MalformedAnswerError)
        raise given_up from None


class _Attempts:
    """State of one call's attempts, with tenacity's callbacks as methods."""

    def __init__(self, policy: RetryPolicy, pace: Pace, on_retry: RetryObserver | None) -> None:
        self.pace = pace
        self._policy = policy
        self._on_retry = on_retry
        self._started: float | None = None
        self._made = 0
        self._malformed = 0
        self._limited = 0
        self._loading = 0
        self._out_of_time = False
        self._resume: Resume | None = None

    def can_help(self, state: RetryCallState) -> bool:
        error = _error_of(state)
        self._made += 1
        self._started = self.pace.clock() if self._started is None else self._started
        self._malformed += isinstance(error, MalformedAnswerError)
        self._limited += isinstance(error, TransientError) and error.status == THROTTLED
        self._loading += isinstance(error, TransientError) and error.loading
        return isinstance(error, TransientError)

    def wait(self, state: RetryCallState) -> float:
        error = _error_of(state)
        if isinstance(error, TransientError) and error.loading:
            return LOADING_WAIT_S / 2 + self.pace.jitter(LOADING_WAIT_S / 2)
        if isinstance(error, TransientError) and error.retry_after_s is not None:
            named = error.retry_after_s
            return named + self.pace.jitter(named * SERVER_WAIT_SPREAD)
        doublings = min(max(0, self._made - self._loading - 1), 32)
        high = min(self._policy.first_wait_s * 2.0**doublings, self._policy.longest_wait_s)
        return self.pace.jitter(high)

    def spent(self, state: RetryCallState) -> bool:
        if self._made - self._limited - self._loading >= self._policy.attempts:
            return True
        if self._limited >= self._policy.limited_attempts:
            return True
        if (
            isinstance(_error_of(state), MalformedAnswerError)
            and self._malformed >= self._policy.malformed_attempts
        ):
            return True
        elapsed = self.pace.clock() - (self._started or 0.0)
        self._out_of_time = elapsed + state.upcoming_sleep > self._policy.total_s
        return self._out_of_time

    def report(self, state: RetryCallState) -> None:
        error = _error_of(state)
        if self._on_retry is not None and isinstance(error, TransientError):
            self._resume = self._on_retry(
                Retry(
                    attempt=self._made,
                    cause=error.cause,
                    wait_s=state.upcoming_sleep,
                    status=error.status,
                    throttled=error.throttled,
                    usage=error.usage,
                    malformed=isinstance(error, MalformedAnswerError) or None,
                    cut=error.cut or None,
                    loading=error.loading or None,
                )
            )

    async def sleep(self, seconds: float) -> None:
        await self.pace.sleep(seconds)
        resume, self._resume = self._resume, None
        if resume is not None:
            started = self.pace.clock()
            await resume()
            waited = self.pace.clock() - started  # queueing does not count
            self._started = (self._started or 0.0) + waited

    def epitaph(self, error: TransientError) -> str:
        plural = "" if self._made == 1 else "s"
        text = f"{error.cause} (gave up after {self._made} attempt{plural}"
        if self._out_of_time:
            asked = error.retry_after_s
            named = f"the provider asks to wait {asked:.0f} s; " if asked is not None else ""
            text += f": {named}no more than {self._policy.total_s:.0f} s are allowed in all"
        return text + ")"


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
