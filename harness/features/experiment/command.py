"""`harness experiment`: models and modes over the same problems, compared and ranked."""

from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion, model_flags, observer_flags, problem_flags
from harness.cli.options import option

app = typer.Typer()

ARMS, STOP, RUN = "Cells", "When it may stop", "Run"
OWN = (
    *("context", "config", "out", "resume", "as_json", "observer", "notify", "dry_run"),
    *("model", "mode", "prompt", "shots", "vary", "stop_when_decided", "level", "precision"),
)
"""Parameters that are no keys of a run's spec."""


@app.callback(invoke_without_command=True)
def experiment(  # noqa: PLR0917 - the flags of a command
    context: typer.Context,
    model: Annotated[
        list[str] | None,
        option(
            "-m",
            "--model",
            help="A model, as `harness run -m` has it; repeat for several. Default: MODEL_ID, or "
            "the bundled recordings.",
            panel=ARMS,
            complete=completion.models,
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        option(
            "--mode",
            help="A mode, as `harness run --mode` has it; repeat for several. Default: "
            "single_shot and agentic.",
            panel=ARMS,
            metavar="STRATEGY",
            complete=completion.strategies,
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        option(
            "--prompt",
            help="A bundled prompt set, or a folder with one; repeat for several.",
            panel=ARMS,
            metavar="SET",
            complete=completion.prompts,
        ),
    ] = None,
    shots: Annotated[
        str | None,
        option(
            "--shots",
            help="Samples of a problem in single shot: a number, or auto for as many as the "
            "agent's spend buys. Default: auto where there is another mode.",
            panel=ARMS,
            metavar="auto|K",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        option(
            "--vary",
            help="Cells for each of these values of a setting of `harness run`, such as "
            "reasoning_effort=low,high; with one value, that setting for all cells. Repeat.",
            panel=ARMS,
            metavar="KEY=A,B",
        ),
    ] = None,
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
    base_url: model_flags.BaseUrl = None,
    api: model_flags.Api = None,
    api_key_env: model_flags.ApiKeyEnv = None,
    header: model_flags.Header = None,
    price: model_flags.Price = None,
    prices: model_flags.Prices = None,
    max_cost: Annotated[
        float | None,
        option(
            "--max-cost",
            help="US dollars that all cells together may spend.",
            panel="Budget",
            metavar="USD",
        ),
    ] = None,
    max_tokens_total: Annotated[
        int | None,
        option(
            "--max-tokens-total",
            help="Input and output tokens that they may use.",
            panel="Budget",
            metavar="N",
        ),
    ] = None,
    stop_when_decided: Annotated[
        bool,
        option(
            "--stop-when-decided",
            help="Ask problems in a random order, both cells of each, and stop once they differ. "
            "For two cells.",
            panel=STOP,
        ),
    ] = False,
    level: Annotated[
        float | None,
        option(
            "--level",
            help="Chance to see a difference where there is none (0.05).",
            panel=STOP,
            metavar="P",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        option(
            "--precision",
            help="Stop once the interval of the difference is narrower than this.",
            panel=STOP,
            metavar="POINTS",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        option("--concurrency", help="Most model requests in flight (8).", panel=RUN),
    ] = None,
    workers: Annotated[
        int | None, option("--workers", help="Grading processes (default: cores).", panel=RUN)
    ] = None,
    config: Annotated[
        Path | None,
        option(
            "-c",
            "--config",
            help="A larger grid, as YAML: keys of a run, and models, modes, prompts, samples, "
            "vary, cells, baseline.",
            panel=RUN,
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            help="The experiment's directory; one that is there goes on. Default: a new one in "
            "runs/, or with the file's name.",
            panel=RUN,
            metavar="DIR",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        option("--resume", help="Go on with an experiment.", panel=RUN, metavar="DIR"),
    ] = None,
    as_json: Annotated[bool, option("--json", help="Print one JSON object.", panel=RUN)] = False,
    observer: observer_flags.Observer = None,
    notify: observer_flags.Notify = None,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run", help="Show the cells and what they may cost, and do nothing.", panel=RUN
        ),
    ] = False,
) -> None:
    """Compare ways to solve the same problems: an agent with single shots, model with model.

    Without flags the bundled recordings are played: no key, no network.
    """
    if context.invoked_subcommand is not None:
        return
    values = dict(locals())
    for name in OWN:
        values.pop(name)
    keys = problem_flags.given(**values)
    cells: dict[str, Any] = {
        name: value
        for name, value in (
            *(("models", model), ("modes", mode), ("prompts", prompt)),
            *(("shots", shots), ("vary", vary)),
        )
        if value
    }
    if "price" in keys:
        keys["price"] = model_flags.read_price(keys["price"])
    from harness.features.experiment.experiment_run import Experimenting
    from harness.features.experiment.invocation import goal_of, invocation
    from harness.features.observers.attach import watchers_of

    goal = goal_of(decided=stop_when_decided, level=level, precision=precision)
    asked = invocation(keys, cells, goal, config=config, out=out, resume=resume)
    experimenting = Experimenting(as_json=as_json, watchers=watchers_of(observer, notify))
    raise typer.Exit(experimenting.start(asked, dry_run=dry_run))


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="An experiment's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the ranked table of an experiment again."""
    from harness.features.experiment.experiment_run import print_ranking
    from harness.features.experiment.ranking import rank
    from harness.terminal.summary_table import console

    print_ranking(console(), rank(directory), as_json=as_json)
