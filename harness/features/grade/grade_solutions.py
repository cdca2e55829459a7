"""`harness grade`: read solutions, match them to problems, judge and report."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from harness.efficiency.measurement import Timed
from harness.efficiency.scale import Timing
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, NothingSelectedError, UsageError
from harness.features.grade.graded_file import GradedFile
from harness.features.grade.grades import (
    GradedSolution,
    GradeSummary,
    graded_solution,
    jobs_of,
    judged_answers,
    summarize_grades,
)
from harness.features.grade.solution_match import MatchedSolution, match
from harness.features.grade.solution_readers import read_solutions
from harness.features.grade.view import grades_view
from harness.grading.jobs import Judged, Options, judge_all
from harness.run.plan.plan import judging_of
from harness.run.plan.problem_kinds import check_settings, check_tested, rules_of
from harness.run.session.judging_session import JudgingSession, judge_jobs, vet
from harness.run.session.timing_session import time_solutions
from harness.run.spec.spec import RunSpec
from harness.sandbox.executor import Executor
from harness.terminal.progress import load_with_bar
from harness.terminal.summary_table import console, write_json
from harness.terminal.terminal_reporter import TerminalReporter
from harness.text import bad_rows, count


def grade_file(
    spec: str,
    path: Path,
    judging: JudgingSession,
    *,
    extract: str,
    as_json: bool,
    skip_bad_rows: bool,
    timing: Timing | None = None,
) -> int:
    """Grade a file of solutions and return the exit code.

    Args:
        spec: the benchmark and where its files are, as `NAME[:WHERE]`.
        path: the file of solutions.
        judging: the settings of judging.
        extract: name of the rule that finds code in the model's text.
        as_json: print one JSON object in place of tables.
        skip_bad_rows: skip malformed rows of the problems.
        timing: timing method for solutions that pass; None to time none.

    Raises:
        UsageError: a flag has a value that is not accepted, or a file cannot be opened.
        DataError: a row of either file is malformed.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    err = console(error=True)
    solutions = read_solutions(path)
    loaded = load_with_bar(spec, err, skip_bad_rows=skip_bad_rows)
    matched, unmatched = match(solutions, loaded.problems, extract)
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
    if not matched:
        raise NothingSelectedError(
            f"none of {count(len(solutions), 'solution')} in {path} is for one of "
            f"{count(len(loaded.problems), 'problem')} of {spec}: the first is for "
            f"{solutions[0].name!r:.60}"
        )
    check_tested([each.problem for each in matched])
    runs_code = rules_of(each.problem for each in matched).runs_code
    if runs_code:
        judging, matched = _ready(judging, matched, spec, err)
    else:
        check_settings(
            rules_of(each.problem for each in matched),
            [*judging.said, *(["efficiency"] if timing else [])],
        )
    with GradedFile(whole=as_json) as graded:

        def keep(judged: Judged) -> None:
            graded.add(judged.number, graded_solution(matched[judged.number], judged))

        interrupted = False
        if runs_code:
            interrupted = judge_jobs(
                jobs_of(matched), judging, TerminalReporter(err), "solutions", keep
            )
        else:
            for judged in judged_answers(matched):
                keep(judged)
        if timing is not None and not interrupted:
            interrupted = _time(graded, matched, judging, timing, err)
        results = graded.results()
        summary = summarize_grades(results, matched, unmatched)
        out = console()
        if as_json:
            write_json(out, graded.json(summary))
        else:
            out.print(grades_view(summary, results))
    if interrupted:
        err.print(f"interrupted: {_left(summary, results, timing)}")
        return INTERRUPTED
    return INFRASTRUCTURE if summary.infrastructure else OK


def _left(summary: GradeSummary, results: Sequence[GradedSolution], timing: Timing | None) -> str:
    """Say how many solutions an interrupt left unjudged or untimed."""
    if summary.not_judged or timing is None:
        return f"{count(summary.not_judged, 'solution')} not judged"
    untimed = sum(each.graded and each.efficiency is None for each in results)
    return f"{count(untimed, 'solution')} not timed"


def _time(
    graded: GradedFile,
    matched: Sequence[MatchedSolution],
    judging: JudgingSession,
    timing: Timing,
    err: Console,
) -> bool:
    """Time solutions that pass; return whether the user interrupted it."""
    solutions = [
        Timed(number, matched[number].problem, matched[number].code, each.passed)
        for number, each in graded.numbered()
        if each.graded
    ]
    return time_solutions(solutions, judging, timing, TerminalReporter(err), graded.add_efficiency)


def _ready(
    judging: JudgingSession, matched: list[MatchedSolution], spec: str, err: Console
) -> tuple[JudgingSession, list[MatchedSolution]]:
    """Check examples and derive limits from references, where settings ask for it."""
    problems = vet(
        [*{each.problem.id: each.problem for each in matched}.values()],
        judging,
        TerminalReporter(err),
    )
    vetted = {problem.id: problem for problem in problems}
    matched = [replace(each, problem=vetted[each.problem.id]) for each in matched]
    return judging.for_problems(problems, spec, TerminalReporter(err)), matched


CODE = "code"
"""Given in place of an extraction rule: each text is the solution itself."""


def options_of(spec: RunSpec, caller: str) -> Options:
    """Return how the spec has solutions judged. Raises UsageError."""
    if isinstance(spec.test_timeout, str):
        raise UsageError(
            f"{caller}: test_timeout {spec.test_timeout!r} needs a benchmark by its "
            "name; with loaded problems give seconds"
        )
    return judging_of(spec)


async def judge_matched(
    pool: Executor,
    matched: Sequence[MatchedSolution],
    options: Options,
    keep: Callable[[Judged], None],
) -> None:
    """Judge solutions, or answers where the problems ask for a value.

    Args:
        pool: the sandboxes that run them.
        matched: solutions of problems of one kind.
        options: limits and rules of judging.
        keep: called with each judged solution; its `number` is the index in `matched`.
    """
    if rules_of(each.problem for each in matched).runs_code:
        await judge_all(pool, jobs_of(matched), options, keep)
        return
    for judged in judged_answers(matched):
        keep(judged)
