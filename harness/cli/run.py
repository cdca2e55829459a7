"""`harness run`: problems, a model, a mode; a run directory and a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import selecting


def _option(*names: str, help: str, panel: str, metavar: str | None = None) -> Any:  # noqa: A002
    return typer.Option(*names, help=help, rich_help_panel=panel, metavar=metavar)


def run(  # noqa: PLR0917 - the flags of a command
    benchmark: selecting.Benchmark = None,
    source: selecting.Source = None,
    task: selecting.Task = None,
    filter_difficulty: selecting.FilterDifficulty = None,
    filter_tags: selecting.FilterTags = None,
    filter_platform: selecting.FilterPlatform = None,
    min_release_date: selecting.MinReleaseDate = None,
    max_release_date: selecting.MaxReleaseDate = None,
    exclude_known_issues: selecting.ExcludeKnownIssues = None,
    sample_size: selecting.SampleSize = None,
    sampling: selecting.Sampling = None,
    seed: selecting.Seed = None,
    skip_bad_rows: selecting.SkipBadRows = None,
    samples_per_problem: Annotated[
        int | None,
        _option("-k", "--samples-per-problem", help="Attempts at each problem.", panel="Problems"),
    ] = None,
    model: Annotated[
        str | None,
        _option(
            "-m",
            "--model",
            help="A model's name, replay:RUN, or python:MODULE:FUNCTION. Default: MODEL_ID, or the "
            "bundled recordings where no problems are named either.",
            panel="Model",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        _option("--base-url", help="Of any OpenAI-compatible endpoint.", panel="Model"),
    ] = None,
    temperature: Annotated[
        float | None, _option("--temperature", help="Sampling temperature.", panel="Model")
    ] = None,
    max_tokens: Annotated[
        int | None, _option("--max-tokens", help="Most tokens of one reply.", panel="Model")
    ] = None,
    reasoning_effort: Annotated[
        str | None,
        _option("--reasoning-effort", help="As the provider words it.", panel="Model"),
    ] = None,
    price: Annotated[
        str | None,
        _option(
            "--price",
            help="US dollars per million input and output tokens; cached input may follow.",
            panel="Model",
            metavar="IN,OUT[,CACHED]",
        ),
    ] = None,
    prices: Annotated[
        str | None,
        _option(
            "--prices",
            help="A list of prices by model, as JSON, over the one that comes with harness; "
            "`bundled` says that those hold for another address, too.",
            panel="Model",
            metavar="FILE",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        _option(
            "--max-cost",
            help="US dollars that the run may spend in all.",
            panel="Budget",
            metavar="USD",
        ),
    ] = None,
    max_tokens_total: Annotated[
        int | None,
        _option(
            "--max-tokens-total",
            help="Input and output tokens that the run may use in all.",
            panel="Budget",
            metavar="N",
        ),
    ] = None,
    max_cost_per_sample: Annotated[
        float | None,
        _option(
            "--max-cost-per-sample",
            help="US dollars that one sample may spend.",
            panel="Budget",
            metavar="USD",
        ),
    ] = None,
    batch: Annotated[
        bool | None,
        _option(
            "--batch",
            help="Single shot through OpenAI's or Anthropic's batches: half the price, an answer "
            "within a day; interrupt and --resume at will.",
            panel="Model",
        ),
    ] = None,
    agentic_mode: Annotated[
        bool,
        _option(
            "--agentic-mode",
            help="Let the model iterate; the same as --mode agentic.",
            panel="Mode",
        ),
    ] = False,
    mode: Annotated[
        str | None, _option("--mode", help="single_shot (default) or agentic.", panel="Mode")
    ] = None,
    tool_protocol: Annotated[
        str | None,
        _option(
            "--tool-protocol",
            help="How the model calls its tools: as the provider has it, described in text, or "
            "natively until that is refused (auto).",
            panel="Mode",
            metavar="auto|native|text",
        ),
    ] = None,
    max_turns: Annotated[
        int | None,
        _option(
            "--max-turns",
            "--agentic-turn-budget",
            help="Most model calls of a sample (10).",
            panel="Mode",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        _option(
            "--prompt",
            help="A bundled prompt set, or a folder with one.",
            panel="Mode",
            metavar="SET",
        ),
    ] = None,
    extract: Annotated[
        str | None,
        _option(
            "--extract",
            help="How code is found in an answer: our rules, or upstream's.",
            panel="Mode",
            metavar="harness|lcb",
        ),
    ] = None,
    sample_timeout: Annotated[
        float | None,
        _option("--sample-timeout", help="Working seconds of a sample.", panel="Mode", metavar="S"),
    ] = None,
    run_tests: Annotated[
        bool | None,
        _option("--run-tests/--no-run-tests", help="Grade, or generate only.", panel="Grading"),
    ] = None,
    test_timeout: Annotated[
        str | None,
        _option(
            "--test-timeout",
            help="CPU seconds of one test, or so many times what a problem's own reference needs, "
            "once `harness verify` has run.",
            panel="Grading",
            metavar="S|reference*F",
        ),
    ] = None,
    memory: Annotated[
        int | None,
        _option("--memory", help="Memory of one test in MiB.", panel="Grading", metavar="MIB"),
    ] = None,
    isolate_tests: Annotated[
        bool | None,
        _option("--isolate-tests", help="A process for every test.", panel="Grading"),
    ] = None,
    wall_timeout: Annotated[
        float | None,
        _option(
            "--wall-timeout",
            help="Wall seconds of one test, for sleepers. Default: from the CPU seconds.",
            panel="Grading",
            metavar="S",
        ),
    ] = None,
    all_tests: Annotated[
        bool | None,
        _option(
            "--all-tests/--fail-fast",
            help="Run every test, or none after a failure. Default: none after a limit was hit, or "
            "after a failure where there are more than 100.",
            panel="Grading",
        ),
    ] = None,
    require_isolation: Annotated[
        str | None,
        _option(
            "--require-isolation",
            help="Refuse a sandbox weaker than this: namespaces, landlock (default), seccomp.",
            panel="Grading",
            metavar="LEVEL",
        ),
    ] = None,
    unsafe_no_sandbox: Annotated[
        bool | None,
        _option(
            "--unsafe-no-sandbox",
            help="Run where no sandbox can be had; marks all results.",
            panel="Grading",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        _option("--concurrency", help="Most model requests in flight (8).", panel="Run"),
    ] = None,
    workers: Annotated[
        int | None, _option("--workers", help="Grading processes (default: cores).", panel="Run")
    ] = None,
    out: Annotated[
        Path | None,
        _option("--out", help="The run directory. Default: a new one in runs/.", panel="Run"),
    ] = None,
    resume: Annotated[
        Path | None, _option("--resume", help="Go on with a run.", panel="Run", metavar="RUN")
    ] = None,
    config: Annotated[
        Path | None,
        _option(
            "-c", "--config", help="A YAML file; flags win over it.", panel="Run", metavar="FILE"
        ),
    ] = None,
    as_json: Annotated[
        bool, _option("--json", help="Print the summary as JSON.", panel="Run")
    ] = False,
    dry_run: Annotated[
        bool,
        _option(
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
    for name in ("agentic_mode", "out", "resume", "config", "as_json", "dry_run", "price"):
        values.pop(name)
    flags = selecting.given(**values)
    if agentic_mode:
        _agentic(flags)
    if price is not None:
        flags["price"] = _price(price)
    from harness.cli.running import Running

    running = Running(as_json=as_json)
    if resume is not None:
        code = running.resume(resume, flags, out=out, config=config, dry_run=dry_run)
    else:
        code = running.start(flags, out=out, config=config, dry_run=dry_run)
    raise typer.Exit(code)


def _agentic(flags: dict[str, Any]) -> None:
    from harness.errors import UsageError

    if flags.setdefault("mode", "agentic") != "agentic":
        raise UsageError(
            f"--agentic-mode and --mode {flags['mode']} contradict each other; give one"
        )


def _price(text: str) -> dict[str, float | None]:
    from harness.errors import UsageError

    try:
        price, output, *cached = (float(part) for part in text.split(","))
        (cached_input,) = cached or (None,)
    except ValueError as error:
        raise UsageError(f"--price {text!r}: give dollars per million tokens, as 2.5,10") from error
    return {"input": price, "output": output, "cached_input": cached_input}
