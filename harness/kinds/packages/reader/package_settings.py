"""`problem.yaml` of a package, of all versions of the format."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from harness.errors import DataError
from harness.kinds.packages.reader.constants import read_constants
from harness.problem import LimitRule
from harness.sources import limits

LEGACY = ("legacy", "legacy-icpc")
VERSIONS = (*LEGACY, "2023-07-draft", "2023-07", "2025-09-draft", "2025-09", "draft")
DRAFTS = ("2023-07-draft", "2023-07")
"""Versions that gave points as the legacy format does, and then in several other ways."""
KINDS = {"pass-fail", "scoring", "multi-pass", "interactive", "submit-answer"}
CUSTOM = "custom"
MOST_OUTPUT_MEBIBYTES = 128
"""Most output that is judged here; a larger limit could not be kept."""
OLDER_FACTOR, NEWER_FACTOR, MOST_FACTOR = 5.0, 2.0, 1000.0
"""Multiples of the slowest accepted submission's time that are the time limit."""
LEAST_CODE_KIBIBYTES = 64
"""A smaller limit of the source's size could decide a verdict, and none is enforced here."""

_KEYS = {
    *("problem_format_version", "type", "name", "uuid", "version", "author", "credits", "source"),
    *("source_url", "license", "rights_owner", "embargo_until", "limits", "validation"),
    *("validator_flags", "grading", "keywords", "languages", "allow_file_writing", "constants"),
}
_LIMIT_KEYS = {
    *("time_multiplier", "time_multipliers", "time_safety_margin", "time_limit", "memory"),
    *("time_resolution", "output", "code", "compilation_time", "compilation_memory"),
    *("validation_time", "validation_memory", "validation_output", "validation_passes"),
}
_QUOTES = re.compile(r"['\"\\]")


class PackageLimits(NamedTuple):
    """Limits of a test; None where the judge's own hold."""

    cpu_s: float | None = None
    memory_bytes: int | None = None
    output_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ValidatorLimits:
    """Limits of an output validator; the defaults are the format's."""

    cpu_s: float = 60.0
    memory_bytes: int = 2 << 30
    passes: int = 2


@dataclass(frozen=True, slots=True)
class PackageSettings:
    """What problem.yaml says.

    Attributes:
        is_legacy: whether the version is one before 2023.
        title: name of the problem, in English if there is one; empty without.
        kinds: words of its type; `interactive` may also come from the legacy key `validation`.
        is_custom: whether `validation` asks for the package's own output validator; None where it
            follows from the files.
        validator_flags: arguments of the output validator for all tests.
        languages: codes of the languages that are allowed; None for all.
        constants: text of each constant.
        validator_limits: limits of the output validator.
        version: version of the format.
        grading: the legacy key `grading`.
        has_scores: whether the output validator gives points, as `validation` says.
        limit_rule: how the time limit follows from the accepted submissions, where none is given.
    """

    is_legacy: bool
    title: str
    source: str
    kinds: frozenset[str]
    is_custom: bool | None
    validator_flags: tuple[str, ...]
    limits: PackageLimits
    languages: frozenset[str] | None = None
    constants: Mapping[str, str] = field(default_factory=dict[str, str])
    validator_limits: ValidatorLimits = ValidatorLimits()
    limit_rule: LimitRule | None = None
    version: str = LEGACY[0]
    grading: Mapping[str, Any] = field(default_factory=dict[str, Any])
    has_scores: bool = False

    @property
    def has_legacy_points(self) -> bool:
        """Whether it is a scoring package whose groups are graded as in the legacy format."""
        return "scoring" in self.kinds and (self.is_legacy or self.version in DRAFTS)


def read_settings(values: Mapping[str, Any], where: str) -> PackageSettings:
    """Return the settings.

    Args:
        values: keys and values of problem.yaml.
        where: path of the file, for errors.

    Raises:
        DataError: the version is unknown, a key is misspelt, or a value is not allowed.
    """
    refuse_misspelt(values, _KEYS, where)
    version = str(values.get("problem_format_version") or LEGACY[0])
    if version not in VERSIONS:
        what = f"{version!r:.60} is not known; known: {', '.join(VERSIONS)}"
        raise DataError(where, "problem_format_version", what)
    is_legacy = version in LEGACY
    validation = words(values.get("validation"), where, "validation")
    given = values.get("limits")
    if not isinstance(given, dict | None):
        raise DataError(where, "limits", "no map of limits")
    own = cast("dict[str, Any]", given or {})
    refuse_misspelt(own, _LIMIT_KEYS, where)
    return PackageSettings(
        is_legacy=is_legacy,
        title=_title(values.get("name")),
        source=_name(values.get("source")),
        kinds=_kinds(values, validation, where),
        is_custom=_is_custom(validation, where) if is_legacy or validation else None,
        validator_flags=flags(values.get("validator_flags"), where, "validator_flags"),
        limits=_limits(own, where),
        languages=_languages(values.get("languages"), where),
        constants=read_constants(values.get("constants"), where),
        validator_limits=_validator_limits(own, where),
        limit_rule=_limit_rule(own, where, is_legacy=is_legacy),
        version=version,
        grading=mapping(values.get("grading"), where, "grading"),
        has_scores="score" in validation[1:],
    )


def flags(value: object, where: str, key: str) -> tuple[str, ...]:
    """Return a validator's arguments: a list, or words separated by white space.

    Raises:
        DataError: it is something else, or has quotes, which judges read in different ways.
    """
    if isinstance(value, str) and _QUOTES.search(value):
        what = f"quotes and backslashes, which judges read in different ways: {value!r:.60}"
        raise DataError(where, key, what)
    return words(value, where, key)


def words(value: object, where: str, key: str) -> tuple[str, ...]:
    """Return the words of a text, a list or a number. Raises DataError for anything else."""
    if value is None:
        return ()
    given = cast("list[object]", value) if isinstance(value, list) else [value]
    if any(isinstance(each, bool) or not isinstance(each, str | int | float) for each in given):
        raise DataError(where, key, f"{value!r:.60} is neither text nor a list of texts")
    return tuple(map(str, given)) if isinstance(value, list) else tuple(str(value).split())


def mapping(value: object, where: str, key: str) -> dict[str, Any]:
    """Return a map; empty for none. Raises DataError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise DataError(where, key, f"{value!r:.60} is not a map")
    return cast("dict[str, Any]", value)


def refuse_misspelt(values: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Refuse an unknown key that is nearly a known one; others mean something to other tools.

    Raises:
        DataError: there is one.
    """
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.85)
            if near:
                raise DataError(where, str(key), f"unknown; did you mean {near[0]!r}?")


def _kinds(values: Mapping[str, Any], validation: tuple[str, ...], where: str) -> frozenset[str]:
    kinds = {*words(values.get("type"), where, "type")}
    if unknown := kinds - KINDS:
        what = f"{min(unknown)!r:.60} is not known; known: {', '.join(sorted(KINDS))}"
        raise DataError(where, "type", what)
    return frozenset(kinds | ({*validation[1:]} & {"interactive", "multi-pass"}))


def _is_custom(validation: tuple[str, ...], where: str) -> bool:
    kind = validation[0] if validation else "default"
    if kind not in {"default", CUSTOM}:
        raise DataError(where, "validation", f"{kind!r:.60} is neither default nor custom")
    return kind == CUSTOM


def _title(name: object) -> str:
    if isinstance(name, dict):
        names = cast("dict[object, object]", name)
        name = names.get("en") or next(iter(names.values()), "")
    return _name(name)


def _name(value: object) -> str:
    """Return a text or a number as text; nothing for maps and lists."""
    if isinstance(value, dict):
        value = cast("dict[object, object]", value).get("name")
    return str(value).strip()[:200] if isinstance(value, str | int | float) else ""


def _limits(values: Mapping[str, Any], where: str) -> PackageLimits:
    seconds, memory, output = (values.get(key) for key in ("time_limit", "memory", "output"))
    if (code := values.get("code")) is not None:
        most = float("inf")
        limits.number(code, LEAST_CODE_KIBIBYTES, most, where, "limits.code")
    return PackageLimits(
        cpu_s=None if seconds is None else limits.seconds(seconds, where, "limits.time_limit"),
        memory_bytes=None if memory is None else limits.mebibytes(memory, where, "limits.memory"),
        output_bytes=None
        if output is None
        else limits.mebibytes(output, where, "limits.output", MOST_OUTPUT_MEBIBYTES),
    )


def _limit_rule(values: Mapping[str, Any], where: str, *, is_legacy: bool) -> LimitRule:
    newer = values.get("time_multipliers")
    several = cast("dict[str, Any]", newer) if isinstance(newer, dict) else {}
    factor = several.get("ac_to_time_limit", values.get("time_multiplier"))
    usual = OLDER_FACTOR if is_legacy else NEWER_FACTOR
    step, key = values.get("time_resolution"), "limits.time_"
    return LimitRule(
        factor=usual
        if factor is None
        else limits.number(factor, 1, MOST_FACTOR, where, f"{key}multipliers"),
        step=1.0 if step is None else limits.seconds(step, where, f"{key}resolution"),
    )


def _validator_limits(values: Mapping[str, Any], where: str) -> ValidatorLimits:
    seconds, memory = values.get("validation_time"), values.get("validation_memory")
    usual, key = ValidatorLimits(), "limits.validation_"
    return ValidatorLimits(
        usual.cpu_s if seconds is None else limits.seconds(seconds, where, f"{key}time"),
        usual.memory_bytes if memory is None else limits.mebibytes(memory, where, f"{key}memory"),
        int(limits.number(values.get("validation_passes", usual.passes), 1, 1000, where, key)),
    )


def _languages(given: object, where: str) -> frozenset[str] | None:
    names = frozenset(words(given, where, "languages"))
    return None if not names or "all" in names else names
