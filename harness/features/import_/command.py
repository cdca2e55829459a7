"""How `harness import` goes: read, match, write a run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.cli.settings_flags import AsJson
from harness.errors import OK, NothingSelectedError
from harness.features.grade.solution_match import match
from harness.features.grade.solution_readers import read_solutions
from harness.features.import_.published_run import write_imported
from harness.run.spec.spec import read_spec
from harness.terminal.progress import load_with_bar
from harness.terminal.run_outcome import print_summary
from harness.terminal.summary_table import console
from harness.text import bad_rows, count, printable_line

NAMES = 5
_UPSTREAM = re.compile(r"(_(?:Scenario\.)?[a-z]+_\d+_[\d.]+)?(_eval_all|_codeqwen)?$")


def import_file(
    problems: str, file: Path, out: Path, keys: Mapping[str, Any], *, as_json: bool
) -> int:
    """Write a run of a file of solutions; returns the exit code.

    Args:
        problems: that they are for.
        file: of solutions and verdicts.
        out: of the new run.
        keys: of the spec, as far as they are known.
        as_json: print the summary so.

    Raises:
        UsageError: a value is none that can be, a file cannot be opened, or `out` be written.
        DataError: a row of either file is not as it should be.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    err = console(error=True)
    model = keys["model"] or model_of(file)
    spec = read_spec(None, {**keys, "model": model, "benchmark": problems})
    solutions = read_solutions(file)
    loaded = load_with_bar(problems, err, skip_bad_rows=spec.skip_bad_rows)
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
    matched, unmatched = match(solutions, loaded.problems, spec.extract)
    if not matched:
        raise NothingSelectedError(
            f"none of {count(len(solutions), 'solution')} in {file} is for one of "
            f"{count(len(loaded.problems), 'problem')} of {problems}: the first is for "
            f"{solutions[0].name!r:.60}"
        )
    if unmatched:
        names = list(dict.fromkeys(unmatched))
        more = f" and {len(names) - NAMES:,} more" if len(names) > NAMES else ""
        some = printable_line(", ".join(names[:NAMES]))
        err.print(
            f"{count(len(unmatched), 'solution')} left out, for {count(len(names), 'name')} that "
            f"no one problem has: {some}{more}",
            soft_wrap=True,
        )
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
    """The model that LiveCodeBench's name of a file tells: MODEL_SCENARIO_SAMPLES_TEMPERATURE_…."""
    stem = file.name.removesuffix(".gz").partition(".json")[0]
    return _UPSTREAM.sub("", stem) or stem


def import_(  # noqa: PLR0917 - the flags of a command
    file: Annotated[
        Path,
        typer.Argument(
            help="LiveCodeBench's _eval_all.json, or any file that `harness grade` takes; plain or "
            "gzipped.",
        ),
    ],
    problems: Annotated[
        str,
        typer.Option(
            autocompletion=completion.benchmarks,
            metavar="NAME[:WHERE]",
            help="The problems, as for --benchmark.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory to make.")],
    model: Annotated[
        str | None, typer.Option(help="Who wrote the solutions. Default: from the file's name.")
    ] = None,
    mode: Annotated[
        str, typer.Option(help="How they were sought, as for `harness run --mode`.")
    ] = "single_shot",
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="How code is found in a model's words, where the file has no code.",
        ),
    ] = "harness",
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Pass over malformed problem rows and count them."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a run of published solutions and their published verdicts, to compare and report.

    Nothing is run: `harness regrade RUN` then judges the same solutions here.
    """
    raise typer.Exit(
        import_file(
            problems,
            file,
            out,
            {"model": model, "mode": mode, "extract": extract, "skip_bad_rows": skip_bad_rows},
            as_json=as_json,
        )
    )
