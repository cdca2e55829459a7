"""How `harness grade` goes: read, match, judge, report."""

from dataclasses import replace
from pathlib import Path

from harness.agent.upstream_extraction import EXTRACTORS
from harness.cli.exit_codes import INFRASTRUCTURE, INTERRUPTED, OK
from harness.cli.judging import Judging, judge_jobs
from harness.cli.loading import load_problems
from harness.cli.vetting import vet
from harness.errors import NothingSelectedError, UsageError
from harness.report.grades import grades_view
from harness.report.tables import console, write_json
from harness.report.text import bad_rows, count
from harness.runs.graded_file import GradedFile
from harness.runs.grades import graded_solution, jobs_of, match, summarize_grades
from harness.runs.judging import Judged
from harness.runs.solutions import read_solutions


def grade_file(
    spec: str,
    path: Path,
    judging: Judging,
    *,
    extract: str,
    as_json: bool,
    skip_bad_rows: bool,
) -> int:
    """Grade a file of solutions; returns the exit code.

    Raises:
        UsageError: a flag's value is none that can be, or a file cannot be opened.
        DataError: a row of either file is not as it should be.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    if extract not in EXTRACTORS:
        raise UsageError(f"--extract {extract}: known are {', '.join(EXTRACTORS)}")
    err = console(error=True)
    solutions = read_solutions(path)
    loaded = load_problems(spec, err, skip_bad_rows=skip_bad_rows)
    matched, unmatched = match(solutions, loaded.problems, EXTRACTORS[extract])
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
    if not matched:
        raise NothingSelectedError(
            f"none of {count(len(solutions), 'solution')} in {path} is for one of "
            f"{count(len(loaded.problems), 'problem')} of {spec}: the first is for "
            f"{solutions[0].name!r:.60}"
        )
    problems = vet([*{each.problem.id: each.problem for each in matched}.values()], judging, err)
    vetted = {problem.id: problem for problem in problems}
    matched = [replace(each, problem=vetted[each.problem.id]) for each in matched]
    judging = judging.for_problems(problems, spec, err)
    with GradedFile(whole=as_json) as graded:

        def keep(judged: Judged) -> None:
            graded.add(judged.number, graded_solution(matched[judged.number], judged))

        interrupted = judge_jobs(jobs_of(matched), judging, err, "solutions", keep)
        results = graded.results()
        summary = summarize_grades(results, matched, unmatched)
        out = console()
        if as_json:
            write_json(out, graded.json(summary))
        else:
            out.print(grades_view(summary, results))
    if interrupted:
        err.print(f"interrupted: {count(summary.not_judged, 'solution')} not judged")
        return INTERRUPTED
    return INFRASTRUCTURE if summary.infrastructure else OK
