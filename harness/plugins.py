"""Plug-ins: entry points of installed packages, with names that are not built in.

Names are read from the packages' metadata, without running their code. A plug-in is imported when
a requested name is not built in; built-in names take precedence. Plug-ins are trusted like the
harness: only text written by models goes into the sandbox.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness import registry
from harness.errors import HarnessError, UsageError

SOURCES = "harness.sources"
MODELS = "harness.models"
STRATEGIES = "harness.strategies"
RULES = "harness.rules"
OBSERVERS = "harness.observers"
GROUPS = (SOURCES, MODELS, STRATEGIES, RULES, OBSERVERS)

USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
"""Pattern of valid names, some of which become part of file names."""
MOST_WORDS = 300  # characters of a plug-in's exception


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of a package.

    Attributes:
        group: one of `GROUPS`.
        name: the name users refer to it by.
        package: name of the package.
        version: version of the package.
        value: the object, as `module:attribute`.
    """

    group: str
    name: str
    package: str
    version: str
    value: str

    def __str__(self) -> str:
        """Return a description for error messages."""
        return (
            f"plug-in {self.name!r} of package {self.package} "
            f"(entry point {self.value!r} of {self.group})"
        )

    @property
    def summary(self) -> str:
        """A short description for users."""
        return f"{self.kind} {self.name!r} of plug-in {self.package} {self.version}"

    @property
    def kind(self) -> str:
        """The kind of addition, in a word."""
        return {STRATEGIES: "strategy"}.get(self.group, self.group.removeprefix("harness.")[:-1])

    def load(self) -> Any:
        """Load the entry point's object.

        Raises:
            UsageError: it cannot be imported, or does not exist.
        """
        try:
            return EntryPoint(self.name, self.value, self.group).load()
        except (Exception, SystemExit) as error:
            raise UsageError(f"{self} does not load: {words_of(error)}") from error

    def blame(self, error: BaseException) -> HarnessError:
        """Return a one-line error for a failed call; errors of the harness are kept."""
        if isinstance(error, HarnessError):
            return error
        return UsageError(f"{self} raised {words_of(error)}")


def installed(group: str) -> tuple[Plugin, ...]:
    """Return all plug-ins of a group, by name and package."""
    return tuple(each for each in _installed() if each.group == group)


def find(group: str, name: str) -> Plugin | None:
    """Return the plug-in of a name; None if there is none.

    Raises:
        UsageError: two packages offer one of that name.
    """
    plugins = [each for each in installed(group) if each.name == name and USABLE.match(name)]
    if len(plugins) > 1:
        packages = " and ".join(each.package for each in plugins)
        raise UsageError(
            f"{name!r} of {group} is offered by the packages {packages}; uninstall one of them"
        )
    return plugins[0] if plugins else None


def known(group: str, own: Collection[str]) -> str:
    """Return the names of a group for an error message: built-in ones, then plug-ins."""
    others = [each for each in installed(group) if each.name not in own]
    return ", ".join([*own, *(f"{each.name} (of {each.package})" for each in others)])


def hidden(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each plug-in hidden by one of the built-in names."""
    for group, name in names:
        for each in installed(group):
            if each.name == name:
                yield f"{each} is not used: harness has {name!r} itself"


def words_of(error: BaseException) -> str:
    """Return an exception of a plug-in in one line."""
    kind = type(error).__name__
    try:
        text = " ".join(f"{kind}: {error}".split())
    except Exception:  # noqa: BLE001 - its text is made by the plug-in's code, too
        text = kind
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"


def _installed() -> tuple[Plugin, ...]:
    import sys

    return _on(tuple(sys.path))


@lru_cache(maxsize=2)
def _on(path: tuple[str, ...]) -> tuple[Plugin, ...]:  # noqa: ARG001 - where metadata is searched for
    plugins: set[Plugin] = set()
    everything = entry_points()  # called once: each call reads the metadata of all packages
    for group in GROUPS:
        for entry in everything.select(group=group):
            plugins.add(Plugin(group, entry.name, *_package_of(entry), entry.value))
    return tuple(sorted(plugins, key=lambda each: (each.group, each.name, each.package)))


def _package_of(entry: EntryPoint) -> tuple[str, str]:
    """Return name and version; `?` where a package's metadata is broken."""
    try:
        metadata: Any = entry.dist.metadata if entry.dist else {}
        return metadata.get("Name") or "?", metadata.get("Version") or "?"
    except (KeyError, OSError, ValueError):
        return "?", "?"


def known_rule(name: str) -> str:
    """Check the name of a comparison rule, built in or of a plug-in.

    Raises:
        ValueError: the rule is unknown; the message lists the known ones.
    """
    if name in registry.RULES or find(RULES, name) is not None:
        return name
    raise PydanticCustomError("rule", "known are {names}", {"names": known(RULES, registry.RULES)})


RuleName = Annotated[
    str,
    AfterValidator(known_rule),
    WithJsonSchema({"type": "string", "examples": [*registry.RULES]}),
]
"""The name of a comparison rule."""
