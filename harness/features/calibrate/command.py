"""`harness calibrate`: load, time new references, report."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from harness.cli.settings_flags import (
    FILTERS,
    JUDGING,
    AsJson,
    Benchmark,
    Named,
    among,
    named_benchmark,
    with_settings,
)
from harness.efficiency.measurement import Scales
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK
from harness.features.calibrate.library import calibrate_problems
from harness.run.session.judging_session import JudgingSession, judging
from harness.run.session.timing_session import timing_of
from harness.run.spec.spec import read_spec
from harness.sources.selection import select
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.summary_table import console, write_json
from harness.text import count


def calibrate_source(
    flags: dict[str, Any], judging: JudgingSession, *, timing: str, recollect: bool, as_json: bool
) -> int:
    """Time the references of the selected problems; return the exit code.

    Args:
        flags: which problems, by key of the spec.
        judging: how references are judged before they are timed.
        timing: the timing method.
        recollect: time references again whose times are stored.
        as_json: print one JSON object instead of a table.

    Raises:
        UsageError: a flag has an invalid value.
        DataError: a row of the data is invalid.
        NothingSelectedError: no problem is selected.
    """
    scales = Scales(judging.options, timing_of(timing), fresh=recollect)
    spec = read_spec(None, flags)
    err = console(error=True)
    loaded = load_telling(spec.benchmark or "", err, skip_bad_rows=spec.skip_bad_rows)
    problems = select(loaded.problems, spec.selection()).problems

    def tell_known(known: int, of: int) -> None:
        told = f"{known:,} of {count(of, 'problem')} known already; --recollect times them anew"
        err.print(told, soft_wrap=True)

    found = calibrate_problems(problems, scales, judging, TerminalReporter(err), tell_known)
    if as_json:
        rows = ", ".join(each.model_dump_json() for each in found.problems)
        summary = found.summary.model_dump_json()
        write_json(console(), [f'{{"problems": [{rows}], "summary": {summary}}}'])
    else:
        console().print(found.view())
    if found.interrupted:
        missing = count(found.left, "problem")
        err.print(f"interrupted: {missing} not calibrated; the same command goes on with them")
        return INTERRUPTED
    return INFRASTRUCTURE if any(each.failure for each in found.problems) else OK


CALIBRATED = tuple(
    key for key in JUDGING if key not in {"wall_timeout", "isolate_tests", "all_tests"}
)


@with_settings("timing", *CALIBRATED, *FILTERS)
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
    wanted = among(settings, FILTERS) | {"benchmark": named_benchmark(spec, benchmark)}
    how = judging(among(settings, CALIBRATED), by_reference=False)
    timing = settings.get("timing", "paired")
    raise typer.Exit(
        calibrate_source(wanted, how, timing=timing, recollect=recollect, as_json=as_json)
    )
