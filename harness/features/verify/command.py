"""`harness verify`: load problems, judge references without verdict, report."""

import json
from collections.abc import Iterator, Mapping
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
from harness.errors import INFRASTRUCTURE, INTERRUPTED, MISSED, OK, NothingSelectedError
from harness.features.verify.library import VerifiedBenchmark, VerifyRequest, verify_problems
from harness.features.verify.verification import Verification
from harness.figures import count, percent
from harness.run.session.judging_session import judging
from harness.run.settings.spec import read_spec
from harness.sources.benchmarks import parse_spec
from harness.sources.selection import select
from harness.terminal.consoles import console, write_json
from harness.terminal.gate import CLOSE, read_rate
from harness.terminal.progress import TerminalReporter, load_telling, status


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
    yield '{"problems": ['
    for number, problem in enumerate(verified.problems):
        yield (", " if number else "") + json.dumps(problem.model_dump(mode="json"))
    yield f'], "summary": {json.dumps(verified.summary.model_dump(mode="json"))}}}'


@with_settings(*JUDGING, *FILTERS)
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
        bool, typer.Option("--fresh", help="Judge again what has been judged before.")
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
    again.
    """
    least, how = read_rate(fail_under), judging(among(settings, JUDGING), by_reference=False)
    wanted = VerifyRequest(references, fresh)
    keys = among(settings, FILTERS) | {"benchmark": named_benchmark(spec, benchmark)}
    asked = read_spec(None, keys)
    name = asked.benchmark or ""
    err, out = console(error=True), console()
    reporter = TerminalReporter(err)

    def tell_known(known: int, of: int) -> None:
        reporter.notice(f"{known:,} of {count(of, 'verdict')} known already; --fresh judges anew")

    loaded = load_telling(name, err, skip_bad_rows=asked.skip_bad_rows)
    verified = verify_problems(
        select(loaded.problems, asked.selection()).problems,
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
