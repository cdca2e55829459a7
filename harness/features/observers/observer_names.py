"""Find an observer by name: a plug-in, or `module:attribute`."""

from collections.abc import Callable
from typing import Any

from harness import plugins
from harness.errors import UsageError
from harness.features.observers.thread import Watcher
from harness.models.user_code import load_attribute


def find_observer(name: str) -> Watcher:
    """Return the observer of a plug-in, or the one that `module:attribute` names.

    An observer is a function of an event (`harness.features.observers.observer_events`), or a class
    that is called without arguments in the observer's own thread to make such a function.

    Raises:
        UsageError: the name is unknown, does not load, or is not callable.
    """
    plugin = plugins.find(plugins.OBSERVERS, name)
    if plugin is None and ":" not in name:
        there = plugins.known(plugins.OBSERVERS, ()) or "none is installed"
        raise UsageError(
            f"observer {name[:100]!r} is unknown; those of plug-ins: {there}, or one of your own "
            "as module:attribute"
        )
    found: Any = load_attribute(name) if plugin is None else plugin.load()
    if not callable(found):
        who = f"observer {name[:100]}" if plugin is None else str(plugin)
        raise UsageError(
            f"{who} is a {type(found).__name__}; an observer is a function of an event"
        )
    return Watcher(f"observer {name[:100]}", _maker(found))


def _maker(found: Any) -> Callable[[], Any]:
    return found if isinstance(found, type) else lambda: found
