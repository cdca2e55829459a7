"""The declaration of a setting: its flag, help and rules, beside its type.

Each setting is declared once, at its field of a `SettingsGroup`. Flags, help, YAML keys, the JSON
Schema, `docs/configuration.md`, and the rules of modes, resuming and comparing follow from it.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harness.agent.strategies.external_names import ASKING, EXTERNAL
from harness.errors import UsageError

MOST_IN_FLIGHT = 1_000
MOST_ROUNDS = 1_000
LEAST_MEMORY = 64  # MiB
MOST_MEMORY = 1 << 20  # MiB: a tebibyte

ASKED = ASKING
"""The modes in which harness asks the model; an agent of the user's own asks its model itself."""
TOOLS = ("agentic", *EXTERNAL)
"""The modes with tools."""

Needs = Literal["anything", "programs", "tests"]


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting.

    Attributes:
        help: what it sets, with its unit and default, for the flag and the docs.
        panel: the heading that its flag stands under.
        names: the spellings of its flag; by itself the key's name.
        metavar: what stands for its value in the help.
        modes: the built-in modes that use it; none named for all. A user's own mode may use any.
        needs: what it takes for the setting to have an effect: `programs` that are run, or programs
            that are judged on `tests`. Problems that ask for a value have neither.
        may_change: it may change when a run is resumed, as it changes no result.
        may_grow: it may change when a run is resumed, as long as no sample is lost by it.
        compared: another value of it can change a result.
        factor: it says what is measured, so that runs are compared because they differ in it.
        usual: the value that stands behind None.
    """

    help: str
    panel: str
    _: KW_ONLY
    names: tuple[str, ...] = ()
    metavar: str | None = None
    modes: tuple[str, ...] = ()
    needs: Needs = "anything"
    may_change: bool = False
    may_grow: bool = False
    compared: bool = True
    factor: bool = False
    usual: object = None


class SettingsGroup(BaseModel):
    """Settings that belong together. Every field has a `Setting` in its annotation."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def settings_of(spec: type[BaseModel]) -> Mapping[str, Setting]:
    """The declared rules of a spec's fields, by key."""
    return MappingProxyType(
        {
            key: next(each for each in field.metadata if isinstance(each, Setting))
            for key, field in spec.model_fields.items()
        }
    )


def is_said(spec: BaseModel, key: str) -> bool:
    """Whether a value was given: a default that means "no" or "none" is as good as none given."""
    if key not in spec.model_fields_set:
        return False
    value: Any = getattr(spec, key)
    return bool(value) or value != type(spec).model_fields[key].get_default()


def refuse_unknown(values: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse a key that there is not. Raises UsageError, which names the nearest that there is."""
    unknown = next((key for key in values if key not in known), None)
    if unknown is not None:
        near = _nearest(unknown[:200], known)
        hint = f"did you mean {near!r}?" if near else "see `harness run --help`"
        raise UsageError(f"{where}: unknown key {unknown[:200]!r}; {hint}")


def _nearest(word: str, known: Collection[str]) -> str | None:
    """The known word that is most like another; one with letters swapped comes first."""
    letters = sorted(word)
    swapped = next((each for each in known if sorted(each) == letters), None)
    return swapped or next(iter(difflib.get_close_matches(word, known, n=1)), None)
