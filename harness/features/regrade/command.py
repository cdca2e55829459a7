"""`harness regrade`: read a run, judge its solutions, write another run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli import completion
from harness.cli.settings_flags import JUDGING, AsJson, among, with_settings
from harness.errors import INFRASTRUCTURE, INTERRUPTED
from harness.features.regrade.library import ELSEWHERE, RegradeRequest
from harness.run.session.judging_session import judging
from harness.run.spec.spec import RunSpec
from harness.sources.files.rows import Loaded
from harness.terminal.progress import TerminalReporter, load_with_bar
from harness.terminal.run_outcome import gate, print_summary, read_rate
from harness.terminal.summary_table import console
from harness.text import count, printable_line

MOST_CHANGES = 20  # that are shown


def regrade_run(
    request: RegradeRequest, *, err: Console, as_json: bool, fail_under: float | None = None
) -> int:
    """Judge a run's solutions again and return the exit code.

    Args:
        request: what to judge again.
        err: shows the progress.
        as_json: print the summary as JSON.
        fail_under: the pass@1 that the new run must reach.

    Raises:
        HarnessError: see `harness.regrade`.
    """
    found = request.carry_out(TerminalReporter(err), err.print)
    print_summary(console(), found.summary, found.path, as_json=as_json)
    err.print(f"{count(len(found.changed), 'verdict')} changed")
    for result, verdict in found.changed[:MOST_CHANGES]:
        words = f"  {result.sample}: {verdict} before, {result.verdict} now"
        err.print(printable_line(words), soft_wrap=True)
    if len(found.changed) > MOST_CHANGES:
        err.print(f"  and {len(found.changed) - MOST_CHANGES} more")
    if found.interrupted:
        err.print(f"interrupted; go on with: harness regrade {request.parent} --out {found.path}")
        return INTERRUPTED
    if found.failures:
        sample, _, cause = found.failures[0]
        err.print(
            f"{count(len(found.failures), 'solution')} not judged, the first, "
            f"{printable_line(sample)}, because: {printable_line(cause)}"
        )
        if fail_under is None:
            return INFRASTRUCTURE
    return gate(err, found.path, fail_under)


@with_settings("benchmark", *JUDGING)
def regrade(
    settings: Mapping[str, Any],
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="The new run; one that was begun goes on. Default: RUN-regraded."
        ),
    ] = None,
    as_json: AsJson = False,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Exit with 1 if pass@1 is lower: 0.6 or 60%."),
    ] = None,
) -> None:
    """Grade a run's solutions once more, under another rule or other limits, as a new run."""
    err = console(error=True)

    def load(spec: RunSpec) -> Loaded:
        return load_with_bar(spec.benchmark or "fixture", err, skip_bad_rows=spec.skip_bad_rows)

    changed = {key: value for key, value in settings.items() if key not in ELSEWHERE}
    request = RegradeRequest(run, out, changed, judging(among(settings, JUDGING)), load)
    rate = read_rate(fail_under)
    raise typer.Exit(regrade_run(request, err=err, as_json=as_json, fail_under=rate))
