"""`harness.regrade`: judge a run's solutions again, as `harness regrade` does."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from harness.errors import RunDirectoryError, UsageError
from harness.features.regrade.stored_solutions import (
    Regrading,
    answers_judged,
    stored_solutions,
)
from harness.features.show.library import LoadedRun, load_run
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.run.engine.manifest import surroundings, test_limits
from harness.run.plan.judging_options import judging_of
from harness.run.plan.problem_kinds import check_settings, rules_of
from harness.run.plan.problem_loader import Benchmark, checked, read
from harness.run.reporter import LOG, Reporter
from harness.run.session.judging_session import (
    JudgingSession,
    isolate,
    judge_jobs,
    session_of,
    vet,
)
from harness.run.spec.keys import JudgingKeys, listing, python_words, spec_from
from harness.run.spec.spec import RunSpec, default_of, known_keys, read_spec
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.results import SampleResult
from harness.run.store.state import as_judged_here, versions_after
from harness.run.summary.summary import Summary, summarize
from harness.sources.files.rows import Loaded
from harness.text import count

OWN = ("run", "out", "benchmark")
ELSEWHERE = frozenset({"unsafe_no_sandbox", "executor", "ray_address"})
"""Keys of where solutions are judged, which are no part of the new run's spec."""


@dataclass(frozen=True, slots=True)
class Regraded:
    """A run judged again.

    Attributes:
        path: directory of the new run.
        solutions: number of solutions of the old run.
        changed: results whose verdict differs, and the verdict before.
        failures: solutions not judged: sample, verdict and cause.
        interrupted: whether an interrupt ended the work.
    """

    path: Path
    summary: Summary
    changed: tuple[tuple[SampleResult, Verdict], ...]
    failures: Sequence[tuple[str, Verdict, str]]
    interrupted: bool


@listing(JudgingKeys)
@python_words("regrade()")
def regrade(
    run: str | Path,
    out: str | Path | None = None,
    *,
    benchmark: Benchmark | None = None,
    **keys: Unpack[JudgingKeys],
) -> LoadedRun:
    """Judge a run's solutions once more, under another rule or other limits, as a new run.

    Args:
        run: the run's directory.
        out: directory of the new run; one that was begun goes on. Default: `RUN-regraded`.
        benchmark: where the problems are by now, if elsewhere: `NAME[:WHERE]`, loaded problems, or
            rows.
        keys: settings of judging that override the run's own.

    Raises:
        UsageError: a key or value is not accepted.
        RunDirectoryError: there is no such run, its problems have changed, or `out` is another run.
        IsolationError: no sandbox of the required strength is available.
        KeyboardInterrupt: the user interrupted; the same call goes on.
    """
    paths: dict[str, Any] = {"run": run, "out": "" if out is None else out}
    for name, path in paths.items():
        if not isinstance(path, str | Path):
            kind = type(path).__name__
            raise UsageError(f"regrade(): {name} is of type {kind}; give the directory of a run")
    spec = spec_from("regrade()", keys, JudgingKeys, OWN)
    given = None if benchmark is None else checked(benchmark)
    flags = {key: value for key, value in keys.items() if key not in ELSEWHERE}
    if isinstance(given, str):
        flags["benchmark"] = given

    def load(own: RunSpec) -> Loaded:
        return read(own.benchmark or "fixture" if given is None else given, own)

    asked = RegradeRequest(
        Path(run), None if out is None else Path(out), flags, session_of(spec), load
    )
    found = asked.carry_out(LOG)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.failures:
        sample, _, cause = found.failures[0]
        LOG.notice(f"{count(len(found.failures), 'solution')} not judged; {sample}: {cause}")
    return load_run(found.path)


@dataclass(frozen=True, slots=True)
class RegradeRequest:
    """What to judge again, for the command and the library.

    Attributes:
        parent: directory of the run.
        out: directory of the new run; None for `RUN-regraded`.
        flags: the given keys, which override the run's own.
        how: settings of judging, of which only the place is used: executor, unsafe.
        load: loads the problems of a spec.
    """

    parent: Path
    out: Path | None
    flags: Mapping[str, Any]
    how: JudgingSession
    load: Callable[[RunSpec], Loaded]

    def carry_out(
        self, reporter: Reporter, tell: Callable[[str], None] = lambda _line: None
    ) -> Regraded:
        """Judge the solutions that the new run does not have yet.

        Args:
            reporter: shows the progress.
            tell: called with a line on how much is left.

        Raises:
            HarnessError: see `regrade`.
        """
        before = read_manifest(self.parent)
        least = {"require_isolation": default_of("require_isolation")}
        spec = read_spec(None, {**known_keys(before["spec"]), **least, **self.flags})
        problems = self.load(spec).problems
        there = tuple(each for each in problems if each.id in before["problems"])
        rules = rules_of(there)
        check_settings(rules, self.how.said)
        where, unsafe = replace(self.how.where, workers=spec.workers), self.how.unsafe
        judging = JudgingSession(judging_of(spec), where, spec.require_isolation, unsafe)
        if rules.runs_code:
            there = vet(there, judging, reporter)
            judging = _with_limits(judging, spec, there, reporter)
        stored = stored_solutions(self.parent, there)
        choice = isolate(reporter, spec.require_isolation, unsafe=unsafe)
        now = {
            **before,
            **surroundings(choice),
            "versions": versions_after(before),
            "spec": spec.model_dump(mode="json"),
            "parent": str(self.parent.resolve()),
            **as_judged_here(before),
            "test_limits": test_limits(
                [each.problem for each in stored], spec.test_timeout, judging.options
            ),
        }
        beside = self.parent.with_name(f"{self.parent.resolve().name}-regraded")
        directory = _opened(self.out or beside, now)
        done = {result.sample for result in directory.committed()}
        left = [each for each in stored if each.result.sample not in done]
        tell(f"{count(len(stored), 'solution')}, {len(left)} left to judge")
        regrading = Regrading(directory, self.parent, left, rules.extractor(spec.extract))
        try:
            jobs = regrading.jobs()
            if not rules.runs_code:
                for judged in answers_judged(jobs):
                    regrading.keep(judged)
                jobs = []
            interrupted = judge_jobs(jobs, judging, reporter, "revisions", regrading.keep)
            results = directory.committed()
            failures = Counter(str(verdict) for _, verdict, _ in regrading.failures)
            summary = summarize(results, len(stored), failures, max_tokens=spec.max_tokens)
            directory.write_summary(summary.model_dump(mode="json"))
        finally:
            regrading.close()
            directory.close()
        verdicts = {each.result.sample: each.result.verdict for each in stored}
        changed = (
            (result, verdicts[result.sample])
            for result in results
            if verdicts[result.sample] is not result.verdict
        )
        return Regraded(
            directory.path, summary, tuple(changed), tuple(regrading.failures), interrupted
        )


def _with_limits(
    judging: JudgingSession, spec: RunSpec, problems: Sequence[Problem], reporter: Reporter
) -> JudgingSession:
    """Derive time limits from references, if the spec asks for it."""
    if not isinstance(spec.test_timeout, str):
        return judging
    asked = replace(judging, by_reference=spec.test_timeout)
    return asked.for_problems(problems, spec.benchmark or "fixture", reporter)


def _opened(path: Path, manifest: Mapping[str, Any]) -> RunDirectory:
    """Create the run, or resume it if it is the same one."""
    if not (path / MANIFEST).exists():
        return RunDirectory.create(path, manifest)
    there = read_manifest(path)
    same = known_keys(there["spec"]) == known_keys(manifest["spec"])
    if there.get("parent") != manifest["parent"] or not same:
        raise RunDirectoryError(f"{path} is another run; give another --out")
    return RunDirectory.resume(path)
