"""How `harness verify` goes: load, judge the references that are not known, report."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from harness.cli.exit_codes import INFRASTRUCTURE, INTERRUPTED, OK
from harness.cli.judging import Judging, judge_jobs
from harness.cli.loading import load_problems
from harness.cli.vetting import vet
from harness.errors import UsageError
from harness.report.tables import console, write_json
from harness.report.text import bad_rows, count, printable_line
from harness.report.verification import verification_view
from harness.runs.judging import Judged
from harness.runs.spec import read_spec
from harness.runs.verification import (
    References,
    Verification,
    VerifiedProblem,
    finding,
    list_references,
    reference_jobs,
    summarize_verification,
    verified,
)
from harness.runs.verified_cache import Finding, VerifiedCache, cache_folder
from harness.sandbox.isolation import Level
from harness.sources.registry import parse_spec
from harness.sources.selection import select


def verify_source(
    flags: dict[str, Any],
    judging: Judging,
    *,
    most: int | None,
    fresh: bool,
    as_json: bool,
) -> int:
    """Verify what the flags select; returns the exit code.

    Args:
        flags: which problems, by key of the spec.
        judging: how.
        most: references of a problem, from the first; None for all.
        fresh: judge what is known as well.
        as_json: print one JSON object in place of a table.

    Raises:
        UsageError: a flag's value is none that can be.
        DataError: a row is not as it should be.
        NothingSelectedError: no problem is left.
    """
    if most is not None and most < 1:
        raise UsageError(f"--references {most}: give 1 or more")
    spec = read_spec(None, flags)
    benchmark = spec.benchmark or ""
    err = console(error=True)
    loaded = load_problems(benchmark, err, skip_bad_rows=spec.skip_bad_rows)
    problems = select(loaded.problems, spec.selection()).problems
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
    problems = vet(problems, judging, err)
    with err.status("reading references"):  # seen on a terminal alone
        listed = list_references(problems, most, judging.options)
    with _cache(parse_spec(benchmark).name, err) as cache:
        found = {} if fresh else _known(cache, listed, judging, err)
        interrupted = _judge(listed, found, cache, judging, err)
    results = verified(listed, found, judging.options)
    summary = summarize_verification(results)
    out = console()
    if as_json:
        write_json(out, _json(summary, results))
    else:
        out.print(verification_view(summary, results))
    if interrupted:
        left = sum(key not in found for each in listed for key in each.keys)
        hint = "; the same command goes on with them" if cache.keeps else ""
        err.print(f"interrupted: {count(left, 'reference')} not judged{hint}")
        return INTERRUPTED
    return INFRASTRUCTURE if summary.infrastructure else OK


def _cache(source: str, err: Console) -> VerifiedCache:
    def warn(message: str) -> None:
        err.print(printable_line(message), soft_wrap=True)

    return VerifiedCache(source, cache_folder(), warn)


def _known(
    cache: VerifiedCache, listed: Sequence[References], judging: Judging, err: Console
) -> dict[str, Finding]:
    """What earlier invocations found, in sandboxes that were strong enough; how much, is said."""
    keys = [key for each in listed for key in each.keys]
    known = cache.find(keys, Level.NONE if judging.unsafe else judging.least)
    if known:
        many = sum(key in known for key in keys)
        err.print(f"{many:,} of {count(len(keys), 'verdict')} known already; --fresh judges anew")
    return known


def _judge(
    listed: Sequence[References],
    found: dict[str, Finding],
    cache: VerifiedCache,
    judging: Judging,
    err: Console,
) -> bool:
    """Judge the rest into `found`, each kept at once; returns whether that was interrupted."""
    jobs = reference_jobs(listed, found)

    def keep(judged: Judged) -> None:
        key = jobs[judged.number].key
        found[key] = finding(judged)
        cache.add(key, found[key])

    return judge_jobs(jobs, judging, err, "references", keep)


def _json(summary: Verification, problems: Sequence[VerifiedProblem]) -> Iterator[str]:
    """One JSON object, piece by piece: of a large source it is large."""
    yield '{"problems": ['
    for number, problem in enumerate(problems):
        yield (", " if number else "") + json.dumps(problem.model_dump(mode="json"))
    yield f'], "summary": {json.dumps(summary.model_dump(mode="json"))}}}'
