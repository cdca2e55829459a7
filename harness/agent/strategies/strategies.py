"""Strategies by mode: the built-in ones, a user's own (`module:attribute`), those of plug-ins."""

from harness import plugins
from harness.agent.attempt import Strategy
from harness.agent.strategies import EXTERNAL
from harness.agent.strategies.agent_loop import agentic
from harness.agent.strategies.codet import codet
from harness.agent.strategies.map_coder import map_coder
from harness.agent.strategies.reflexion import reflexion
from harness.agent.strategies.shots import best_of_k_public, self_repair, single_shot
from harness.agent.strategies.user_code import own_strategy, strategy_of
from harness.errors import UsageError
from harness.registry import AGENT_STRATEGY, feature

STRATEGIES: dict[str, Strategy] = {
    "agentic": agentic,
    "single_shot": single_shot,
    "self_repair": self_repair,
    "best_of_k_public": best_of_k_public,
    "codet": codet,
    "reflexion": reflexion,
    "map_coder": map_coder,
}
"""Strategies by the names of `harness.agent.strategies.ASKING`."""


def find_strategy(name: str) -> Strategy:
    """Find a strategy: one of `BUILT_IN`, `module:attribute`, or a plug-in's.

    Those of `EXTERNAL` have no agent yet; the caller provides it.

    Raises:
        UsageError: the name is unknown, or its object is not callable.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name in EXTERNAL:
        return feature(AGENT_STRATEGY, f"--mode {name}")()
    plugin = plugins.find(plugins.STRATEGIES, name)
    if plugin is not None:
        return strategy_of(str(plugin), plugin.load())
    if ":" not in name:
        known = plugins.known(plugins.STRATEGIES, STRATEGIES)
        raise UsageError(
            f"mode {name!r} is unknown; there are: {known}, or a strategy of your own as "
            "module:attribute"
        )
    return own_strategy(name)
