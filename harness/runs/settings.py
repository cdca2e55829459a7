"""What is declared of a setting of a run beside its type: the modes that use it, and its rules.

Each is declared once, at its field of `harness.runs.spec.RunSpec`. A field without a declaration is
used by every mode, cannot change when a run is resumed, and is reported by a comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel

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
