"""Plug-ins: what installed packages add, by entry points, under names that are not ours.

Names are found in the packages' metadata, which runs nothing of theirs. A plug-in is imported when
a name is asked for that the harness does not have itself; its own names always win. What a plug-in
does then is trusted as the harness itself is: only what models write goes into the sandbox.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.errors import HarnessError, UsageError

SOURCES = "harness.sources"
MODELS = "harness.models"
STRATEGIES = "harness.strategies"
RULES = "harness.rules"
OBSERVERS = "harness.observers"
GROUPS = (SOURCES, MODELS, STRATEGIES, RULES, OBSERVERS)

USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
"""What a name may be made of: some end up in the names of files."""
MOST_WORDS = 300  # characters of somebody else's exception


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of a package.

    Attributes:
        group: one of `GROUPS`.
        name: what a user calls it.
        package: that it comes with; `version` is the package's.
        value: where it is, as `module:attribute`.
    """

    group: str
    name: str
    package: str
    version: str
    value: str

    def __str__(self) -> str:
        """It in words, for an error's one line."""
        return (
            f"plug-in {self.name!r} of package {self.package} "
            f"(entry point {self.value!r} of {self.group})"
        )

    @property
    def summary(self) -> str:
        """It in a few words, for people who use it."""
        return f"{self.kind} {self.name!r} of plug-in {self.package} {self.version}"

    @property
    def kind(self) -> str:
        """What it adds, in a word."""
        return {STRATEGIES: "strategy"}.get(self.group, self.group.removeprefix("harness.")[:-1])

    def load(self) -> Any:
        """What the entry point stands for.

        Raises:
            UsageError: it does not import, or is not there.
        """
        try:
            return EntryPoint(self.name, self.value, self.group).load()
        except (Exception, SystemExit) as error:
            raise UsageError(f"{self} does not load: {words_of(error)}") from error

    def blame(self, error: BaseException) -> HarnessError:
        """The error of a call to it, in one line; what is said in our own words stays as it is."""
        if isinstance(error, HarnessError):
            return error
        return UsageError(f"{self} raised {words_of(error)}")


def installed(group: str) -> tuple[Plugin, ...]:
    """All plug-ins of a group, by name and package."""
    return tuple(each for each in _installed() if each.group == group)


def find(group: str, name: str) -> Plugin | None:
    """The plug-in of that name; None where there is none.

    Raises:
        UsageError: two packages offer one.
    """
    found = [each for each in installed(group) if each.name == name and USABLE.match(name)]
    if len(found) > 1:
        packages = " and ".join(each.package for each in found)
        raise UsageError(
            f"{name!r} of {group} is offered by the packages {packages}; uninstall one of them"
        )
    return found[0] if found else None


def known(group: str, own: Collection[str]) -> str:
    """The names of a group, for an error's one line: ours, then those of plug-ins."""
    others = [each for each in installed(group) if each.name not in own]
    return ", ".join([*own, *(f"{each.name} (of {each.package})" for each in others)])


def hidden(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """For names of ours, by group: in words, the plug-ins of the same name, which are not used."""
    for group, name in names:
        for each in installed(group):
            if each.name == name:
                yield f"{each} is not used: harness has {name!r} itself"


def words_of(error: BaseException) -> str:
    """Somebody else's exception in one line."""
    kind = type(error).__name__
    try:
        text = " ".join(f"{kind}: {error}".split())
    except Exception:  # noqa: BLE001 - its words are somebody else's code, too
        text = kind
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"


def _installed() -> tuple[Plugin, ...]:
    import sys

    return _on(tuple(sys.path))


@lru_cache(maxsize=2)
def _on(path: tuple[str, ...]) -> tuple[Plugin, ...]:  # noqa: ARG001 - where metadata is looked for
    found: set[Plugin] = set()
    for group in GROUPS:
        for entry in entry_points(group=group):
            found.add(Plugin(group, entry.name, *_package_of(entry), entry.value))
    return tuple(sorted(found, key=lambda each: (each.group, each.name, each.package)))


def _package_of(entry: EntryPoint) -> tuple[str, str]:
    """Name and version; of a package whose metadata are broken, what there is."""
    try:
        metadata: Any = entry.dist.metadata if entry.dist else {}
        return metadata["Name"] or "?", metadata["Version"] or "?"
    except (KeyError, OSError, ValueError):
        return "?", "?"


OWN_RULES = ("lcb", "equality", "tokens", "apps_legacy")  # of `harness.grading.rules`


def known_rule(name: str) -> str:
    """The name of a comparison rule, if there is one of it: ours, or that of a plug-in.

    Raises:
        ValueError: there is none; the message says which there are.
    """
    if name in OWN_RULES or find(RULES, name) is not None:
        return name
    raise PydanticCustomError("rule", "known are {names}", {"names": known(RULES, OWN_RULES)})


RuleName = Annotated[
    str,
    AfterValidator(known_rule),
    WithJsonSchema({"type": "string", "examples": [*OWN_RULES]}),
]
"""The name of a comparison rule."""
