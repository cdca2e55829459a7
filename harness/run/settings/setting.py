"""The declaration of a setting, its flag, help and rules; and the YAML files that hold settings.

Each setting is declared once, at its field of a `SettingsGroup`. Flags, help, YAML keys, the JSON
Schema, `docs/configuration.md`, and the rules of modes, resuming and comparing are derived from
it.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harness.agent.strategies import ASKING, EXTERNAL
from harness.errors import UsageError
from harness.yaml_text import YamlError, parse_yaml

MOST_IN_FLIGHT = 1_000
MOST_ROUNDS = 1_000
LEAST_MEMORY = 64  # MiB
MOST_MEMORY = 1 << 20  # MiB: a tebibyte

ASKED = ASKING
"""Modes in which the harness sends the requests, and not a user's own agent."""
TOOLS = ("agentic", *EXTERNAL)
"""The modes with tools."""

Needs = Literal["anything", "programs", "tests"]
MEANT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "samples": ("samples_per_problem",),
        "num_samples": ("samples_per_problem",),
        "n_samples": ("samples_per_problem",),
        "k": ("samples_per_problem",),
        "n": ("limit", "sample_size"),
        "problems": ("benchmark",),
        "resume": ("out",),
        "timeout": ("test_timeout",),
        "limit": ("sample_size",),
        "samples_per_problem": ("shots",),
    }
)
"""Words that are used for a key, as elsewhere or as a flag, with the first keys to think of."""

COMMAND_ONLY = {"resume", "only", "notify", "config", "dry_run", "json", "fail_under"}
"""Flags of commands that are no keys."""

MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting.

    Attributes:
        help: description for the flag and the docs, with unit and default.
        panel: heading of its flag in the help.
        names: spellings of its flag; default: derived from the key.
        metavar: placeholder of its value in the help.
        modes: built-in modes that use it; empty for all. A user's own mode may use any.
        needs: condition for it to have an effect: `programs` that are run, or programs graded on
            `tests`. Problems that ask for a value have neither.
        may_change: whether it may change when a run is resumed, as it affects no result.
        may_grow: whether it may change when a run is resumed, as long as no sample is lost.
        compared: whether it can affect a result.
        common: whether many people use it; the help of a command with many flags shows only these.
        factor: whether it may be the difference that a comparison of runs measures.
        usual: the value that None stands for.
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
    common: bool = False
    factor: bool = False
    usual: object = None


class SettingsGroup(BaseModel):
    """A group of settings; every field has a `Setting` in its annotation."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def settings_of(spec: type[BaseModel]) -> Mapping[str, Setting]:
    """Return the declared setting of each field of a spec, by key."""
    return MappingProxyType(
        {
            key: next(each for each in field.metadata if isinstance(each, Setting))
            for key, field in spec.model_fields.items()
        }
    )


def is_said(spec: BaseModel, key: str) -> bool:
    """Whether a value was given; an explicit no or none does not count."""
    if key not in spec.model_fields_set:
        return False
    value: Any = getattr(spec, key)
    return bool(value) or value != type(spec).model_fields[key].get_default()


def refuse_unknown(values: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse unknown keys. Raises UsageError, which names the most similar known one."""
    unknown = next((key for key in values if key not in known), None)
    if unknown is not None:
        raise UsageError(
            f"{where}: unknown key {unknown[:200]!r}; {_hint(unknown[:200], known, where)}"
        )


def _hint(unknown: str, known: Collection[str], where: str) -> str:
    if unknown == "agentic_mode" and "mode" in known:
        return 'give mode="agentic"'
    near = next((key for key in MEANT.get(unknown, ()) if key in known), None)
    if near is None and unknown in COMMAND_ONLY:
        return "it is a flag of `harness run`, and no key"
    near = near or _nearest(unknown, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return (
        f"see help(harness.{where[:-2]})"
        if where.endswith("()")
        else "see `harness run --help-all`"
    )


def _nearest(word: str, known: Collection[str]) -> str | None:
    """Return the most similar known word; one with swapped letters comes first."""
    letters = sorted(word)
    swapped = next((each for each in known if sorted(each) == letters), None)
    return swapped or next(iter(difflib.get_close_matches(word, known, n=1)), None)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a file's keys and values; `-` in a key counts as `_`.

    Raises:
        UsageError: the file cannot be read, is not YAML or too long, or is not a mapping.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{path}: longer than {MOST_BYTES:,} bytes; is it the right file?")
        values: Any = parse_yaml(data.decode(), spelling=_plain)
    except YamlError as error:
        raise UsageError(f"{path}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{path}: the file cannot be read ({reason})") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(f"{path}: keys and values are expected, as in `benchmark: fixture`")
    return with_underscores(values)  # pyright: ignore[reportUnknownArgumentType]


def with_underscores(values: dict[Any, Any]) -> dict[str, Any]:
    """Return the values with keys spelled as in Python."""
    return {_plain(key): value for key, value in values.items()}


def _plain(key: object) -> str:
    return str(key).replace("-", "_")
