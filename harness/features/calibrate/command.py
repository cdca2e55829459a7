"""`harness calibrate`: load, time new references, report."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from harness.cli.settings_flags import FILTERS, JUDGING, with_settings
from harness.cli.shared_flags import (
    AsJson,
    Benchmark,
    Named,
    among,
    named_benchmark,
    with_progress_flags,
)
from harness.efficiency.measurement import Scales, timing_of
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK
from harness.features.calibrate.library import calibrate_problems
from harness.figures import count
from harness.run.session.judging_session import judging
from harness.run.settings.spec import read_spec
from harness.sources.selection import select
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import TerminalReporter, load_telling

CALIBRATED = tuple(
    key for key in JUDGING if key not in {"wall_timeout", "isolate_tests", "all_tests"}
)


@with_settings("timing", *CALIBRATED, *FILTERS)
@with_progress_flags
def calibrate(
    settings: Mapping[str, Any],
    spec: Named = None,
    benchmark: Benchmark = None,
    recollect: Annotated[
        bool, typer.Option("--recollect", help="Time again what has been timed before.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Time a benchmark's references, against which solutions are measured (`--efficiency`).

    Times are stored for this machine. An interrupted calibration goes on, and what has not changed
    is not timed again. A run times the references that it needs by itself.
    """
    how = judging(among(settings, CALIBRATED), by_reference=False)
    scales = Scales(how.options, timing_of(settings.get("timing", "paired")), fresh=recollect)
    keys = among(settings, FILTERS) | {"benchmark": named_benchmark(spec, benchmark)}
    asked = read_spec(None, keys)
    err = console(error=True)
    reporter = TerminalReporter(err)
    loaded = load_telling(asked.benchmark or "", err, skip_bad_rows=asked.skip_bad_rows)
    problems = select(loaded.problems, asked.selection()).problems

    def tell_known(known: int, of: int) -> None:
        line = f"{known:,} of {count(of, 'problem')} known already; --recollect times them anew"
        reporter.notice(line)

    calibrated = calibrate_problems(problems, scales, how, reporter, tell_known)
    if as_json:
        rows = ", ".join(each.model_dump_json() for each in calibrated.problems)
        summary = calibrated.summary.model_dump_json()
        write_json(console(), [f'{{"problems": [{rows}], "summary": {summary}}}'])
    else:
        console().print(calibrated.view())
    if calibrated.interrupted:
        missing = count(calibrated.left, "problem")
        err.print(f"interrupted: {missing} not calibrated; the same command goes on with them")
        raise typer.Exit(INTERRUPTED)
    failed = any(each.failure for each in calibrated.problems)
    raise typer.Exit(INFRASTRUCTURE if failed else OK)
