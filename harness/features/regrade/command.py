"""`harness grade RUN` and `harness.regrade`: judge a run's solutions again, as another run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from harness.cli.settings_flags import JUDGING
from harness.cli.shared_flags import among
from harness.errors import INTERRUPTED, RunDirectoryError, UsageError
from harness.features.grade.sample_judgements import Failure, SampleJudgements, failure_words
from harness.features.impossible.changed_tests import changes_of, with_changes
from harness.features.regrade.stored_solutions import Regrading, stored_solutions
from harness.features.show.library import LoadedRun, load_run
from harness.figures import count
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.run.engine.manifest import surroundings, test_limits
from harness.run.plan.judging_options import judging_of
from harness.run.plan.languages import check_language
from harness.run.plan.problem_kinds import check_settings, rules_of
from harness.run.plan.problem_loader import Benchmark, checked, read
from harness.run.reporter import LOG, Reporter
from harness.run.session.isolation import isolate
from harness.run.session.judging_session import JudgingSession, judging, session_of
from harness.run.settings.given import Given
from harness.run.settings.keys import JudgingKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.run.settings.spec import RunSpec, default_of, known_keys, read_spec
from harness.run.store.directory import RunDirectory, check_begun, check_new, has_run, read_manifest
from harness.run.store.origin import as_judged_here
from harness.run.store.results import SampleResult
from harness.run.store.versions import versions_after
from harness.run.summary.summary import Summary, summarize
from harness.sources.files.rows import Loaded
from harness.terminal.consoles import console
from harness.terminal.gate import gate, read_rate
from harness.terminal.progress import TerminalReporter, load_with_bar
from harness.terminal.run_screen import print_summary
from harness.text import printable_line

MOST_CHANGES = 20  # that are shown
OWN = ("run", "out", "benchmark")
ELSEWHERE = frozenset({"unsafe_no_sandbox", "executor", "ray_address"})
"""Keys of where solutions are judged, which are no part of the new run's spec."""


class Regraded(NamedTuple):
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
    failures: Sequence[Failure]
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

    new = None if out is None else Path(out)
    regraded = judge_again(Path(run), new, flags, how=session_of(spec), load=load, reporter=LOG)
    if regraded.interrupted:
        raise KeyboardInterrupt
    if regraded.failures:
        LOG.notice(failure_words(regraded.failures, "solution"))
    return load_run(regraded.path)


def judge_again(
    parent: Path,
    out: Path | None,
    flags: Mapping[str, Any],
    *,
    how: JudgingSession,
    load: Callable[[RunSpec], Loaded],
    reporter: Reporter,
    tell: Callable[[str], None] = lambda _line: None,
) -> Regraded:
    """Judge the solutions that the new run does not have yet.

    Args:
        parent: directory of the run.
        out: directory of the new run; None for `RUN-regraded`.
        flags: the given keys, which override the run's own.
        how: settings of judging, of which only the place is used: executor, unsafe.
        load: loads the problems of a spec.
        reporter: shows the progress.
        tell: called with a line on how much is left.

    Raises:
        HarnessError: see `regrade`.
    """
    before = read_manifest(parent)
    least = {"require_isolation": default_of("require_isolation")}
    own = Given({**known_keys(before["spec"]), **least}, {})
    spec = read_spec(None, Given.of(flags).over(own))
    beside = parent.with_name(f"{parent.resolve().name}-regraded")
    path = out or beside
    _check_place(path, parent, spec)
    changes = changes_of(before)
    loaded = (each for each in load(spec).problems if each.id in before["problems"])
    there = with_changes(loaded, changes)
    rules = rules_of(there, spec.language)
    check_settings(rules, how.given)
    check_language(spec.language, there, flags=spec.flags)
    where, unsafe = replace(how.where, workers=spec.workers), how.unsafe
    options = judging_of(spec, to_the_end=changes)
    judging = JudgingSession(options, where, spec.require_isolation, unsafe)
    if rules.runs_code:
        judging = _with_limits(judging, spec, there, reporter)
    stored = stored_solutions(parent, there)
    choice = isolate(reporter, spec.require_isolation, unsafe=unsafe)
    now = {
        **before,
        **surroundings(choice),
        "versions": versions_after(before),
        "spec": spec.model_dump(mode="json"),
        "parent": str(parent.resolve()),
        **as_judged_here(before),
        "test_limits": test_limits(
            [each.problem for each in stored], spec.test_timeout, judging.options
        ),
    }
    directory = RunDirectory.resume(path) if has_run(path) else RunDirectory.create(path, now)
    done = {result.sample for result in directory.committed()}
    left = [each for each in stored if each.result.sample not in done]
    tell(f"{count(len(stored), 'solution')}, {len(left)} pending")
    regrading = Regrading(directory, parent, rules.extractor(spec.extract), changes)
    try:
        judgements = SampleJudgements(
            [*map(regrading.sample, left)],
            lambda place, grades: regrading.commit(left[place].result, grades),
        )
        interrupted = judgements.judge(rules, judging, reporter)
        results = directory.committed()
        pending = judgements.pending
        summary = summarize(results, len(stored), pending, max_tokens=spec.max_tokens)
        directory.write_summary(summary.model_dump(mode="json"))
    finally:
        directory.close()
    verdicts = {each.result.sample: each.result.verdict_on_tests for each in stored}
    changed = (
        (result, verdicts[result.sample])
        for result in results
        if verdicts[result.sample] is not result.verdict_on_tests
    )
    return Regraded(directory.path, summary, tuple(changed), judgements.failures, interrupted)


def _with_limits(
    judging: JudgingSession, spec: RunSpec, problems: Sequence[Problem], reporter: Reporter
) -> JudgingSession:
    """Derive time limits from references, if the spec asks for it."""
    if not isinstance(spec.test_timeout, str):
        return judging
    asked = judging._replace(by_reference=spec.test_timeout)
    return asked.for_problems(problems, spec.benchmark or "fixture", reporter)


def _check_place(path: Path, parent: Path, spec: RunSpec) -> None:
    """Check that the run can be made at a path, or goes on there. Raises RunDirectoryError."""
    if not has_run(path):
        check_new(path)
        return
    there = read_manifest(path)
    same = known_keys(there["spec"]) == known_keys(spec.model_dump(mode="json"))
    if there.get("parent") != str(parent.resolve()) or not same:
        raise RunDirectoryError(f"{path} is another run; choose another --out")
    check_begun(path)


def regrade_run(
    run: Path,
    out: Path | None,
    settings: Mapping[str, Any],
    *,
    as_json: bool,
    fail_under: str | None,
) -> int:
    """Grade a run's solutions once more and show the new run; return the exit code.

    Args:
        run: directory of the run.
        out: directory of the new run; None for `RUN-regraded`.
        settings: the given settings of judging, and `benchmark`.
        as_json: whether one JSON object is printed.
        fail_under: the least pass@1, as the user wrote it.

    Raises:
        HarnessError: see `regrade`.
    """
    err = console(error=True)

    def load(spec: RunSpec) -> Loaded:
        return load_with_bar(spec.benchmark or "fixture", err, skip_bad_rows=spec.skip_bad_rows)

    changed = Given.of(settings).without(ELSEWHERE)
    how, least = judging(among(settings, JUDGING)), read_rate(fail_under)
    reporter = TerminalReporter(err)
    regraded = judge_again(
        run, out, changed, how=how, load=load, reporter=reporter, tell=reporter.notice
    )
    print_summary(console(), regraded.summary, regraded.path, as_json=as_json)
    err.print(f"{count(len(regraded.changed), 'verdict')} changed")
    for result, verdict in regraded.changed[:MOST_CHANGES]:
        line = f"  {result.sample}: {verdict} before, {result.verdict_on_tests} now"
        err.print(printable_line(line), soft_wrap=True)
    if len(regraded.changed) > MOST_CHANGES:
        err.print(f"  and {len(regraded.changed) - MOST_CHANGES} more")
    if regraded.interrupted:
        err.print(f"interrupted; go on with: harness grade {run} --out {regraded.path}")
        return INTERRUPTED
    if regraded.failures:
        err.print(failure_words(regraded.failures, "solution"))
    return gate(err, regraded.path, least, stranded=len(regraded.failures))
