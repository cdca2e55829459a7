"""Programs that run side by side, and those that must run with nothing beside them."""

import contextlib
import threading
from collections.abc import Generator


class Quiet:
    """Lets many run together or one alone; newcomers do not keep waiting who wants to be alone."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running = 0
        self._waiting = 0
        self._alone = False

    @contextlib.contextmanager
    def together(self) -> Generator[None]:
        """Run beside others, once nobody is alone or waits to be."""
        with self._change:
            self._change.wait_for(lambda: not self._alone and not self._waiting)
            self._running += 1
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """Run once all others are done, and keep them out."""
        with self._change:
            self._waiting += 1
            try:
                self._change.wait_for(lambda: not self._alone and not self._running)
                self._alone = True
            finally:
                self._waiting -= 1
                self._change.notify_all()
        try:
            yield
        finally:
            with self._change:
                self._alone = False
                self._change.notify_all()
