"""The spec of a run with one model, from a YAML file and flags; flags win."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_origin

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from harness.agent.strategies.modes import Mode, built_in_modes, mode_named
from harness.errors import RunDirectoryError, UsageError
from harness.models.route import shown_url
from harness.registry import MODES, RUN_FEATURES, feature
from harness.run.settings.execution_settings import ExecutionSettings, JudgingSettings
from harness.run.settings.given import Given
from harness.run.settings.impossible_settings import ImpossibleSettings
from harness.run.settings.mode_settings import ModeSettings
from harness.run.settings.model_settings import PRESET_KEYS, PRESETS, RequestSettings
from harness.run.settings.problem_settings import ProblemSettings
from harness.run.settings.setting import is_said, settings_of
from harness.run.settings.unknown_keys import refuse_unknown
from harness.run.settings.yaml_file import read_yaml
from harness.value_faults import fault_words

if TYPE_CHECKING:
    from harness.sandbox.executor import Where
    from harness.sources.selection import Selection

SET = "--set"
PRICE_FAULTS = ("model_type", "model_attributes_type", "dict_type", "missing", "extra_forbidden")
"""Types of errors about the keys of a price."""


class RunSpec(
    ExecutionSettings,
    JudgingSettings,
    ImpossibleSettings,
    ModeSettings,
    RequestSettings,
    ProblemSettings,
):  # fields of the last base class come first
    """Everything that defines a run.

    Each field is declared in one of the groups, with its flag, help and rules as a `Setting`.
    """

    model_config = ConfigDict(defer_build=False)  # the groups alone hold no values: none is built

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, values: Any) -> Any:
        """Add the values of a preset for keys that are not given."""
        keys = cast("Mapping[str, Any]", values if isinstance(values, Mapping) else {})
        name = keys.get("sampling_preset")
        if not isinstance(name, str) or name not in PRESETS:
            return cast("Any", values)
        return {**PRESETS[name], **keys, "sampling_preset": None}

    @property
    def known_mode(self) -> Mode:
        """What is known of the mode; of a user's own, what it declares once it was found."""
        return mode_named(self.mode)

    @property
    def features(self) -> tuple[str, ...]:
        """The features with a part in the run, of `harness.registry.RUN_FEATURES`."""
        return tuple(name for name in RUN_FEATURES if getattr(self, name))

    @property
    def test_seconds(self) -> float | None:
        """CPU seconds per test, if given as a number."""
        return self.test_timeout if isinstance(self.test_timeout, float) else None

    @property
    def where(self) -> "Where":
        """The executor."""
        from harness.sandbox.executor import Where

        address = self.ray_address if self.executor == "ray" else None
        return Where(self.executor, address, self.workers)

    def selection(self) -> "Selection":
        """Return the selection of problems."""
        from harness.sources.selection import Selection

        return Selection(
            tasks=self.task,
            difficulties=self.filter_difficulty,
            tags=self.filter_tags,
            platforms=self.filter_platform,
            min_release_date=self.min_release_date,
            max_release_date=self.max_release_date,
            exclude_known_issues=self.exclude_known_issues,
            sample_size=self.sample_size,
            sampling=self.sampling,
            seed=self.seed,
        )


SETTINGS = settings_of(RunSpec)
"""The setting of each key."""

LISTS = tuple(
    key for key, field in RunSpec.model_fields.items() if get_origin(field.annotation) is tuple
)
"""Keys whose value is a list; a single word counts as a list of one."""

RESUMABLE = frozenset(key for key, setting in SETTINGS.items() if setting.may_change)
"""Keys that may change when a run is resumed: speed, budget, prices, addresses."""

GROWING = frozenset(key for key, setting in SETTINGS.items() if setting.may_grow)
"""Keys that may change when a run is resumed, as long as it keeps its samples."""

COMPARED = tuple(
    key for key, setting in SETTINGS.items() if setting.compared and not setting.may_grow
)
"""Keys that can affect a result."""


def uses(mode: object, key: str) -> bool:
    """Whether a mode, given by name, uses a setting; one that is not declared may use any."""
    setting = SETTINGS.get(key)
    return setting is None or mode_named(mode).heeds(key, setting.heeded_by)


def users_of(key: str) -> tuple[str, ...]:
    """Return the built-in modes that use a setting."""
    return tuple(mode.name for mode in built_in_modes() if uses(mode.name, key))


def default_of(key: str) -> Any:
    """Return a key's default value in the format of a stored spec."""
    value: Any = RunSpec.model_fields[key].get_default()
    return [] if value == () else value


def flag_of(key: str, value: object = True) -> str:
    """Return what gives a key this value on the command line, without the value itself.

    It is a flag, or `--set KEY` for a setting that has none.
    """
    if key in SETTINGS and SETTINGS[key].key_only:
        return f"{SET} {key}"
    word = key.replace("_", "-")
    return f"--no-{word}" if value is False and default_of(key) is True else f"--{word}"


def given_as(key: str, flags: Collection[str], value: object = True) -> str:
    """Return where a value was given on the command line: its flag, or `--set` and its key."""
    names = flags.names if isinstance(flags, Given) else dict[str, str]()
    return names.get(key) or flag_of(key, value)


def read_spec(path: Path | None, flags: Mapping[str, Any]) -> RunSpec:
    """Return the spec of a YAML file, if given, overridden by flags.

    Args:
        path: the YAML file; None for none.
        flags: the given flags, by key.

    Raises:
        UsageError: the file cannot be read, a key is unknown, or a value is out of range; the
            message names the key, and the most similar valid one.
    """
    given = with_file(path, flags)
    return spec_of(given, path, given)


def with_file(path: Path | None, flags: Mapping[str, Any]) -> Given:
    """Return the given flags, and below them the settings of a YAML file. Raises UsageError."""
    values = {} if path is None else read_yaml(path)
    refuse_unknown(values, RunSpec.model_fields, str(path))
    return Given.of(flags).over(Given(values, {key: f"{path}: {key}" for key in values}))


def spec_of(
    values: Mapping[str, Any], path: Path | str | None, flags: Collection[str] = ()
) -> RunSpec:
    """Return the spec of some values.

    Args:
        values: values by key.
        path: path of their file, or name of the function that received them.
        flags: the keys that come from the command line; as `Given`, with those that were found,
            which are passed over where they have no effect.

    Raises:
        UsageError: as in `read_spec`.
    """
    refuse_unknown(values, RunSpec.model_fields, str(path))
    values = dict(values)
    _refuse_empty(values, path, flags)
    for key in LISTS:
        if isinstance(values.get(key), str):
            values[key] = [values[key]]
    if values.get("agent_command") is not None:
        values.setdefault("mode", "external")
    spec = _validated(values, path, flags)
    if spec.mode in MODES:
        feature(MODES[spec.mode], f"--mode {spec.mode}")  # refused if it is not installed
    if spec.mode not in MODES or not spec.known_mode.asks:
        from harness.agent.strategies.strategies import find_mode, find_strategy

        find_strategy(spec.mode)
        _check_options(find_mode(spec.mode))
    passed = _idle(spec, values)
    spec = spec.without_found(passed)
    values = {key: value for key, value in values.items() if key not in passed}
    _refuse_unused(spec, values, path, flags)
    if is_said(spec, "ray_address") and "executor" not in values:
        raise UsageError("--set ray_address goes with --set executor=ray")
    return spec


def _validated(
    values: Mapping[str, Any], path: Path | str | None, flags: Collection[str]
) -> RunSpec:
    """Return the spec of values; it knows which were found. Raises UsageError."""
    found = flags.found if isinstance(flags, Given) else frozenset[str]()
    if "sampling_preset" in found:
        found |= PRESET_KEYS - values.keys()
    try:
        return RunSpec.model_validate(values, context={"found": found})
    except ValidationError as error:
        first = error.errors()[0]
        key, *part = map(str, first["loc"])
        name = given_as(key, flags) if key in flags else f"{path}: {key}"
        if not name.startswith("-"):  # a flag is shown whole
            name = ".".join((name, *part))
        raise UsageError(f"{name}: {_fault(first)}{_given(first)}") from None


def _idle(spec: RunSpec, values: Mapping[str, Any]) -> set[str]:
    """Return the found settings that have no effect with the mode, or beside the others."""
    idle = {
        key for key in spec.found if not (uses(spec.mode, key) and SETTINGS[key].effective(spec))
    }
    return idle | (PRESET_KEYS - values.keys()) if "sampling_preset" in idle else idle


def _fault(error: ErrorDetails) -> str:
    """Return what is wrong with a value; for a price, how to write it."""
    if error["loc"][:1] == ("price",) and error["type"] in PRICE_FAULTS:
        return 'give dollars per million tokens by key, as {"input": 1.25, "output": 10}'
    return fault_words(error)


def _given(error: ErrorDetails) -> str:
    """Return the value of a wrong key; empty if it may be a secret."""
    if error["loc"][0] in {"header", "api_key_env"}:
        return ""
    given = error["input"]  # collections are not written out: YAML aliases may make them huge
    value = str(given)[:100] if isinstance(given, str | int | float) else type(given).__name__
    return f" (given: {value})"


def _refuse_empty(
    values: Mapping[str, Any], path: Path | str | None, flags: Collection[str]
) -> None:
    """Refuse blank texts, e.g. from an unset shell variable. Raises UsageError."""
    for key, value in values.items():
        items = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
        kept = str if key == "stop" else str.strip  # an answer may end at white space
        if any(isinstance(word, str) and not kept(word) for word in items):
            name = given_as(key, flags) if key in flags else f"{path}: {key}"
            raise UsageError(f"{name} is empty; give a value, or leave it out")


def known_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a stored spec that `read_spec` accepts.

    Left out are defaults, settings that its mode does not use, and settings that this version no
    longer has, if they are null.

    Raises:
        RunDirectoryError: it has a key that this version does not know.
    """
    known = RunSpec.model_fields
    unknown = sorted(key for key, value in values.items() if key not in known and value is not None)
    if unknown:
        raise RunDirectoryError(
            f"the run has a setting {unknown[0]!r} that this version does not know; "
            "go on with the version that began it"
        )
    mode = values.get("mode", default_of("mode"))
    return {
        key: value
        for key, value in values.items()
        if key in known and uses(mode, key) and value != default_of(key)
    }


def _check_options(mode: Mode) -> None:
    """Refuse an option of a user's own mode that is no setting. Raises UsageError."""
    for key in mode.options:
        if key not in SETTINGS:
            raise UsageError(f"--mode {mode.name}: its options name {key!r}, which is no setting")


def _refuse_unused(
    spec: RunSpec, values: Mapping[str, Any], path: Path | str | None, flags: Collection[str]
) -> None:
    """Refuse a setting that the mode does not use. Raises UsageError."""
    for key, setting in sorted(SETTINGS.items(), key=lambda item: item[0] not in values):
        preset = values.get(key) is not None and getattr(spec, key) is None
        if uses(spec.mode, key) or not (preset or is_said(spec, key)):
            continue
        by_flag = path is None or key in flags
        name = given_as(key, flags, getattr(spec, key)) if by_flag else f"{path}: {key}"
        if setting.heeded_by == "asks":
            raise UsageError(
                f"{name} has no effect with --mode {spec.mode}, in which your own agent calls its "
                "model; leave it out"
            )
        raise UsageError(f"{name} goes with --mode {' or '.join(users_of(key))}, not {spec.mode}")


def refuse_ineffective(spec: RunSpec) -> None:
    """Refuse a setting that has no effect beside the others. Raises UsageError."""
    for key, setting in SETTINGS.items():
        if setting.otherwise and is_said(spec, key) and not setting.effective(spec):
            raise UsageError(setting.otherwise.format(mode=spec.mode))


def stored(spec: RunSpec) -> dict[str, Any]:
    """Return all keys as JSON values; a password in `base_url` is left out.

    Raises:
        UsageError: `base_url` is not a URL.
    """
    url = None if spec.base_url is None else shown_url(spec.base_url)
    if url == "":
        raise UsageError("--base-url is not a URL; write it as https://host:port/v1")
    return spec.model_copy(update={"base_url": url}).model_dump(mode="json")
