"""Events of a run that is carried out in parts: one start and one end."""

from harness.features.observers.observer_events import Observed, RunEnded, RunStarted
from harness.features.observers.thread import Watcher


class WholeRuns:
    """Passes events on to a watcher; of the parts of a run the first start and the last end.

    It is told of the ends when it is closed, which is when the experiment ends.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._begun: set[str] = set()
        self._ended: dict[str, RunEnded] = {}

    def tell(self, event: Observed) -> None:
        """Pass an event on, now or at the end."""
        match event:
            case RunStarted():
                if event.run in self._begun:
                    return
                self._begun.add(event.run)
            case RunEnded():
                self._ended[event.run] = event
                return
            case _:
                pass
        self._watcher.tell(event)

    def close(self, until: float) -> str | None:
        """Tell of the ends, and wait as `Watcher.close` does."""
        for event in self._ended.values():
            self._watcher.tell(event)
        self._ended.clear()
        return self._watcher.close(until)
