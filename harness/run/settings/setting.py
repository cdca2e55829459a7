"""The declaration of a setting: its flag, help and rules.

Each setting is declared once, at its field of a `SettingsGroup`. Flags, help, YAML keys, the JSON
Schema, `docs/configuration.md`, and the rules of modes, resuming and comparing are derived from
it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr

from harness.agent.strategies.modes import HeededBy

MOST_IN_FLIGHT = 1_000
MOST_ROUNDS = 1_000
LEAST_MEMORY = 64  # MiB
MOST_MEMORY = 1 << 20  # MiB: a tebibyte

Needs = Literal["anything", "programs", "tests"]


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting.

    Attributes:
        help: description for the flag and the docs, with unit and default.
        panel: heading of its flag in the help. Without one it has no flag, as few people use it:
            `--set` takes it.
        names: spellings of its flag; default: derived from the key.
        metavar: placeholder of its value in the help.
        heeded_by: modes that use it; `option` for those that name it in `Mode.options`.
        needs: condition for it to have an effect: `programs` that are run, or programs graded on
            `tests`. Problems that ask for a value have neither.
        may_change: whether it may change when a run is resumed, as it affects no result.
        may_grow: whether it may change when a run is resumed, as long as no sample is lost.
        compared: whether it can affect a result.
        common: whether many people use it; the help of a command with many flags shows only these.
        factor: whether it may be the difference that a comparison of runs measures.
        usual: the value that None stands for.
        recorded: whether a recording that is played brings its value along.
        effective: whether it has an effect beside a spec's other settings; where it has none, a
            value that was found is passed over.
        otherwise: the error where a value was given and has no effect; `{mode}` stands for the
            mode. Empty where another check, or nothing, refuses it.
    """

    help: str
    panel: str | None = None
    _: KW_ONLY
    names: tuple[str, ...] = ()
    metavar: str | None = None
    heeded_by: HeededBy = "all"
    needs: Needs = "anything"
    may_change: bool = False
    may_grow: bool = False
    compared: bool = True
    common: bool = False
    factor: bool = False
    usual: object = None
    recorded: bool = False
    effective: Callable[[Any], bool] = lambda _: True
    otherwise: str = ""

    @property
    def key_only(self) -> bool:
        """Whether it has no flag."""
        return self.panel is None


class SettingsGroup(BaseModel):
    """A group of settings; every field has a `Setting` in its annotation."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    _found: frozenset[str] = PrivateAttr(default=frozenset())

    def model_post_init(self, context: Mapping[str, Any] | None, /) -> None:
        """Note the keys whose values were found, and not given: `found` of the context."""
        self._found = frozenset((context or {}).get("found", ()))

    @property
    def found(self) -> frozenset[str]:
        """The keys whose values were found, and are passed over where they have no effect."""
        return self._found

    def without_found(self, keys: Collection[str]) -> Self:
        """Return the settings without those of some keys that were found."""
        lost = self._found.intersection(keys)
        if not lost:
            return self
        kept = {key: getattr(self, key) for key in self.model_fields_set - lost}
        return self.model_validate(kept, context={"found": self._found - lost})


def settings_of(spec: type[BaseModel]) -> Mapping[str, Setting]:
    """Return the declared setting of each field of a spec, by key."""
    return MappingProxyType(
        {
            key: next(each for each in field.metadata if isinstance(each, Setting))
            for key, field in spec.model_fields.items()
        }
    )


def is_said(spec: SettingsGroup, key: str) -> bool:
    """Whether a value was given, and not found; an explicit no or none does not count."""
    if key not in spec.model_fields_set or key in spec.found:
        return False
    value: Any = getattr(spec, key)
    return bool(value) or value != type(spec).model_fields[key].get_default()
