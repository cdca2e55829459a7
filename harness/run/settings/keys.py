"""Arguments of the Python functions: keys of a run's spec, paths, messages."""

import inspect
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from operator import index
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypedDict, TypeVar, cast

from harness.efficiency import Timing
from harness.errors import HarnessError, UsageError
from harness.models.prices import Price
from harness.models.providers import Api, ToolProtocol
from harness.run.settings.model_settings import Preset
from harness.run.settings.setting import refuse_unknown
from harness.run.settings.spec import RunSpec, spec_of
from harness.sandbox.executor import ExecutorName
from harness.sandbox.isolation import Level

Words = str | Sequence[str]
F = TypeVar("F", bound=Callable[..., Any])
_FLAG = re.compile(r"`[^`]*`|\bharness [a-z]+ .*|(?<![^\s('\"])(?:--|-(?=[bo]\b))([a-z][a-z-]*)")
"""A flag; or a whole command, whose flags stay."""


class SelectionKeys(TypedDict, total=False):
    """Keys that select the problems of a benchmark."""

    skip_bad_rows: bool
    task: Words
    filter_difficulty: Words
    filter_tags: Words
    filter_platform: Words
    min_release_date: date | str | None
    max_release_date: date | str | None
    exclude_known_issues: bool
    sample_size: int | None
    sampling: Literal["first", "random", "stratified"]
    seed: int


class JudgingKeys(TypedDict, total=False):
    """Keys of how and where solutions are graded."""

    rule: str | None
    test_timeout: float | str | None
    memory: int | None
    isolate_tests: bool
    wall_timeout: float | None
    all_tests: bool | None
    require_isolation: Level | str
    unsafe_no_sandbox: bool
    workers: int | None
    executor: ExecutorName
    ray_address: str | None


class GradeKeys(SelectionKeys, JudgingKeys, total=False):
    """Keys of `grade`: selection of problems, and grading."""

    timing: Timing


class CellKeys(SelectionKeys, JudgingKeys, total=False):
    """Keys of a run that all variants of an experiment share."""

    base_url: str | None
    temperature: float | None
    max_tokens: int | None
    reasoning_effort: str | None
    top_p: float | None
    top_k: int | None
    min_p: float | None
    model_seed: int | None
    stop: Words
    frequency_penalty: float | None
    presence_penalty: float | None
    service_tier: str | None
    extra_body: Mapping[str, Any] | str | None
    sampling_preset: Preset | None
    api: Api | None
    api_key_env: str | None
    header: Words | Mapping[str, str]
    price: Price | Mapping[str, float] | None
    prices: str | None
    batch: bool
    tool_protocol: ToolProtocol
    max_turns: int
    max_tool_calls: int | None
    max_tokens_per_sample: int | None
    stop_on_pass: bool
    submit_tool: bool
    run_code_tool: bool
    show_budget: bool
    tool: Words
    agent_command: str | None
    agent_read: Words
    agent_env: Words
    agent_memory: int | None
    agent_without_namespace: bool
    repair_rounds: int | None
    repair_from: str | None
    best_of: int | None
    test_answers: int | None
    plans: int | None
    extract: str
    sample_timeout: float | None
    sample_wall_timeout: float | None
    run_tests: bool
    timing: Timing
    concurrency: int
    shard: str | None
    idle_timeout: float | None
    request_timeout: float | None
    retry_timeout: float | None
    outage_timeout: float | None
    max_cost: float | None
    max_tokens_total: int | None
    max_cost_per_sample: float | None


class RunKeys(CellKeys, total=False):
    """All keys of `harness.RunSpec` except the named parameters of `evaluate`."""

    samples_per_problem: int
    mode: str
    prompt: str


def spec_from(
    caller: str, given: Mapping[str, Any], takes: type, own: Iterable[str], **more: Any
) -> RunSpec:
    """Return the spec of a function's arguments.

    Args:
        caller: name of the function, for messages.
        given: its keyword arguments that are keys.
        takes: a `TypedDict` of the keys it accepts.
        own: names of its other arguments, which a wrong key may be meant for.
        more: further keys, derived from its other arguments.

    Raises:
        UsageError: a key is unknown, or a value out of range; the message names the key, and the
            most similar valid one.
    """
    refuse_unknown(given, {*takes.__annotations__, *own}, caller)
    if more.get("sample_size") is not None and given.get("sample_size") is not None:
        raise UsageError(f"{caller}: limit and sample_size mean the same; give one")
    if more.get("sample_size") is not None:
        more["sample_size"] = _limit(caller, more["sample_size"])
    said = {key: value for key, value in more.items() if value is not None}
    return spec_of({**given, **said}, caller)


def _limit(caller: str, value: object) -> int:
    """Check `limit`, which means the same as `sample_size`. Raises UsageError."""
    try:
        number = 0 if isinstance(value, bool) else index(cast("SupportsIndex", value))
    except TypeError:
        number = 0
    if number < 1:
        given = repr(value)[:100] if isinstance(value, str | int | float) else type(value).__name__
        raise UsageError(f"{caller}: limit: give a whole number of at least 1 (given: {given})")
    return number


def listing(keys: type[Any]) -> Callable[[F], F]:
    """Return a decorator that lists a `TypedDict`'s keys in a function's signature.

    A key that is not given has the default `...`: the run's own default, or that of the spec.

    Args:
        keys: type of the function's `**` parameter; all its keys are optional.
    """

    def listed(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {parameter.name for parameter in own}
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=kind)
            for name, kind in sorted(keys.__annotations__.items())
            if name not in taken
        ]
        setattr(function, "__signature__", signature.replace(parameters=[*own, *more]))  # noqa: B010
        return function

    return listed


@contextmanager
def python_words(caller: str, **names: str) -> Generator[None]:
    """Reword errors of the command line for Python: `out` for `--out`.

    Args:
        caller: name of the function, for messages.
        names: arguments whose names differ from their flags, by flag.

    Raises:
        HarnessError: as raised inside, in other words.
    """

    def named(found: re.Match[str]) -> str:
        flag = found[1]
        return names.get(flag, flag.replace("-", "_")) if flag else found[0]

    try:
        yield
    except HarnessError as error:
        words = _FLAG.sub(named, str(error))
        if words != str(error):
            error.args = (words if words.startswith(caller) else f"{caller}: {words}",)
        raise


def path_of(caller: str, name: str, given: object) -> Path:
    """Return an argument that is a path. Raises UsageError."""
    if not isinstance(given, str | Path):
        raise UsageError(f"{caller}: {name} is of type {type(given).__name__}; give a path")
    if "\0" in str(given):
        raise UsageError(f"{caller}: {name} {str(given)!r:.60}: a path has no NUL")
    return Path(given)
