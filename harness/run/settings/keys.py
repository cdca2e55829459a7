"""Keys of a spec as types, for the arguments of the Python functions."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, TypedDict

from harness.agent.strategies.options import Context
from harness.languages import LanguageName
from harness.models.prices.price import Price
from harness.models.providers import Api, ToolProtocol
from harness.run.settings.execution_settings import Timing
from harness.run.settings.impossible_settings import ImpossibleKind
from harness.run.settings.model_settings import Preset
from harness.sandbox.executor import ExecutorName
from harness.sandbox.isolation import Level

Words = str | Sequence[str]


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
    time_factor: float
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

    cpp_flags: str | None
    timing: Timing


class VariantKeys(SelectionKeys, JudgingKeys, total=False):
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
    language: LanguageName
    cpp_flags: str | None
    tool_protocol: ToolProtocol
    max_turns: int
    max_tool_calls: int | None
    max_tokens_per_sample: int | None
    stop_on_pass: bool
    context: Context
    repeats: int
    check_turns: int
    report_tests: int
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
    best_of: int | None
    test_answers: int | None
    plans: int | None
    extract: str
    impossible: float | None
    impossible_kind: ImpossibleKind
    impossible_exit: bool
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


class RunKeys(VariantKeys, total=False):
    """All keys of `harness.RunSpec` except the named parameters of `evaluate`."""

    samples_per_problem: int
    mode: str
    prompt: str
