"""Programs that run side by side, and one that must run with nothing beside it."""

import contextlib
import threading
import time
from collections.abc import Generator
from typing import Protocol


class Pausable(Protocol):
    """Somebody who runs programs and can stop them for a while."""

    stopped: bool

    def pause(self) -> None:
        """Stop what runs, and let nothing new begin."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...


class Exclusive:
    """Lets many run together or one alone; the others pause meanwhile, wherever they are.

    After a pause the others run for as long as they were paused before the next one may be alone.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running: set[Pausable] = set()
        self._alone = False
        self._next_pause = 0.0  # not before this moment, as long as others run

    @contextlib.contextmanager
    def together(self, who: Pausable) -> Generator[None]:
        """Run beside others, once nobody is alone."""
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
        """Run while all others pause; one that was stopped, which will run nothing, beside them."""
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
        """How long until one may be alone; None at once."""
        if self._alone:
            return threading.TIMEOUT_MAX
        left = self._next_pause - time.monotonic()
        return left if self._running and left > 0 else None

    def wake(self) -> None:
        """Let those who wait here see that they were stopped."""
        with self._change:
            self._change.notify_all()
