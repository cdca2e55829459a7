"""The plug-ins of installed packages, and whether each can be used."""

from harness.errors import UsageError
from harness.frozen import Frozen
from harness.grading.rules import RULES as OUR_RULES
from harness.models.providers import by_shape
from harness.plugins import GROUPS, MODELS, RULES, SOURCES, STRATEGIES, Plugin, find, installed
from harness.registry import LOADERS, MODES

READY = "ready"
_OURS = {SOURCES: LOADERS, STRATEGIES: MODES, RULES: OUR_RULES}


class PluginState(Frozen):
    """A plug-in.

    Attributes:
        kind: source, model, strategy, rule or observer.
        name: its name.
        package: the package that it comes from.
        version: the package's version.
        state: `ready`, or why it cannot be used.
    """

    kind: str
    name: str
    package: str
    version: str
    state: str


def plugin_states() -> list[PluginState]:
    """Load each installed plug-in, and return what came of it."""
    return [
        PluginState(
            kind=each.kind,
            name=each.name,
            package=each.package,
            version=each.version,
            state=_state(each),
        )
        for group in GROUPS
        for each in installed(group)
    ]


def _state(plugin: Plugin) -> str:
    shaped = plugin.group == MODELS and by_shape(plugin.name) is not None
    if shaped or plugin.name in _OURS.get(plugin.group, ()):
        return "not used: this name is built in"
    try:
        if find(plugin.group, plugin.name) is None:
            return "not used: not a valid name"
        plugin.load()
    except UsageError as error:
        return str(error)
    return READY
