"""Lines that say what a run waits for, where no live table shows it."""

import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Self

from harness.agent.events import Response, Retried, SampleEnd
from harness.closing import Closing
from harness.figures import count
from harness.run.observer import Progress
from harness.terminal.live.live_frame import span
from harness.text import printable_line

LONGEST_SILENCE_S = 30.0
LONGEST_CAUSE = 120  # characters of a retry's cause


class Wait(StrEnum):
    """What a running sample waits for."""

    MODEL = "the model's answer"
    TURN = "a free request"
    TOOLS = "tools and tests"
    JUDGE = "the judge"
    RETRY = "a retry"


class WaitingSample(NamedTuple):
    """What one sample waits for, since when, and why it was asked again."""

    wait: Wait
    since: float
    cause: str = ""


class WaitingLines(Closing):
    """Prints a line whenever nothing else was printed for a while.

    Args:
        print_line: prints a line.
        silence_s: longest time without a line, in seconds.
        most_requests: most requests in flight; None for no limit. More samples are under way.
        clock: returns monotonic seconds.
    """

    def __init__(
        self,
        print_line: Callable[[str], None],
        silence_s: float = LONGEST_SILENCE_S,
        most_requests: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._print = print_line
        self._silence_s = silence_s
        self._most_requests = most_requests
        self._clock = clock
        self._began = self._spoken = clock()
        self._samples: dict[str, WaitingSample] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def spoke(self) -> None:
        """Note that a line was printed."""
        self._spoken = self._clock()

    def begun(self, sample: str) -> None:
        """Note that a sample was started."""
        self._samples[sample] = WaitingSample(Wait.MODEL, self._clock())

    def left(self, sample: str) -> None:
        """Note that a sample ended."""
        self._samples.pop(sample, None)

    def progressed(self, sample: str, event: Progress) -> None:
        """Note an answer of the model, which tools follow, their result, or an attempt's end."""
        match event:
            case Response():
                wait = Wait.TOOLS
            case SampleEnd():
                wait = Wait.JUDGE
            case _:
                wait = Wait.MODEL
        self._samples[sample] = WaitingSample(wait, self._clock())

    def retried(self, sample: str, retry: Retried) -> None:
        """Note that a request failed and is retried."""
        before = self._samples.get(sample)
        since = self._clock()
        if before is not None and before.wait is Wait.RETRY:
            since = before.since
        self._samples[sample] = WaitingSample(Wait.RETRY, since, retry.cause)

    def line(self) -> str:
        """Return what the running samples wait for."""
        samples = sorted(self._samples.values(), key=lambda each: each.since)
        asked = [each for each in samples if each.wait is Wait.MODEL]
        for each in asked[self._most_requests :] if self._most_requests else ():
            samples.remove(each)
            samples.append(each._replace(wait=Wait.TURN))
        parts = [
            _part(wait, [each for each in samples if each.wait is wait], self._clock())
            for wait in Wait
        ]
        waits = "; ".join(filter(None, parts)) or "no sample is running"
        return f"{span(self._clock() - self._began)}  {waits}"

    def check(self) -> float:
        """Print a line if there was none for long; return the seconds until the next check."""
        left = self._spoken + self._silence_s - self._clock()
        if left > 0:
            return left
        self._print(self.line())
        self.spoke()
        return self._silence_s

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="waiting lines", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Print no more lines."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        left = self.check()
        while not self._ended.wait(left):
            left = self.check()


def _part(wait: Wait, samples: list[WaitingSample], now: float) -> str:
    """Return how many samples wait for one thing, and how long the longest has."""
    if not samples:
        return ""
    first = min(samples, key=lambda each: each.since)
    verb = "waits" if len(samples) == 1 else "wait"
    longest = span(now - first.since)
    since = longest if len(samples) == 1 else f"up to {longest}"
    cause = f": {printable_line(first.cause)[:LONGEST_CAUSE]}" if first.cause else ""
    return f"{count(len(samples), 'sample')} {verb} for {wait} ({since}{cause})"
