"""Modes and strategies by name: built-in ones, a user's own (`module:attribute`), plug-ins'."""

from dataclasses import replace
from typing import Any

from harness import plugins
from harness.agent.session import Strategy
from harness.agent.strategies.modes import Mode, built_in_modes, mode_named, remember, undeclared
from harness.agent.strategies.user_code import strategy_of
from harness.errors import UsageError
from harness.models.user_code import load_attribute
from harness.registry import AGENT_STRATEGY, MODES, feature, resolve


def find_mode(name: str) -> Mode:
    """Find a mode by its name on the command line; a user's code is imported.

    Raises:
        UsageError: the name is unknown, or a mode of the user's has no strategy.
    """
    if name in MODES:
        return mode_named(name)
    title, thing = _own(name)
    if not isinstance(thing, Mode):
        return undeclared(name)
    if ":" not in thing.strategy or not thing.asks:
        raise UsageError(f"{title}: a Mode of your own has strategy='module:attribute', and asks")
    return remember(replace(thing, name=name))


def find_strategy(name: str) -> Strategy:
    """Find the strategy of a mode.

    That of a user's own agent has no agent yet; the caller provides it.

    Raises:
        UsageError: the name is unknown, or its object is not callable.
    """
    if name in MODES:
        mode = mode_named(name)
        if not mode.asks:
            return feature(AGENT_STRATEGY, f"--mode {name}")()
        return resolve(mode.strategy)
    title, thing = _own(name)
    if isinstance(thing, Mode):
        return strategy_of(title, load_attribute(find_mode(name).strategy))
    return strategy_of(title, thing)


def _own(name: str) -> tuple[str, Any]:
    """Return a user's own mode or strategy, and its name for messages. Raises UsageError."""
    if not name:
        raise UsageError("--mode is empty; give a value, or leave it out")
    plugin = plugins.find(plugins.STRATEGIES, name)
    if plugin is not None:
        return str(plugin), plugin.load()
    if ":" in name:
        return name, load_attribute(name)
    known = plugins.known(plugins.STRATEGIES, [mode.name for mode in built_in_modes(asking=True)])
    raise UsageError(
        f"mode {name!r} is unknown; there are: {known}, or a strategy of your own as "
        "module:attribute"
    )
