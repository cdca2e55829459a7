"""Flags and arguments that several commands share."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.cli.help_page import ADVANCED
from harness.cli.settings_flags import option
from harness.errors import UsageError
from harness.run.reporter import showing
from harness.run.settings.given import Given

_PROGRESS_FLAGS: Mapping[str, Any] = {
    "quiet": Annotated[
        bool,
        typer.Option(
            "-q",
            "--quiet",
            help="Print only the answer and errors.",
            rich_help_panel="What is shown",
        ),
    ],
    "no_progress": Annotated[
        bool,
        typer.Option(
            "--no-progress",
            help="Show no progress; notices are shown.",
            rich_help_panel="What is shown",
        ),
        ADVANCED,
    ],
}
"""Flags of commands that show progress: name of the parameter to its annotation."""


def with_source(settings: Mapping[str, Any], source: str | None) -> Given:
    """Return the settings with `--source` merged into the benchmark.

    Args:
        settings: the given settings.
        source: fixture, huggingface[:WORD][@REVISION], or a path, as in other harnesses.

    Raises:
        UsageError: the path does not exist.
    """
    given = Given.of(settings)
    if source is None:
        return given
    name = (settings.get("benchmark") or "livecodebench").partition(":")[0]
    hub, _, revision = source.partition("@")
    if hub.partition(":")[0] == "huggingface":
        where = hub.partition(":")[2] + (f"@{revision}" if revision else "")
        benchmark = f"{name}:{where}" if where else name
    elif source == "fixture":
        benchmark = "fixture"
    elif Path(source).exists() or any(letter in source for letter in "*?["):
        benchmark = f"{name}:{source}"
    else:
        raise UsageError(f"--source {source}: there is no such file")
    return given.with_flags(benchmark=benchmark)


Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="WHERE",
        help="Where the problems are: fixture, huggingface[:WORD][@REVISION], or a path. "
        "LiveCodeBench's, unless -b names others.",
        rich_help_panel="Problems",
    ),
    ADVANCED,
]
Named = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME[:WHERE]]",
        help="A benchmark; or name it with -b.",
        autocompletion=completion.benchmarks,
        show_default=False,
    ),
]
Benchmark = Annotated[str | None, option("benchmark")]


def named_benchmark(spec: str | None, benchmark: str | None) -> str:
    """Return the benchmark given as an argument or with -b. Raises UsageError."""
    if (spec is None) == (benchmark is None):
        raise UsageError("name one benchmark, as NAME[:WHERE]")
    return spec or benchmark or ""


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
]
Details = Annotated[
    bool,
    typer.Option(
        "--details", help="All figures: settings, turns, tokens, groups, re-checks.",
        rich_help_panel="What is shown",
    ),
]  # fmt: skip
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="KIND",
        help="Rates by difficulty, platform, tag or month; repeat, or separate by commas.",
        rich_help_panel="What is shown",
    ),
]

Observer = Annotated[
    list[str] | None,
    typer.Option(
        "--observer",
        metavar="NAME",
        help="Tell a plug-in, or a function of your own as module:attribute, of the run and its "
        "samples; repeat.",
        autocompletion=completion.observers,
        rich_help_panel="Run",
    ),
    ADVANCED,
]
Notify = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="URL",
        envvar="HARNESS_NOTIFY",
        help="Tell a webhook (Slack, Discord, or any that takes JSON) when the run begins, ends or "
        "fails; repeat. The address is not shown or stored.",
        rich_help_panel="Run",
    ),
    ADVANCED,
]

_problems = partial(
    typer.Option,
    "-b",
    "--benchmark",
    "--problems",
    autocompletion=completion.benchmarks,
    metavar="NAME[:WHERE]",
)
Problems = Annotated[
    str, _problems(help="The problems that the solutions are of, as for `harness run`.")
]
"""Option that names the problems of given solutions."""
GradedProblems = Annotated[
    str | None,
    _problems(
        help="The problems that the solutions are of, as for `harness run`. Not needed with RUN."
    ),
]
"""Option that names the problems of given solutions, or of a run where they have moved."""
ServedProblems = Annotated[
    list[str] | None,
    _problems(
        help="Problems that requests may name, as for `harness run`; may be given several times. "
        "Without it, each request brings its tests."
    ),
]
"""Option that names the problems of a server."""


def with_progress_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that shows progress the flags `--quiet` and `--no-progress`."""
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=flag)
        for name, flag in _PROGRESS_FLAGS.items()
    ]
    own = inspect.signature(command, eval_str=True).parameters.values()
    mine = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]

    @wraps(command)
    def called(*, quiet: bool = False, no_progress: bool = False, **values: Any) -> Any:
        with showing(notices=not quiet, progress=not (quiet or no_progress)):
            return command(**values)

    called.__signature__ = inspect.Signature([*mine, *flags])  # pyright: ignore[reportAttributeAccessIssue] - typer reads it
    called.__annotations__ = {}
    return called


def among(settings: Mapping[str, Any], keys: Iterable[str]) -> Given:
    """Return the settings of the given keys."""
    return Given.of(settings).without(settings.keys() - set(keys))
