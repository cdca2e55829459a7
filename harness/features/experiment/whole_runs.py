"""Observers of an experiment that see each run start and end once, though it runs in parts."""

from harness.features.observers.attach import Watcher
from harness.features.observers.observer_events import Observed, RunEnded, RunStarted


class WholeRuns:
    """Forwards events to a watcher, with one start and one end per run.

    Ends are forwarded on `close`, when the experiment ends.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._begun: set[str] = set()
        self._ended: dict[str, RunEnded] = {}

    def tell(self, event: Observed) -> None:
        """Forward an event now, or on `close` if it is an end."""
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
        """Forward the ends, then wait as `Watcher.close` does."""
        for event in self._ended.values():
            self._watcher.tell(event)
        self._ended.clear()
        return self._watcher.close(until)
