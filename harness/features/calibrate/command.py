"""`harness calibrate`: load, time new references, report."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

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
from harness.efficiency.labels import cpu_time
from harness.efficiency.measurement import Scales
from harness.efficiency.scale import Scale
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, DataError
from harness.features.calibrate.calibration import (
    CalibratedProblem,
    CalibrationSummary,
    calibrated,
    summarize_calibration,
)
from harness.problem import Problem
from harness.run.plan.problem_kinds import require_code_generation
from harness.run.reporter import JudgingProgress
from harness.run.session.judging_session import JudgingSession, in_pool, judging, vet
from harness.run.session.timing_session import timing_of
from harness.run.spec.spec import read_spec
from harness.sandbox.executor import Executor
from harness.sandbox.program import SandboxError
from harness.sources.selection import select
from harness.terminal.layout import facts, figures_table
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.summary_table import console, write_json
from harness.text import count, printable_line

LISTED = 40


def calibration_view(
    summary: CalibrationSummary, results: Sequence[CalibratedProblem]
) -> RenderableType:
    """Show each problem's references, and how many problems tell fast from slow."""
    shown = results[:LISTED]
    named_times = any(map(_foreign, shown))
    columns = ("problem", "references", "fastest", "slowest", "ratio")
    table = figures_table(*columns, *(("data set's own times",) if named_times else ()))
    for each in shown:
        name = Text(printable_line(each.problem_id))
        failed = f", {each.failed} failed" if each.failed else ""
        if not each.references:
            table.add_row(name, f"0{failed}", "", "", printable_line(each.failure or each.lack))
            continue
        fastest, slowest = each.references[0], each.references[-1]
        ratio = f"{slowest.time / fastest.time:.2f}" if fastest.time else ""
        table.add_row(
            name,
            f"{len(each.references)}{failed}",
            cpu_time(fastest.cpu_s),
            cpu_time(slowest.cpu_s),
            f"{ratio} ({each.lack})" if each.lack else ratio,
            *((printable_line(_foreign(each)),) if named_times else ()),
        )
    parts: list[RenderableType] = [table]
    if len(results) > LISTED:
        parts.append(Text(f"and {len(results) - LISTED:,} more; --json lists all"))
    told = f"{summary.telling:,} of {count(summary.problems, 'problem')} tell fast from slow"
    lacking = ", ".join(f"{why} {number:,}" for why, number in summary.lacking.items())
    named = [("scales", f"{told}{f'; {lacking}' if lacking else ''}")]
    named.append(("references", f"{summary.references:,} timed"))
    named.append(("machine", f"{summary.machine}; the times hold for it alone"))
    parts.append(facts(named))
    return Group(*parts)


def _foreign(problem: CalibratedProblem) -> str:
    """Return the data set's own run times of the fastest and the slowest reference, if any."""
    if not problem.references:
        return ""
    first, last = problem.references[0].foreign, problem.references[-1].foreign
    return f"{first} … {last}" if first or last else ""


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
    require_code_generation(problems)
    problems = vet(problems, judging, TerminalReporter(err))
    found: dict[str, Scale | str] = {}
    left: list[Problem] = []
    for problem in problems:
        known = scales.known(problem)
        if known is None:
            left.append(problem)
        else:
            found[problem.id] = known
    if found:
        err.print(
            f"{len(found):,} of {count(len(problems), 'problem')} known already; "
            "--recollect times them anew",
            soft_wrap=True,
        )
    interrupted = _time(left, scales, found, judging, err)
    results = [
        calibrated(problem, found[problem.id]) for problem in problems if problem.id in found
    ]
    _print(results, as_json=as_json)
    if interrupted:
        missing = count(len(problems) - len(results), "problem")
        err.print(f"interrupted: {missing} not calibrated; the same command goes on with them")
        return INTERRUPTED
    return INFRASTRUCTURE if any(each.failure for each in results) else OK


def _time(
    left: Sequence[Problem],
    scales: Scales,
    found: dict[str, Scale | str],
    judging: JudgingSession,
    err: Console,
) -> bool:
    """Time references of problems into `found`; return whether interrupted."""
    if not left:
        return False

    async def work(pool: Executor, progress: JudgingProgress) -> None:
        rest = iter(left)

        async def take_turns() -> None:
            for problem in rest:
                try:
                    found[problem.id] = await scales.of(problem, pool)
                except (SandboxError, DataError) as error:
                    found[problem.id] = str(error)
                scale = found[problem.id]
                told = isinstance(scale, Scale)
                progress.judged(good=told and not scale.lack, failed=not told)

        async with asyncio.TaskGroup() as group:
            for _ in range(pool.size):
                group.create_task(take_turns())

    return in_pool(
        work, judging, TerminalReporter(err), len(left), "problems that tell fast from slow"
    )


def _print(results: Sequence[CalibratedProblem], *, as_json: bool) -> None:
    out, summary = console(), summarize_calibration(results)
    if not as_json:
        out.print(calibration_view(summary, results))
        return
    rows = ", ".join(each.model_dump_json() for each in results)
    write_json(out, [f'{{"problems": [{rows}], "summary": {summary.model_dump_json()}}}'])


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
