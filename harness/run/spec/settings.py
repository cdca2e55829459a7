"""What is declared of a setting of a run beside its type: the modes that use it, and its rules.

Each is declared once, at its field of `harness.run.spec.spec.RunSpec`. A field without a
declaration is used by every mode, cannot change when a run is resumed, and is reported by a
comparison.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel

from harness.errors import UsageError

Needs = Literal["anything", "programs", "tests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The rules of one setting.

    Attributes:
        modes: the built-in modes that use it; none named for all. A user's own mode may use any.
        needs: what it takes for the setting to have an effect: `programs` that are run, or programs
            that are judged on `tests`. Problems that ask for a value have neither.
        may_change: it may change when a run is resumed, as it changes no result.
        may_grow: it may change when a run is resumed, as long as no sample is lost by it.
        compared: another value of it can change a result.
        factor: it says what is measured, so that runs are compared because they differ in it.
        usual: the value that stands behind None.
    """

    modes: tuple[str, ...] = ()
    needs: Needs = "anything"
    may_change: bool = False
    may_grow: bool = False
    compared: bool = True
    factor: bool = False
    usual: object = None


_PLAIN = Setting()


def settings_of(spec: type[BaseModel]) -> Mapping[str, Setting]:
    """The declared rules of a spec's fields, by key."""
    return MappingProxyType(
        {
            key: next((each for each in field.metadata if isinstance(each, Setting)), _PLAIN)
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
