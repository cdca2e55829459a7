"""Waits that a provider asks for: named ones, and the reset times of rate limits.

Reset times are used where a refusal (429) names no wait. Every provider has its own format, and
gateways garble them; unreadable values are ignored.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

THROTTLED = 429  # the status of a rate limit
LONGEST_S = 7 * 86_400.0  # a longer wait is not for a request limit
OLDEST_EPOCH = 1e9  # seconds since 1970; a smaller number is a duration
OLDEST_EPOCH_MS = 1e12

OPENAI = tuple(
    (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}")
    for kind in ("requests", "tokens")
)
ANTHROPIC = tuple(
    (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
    for kind in ("requests", "tokens", "input-tokens", "output-tokens")
)
PLAIN = (("x-ratelimit-remaining", "x-ratelimit-reset"),)
FAMILIES = (OPENAI, ANTHROPIC, PLAIN)

_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|d|h|m|s)")
_LENGTH = re.compile(rf"(?:{_PART.pattern})+")
_NUMBER = re.compile(r"\d{1,16}(?:\.\d{1,9})?")
_LONGEST_TEXT = 64


def retry_after(
    headers: Mapping[str, str],
    *,
    now: float,
    status: int | None = None,
    body_s: float | None = None,
) -> float | None:
    """Return the seconds that the provider asks to wait; None when nothing says so.

    `retry-after-ms` comes first, then `retry-after`, which may be seconds or an HTTP date (RFC
    9110, section 10.2.3); then the seconds that the body names (`body_s`); for a rate limit (429)
    with none of these, the time until it is reset.
    """
    named = _named_wait(headers, now=now)
    if named is None:
        named = body_s
    if named is None and status == THROTTLED:
        return reset_after(headers, now=now)
    return named


def _named_wait(headers: Mapping[str, str], *, now: float) -> float | None:
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _number(headers.get(name)) / per_second
        if seconds > 0:
            return seconds
    try:
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if seconds > 0 else None


def _number(text: str | None) -> float:
    try:
        number = float(text or "nan")
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def reset_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds until the limit is reset; None when no header says so.

    The headers may describe several limits. Those with nothing remaining were hit, and all of them
    must be reset. If none is marked so, the earliest reset is the safe lower bound.

    Args:
        headers: response headers, looked up in lower case.
        now: current Unix time, for resets given as a time.
    """
    for family in FAMILIES:
        limits = [
            (headers.get(remaining, "").strip() in {"0", "0.0"}, seconds)
            for remaining, reset in family
            if (seconds := seconds_until(headers.get(reset), now=now)) is not None
        ]
        if limits:
            return _of_those_hit(limits)
    return None


def _of_those_hit(limits: Iterable[tuple[bool, float]]) -> float:
    resets = list(limits)
    hit = [seconds for spent, seconds in resets if spent]
    return max(hit) if hit else min(seconds for _, seconds in resets)


def seconds_until(text: str | None, *, now: float) -> float | None:
    """Return the seconds until a reset; None if it is unreadable or not in the future.

    Understands `1s`, `6m0s`, `120ms`; seconds; Unix time in seconds or milliseconds; RFC 3339.
    """
    text = (text or "").strip()
    if not text or len(text) > _LONGEST_TEXT:
        return None
    seconds = _as_length(text)
    if math.isnan(seconds):
        seconds = _as_moment(text) - now
    return seconds if 0 < seconds <= LONGEST_S else None


def _as_length(text: str) -> float:
    if _LENGTH.fullmatch(text):
        return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if _NUMBER.fullmatch(text) and float(text) < OLDEST_EPOCH:
        return float(text)
    return math.nan


def _as_moment(text: str) -> float:
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number / 1000 if number >= OLDEST_EPOCH_MS else number
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return math.nan
