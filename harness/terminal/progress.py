"""How judging goes on: a live bar on a terminal, a line now and then elsewhere; on stderr."""

from types import TracebackType
from typing import Self

from rich.console import Console

from harness.grading.example_check import Vetted
from harness.report.bar import live_bar
from harness.text import count


class JudgingProgress:
    """How many solutions are judged, and how many of them well.

    Args:
        console: where that is shown.
        total: how many there are.
        noun: what they are called there, and the word for those that are as they should be:
            `solutions accepted`.
    """

    LINES = 20  # at most, where there is no terminal

    def __init__(self, console: Console, total: int, noun: str) -> None:
        self._console = console
        self._total, self._noun = total, noun
        self._done = self._good = self._failed = 0
        self._bar = live_bar(console)
        self._task = self._bar.add_task(self._state(), total=total)

    def judged(self, *, good: bool, failed: bool) -> None:
        """One more is judged: well, or not at all where infrastructure failed."""
        self._done += 1
        self._good += good
        self._failed += failed
        if self._console.is_terminal:
            self._bar.update(self._task, completed=self._done, description=self._state())
        elif self._done * self.LINES // self._total > (self._done - 1) * self.LINES // self._total:
            self._console.print(f"[{self._done}/{self._total}] {self._state()}", soft_wrap=True)

    def _state(self) -> str:
        failed = f"  not judged {self._failed}" if self._failed else ""
        return f"{self._noun} {self._good}{failed}"

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


def dropped_examples(found: Vetted) -> str:
    """Such as: dropped 3 of 41 examples, which their own solutions fail (2 problems)."""
    of = count(found.shortened, "problem")
    if found.emptied:
        of += f", {found.emptied:,} of them left without tests"
    examples = count(found.examples, "example")
    return f"dropped {found.dropped:,} of {examples}, which their own solutions fail ({of})"
