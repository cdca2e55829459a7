"""Evaluations that others published, as runs: their verdicts, in the place of ours.

What is not told is not known: of an imported run there are no transcripts, tokens, costs or times,
and of a solution that failed nobody knows on which tests. `harness regrade` judges the same
solutions here: another run, whose verdicts are ours.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import UsageError
from harness.features.grade.solution import Published
from harness.features.grade.solution_match import MatchedSolution
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.problem import Problem
from harness.run.engine.manifest import SCHEMA
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.published import PUBLISHED
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
"""LiveCodeBench's words for why a solution failed, where they are not that its answer is wrong."""


def imported_results(matched: Sequence[MatchedSolution]) -> Iterator[SampleResult]:
    """Each solution of a file as a sample; without a published verdict it is ungraded.

    Those on which infrastructure failed are left out, as in any run.
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
    """Ours for theirs; who failed for a reason that is not told is taken to have answered wrong."""
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
        path: of the run.
        file: what they are from.
        loaded: the problems, all that there are.
        matched: the solutions, each with its problem.
        spec: what is known of how they were made.

    Raises:
        UsageError: `path` cannot be a run's.
        StorageError: the disk refused.
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
    """What `run.json` says: no machine and no sandbox, as nothing was run."""
    return {
        "schema": SCHEMA,
        "harness": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "imported": {"file": file.name, "sha256": _sha256(file), "verdicts": PUBLISHED},
        "spec": spec.model_dump(mode="json"),
        **unknown_origin(loaded, problems.values()),
    }


def unknown_origin(loaded: Loaded, problems: Iterable[Problem]) -> dict[str, Any]:
    """Return what `run.json` says of a run that was made elsewhere: of its making, nothing."""
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
