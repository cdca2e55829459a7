import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate

import pytest
from for_each import for_each

from harness.models.clients.rate_limits import retry_after
from harness.models.clients.retry import Pace, RetryPolicy, ask_until_answered
from harness.models.faults import MalformedAnswerError, TransientError
from harness.models.protocol import ModelError, Retry


@dataclass
class Time:
    """A clock that runs only while somebody sleeps or works."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def pace(self, jitter: Callable[[float], float] = lambda high: high) -> Pace:
        return Pace(sleep=self.sleep, clock=lambda: self.now, jitter=jitter)


def failing(
    *errors: Exception, time: Time | None = None, takes: float = 0.0
) -> Callable[[], Awaitable[str]]:
    left = list(errors)

    async def ask() -> str:
        if time is not None:
            time.now += takes
        if left:
            raise left.pop(0)
        return "answer"

    return ask


def busy(wait: float | None = None) -> TransientError:
    return TransientError("busy", retry_after_s=wait)


async def test_waits_double_up_to_the_longest() -> None:
    time = Time()
    policy = RetryPolicy(attempts=7, first_wait_s=1, longest_wait_s=10)
    assert await ask_until_answered(failing(*[busy()] * 6), policy, None, time.pace()) == "answer"
    assert time.slept == [1, 2, 4, 8, 10, 10]


async def test_the_jitter_of_retries_is_full() -> None:
    highs: list[float] = []

    def jitter(high: float) -> float:
        highs.append(high)
        return high / 4

    time = Time()
    policy = RetryPolicy(first_wait_s=1)
    await ask_until_answered(failing(busy(), busy()), policy, None, time.pace(jitter))
    assert (highs, time.slept) == ([1, 2], [0.25, 0.5])


def test_the_usual_jitter_spreads_from_zero_to_its_bound() -> None:
    random.seed(7)
    drawn = [Pace().jitter(8.0) for _ in range(500)]
    assert 0 <= min(drawn) < 1
    assert 7 < max(drawn) <= 8


async def test_a_named_wait_is_never_shortened() -> None:
    time = Time()
    policy = RetryPolicy(longest_wait_s=1)
    await ask_until_answered(failing(busy(120), busy(0.25)), policy, None, time.pace(lambda _: 0))
    assert time.slept == [120, 0.25]
    await ask_until_answered(failing(busy(120)), policy, None, time.pace())
    assert time.slept[-1] == pytest.approx(132)


async def test_each_retry_is_reported_before_its_wait() -> None:
    time, seen = Time(), list[tuple[Retry, int]]()
    await ask_until_answered(
        failing(busy(), MalformedAnswerError("odd")),
        RetryPolicy(first_wait_s=1),
        lambda retry: seen.append((retry, len(time.slept))),
        time.pace(),
    )
    assert seen == [
        (Retry(attempt=1, cause="busy", wait_s=1), 0),
        (Retry(attempt=2, cause="odd", wait_s=2, malformed=True), 1),
    ]


async def test_a_retry_says_what_refused_it() -> None:
    seen: list[Retry] = []
    refused = TransientError("HTTP 529", status=529)
    await ask_until_answered(failing(refused), RetryPolicy(), seen.append, Time().pace())
    assert [(retry.status, retry.throttled) for retry in seen] == [(529, True)]


async def test_what_an_observer_returns_is_awaited_between_wait_and_request() -> None:
    time, order = Time(), list[str]()

    async def queue() -> None:
        order.append(f"queued at {time.now:g}")
        time.now += 500

    async def ask() -> str:
        order.append(f"asked at {time.now:g}")
        if len(order) < 4:
            raise busy(10)
        return "answer"

    policy = RetryPolicy(total_s=25)
    pace = time.pace(lambda _: 0)
    assert await ask_until_answered(ask, policy, lambda _: queue, pace) == "answer"
    # Queueing is none of the 25 seconds: the second wait of ten is allowed after it.
    assert order == [
        *("asked at 1000", "queued at 1010", "asked at 1510", "queued at 1520", "asked at 2020")
    ]


async def test_the_attempts_of_a_request_are_bounded() -> None:
    time = Time()
    policy = RetryPolicy(attempts=3, first_wait_s=1)
    with pytest.raises(ModelError, match=r"^busy \(gave up after 3 attempts\)$"):
        await ask_until_answered(failing(*[busy()] * 9), policy, None, time.pace())
    assert len(time.slept) == 2


async def test_refusals_of_a_rate_limit_have_a_bound_of_their_own() -> None:
    limited = TransientError("slow down", retry_after_s=1, status=429)
    policy = RetryPolicy(attempts=3, limited_attempts=6)
    patient = failing(*[limited] * 5, busy(), busy())
    assert await ask_until_answered(patient, policy, None, Time().pace()) == "answer"
    with pytest.raises(ModelError, match=r"slow down \(gave up after 6 attempts\)"):
        await ask_until_answered(failing(*[limited] * 9), policy, None, Time().pace())
    with pytest.raises(ModelError, match=r"busy \(gave up after 5 attempts\)"):
        await ask_until_answered(
            failing(limited, limited, *[busy()] * 9), policy, None, Time().pace()
        )


async def test_malformed_answers_have_a_bound_of_their_own() -> None:
    odd = MalformedAnswerError("odd")
    policy = RetryPolicy(attempts=9, malformed_attempts=2)
    mixed = failing(busy(), odd, busy(), odd, busy())
    with pytest.raises(ModelError, match=r"odd \(gave up after 4 attempts\)"):
        await ask_until_answered(mixed, policy, None, Time().pace())


async def test_no_wait_ends_after_the_time_allowed() -> None:
    time = Time()
    ask = failing(*[busy()] * 99, time=time, takes=10)
    policy = RetryPolicy(attempts=99, total_s=60, first_wait_s=5, longest_wait_s=5)
    with pytest.raises(ModelError, match=r"gave up after 5 attempts: no more than 60 s"):
        await ask_until_answered(ask, policy, None, time.pace())
    assert len(time.slept) == 4  # the last wait ended at 60 s, the last attempt at 70 s


async def test_a_wait_longer_than_allowed_is_not_begun() -> None:
    time = Time()
    with pytest.raises(ModelError, match="asks to wait 7200 s"):
        await ask_until_answered(failing(busy(7200)), RetryPolicy(total_s=60), None, time.pace())
    assert time.slept == []


@for_each("error", [ModelError("no"), ValueError("bug")])
async def test_errors_without_retry_pass_at_once(error: Exception) -> None:
    time = Time()
    with pytest.raises(type(error)) as caught:
        await ask_until_answered(failing(error), RetryPolicy(), None, time.pace())
    assert caught.value is error
    assert time.slept == []


@for_each(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "40"}, 0.04),
        ({"retry-after-ms": "40", "retry-after": "3"}, 0.04),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": formatdate(1_700_000_090, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(1_600_000_000, usegmt=True)}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Fri, 99 Zzz 99999 99:99:99 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_all_its_spellings(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1_700_000_000) == seconds
