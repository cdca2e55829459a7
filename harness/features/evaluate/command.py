"""`harness run`: problems, a model, a mode; a run directory and a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import (
    completion,
    mode_flags,
    model_flags,
    observer_flags,
    problem_flags,
)
from harness.cli.options import option

NO_KEYS = (
    *("agentic_mode", "out", "resume", "only", "config", "as_json", "dry_run", "price"),
    *("fail_under", "observer", "notify"),
)
"""Parameters that are no keys of the spec by these names."""


def run(  # noqa: PLR0917 - the flags of a command
    benchmark: problem_flags.Benchmark = None,
    source: problem_flags.Source = None,
    task: problem_flags.Task = None,
    filter_difficulty: problem_flags.FilterDifficulty = None,
    filter_tags: problem_flags.FilterTags = None,
    filter_platform: problem_flags.FilterPlatform = None,
    min_release_date: problem_flags.MinReleaseDate = None,
    max_release_date: problem_flags.MaxReleaseDate = None,
    exclude_known_issues: problem_flags.ExcludeKnownIssues = None,
    sample_size: problem_flags.SampleSize = None,
    sampling: problem_flags.Sampling = None,
    seed: problem_flags.Seed = None,
    skip_bad_rows: problem_flags.SkipBadRows = None,
    samples_per_problem: Annotated[
        int | None,
        option("-k", "--samples-per-problem", help="Attempts at each problem.", panel="Problems"),
    ] = None,
    model: model_flags.Model = None,
    base_url: model_flags.BaseUrl = None,
    temperature: model_flags.Temperature = None,
    max_tokens: model_flags.MaxTokens = None,
    reasoning_effort: model_flags.ReasoningEffort = None,
    top_p: model_flags.TopP = None,
    top_k: model_flags.TopK = None,
    min_p: model_flags.MinP = None,
    model_seed: model_flags.ModelSeed = None,
    stop: model_flags.Stop = None,
    frequency_penalty: model_flags.FrequencyPenalty = None,
    presence_penalty: model_flags.PresencePenalty = None,
    service_tier: model_flags.ServiceTier = None,
    extra_body: model_flags.ExtraBody = None,
    sampling_preset: model_flags.SamplingPreset = None,
    api: model_flags.Api = None,
    api_key_env: model_flags.ApiKeyEnv = None,
    header: model_flags.Header = None,
    price: model_flags.Price = None,
    prices: model_flags.Prices = None,
    max_cost: model_flags.MaxCost = None,
    max_tokens_total: model_flags.MaxTokensTotal = None,
    max_cost_per_sample: model_flags.MaxCostPerSample = None,
    batch: model_flags.Batch = None,
    idle_timeout: model_flags.IdleTimeout = None,
    request_timeout: model_flags.RequestTimeout = None,
    retry_timeout: model_flags.RetryTimeout = None,
    outage_timeout: model_flags.OutageTimeout = None,
    agentic_mode: mode_flags.AgenticMode = False,
    mode: mode_flags.Mode = None,
    tool_protocol: mode_flags.ToolProtocol = None,
    max_turns: mode_flags.MaxTurns = None,
    max_tool_calls: mode_flags.MaxToolCalls = None,
    max_tokens_per_sample: mode_flags.MaxTokensPerSample = None,
    stop_on_pass: mode_flags.StopOnPass = None,
    submit_tool: mode_flags.SubmitTool = None,
    run_code_tool: mode_flags.RunCodeTool = None,
    show_budget: mode_flags.ShowBudget = None,
    tool: mode_flags.Tool = None,
    agent_command: mode_flags.AgentCommand = None,
    agent_read: mode_flags.AgentRead = None,
    agent_env: mode_flags.AgentEnv = None,
    agent_memory: mode_flags.AgentMemory = None,
    agent_without_namespace: mode_flags.AgentWithoutNamespace = None,
    repair_rounds: mode_flags.RepairRounds = None,
    repair_from: mode_flags.RepairFrom = None,
    best_of: mode_flags.BestOf = None,
    prompt: mode_flags.Prompt = None,
    extract: mode_flags.Extract = None,
    sample_timeout: mode_flags.SampleTimeout = None,
    sample_wall_timeout: mode_flags.SampleWallTimeout = None,
    run_tests: Annotated[
        bool | None,
        option("--run-tests/--no-run-tests", help="Grade, or generate only.", panel="Grading"),
    ] = None,
    rule: Annotated[
        str | None,
        option(
            "--rule",
            help="How outputs are compared, in place of each problem's own way.",
            panel="Grading",
            metavar="lcb|equality|tokens|apps_legacy|NAME",
            complete=completion.rules,
        ),
    ] = None,
    test_timeout: Annotated[
        str | None,
        option(
            "--test-timeout",
            help="CPU seconds of one test, or so many times what a problem's own reference needs, "
            "once `harness verify` has run.",
            panel="Grading",
            metavar="S|reference*F",
        ),
    ] = None,
    memory: Annotated[
        int | None,
        option("--memory", help="Memory of one test in MiB.", panel="Grading", metavar="MIB"),
    ] = None,
    isolate_tests: Annotated[
        bool | None,
        option("--isolate-tests", help="A process for every test.", panel="Grading"),
    ] = None,
    wall_timeout: Annotated[
        float | None,
        option(
            "--wall-timeout",
            help="Wall seconds of one test, for sleepers. Default: from the CPU seconds.",
            panel="Grading",
            metavar="S",
        ),
    ] = None,
    all_tests: Annotated[
        bool | None,
        option(
            "--all-tests/--fail-fast",
            help="Run every test, or none after a failure. Default: none after a limit was hit, or "
            "after a failure where there are more than 100.",
            panel="Grading",
        ),
    ] = None,
    efficiency: Annotated[
        bool | None,
        option(
            "--efficiency",
            help="Also time solutions that pass, beside the problems' references. Without a "
            "model, the references are the solutions.",
            panel="Grading",
        ),
    ] = None,
    timing: Annotated[
        str | None,
        option(
            "--timing",
            help="How: in turns with references (paired, default), or by Mercury's protocol of "
            "128 iterations.",
            panel="Grading",
            metavar="paired|mercury",
        ),
    ] = None,
    require_isolation: Annotated[
        str | None,
        option(
            "--require-isolation",
            help="Refuse a sandbox weaker than this: namespaces, landlock (default), seccomp.",
            panel="Grading",
            metavar="LEVEL",
        ),
    ] = None,
    unsafe_no_sandbox: Annotated[
        bool | None,
        option(
            "--unsafe-no-sandbox",
            help="Run where no sandbox can be had; marks all results.",
            panel="Grading",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        option("--concurrency", help="Most model requests in flight (8).", panel="Run"),
    ] = None,
    workers: Annotated[
        int | None, option("--workers", help="Grading processes (default: cores).", panel="Run")
    ] = None,
    executor: mode_flags.Executor = None,
    ray_address: mode_flags.RayAddress = None,
    shard: mode_flags.Shard = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            help="The run directory; one that is there goes on. Default: a new one in runs/.",
            panel="Run",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        option(
            "--resume",
            help="Go on with a run.",
            panel="Run",
            metavar="RUN",
            complete=completion.runs,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        option(
            "--only",
            help="Of a run that goes on, just these of the samples left: errored (begun before), "
            "unsolved (of problems that none has solved), or ids; repeat, or separate by commas.",
            panel="Run",
            metavar="WHICH",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        option(
            "-c", "--config", help="A YAML file; flags win over it.", panel="Run", metavar="FILE"
        ),
    ] = None,
    as_json: Annotated[
        bool, option("--json", help="Print the summary as JSON.", panel="Run")
    ] = False,
    fail_under: Annotated[
        str | None,
        option(
            "--fail-under",
            help="Exit with 1 if pass@1 is lower: 0.6 or 60%.",
            panel="Run",
            metavar="RATE",
        ),
    ] = None,
    observer: observer_flags.Observer = None,
    notify: observer_flags.Notify = None,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            help="Say what would be done and what it may cost, and do nothing.",
            panel="Run",
        ),
    ] = False,
) -> None:
    """Solve problems with a model, and grade what it wrote on all tests.

    Without flags the bundled recordings are played: no key, no network.
    """
    values = dict(locals())
    for name in NO_KEYS:
        values.pop(name)
    flags = problem_flags.given(**values)
    if agentic_mode:
        _agentic(flags)
    if price is not None:
        flags["price"] = model_flags.read_price(price)
    from harness.features.evaluate.start_or_resume import Running
    from harness.features.observers.attach import watchers_of
    from harness.terminal.run_outcome import read_rate

    least, watchers = read_rate(fail_under), watchers_of(observer, notify)
    running = Running(as_json=as_json, fail_under=least, watchers=watchers)
    if resume is not None:
        code = running.resume(
            resume, flags, out=out, config=config, dry_run=dry_run, only=only or ()
        )
    else:
        code = running.start(flags, out=out, config=config, dry_run=dry_run, only=only or ())
    raise typer.Exit(code)


def _agentic(flags: dict[str, Any]) -> None:
    from harness.errors import UsageError

    if flags.setdefault("mode", "agentic") != "agentic":
        raise UsageError(
            f"--agentic-mode and --mode {flags['mode']} contradict each other; give one"
        )
