"""`harness import`: make a run of published solutions, or of agent runs."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.settings_flags import JUDGING, AsJson, among, with_settings
from harness.cli.shared_flags import Problems
from harness.errors import OK, NothingSelectedError, UsageError
from harness.features.grade.solution_readers import read_solutions
from harness.features.grade.solutions import match, unmatched_words
from harness.features.import_.published_run import write_imported
from harness.features.import_.trajectory_file import (
    FORMATS,
    SOLUTIONS,
    TrajectoryFile,
    format_of,
)
from harness.run.spec.spec import read_spec
from harness.terminal.progress import load_telling
from harness.terminal.run_outcome import print_summary
from harness.terminal.summary_table import console
from harness.text import count, printable_line

_UPSTREAM = re.compile(r"(_(?:Scenario\.)?[a-z]+_\d+_[\d.]+)?(_eval_all|_codeqwen)?$")


def import_file(
    problems: str, file: Path, out: Path, keys: Mapping[str, Any], *, as_json: bool
) -> int:
    """Write a run from a file of solutions and return the exit code.

    Args:
        problems: the benchmark and where its files are, as `NAME[:WHERE]`.
        file: the file of solutions and verdicts.
        out: path of the new run.
        keys: the known keys of the run's spec.
        as_json: print the summary as JSON.

    Raises:
        UsageError: a value is not accepted, a file cannot be opened, or `out` cannot be written.
        DataError: a row of either file is malformed.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    err = console(error=True)
    model = keys["model"] or model_of(file)
    spec = read_spec(None, {**keys, "model": model, "benchmark": problems})
    solutions = read_solutions(file)
    loaded = load_telling(problems, err, skip_bad_rows=spec.skip_bad_rows)
    matched, unmatched = match(solutions, loaded.problems, spec.extract)
    if not matched:
        raise NothingSelectedError(
            f"none of {count(len(solutions), 'solution')} in {file} is for one of "
            f"{count(len(loaded.problems), 'problem')} of {problems}: the first is for "
            f"{solutions[0].name!r:.60}"
        )
    if unmatched:
        which = unmatched_words(list(dict.fromkeys(unmatched)))
        err.print(f"{count(len(unmatched), 'solution')} left out, {which}", soft_wrap=True)
    summary = write_imported(out, file, loaded, matched, spec)
    silent = sum(each.published is None for each in matched)
    if silent:
        err.print(
            f"{count(silent, 'solution')} without a published verdict: ungraded; judge with: "
            f"harness regrade {printable_line(str(out))}",
            soft_wrap=True,
        )
    print_summary(console(), summary, out, as_json=as_json)
    return OK


def model_of(file: Path) -> str:
    """Return the model in a file name: MODEL_SCENARIO_SAMPLES_TEMPERATURE_….

    LiveCodeBench names its files so.
    """
    stem = file.name.removesuffix(".gz").partition(".json")[0]
    return _UPSTREAM.sub("", stem) or stem


@with_settings(*JUDGING, "skip_bad_rows")
def import_(
    settings: Mapping[str, Any],
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Agent runs, LiveCodeBench's _eval_all.json, or any file that `harness grade` "
            "takes; plain or gzipped. Of ATIF also a folder.",
        ),
    ],
    problems: Problems,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="The new run directory.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="|".join(FORMATS),
            help="The file's format. Default: by what is in it.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Who wrote the solutions. Default: as the file says, or its name."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="How they were sought, as for `harness run --mode`. Default: as the file says; "
            "else agentic for agent runs, single_shot for solutions.",
        ),
    ] = None,
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="How code is found in a model's words, where the file has no code.",
        ),
    ] = "harness",
    write_tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[.ARGUMENT]|<TAG>",
            help="Of agent runs: a tool that takes the solution, and the argument with the code; "
            "or a tag around it in the model's words, as '<solution>'. "
            "Default: write_solution, write_answer. Again for further ones.",
        ),
    ] = None,
    problem_field: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Of agent runs: the field that names the problem, as metadata.task.",
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT",
            help="Of agent runs: US dollars per million tokens, where the file tells no costs.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a run of what others published, to compare and report.

    Of agent runs every revision is judged here, on hidden tests too. Solutions keep their
    published verdicts and nothing is run: `harness regrade RUN` then judges them.
    """
    said = among(settings, JUDGING)
    if format_ not in (None, *FORMATS):
        raise UsageError(f"--from {format_!r:.40}: known are {', '.join(FORMATS)}")
    format_ = format_ or format_of(file)
    keys = {
        "model": model,
        "mode": mode,
        "extract": extract,
        "skip_bad_rows": settings.get("skip_bad_rows"),
        "price": None if price is None else _price(price),
    }
    given = {key: value for key, value in keys.items() if value is not None}
    if format_ == SOLUTIONS:
        _refuse_judging(
            {**said, "write_tool": write_tool, "problem_field": problem_field, "price": price}
        )
        given = {"model": None, "mode": "single_shot", **given}
        raise typer.Exit(import_file(problems, file, out, given, as_json=as_json))
    from harness.features.import_.trajectory_import import ImportRequest, import_trajectories
    from harness.run.session.judging_session import judging

    how = judging(said)
    request = ImportRequest(
        problems,
        TrajectoryFile(file, format_, problem_field),
        out,
        {**given, **said},
        write_tool or (),
    )
    raise typer.Exit(import_trajectories(request, how, as_json=as_json))


def _price(text: str) -> dict[str, float]:
    """Parse the prices of input and output tokens. Raises UsageError."""
    try:
        given, made = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--price {text!r:.40}: give IN,OUT, as 2.5,10") from None
    return {"input": given, "output": made}


def _refuse_judging(flags: Mapping[str, Any]) -> None:
    """Refuse flags of judging and of agent runs for a file of solutions. Raises UsageError."""
    for name, value in flags.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')}: the file holds solutions, whose published verdicts "
                "are kept and which have no turns; leave it out (harness regrade judges them)"
            )
