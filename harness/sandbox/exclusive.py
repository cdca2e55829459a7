"""The lock of programs that must run alone on the machine's cores."""

import contextlib
import threading
import time
from collections.abc import Generator
from typing import Protocol


class Pausable(Protocol):
    """A runner of programs that can be paused."""

    stopped: bool

    def pause(self) -> None:
        """Stop the running programs and start no new ones."""
        ...

    def resume(self) -> None:
        """Continue after a pause."""
        ...


class Exclusive:
    """A lock held by many runners together or by one alone while the others pause.

    After a pause, the others run for at least as long as they were paused before the next one may
    run alone.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running: set[Pausable] = set()
        self._alone = False
        self._next_pause = 0.0  # earliest time of the next pause while others run

    @contextlib.contextmanager
    def together(self, who: Pausable) -> Generator[None]:
        """Run beside others, after waiting for a runner that is alone."""
        with self._change:
            self._change.wait_for(lambda: not self._alone or who.stopped)
            self._running.add(who)
        try:
            yield
        finally:
            with self._change:
                self._running.discard(who)
                self._change.notify_all()

    @contextlib.contextmanager
    def alone(self, who: Pausable) -> Generator[None]:
        """Run while all others are paused; if stopped, pause nobody, as nothing will run."""
        with self._change:
            while not who.stopped and (wait := self._seconds_to_wait()):
                self._change.wait(wait)
            quiet = not who.stopped
            paused = list(self._running) if quiet else []
            self._alone = self._alone or quiet
            for other in paused:
                other.pause()
        start = time.monotonic()
        try:
            yield
        finally:
            with self._change:
                for other in paused:
                    other.resume()
                if quiet:
                    end = time.monotonic()
                    self._next_pause = end + (end - start)
                    self._alone = False
                self._change.notify_all()

    def _seconds_to_wait(self) -> float | None:
        """Return the seconds until a runner may be alone; None if it may be at once."""
        if self._alone:
            return threading.TIMEOUT_MAX
        left = self._next_pause - time.monotonic()
        return left if self._running and left > 0 else None

    def wake(self) -> None:
        """Wake the waiting runners so that they see whether they were stopped."""
        with self._change:
            self._change.notify_all()
