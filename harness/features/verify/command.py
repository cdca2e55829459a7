"""`harness verify`: load problems, judge or time references that are not known yet, report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli.settings_flags import FILTERS, JUDGING, with_settings
from harness.cli.shared_flags import (
    AsJson,
    Benchmark,
    Named,
    among,
    named_benchmark,
    with_progress_flags,
)
from harness.errors import INFRASTRUCTURE, INTERRUPTED, MISSED, OK, NothingSelectedError, UsageError
from harness.features.efficiency.measurement import Scales, timing_of
from harness.features.verify.library import VerifiedBenchmark, VerifyRequest, verify_problems
from harness.features.verify.reference_timing import TimedSource, calibrate_problems
from harness.features.verify.verification import SCHEMA, Verification
from harness.figures import count, percent
from harness.problem import Problem
from harness.run.session.judging_session import judging
from harness.run.settings.spec import given_as, read_spec
from harness.sources.benchmarks import parse_spec
from harness.sources.selection import select
from harness.terminal.consoles import console, write_json
from harness.terminal.gate import CLOSE, read_rate
from harness.terminal.progress import TerminalReporter, load_telling, status

NOT_TIMED = ("wall_timeout", "isolate_tests", "all_tests")
"""Settings of judging without an effect on times."""


def _left(verified: VerifiedBenchmark) -> str:
    """Say what an interrupt left undone."""
    hint = "; run the same command again to continue" if verified.resumable else ""
    return f"interrupted: {count(verified.left, 'reference')} not judged{hint}"


def _gate(err: Console, summary: Verification, least: float | None) -> int:
    """Return the exit code; without a rate every solution must have the expected verdict."""
    if summary.infrastructure:
        return INFRASTRUCTURE
    if not summary.judged:
        err.print("no reference was judged")
        return NothingSelectedError.exit_code
    if summary.as_expected >= (1.0 if least is None else least) - CLOSE:
        return OK
    solutions = count(summary.judged, "known solution")
    advice = "--fail-under RATE accepts fewer" if least is None else f"fewer than {percent(least)}"
    right = summary.judged - summary.contradicted
    err.print(f"{right:,} of {solutions} got the expected verdict; {advice}", soft_wrap=True)
    return MISSED


def _json(verified: VerifiedBenchmark) -> Iterator[str]:
    """Yield one JSON object in pieces, as it is large for a large source."""
    yield f'{{"schema_version": {SCHEMA}, "problems": ['
    for number, problem in enumerate(verified.problems):
        yield (", " if number else "") + json.dumps(problem.model_dump(mode="json"))
    yield f'], "summary": {json.dumps(verified.summary.model_dump(mode="json"))}}}'


def _selected(settings: Mapping[str, Any], benchmark: str, err: Console) -> Sequence[Problem]:
    """Return the selected problems of a benchmark."""
    asked = read_spec(None, among(settings, FILTERS).with_flags(benchmark=benchmark))
    loaded = load_telling(benchmark, err, skip_bad_rows=asked.skip_bad_rows)
    return select(loaded.problems, asked.selection()).problems


def _time(
    settings: Mapping[str, Any],
    spec: str | None,
    benchmark: str | None,
    *,
    fresh: bool,
    as_json: bool,
) -> int:
    """Time references and show the times; return the exit code."""
    how = judging(among(settings, JUDGING), by_reference=False)
    scales = Scales(how.options, timing_of(settings.get("timing", "paired")), fresh=fresh)
    err = console(error=True)
    reporter = TerminalReporter(err)
    problems = _selected(settings, named_benchmark(spec, benchmark), err)

    def tell_known(known: int, of: int) -> None:
        reporter.notice(f"{known:,} of {count(of, 'problem')} known already; --fresh times anew")

    timed = calibrate_problems(problems, scales, how, reporter, tell_known)
    if as_json:
        whole = TimedSource(problems=timed.problems, summary=timed.summary)
        write_json(console(), [whole.model_dump_json()])
    else:
        console().print(timed.view())
    if timed.interrupted:
        missing = count(timed.left, "problem")
        err.print(f"interrupted: {missing} not timed; the same command goes on with them")
        return INTERRUPTED
    return INFRASTRUCTURE if any(each.failure for each in timed.problems) else OK


@with_settings(*JUDGING, "timing", *FILTERS)
@with_progress_flags
def verify(
    settings: Mapping[str, Any],
    *,
    spec: Named = None,
    benchmark: Benchmark = None,
    references: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most references per problem. Default: all."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Judge or time again what is known already.")
    ] = False,
    time: Annotated[
        bool,
        typer.Option(
            "--time",
            help="Time the references on this machine, for --efficiency; they are not judged.",
        ),
    ] = False,
    as_json: AsJson = False,
    fail_under: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Exit with 1 if fewer known solutions get the expected verdict: 0.9 or 90%. "
            "Default: all must.",
        ),
    ] = None,
) -> None:
    """Judge a benchmark's reference solutions: which fail, which are slow, what has no tests.

    It ends with 1 if a reference fails, or if a known-wrong solution gets another verdict than
    the data expect.

    Verdicts are stored: an interrupted verification goes on, and what has not changed is not judged
    again. The times of --time are stored, too, and `--efficiency` uses them.
    """
    if time:
        given = {"--references": references, "--fail-under": fail_under}
        given |= {given_as(key, settings): settings.get(key) for key in NOT_TIMED}
        ignored = [flag for flag, value in given.items() if value is not None]
        if ignored:
            raise UsageError(f"{ignored[0]} has no effect on --time; leave one of them out")
        raise typer.Exit(_time(settings, spec, benchmark, fresh=fresh, as_json=as_json))
    if "timing" in settings:
        raise UsageError("--set timing says how --time measures; give that too")
    least, how = read_rate(fail_under), judging(among(settings, JUDGING), by_reference=False)
    wanted = VerifyRequest(references, fresh)
    name = named_benchmark(spec, benchmark)
    err, out = console(error=True), console()
    reporter = TerminalReporter(err)

    def tell_known(known: int, of: int) -> None:
        reporter.notice(f"{known:,} of {count(of, 'verdict')} known already; --fresh judges anew")

    verified = verify_problems(
        _selected(settings, name, err),
        parse_spec(name).name,
        how,
        wanted,
        reporter,
        reading=status(err, "reading references"),
        tell_known=tell_known,
    )
    if as_json:
        write_json(out, _json(verified))
    else:
        out.print(verified.view())
    if verified.interrupted:
        err.print(_left(verified))
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(_gate(err, verified.summary, least))
