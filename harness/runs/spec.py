"""The spec of a run: one model, from a YAML file and flags; flags win."""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from harness.agent.external import EXTERNAL
from harness.agent.strategies import BUILT_IN, find_strategy
from harness.errors import RunDirectoryError, UsageError
from harness.grading.efficiency.scale import Timing
from harness.models.price import Price
from harness.models.providers import Api
from harness.models.tool_protocol import ToolProtocol
from harness.problem import RuleName
from harness.runs import request_settings as asking
from harness.runs.executor import ExecutorName, Where
from harness.runs.sharding import Shard
from harness.runs.yaml_file import read_yaml
from harness.sandbox.isolation import Level
from harness.sources.selection import Selection

MOST_IN_FLIGHT = 1_000
MOST_ROUNDS = 1_000
LONGEST_SECONDS = 7 * 86_400
LEAST_MEMORY = 64  # MiB
MOST_MEMORY = 1 << 20  # MiB: a tebibyte
REFERENCE = "reference*"
"""Begins a limit of time that is so many times what a problem's own reference needs."""


def read_test_timeout(value: Any) -> float | str:
    """A limit of CPU seconds per test: a number, or `reference*FACTOR`.

    Raises:
        ValueError: it is neither; the message says what to give.
    """
    if isinstance(value, str) and value.strip().startswith("reference"):
        text = value.strip()
        if factor_of(text) is None:
            raise ValueError("give reference*FACTOR, as reference*4, with a factor of more than 0")
        return text
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        most = f"more than 0, at most {LONGEST_SECONDS:g}"
        raise ValueError(f"give CPU seconds, {most}, or reference*FACTOR")
    return seconds


def factor_of(test_timeout: float | str | None) -> float | None:
    """The factor of `reference*FACTOR`; None where a limit of time is no such one."""
    if not isinstance(test_timeout, str) or not test_timeout.startswith(REFERENCE):
        return None
    try:
        factor = float(test_timeout.removeprefix(REFERENCE))
    except ValueError:
        return None
    return factor if 0 < factor < math.inf else None


def _test_timeout(value: Any) -> float | str | None:
    try:
        return None if value is None else read_test_timeout(value)
    except ValueError as error:
        raise PydanticCustomError("test_timeout", "{why}", {"why": str(error)}) from error


def _shard(value: Any) -> str | None:
    try:
        return None if value is None else str(Shard.read(str(value)))
    except ValueError as error:
        raise PydanticCustomError("shard", "{why}", {"why": str(error)}) from error


class RunSpec(BaseModel):
    """Everything that defines a run. Each key is a flag of `harness run` as well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: str | None = None
    skip_bad_rows: bool = False
    task: tuple[str, ...] = ()
    filter_difficulty: tuple[str, ...] = ()
    filter_tags: tuple[str, ...] = ()
    filter_platform: tuple[str, ...] = ()
    min_release_date: date | None = None
    max_release_date: date | None = None
    exclude_known_issues: bool = False
    sample_size: int | None = Field(default=None, ge=1)
    sampling: Literal["first", "random", "stratified"] = "first"
    seed: int = 0
    samples_per_problem: int = Field(default=1, ge=1)

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1)
    reasoning_effort: str | None = None
    top_p: asking.Probability = None
    top_k: asking.TopK = None
    min_p: asking.Probability = None
    model_seed: asking.ModelSeed = None
    stop: asking.Stop = ()
    frequency_penalty: asking.Penalty = None
    presence_penalty: asking.Penalty = None
    service_tier: asking.Word = None
    extra_body: asking.ExtraBody = None
    sampling_preset: asking.Preset | None = None
    api: Api | None = None
    api_key_env: asking.Variable = None
    header: asking.Headers = Field(default=(), repr=False)
    price: Price | None = None
    prices: str | None = None

    batch: bool = False

    mode: str = "single_shot"
    tool_protocol: ToolProtocol = "auto"
    max_turns: int = Field(default=10, ge=1)
    max_tool_calls: int | None = Field(default=None, ge=1)
    max_tokens_per_sample: int | None = Field(default=None, ge=1)
    stop_on_pass: bool = True
    submit_tool: bool = False
    run_code_tool: bool = False
    show_budget: bool = False
    tool: tuple[str, ...] = ()
    agent_command: str | None = None
    agent_read: tuple[str, ...] = ()
    agent_env: tuple[str, ...] = ()
    agent_memory: int | None = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    agent_without_namespace: bool = False
    repair_rounds: int | None = Field(default=None, ge=1, le=MOST_ROUNDS)
    repair_from: str | None = None
    best_of: int | None = Field(default=None, ge=1, le=MOST_ROUNDS)
    prompt: str = "default"
    extract: str = "harness"
    sample_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    sample_wall_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)

    run_tests: bool = True
    rule: RuleName | None = None
    test_timeout: Annotated[float | str | None, BeforeValidator(_test_timeout)] = None
    memory: int | None = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    isolate_tests: bool = False
    wall_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    all_tests: bool | None = None
    efficiency: bool = False
    timing: Timing = "paired"
    require_isolation: Level = Level.LANDLOCK
    unsafe_no_sandbox: bool = False

    concurrency: int = Field(default=8, ge=1, le=MOST_IN_FLIGHT)
    workers: int | None = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    executor: ExecutorName = "local"
    ray_address: str | None = None
    shard: Annotated[str | None, BeforeValidator(_shard)] = None
    idle_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    request_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    retry_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    outage_timeout: float | None = Field(default=None, gt=0, le=LONGEST_SECONDS)
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens_total: int | None = Field(default=None, ge=1)
    max_cost_per_sample: float | None = Field(default=None, gt=0, allow_inf_nan=False)

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


LISTS = (
    *("task", "filter_difficulty", "filter_tags", "filter_platform", "tool"),
    *("agent_read", "agent_env", "stop"),
)
"""The keys whose value is a list; one word stands for a list of one."""

WAYS = {
    "max_tool_calls": ("agentic", *EXTERNAL),
    "max_tokens_per_sample": ("agentic", "self_repair", "best_of_k_public"),
    "stop_on_pass": ("agentic",),
    "submit_tool": ("agentic", *EXTERNAL),
    "run_code_tool": ("agentic", *EXTERNAL),
    "show_budget": ("agentic",),
    "tool": ("agentic", *EXTERNAL),
    "agent_command": ("external",),
    "agent_read": ("external",),
    "agent_env": ("external",),
    "agent_memory": ("external",),
    "agent_without_namespace": ("external",),
    "repair_rounds": ("self_repair",),
    "repair_from": ("self_repair",),
    "best_of": ("best_of_k_public",),
}
"""What only some strategies heed, by the key of the spec."""

# What may differ when a run is resumed: how fast it goes, how long it waits, what it may spend in
# all, a price where it had none, where the model is reached, and where the problems lie, whose
# hashes tell whether they are the same.
RESUMABLE = frozenset(
    {
        *("concurrency", "workers", "max_cost", "max_tokens_total", "price", "prices"),
        *("base_url", "api_key_env", "header", "benchmark", "executor", "ray_address"),
        *("idle_timeout", "request_timeout", "retry_timeout", "outage_timeout"),
    }
)

# What may differ as long as the run keeps all its samples: it grows.
GROWING = frozenset(
    {
        *("task", "filter_difficulty", "filter_tags", "filter_platform"),
        *("min_release_date", "max_release_date", "exclude_known_issues"),
        *("sample_size", "sampling", "seed", "samples_per_problem", "skip_bad_rows"),
    }
)


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
    for key in (*LISTS, "header"):
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
    _check_ways(spec)
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


def refuse_unknown(values: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse a key that there is not. Raises UsageError, which names the nearest that there is."""
    unknown = next((key for key in values if key not in known), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown[:200], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see `harness run --help`"
        raise UsageError(f"{where}: unknown key {unknown[:200]!r}; {hint}")


def known_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """A stored spec, as `read_spec` takes it.

    Raises:
        RunDirectoryError: it has a key that this version does not know.
    """
    unknown = sorted(set(values) - set(RunSpec.model_fields))
    if unknown:
        raise RunDirectoryError(
            f"the run has a setting {unknown[0]!r} that this version does not know; "
            "go on with the version that began it"
        )
    return dict(values)


def _check_ways(spec: RunSpec) -> None:
    """Refuse what has no effect on the mode that is asked for. Raises UsageError."""
    own = spec.mode not in BUILT_IN  # may heed any of them
    for key, modes in WAYS.items():
        given = getattr(spec, key) != RunSpec.model_fields[key].get_default()
        if given and not own and spec.mode not in modes:
            word = key.replace("_", "-")
            flag = "--no-stop-on-pass" if key == "stop_on_pass" else f"--{word}"
            raise UsageError(f"{flag} goes with --mode {' or '.join(modes)}, not {spec.mode}")
