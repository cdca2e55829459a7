"""How `harness verify` goes: load, judge the references, report."""

import json
from typing import Any

from harness.cli.exit_codes import INFRASTRUCTURE, INTERRUPTED, OK
from harness.cli.judging import Judging, judge_jobs
from harness.errors import UsageError
from harness.report.tables import console, write_json
from harness.report.text import bad_rows, count
from harness.report.verification import verification_view
from harness.runs.judging import Judged
from harness.runs.spec import read_spec
from harness.runs.verification import (
    VerifiedReference,
    reference_jobs,
    summarize_verification,
    verified,
    verified_reference,
)
from harness.sources.registry import load
from harness.sources.selection import select


def verify_source(
    flags: dict[str, Any],
    judging: Judging,
    *,
    most: int | None,
    as_json: bool,
) -> int:
    """Verify what the flags select; returns the exit code.

    Raises:
        UsageError: a flag's value is none that can be.
        DataError: a row is not as it should be.
        NothingSelectedError: no problem is left.
    """
    if most is not None and most < 1:
        raise UsageError(f"--references {most}: give 1 or more")
    spec = read_spec(None, flags)
    loaded = load(spec.benchmark or "", skip_bad_rows=spec.skip_bad_rows)
    problems = select(loaded.problems, spec.selection()).problems
    err = console(error=True)
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
    jobs = reference_jobs(problems, most)
    found: dict[int, VerifiedReference] = {}

    def keep(judged: Judged) -> None:
        found[judged.number] = verified_reference(jobs[judged.number], judged)

    interrupted = judge_jobs(jobs, judging, err, "references", keep)
    results = verified(problems, jobs, found, judging.options)
    summary = summarize_verification(results)
    out = console()
    if as_json:
        dump = {
            "problems": [result.model_dump(mode="json") for result in results],
            "summary": summary.model_dump(mode="json"),
        }
        write_json(out, [json.dumps(dump)])
    else:
        out.print(verification_view(summary, results))
    if interrupted:
        err.print(f"interrupted: {count(len(jobs) - len(found), 'reference')} not judged")
        return INTERRUPTED
    return INFRASTRUCTURE if summary.infrastructure else OK
