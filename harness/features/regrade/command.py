"""`harness regrade`: read a run, judge its solutions, write another run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli import completion
from harness.cli.settings_flags import JUDGING, AsJson, among, with_settings
from harness.errors import INFRASTRUCTURE, INTERRUPTED, RunDirectoryError
from harness.features.regrade.stored_solutions import (
    Regrading,
    Stored,
    answers_judged,
    stored_solutions,
)
from harness.problem import Problem
from harness.run.engine.manifest import surroundings, test_limits
from harness.run.plan.judging_options import judging_of
from harness.run.plan.problem_kinds import check_settings, rules_of
from harness.run.session.judging_session import JudgingSession, isolate, judge_jobs, judging, vet
from harness.run.spec.spec import RunSpec, default_of, known_keys, read_spec
from harness.run.store.directory import MANIFEST, RESULTS, RunDirectory, read_manifest
from harness.run.store.published import as_judged_here
from harness.run.store.results import read_results
from harness.run.store.versions import versions_after
from harness.run.summary.summary import summarize
from harness.terminal.progress import TerminalReporter, load_with_bar
from harness.terminal.run_outcome import gate, print_summary, read_rate
from harness.terminal.summary_table import console
from harness.text import count, printable_line

MOST_CHANGES = 20  # that are shown


def regrade_run(
    parent: Path,
    out: Path | None,
    flags: Mapping[str, Any],
    *,
    unsafe: bool,
    how: JudgingSession,
    as_json: bool,
    fail_under: float | None = None,
) -> int:
    """Judge a run's solutions again and return the exit code.

    Args:
        parent: directory of the run.
        out: directory of the new run.
        flags: the given keys, which override the run's own.
        unsafe: judge without a sandbox if none is available.
        how: settings of judging, of which only the place (executor) is used.
        as_json: print the summary as JSON.
        fail_under: the pass@1 that the new run must reach.

    Raises:
        UsageError: a flag has a value that is not accepted.
        RunDirectoryError: there is no such run, its problems have changed, or `out` is another run.
    """
    err = console(error=True)
    before = read_manifest(parent)
    spec = read_spec(None, {**known_keys(before["spec"]), **flags})
    loaded = load_with_bar(spec.benchmark or "fixture", err, skip_bad_rows=spec.skip_bad_rows)
    there = tuple(each for each in loaded.problems if each.id in before["problems"])
    rules = rules_of(there)
    check_settings(rules, how.said)
    where = replace(how.where, workers=spec.workers)
    judging = JudgingSession(judging_of(spec), where, spec.require_isolation, unsafe)
    if rules.runs_code:
        there = vet(there, judging, TerminalReporter(err))
        judging = _with_limits(judging, spec, there, err)
    stored = stored_solutions(parent, there)
    choice = isolate(TerminalReporter(err), spec.require_isolation, unsafe=unsafe)
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
    directory = _opened(out or parent.with_name(f"{parent.resolve().name}-regraded"), now)
    done = {result.sample for result in directory.committed()}
    left = [each for each in stored if each.result.sample not in done]
    err.print(f"{count(len(stored), 'solution')}, {len(left)} left to judge")
    regrading = Regrading(directory, parent, left, rules.extractor(spec.extract))
    try:
        jobs = regrading.jobs()
        if not rules.runs_code:
            for judged in answers_judged(jobs):
                regrading.keep(judged)
            jobs = []
        interrupted = judge_jobs(jobs, judging, TerminalReporter(err), "revisions", regrading.keep)
        results = directory.committed()
        failures = Counter(str(verdict) for _, verdict, _ in regrading.failures)
        summary = summarize(results, len(stored), failures, max_tokens=spec.max_tokens)
        directory.write_summary(summary.model_dump(mode="json"))
    finally:
        regrading.close()
        directory.close()
    print_summary(console(), summary, directory.path, as_json=as_json)
    _tell_changes(err, stored, directory.path)
    if interrupted:
        err.print(f"interrupted; go on with: harness regrade {parent} --out {directory.path}")
        return INTERRUPTED
    if regrading.failures:
        sample, _, cause = regrading.failures[0]
        err.print(
            f"{count(len(regrading.failures), 'solution')} not judged, the first, "
            f"{printable_line(sample)}, because: {printable_line(cause)}"
        )
        if fail_under is None:
            return INFRASTRUCTURE
    return gate(err, directory.path, fail_under)


def _with_limits(
    judging: JudgingSession, spec: RunSpec, problems: Sequence[Problem], err: Console
) -> JudgingSession:
    """Derive time limits from references, if the spec asks for it."""
    if not isinstance(spec.test_timeout, str):
        return judging
    asked = replace(judging, by_reference=spec.test_timeout)
    return asked.for_problems(problems, spec.benchmark or "fixture", TerminalReporter(err))


def _opened(path: Path, manifest: Mapping[str, Any]) -> RunDirectory:
    """Create the run, or resume it if it is the same one."""
    if not (path / MANIFEST).exists():
        return RunDirectory.create(path, manifest)
    there = read_manifest(path)
    same = known_keys(there["spec"]) == known_keys(manifest["spec"])
    if there.get("parent") != manifest["parent"] or not same:
        raise RunDirectoryError(f"{path} is another run; give another --out")
    return RunDirectory.resume(path)


def _tell_changes(err: Console, stored: Sequence[Stored], path: Path) -> None:
    """Print the verdicts that have changed."""
    before = {each.result.sample: each.result.verdict for each in stored}
    changed = [
        (result, before[result.sample])
        for result in read_results(path / RESULTS)
        if before[result.sample] is not result.verdict
    ]
    err.print(f"{count(len(changed), 'verdict')} changed")
    for result, verdict in changed[:MOST_CHANGES]:
        words = f"  {result.sample}: {verdict} before, {result.verdict} now"
        err.print(printable_line(words), soft_wrap=True)
    if len(changed) > MOST_CHANGES:
        err.print(f"  and {len(changed) - MOST_CHANGES} more")


@with_settings("benchmark", *JUDGING)
def regrade(
    settings: Mapping[str, Any],
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="The new run; one that was begun goes on. Default: RUN-regraded."
        ),
    ] = None,
    as_json: AsJson = False,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Exit with 1 if pass@1 is lower: 0.6 or 60%."),
    ] = None,
) -> None:
    """Grade a run's solutions once more, under another rule or other limits, as a new run."""
    elsewhere = {"unsafe_no_sandbox", "executor", "ray_address"}
    changed = {key: value for key, value in settings.items() if key not in elsewhere}
    changed.setdefault("require_isolation", default_of("require_isolation"))
    raise typer.Exit(
        regrade_run(
            run,
            out,
            changed,
            unsafe=settings.get("unsafe_no_sandbox", False),
            how=judging(among(settings, JUDGING)),
            as_json=as_json,
            fail_under=read_rate(fail_under),
        )
    )
