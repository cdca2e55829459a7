"""Import of published evaluations as runs that keep the published verdicts.

An imported run has no transcripts, tokens, costs or times. For a solution that failed, the tests
on which it failed are unknown. `harness regrade` judges the same solutions here, as another run.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import UsageError
from harness.features.grade.solutions import MatchedSolution, Published
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.problem import Problem
from harness.run.engine.manifest import SCHEMA
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.origin import PUBLISHED
from harness.run.store.results import SampleResult
from harness.run.store.transcript import facts_of
from harness.run.summary.summary import Summary, summarize
from harness.sources.files.rows import Loaded
from harness.version import __version__

_NOTES = {
    "time limit exceeded": Verdict.TIME_LIMIT,
    "runtime error": Verdict.RUNTIME_ERROR,
    "compilation error": Verdict.COMPILE_ERROR,
}
"""Verdicts for LiveCodeBench's failure notes, except that for a wrong answer."""


def imported_results(matched: Sequence[MatchedSolution]) -> Iterator[SampleResult]:
    """Yield each solution as a sample; ungraded if it has no published verdict.

    Samples with infrastructure failures are left out, as in any run.
    """
    for each in matched:
        problem, verdict = each.problem, _verdict(each.published)
        if verdict in INFRASTRUCTURE:
            continue
        yield SampleResult(
            **facts_of(problem, each.index),
            verdict=verdict,
            public_passed=0,
            public_total=0,
            hidden_passed=0,
            hidden_total=0,
            tests=(),
            code=each.code,
            chosen_by=ChosenBy.ANSWER,
            extraction=each.extraction,
            stop_reason=StopReason.MODEL_STOPPED,
            model_calls=0,
            tool_calls=0,
            malformed_tool_calls=0,
            nudges=0,
            written=int(bool(each.code)),
            usage=None,
            cost=None,
            seconds=0.0,
        )


def _verdict(published: Published | None) -> Verdict:
    """Convert a published verdict; a failure of unknown cause is a wrong answer."""
    if published is None:
        return Verdict.UNGRADED
    if published.verdict is not None:
        return published.verdict
    if published.passed:
        return Verdict.ACCEPTED
    return _NOTES.get(published.note.strip().lower(), Verdict.WRONG_ANSWER)


def write_imported(
    path: Path, file: Path, loaded: Loaded, matched: Sequence[MatchedSolution], spec: RunSpec
) -> Summary:
    """Write a run of the solutions of a file.

    Args:
        path: path of the run.
        file: file of the solutions.
        loaded: all loaded problems.
        matched: the solutions, each with its problem.
        spec: known settings under which the solutions were made.

    Raises:
        UsageError: `path` cannot hold a new run, or `file` cannot be read.
        StorageError: the disk refused to write.
    """
    problems = {each.problem.id: each.problem for each in matched}
    most = max(each.index for each in matched) + 1
    spec = spec.model_copy(update={"samples_per_problem": most})
    directory = RunDirectory.create(path, _manifest(file, loaded, problems, spec))
    try:
        results = list(imported_results(matched))
        for result in results:
            directory.results.append(result)
        summary = summarize(results, len(problems) * most)
        directory.write_summary(summary.model_dump(mode="json"))
    finally:
        directory.close()
    return summary


def _manifest(
    file: Path, loaded: Loaded, problems: Mapping[str, Problem], spec: RunSpec
) -> dict[str, Any]:
    """Return `run.json`'s content, without machine and sandbox, as nothing was run."""
    return {
        "schema": SCHEMA,
        "harness": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "imported": {"file": file.name, "sha256": _sha256(file), "verdicts": PUBLISHED},
        "spec": spec.model_dump(mode="json"),
        **unknown_origin(loaded, problems.values()),
    }


def unknown_origin(loaded: Loaded, problems: Iterable[Problem]) -> dict[str, Any]:
    """Return the keys of `run.json` on data and problems of a run made elsewhere."""
    return {
        "price": None,
        "prompt": {"name": "unknown", "hash": "unknown"},
        "endpoint": None,
        "data": [
            {"name": each.name, "sha256": each.sha256, "bytes": each.size} for each in loaded.files
        ],
        "skipped_rows": [str(error) for error in loaded.skipped],
        "problems": {problem.id: problem.content_hash for problem in problems},
    }


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{file}: {os.strerror(error.errno or 0)}") from error
