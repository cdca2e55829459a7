"""The spec of a run: one model, from a YAML file and flags; flags win."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from harness.agent.attempt import Ways
from harness.agent.strategies.external_names import EXTERNAL
from harness.agent.strategies.strategy_names import BUILT_IN, STRATEGIES, find_strategy
from harness.efficiency.scale import Timing
from harness.errors import RunDirectoryError, UsageError
from harness.models.prices import Price
from harness.models.providers import Api
from harness.models.text_tools.tool_protocol import ToolProtocol
from harness.plugins import RuleName
from harness.run.spec import request_settings as asking
from harness.run.spec.settings import Setting, is_said, refuse_unknown, settings_of
from harness.run.spec.shard import MOST_SAMPLES, Shard
from harness.run.spec.timeout_values import LONGEST_SECONDS, validated_timeout
from harness.run.spec.yaml_file import read_yaml
from harness.sandbox.executor import ExecutorName, Where
from harness.sandbox.isolation import Level
from harness.sources.selection import Selection

MOST_IN_FLIGHT = 1_000
MOST_ROUNDS = 1_000
LEAST_MEMORY = 64  # MiB
MOST_MEMORY = 1 << 20  # MiB: a tebibyte


def _shard(value: Any) -> str | None:
    try:
        return None if value is None else str(Shard.read(str(value)))
    except ValueError as error:
        raise PydanticCustomError("shard", "{why}", {"why": str(error)}) from error


_ASKED = tuple(STRATEGIES)
"""The modes in which the model is asked here; an agent of the user's own asks its model itself."""
_TOOLS = ("agentic", *EXTERNAL)

_GROWS = Setting(may_grow=True, compared=False)
_ASKS = Setting(modes=_ASKED)
_BUDGET = Setting(modes=_ASKED, may_change=True, compared=False)
_LOOP = Setting(modes=("agentic",))
_TOOL = Setting(modes=_TOOLS)
_AGENT = Setting(modes=("external",))
_REPAIR = Setting(modes=("self_repair",))
_TESTS = Setting(needs="tests")
_LIMIT = Setting(needs="programs", compared=False)  # by `test_limits`, which they come to
_TIMES = Setting(needs="tests", compared=False)
_PLACE = Setting(needs="programs", may_change=True, compared=False)
_SANDBOX = Setting(compared=False)
_Wait = Annotated[float | None, _BUDGET]


class RunSpec(BaseModel):
    """Everything that defines a run. Each key is a flag of `harness run` as well.

    What else is declared of a key, such as the modes that use it, is its `Setting`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: Annotated[str | None, Setting(may_change=True, compared=False)] = None
    skip_bad_rows: Annotated[bool, _GROWS] = False
    task: Annotated[tuple[str, ...], _GROWS] = ()
    filter_difficulty: Annotated[tuple[str, ...], _GROWS] = ()
    filter_tags: Annotated[tuple[str, ...], _GROWS] = ()
    filter_platform: Annotated[tuple[str, ...], _GROWS] = ()
    min_release_date: Annotated[date | None, _GROWS] = None
    max_release_date: Annotated[date | None, _GROWS] = None
    exclude_known_issues: Annotated[bool, _GROWS] = False
    sample_size: Annotated[int | None, _GROWS] = Field(default=None, ge=1)
    sampling: Annotated[Literal["first", "random", "stratified"], _GROWS] = "first"
    seed: Annotated[int, _GROWS] = 0
    samples_per_problem: Annotated[int, _GROWS] = Field(default=1, ge=1, le=MOST_SAMPLES)

    model: Annotated[str | None, Setting(factor=True)] = None
    base_url: Annotated[str | None, Setting(modes=_ASKED, may_change=True)] = None
    temperature: Annotated[float | None, _ASKS] = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: Annotated[int | None, _ASKS] = Field(default=None, ge=1)
    reasoning_effort: Annotated[str | None, _ASKS] = None
    top_p: Annotated[asking.Probability, _ASKS] = None
    top_k: Annotated[asking.TopK, _ASKS] = None
    min_p: Annotated[asking.Probability, _ASKS] = None
    model_seed: Annotated[asking.ModelSeed, _ASKS] = None
    stop: Annotated[asking.Stop, _ASKS] = ()
    frequency_penalty: Annotated[asking.Penalty, _ASKS] = None
    presence_penalty: Annotated[asking.Penalty, _ASKS] = None
    service_tier: Annotated[asking.Word, _ASKS] = None
    extra_body: Annotated[asking.ExtraBody, _ASKS] = None
    sampling_preset: Annotated[asking.Preset | None, Setting(modes=_ASKED, compared=False)] = None
    api: Annotated[Api | None, _ASKS] = None
    api_key_env: Annotated[asking.Variable, _BUDGET] = None
    header: Annotated[asking.Headers, Setting(modes=_ASKED, may_change=True)] = Field(
        default=(), repr=False
    )
    price: Annotated[Price | None, _BUDGET] = None
    prices: Annotated[str | None, _BUDGET] = None

    batch: Annotated[bool, _ASKS] = False

    mode: Annotated[str, Setting(factor=True)] = "single_shot"
    tool_protocol: Annotated[ToolProtocol, _LOOP] = "auto"
    max_turns: Annotated[int, _LOOP] = Field(default=10, ge=1)
    max_tool_calls: Annotated[int | None, _TOOL] = Field(default=None, ge=1)
    max_tokens_per_sample: Annotated[
        int | None, Setting(modes=("agentic", "self_repair", "best_of_k_public"))
    ] = Field(default=None, ge=1)
    stop_on_pass: Annotated[bool, _LOOP] = True
    submit_tool: Annotated[bool, _TOOL] = False
    run_code_tool: Annotated[bool, _TOOL] = False
    show_budget: Annotated[bool, _LOOP] = False
    tool: Annotated[tuple[str, ...], _TOOL] = ()
    agent_command: Annotated[str | None, _AGENT] = None
    agent_read: Annotated[tuple[str, ...], _AGENT] = ()
    agent_env: Annotated[tuple[str, ...], _AGENT] = ()
    agent_memory: Annotated[int | None, _AGENT] = Field(
        default=None, ge=LEAST_MEMORY, le=MOST_MEMORY
    )
    agent_without_namespace: Annotated[bool, _AGENT] = False
    repair_rounds: Annotated[
        int | None, Setting(modes=("self_repair",), usual=Ways().repair_rounds)
    ] = Field(default=None, ge=1, le=MOST_ROUNDS)
    repair_from: Annotated[str | None, _REPAIR] = None
    best_of: Annotated[int | None, Setting(modes=("best_of_k_public",), usual=Ways().best_of)] = (
        Field(default=None, ge=1, le=MOST_ROUNDS)
    )
    prompt: Annotated[str, Setting(factor=True)] = "default"
    extract: Annotated[str, _ASKS] = "harness"
    sample_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    sample_wall_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)

    run_tests: bool = True
    rule: Annotated[RuleName | None, _TESTS] = None
    test_timeout: Annotated[float | str | None, BeforeValidator(validated_timeout), _LIMIT] = None
    memory: Annotated[int | None, _LIMIT] = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    isolate_tests: Annotated[bool, _TESTS] = False
    wall_timeout: Annotated[float | None, _LIMIT] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    all_tests: Annotated[bool | None, _TESTS] = None
    efficiency: Annotated[bool, _TIMES] = False
    timing: Annotated[Timing, _TIMES] = "paired"
    require_isolation: Annotated[Level, _SANDBOX] = Level.LANDLOCK
    unsafe_no_sandbox: Annotated[bool, _SANDBOX] = False

    concurrency: Annotated[int, Setting(may_change=True, compared=False)] = Field(
        default=8, ge=1, le=MOST_IN_FLIGHT
    )
    workers: Annotated[int | None, _PLACE] = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    executor: Annotated[ExecutorName, _PLACE] = "local"
    ray_address: Annotated[str | None, _PLACE] = None
    shard: Annotated[str | None, BeforeValidator(_shard), Setting(compared=False)] = None
    idle_timeout: _Wait = Field(default=None, gt=0, le=LONGEST_SECONDS)
    request_timeout: _Wait = Field(default=None, gt=0, le=LONGEST_SECONDS)
    retry_timeout: _Wait = Field(default=None, gt=0, le=LONGEST_SECONDS)
    outage_timeout: _Wait = Field(default=None, gt=0, le=LONGEST_SECONDS)
    max_cost: Annotated[float | None, _BUDGET] = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens_total: Annotated[int | None, _BUDGET] = Field(default=None, ge=1)
    max_cost_per_sample: Annotated[float | None, _ASKS] = Field(
        default=None, gt=0, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, values: Any) -> Any:
        return asking.with_preset(values)

    @property
    def test_seconds(self) -> float | None:
        """CPU seconds per test, where they are said in numbers."""
        return self.test_timeout if isinstance(self.test_timeout, float) else None

    @property
    def where(self) -> Where:
        """Where the work is done."""
        address = self.ray_address if self.executor == "ray" else None
        return Where(self.executor, address, self.workers)

    def selection(self) -> Selection:
        """Which of the problems are taken."""
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
"""The rules of each key."""

LISTS = tuple(
    key for key, field in RunSpec.model_fields.items() if get_origin(field.annotation) is tuple
)
"""The keys whose value is a list; one word stands for a list of one."""

RESUMABLE = frozenset(key for key, setting in SETTINGS.items() if setting.may_change)
"""The keys that may change when a run is resumed: speed, budget, prices, addresses."""

GROWING = frozenset(key for key, setting in SETTINGS.items() if setting.may_grow)
"""The keys that may change when a run is resumed, as long as it keeps all its samples."""

COMPARED = tuple(
    key for key, setting in SETTINGS.items() if setting.compared and not setting.may_grow
)
"""The keys whose difference can change a result."""


def uses(mode: object, key: str) -> bool:
    """Whether a mode uses a setting; a mode of the user's own may use any."""
    setting = SETTINGS.get(key)
    return setting is None or not setting.modes or mode not in BUILT_IN or mode in setting.modes


def default_of(key: str) -> Any:
    """The value of a key that is not given, as a stored spec has it."""
    value: Any = RunSpec.model_fields[key].get_default()
    return [] if value == () else value


def flag_of(key: str, value: object = True) -> str:
    """The flag that gives a key this value, without the value."""
    word = key.replace("_", "-")
    return f"--no-{word}" if value is False and default_of(key) is True else f"--{word}"


def read_spec(path: Path | None, flags: Mapping[str, Any]) -> RunSpec:
    """The spec of a YAML file, if there is one, with the flags over it.

    Args:
        path: the YAML file.
        flags: the flags that were given, by key.

    Raises:
        UsageError: the file cannot be read, a key is unknown, or a value is out of range; the
            message names the key, and the nearest right one.
    """
    return spec_of({**({} if path is None else read_yaml(path)), **flags}, path, flags)


def spec_of(
    values: Mapping[str, Any], path: Path | str | None, flags: Collection[str] = ()
) -> RunSpec:
    """The spec of some values.

    Args:
        values: by key.
        path: of the file that they are from, or what else they were given to.
        flags: the keys that are from the command line instead.

    Raises:
        UsageError: as `read_spec` has it.
    """
    refuse_unknown(values, RunSpec.model_fields, str(path))
    values = dict(values)
    _refuse_empty(values, path, flags)
    for key in LISTS:
        if isinstance(values.get(key), str):
            values[key] = [values[key]]
    if values.get("agent_command") is not None:
        values.setdefault("mode", "external")
    try:
        spec = RunSpec.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        flag = f"--{str(first['loc'][0]).replace('_', '-')}"  # which part of it, the value shows
        name = flag if str(first["loc"][0]) in flags else f"{path}: {name}"
        raise UsageError(f"{name}: {first['msg']}{_given(first)}") from None
    find_strategy(spec.mode)
    if "timing" in values and spec.timing != "paired" and not spec.efficiency:
        raise UsageError("--timing says how --efficiency measures; give that too")
    _refuse_unused(spec, values, path, flags)
    if spec.ray_address is not None and "executor" not in values:
        raise UsageError("--ray-address goes with --executor ray")
    return spec


def _given(error: ErrorDetails) -> str:
    """The value of a wrong key; nothing where that may be a secret."""
    if error["loc"][0] in {"header", "api_key_env"}:
        return ""
    given = error["input"]  # a collection may be a bomb of aliases: it is not written out
    value = str(given)[:100] if isinstance(given, str | int | float) else type(given).__name__
    return f" (given: {value})"


def _refuse_empty(
    values: Mapping[str, Any], path: Path | str | None, flags: Collection[str]
) -> None:
    """Refuse a text without a letter, such as an unset variable of a shell. Raises UsageError."""
    for key, value in values.items():
        words = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
        kept = str if key == "stop" else str.strip  # an answer may end at white space
        if any(isinstance(word, str) and not kept(word) for word in words):
            name = flag_of(key) if key in flags else f"{path}: {key}"
            raise UsageError(f"{name} is empty; give a value, or leave it out")


def known_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a stored spec says, as `read_spec` takes it.

    Defaults, and settings that its mode does not use, are left out.

    Raises:
        RunDirectoryError: it has a key that this version does not know.
    """
    unknown = sorted(set(values) - set(RunSpec.model_fields))
    if unknown:
        raise RunDirectoryError(
            f"the run has a setting {unknown[0]!r} that this version does not know; "
            "go on with the version that began it"
        )
    mode = values.get("mode", default_of("mode"))
    return {
        key: value for key, value in values.items() if uses(mode, key) and value != default_of(key)
    }


def _refuse_unused(
    spec: RunSpec, values: Mapping[str, Any], path: Path | str | None, flags: Collection[str]
) -> None:
    """Refuse a setting that the mode does not use. Raises UsageError."""
    for key, setting in sorted(SETTINGS.items(), key=lambda item: item[0] not in values):
        preset = values.get(key) is not None and getattr(spec, key) is None
        if uses(spec.mode, key) or not (preset or is_said(spec, key)):
            continue
        told = path is None or key in flags
        name = flag_of(key, getattr(spec, key)) if told else f"{path}: {key}"
        if setting.modes == _ASKED:
            raise UsageError(
                f"{name}: how a model is asked, and what that costs, is the own affair of an agent "
                "of yours; leave it out"
            )
        raise UsageError(f"{name} goes with --mode {' or '.join(setting.modes)}, not {spec.mode}")
