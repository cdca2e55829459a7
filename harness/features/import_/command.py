"""`harness import`: make a run of published solutions, or of agent runs."""

from pathlib import Path
from typing import Annotated

import typer

from harness.agent.strategies.modes import LOOP, SHOT
from harness.cli.settings_flags import JUDGING, with_settings
from harness.cli.shared_flags import AsJson, Problems, with_progress_flags
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, UsageError
from harness.features.grade.sample_judgements import failure_words
from harness.features.import_.judgements import agreement_lines
from harness.features.import_.library import import_file
from harness.features.import_.trajectory_file import FORMATS
from harness.features.import_.trajectory_import import Imported, ImportRequest
from harness.run.settings.given import Given
from harness.sources.files.rows import Loaded
from harness.terminal.consoles import console
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.run_screen import print_summary


def left_out_words(imported: Imported) -> str:
    """Say how much of the file is not in the run."""
    number, why = sum(imported.left_out.values()), "their names match no problem, or several"
    return f"{number:,} of {imported.total:,} in the file are left out: {why}"


def import_given(request: ImportRequest, *, as_json: bool) -> int:
    """Import a file and return the exit code.

    Args:
        request: what to import.
        as_json: print the summary as JSON.

    Raises:
        HarnessError: see `harness.import_run`.
    """
    err = console(error=True)
    reporter = TerminalReporter(err)
    imported = import_file(request, reporter, reporter.notice)
    print_summary(console(), imported.summary, imported.path, as_json=as_json)
    for line in agreement_lines(imported.compared):
        err.print(line, soft_wrap=True)
    if imported.left_out:
        reporter.notice(left_out_words(imported))
    if imported.interrupted:
        err.print("interrupted; run the same command again to continue")
        return INTERRUPTED
    if imported.failures:
        failed = failure_words(imported.failures, "sample")
        err.print(f"{failed}; the same command tries again", soft_wrap=True)
        return INFRASTRUCTURE
    return OK


@with_settings(*JUDGING, "language", "cpp_flags", "skip_bad_rows")
@with_progress_flags
def import_(
    settings: Given,
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
            f"else {LOOP.name} for agent runs, {SHOT.name} for solutions.",
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
            "Default: write_solution, write_answer. Repeat for more.",
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
    published verdicts and nothing is run: `harness grade RUN` then judges them.
    """
    own = {
        "model": model,
        "mode": mode,
        "extract": extract,
        "price": None if price is None else _price(price),
    }

    def load(skip_bad_rows: bool) -> Loaded:
        return load_telling(problems, console(error=True), skip_bad_rows=skip_bad_rows)

    request = ImportRequest(
        file,
        out,
        problems,
        load,
        settings.with_flags(**{key: value for key, value in own.items() if value is not None}),
        format_,
        write_tool or (),
        problem_field,
    )
    raise typer.Exit(import_given(request, as_json=as_json))


def _price(text: str) -> dict[str, float]:
    """Parse the prices of input and output tokens. Raises UsageError."""
    try:
        given, made = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--price {text!r:.40}: give IN,OUT, as 2.5,10") from None
    return {"input": given, "output": made}
