"""Grade solutions: match, check, judge, time; and the file of `harness grade`."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from rich.console import Console

from harness.closing import Closing
from harness.errors import INFRASTRUCTURE, INTERRUPTED, MISSED, OK, NothingSelectedError, UsageError
from harness.features.efficiency.measurement import Scales, TimedSolution, time_all
from harness.features.efficiency.scale import Efficiency
from harness.features.grade.grades import (
    SCHEMA,
    GradedSolution,
    GradeSummary,
    graded_solution,
    grades_view,
    summarize_grades,
)
from harness.features.grade.solution_readers import read_solutions
from harness.features.grade.solutions import (
    MatchedSolution,
    Solution,
    jobs_of,
    judged_answers,
    match,
)
from harness.figures import count, percent
from harness.grading.jobs import Judged, Options
from harness.languages import PYTHON, known
from harness.problem import Problem
from harness.run.plan.languages import check_language, left_out_words, refusal
from harness.run.plan.problem_kinds import check_settings, check_tested, rules_of
from harness.run.reporter import Reporter
from harness.run.session.judging import in_session, judge_reported
from harness.run.session.judging_session import JudgingSession
from harness.run.settings.execution_settings import Timing
from harness.sandbox.executor import Executor
from harness.terminal.consoles import console, write_json
from harness.terminal.gate import CLOSE
from harness.terminal.progress import TerminalReporter, load_telling
from harness.text import printable_line


class GradeStore:
    """Graded solutions in memory, added in any order; `number` is a solution's place among all."""

    def __init__(self) -> None:
        self._kept: dict[int, GradedSolution] = {}

    def add(self, number: int, graded: GradedSolution) -> None:
        """Store a graded solution."""
        self._kept[number] = graded

    def add_efficiency(self, number: int, efficiency: Efficiency) -> None:
        """Add its efficiency to a stored solution."""
        self._kept[number] = self._kept[number].model_copy(update={"efficiency": efficiency})

    def numbered(self) -> list[tuple[int, GradedSolution]]:
        """Return the stored solutions with their numbers, in order."""
        return sorted(self._kept.items())

    def results(self) -> list[GradedSolution]:
        """Return the stored solutions in order."""
        return [each for _, each in self.numbered()]


class GradeRun(NamedTuple):
    """Solutions that are matched with their problems and can be judged.

    Attributes:
        benchmark: the `NAME[:WHERE]` that the problems are of.
        session: how and where they are judged.
        timing: how accepted solutions are timed; None: they are not.
        unmatched: the names of solutions that match no single problem.
        left_out: a line for each language that some problems do not take.
    """

    benchmark: str
    session: JudgingSession
    timing: Timing | None
    matched: Sequence[MatchedSolution]
    unmatched: Sequence[str]
    left_out: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        solutions: Sequence[Solution],
        problems: Sequence[Problem],
        benchmark: str,
        session: JudgingSession,
        *,
        extract: str,
        timing: Timing | None,
        caller: str = "",
    ) -> "GradeRun":
        """Match solutions with problems, and check that they can be judged.

        Args:
            solutions: what was read.
            problems: those that the solutions may be of.
            benchmark: the `NAME[:WHERE]` of the problems.
            session: how and where to judge.
            extract: the rule that finds code in a model's text.
            timing: how accepted solutions are timed; None: they are not.
            caller: the Python function that was called; empty for the command.

        Raises:
            NothingSelectedError: no solution matches a problem that takes its language, or no
                problem has a test.
            UsageError: a setting has no effect on problems of this kind.
        """
        matched, unmatched = match(solutions, problems, extract)
        if not matched:
            raise NothingSelectedError(
                f"none of {count(len(solutions), 'solution')} is for one of "
                f"{count(len(problems), 'problem')} of {benchmark}"
                + (f": the first is for {unmatched[0]!r:.60}" if unmatched else "")
            )
        check_tested([each.problem for each in matched])
        flags, languages = session.options.flags, {each.language for each in matched}
        if flags and languages == {PYTHON}:
            raise UsageError("--set cpp_flags: no solution is in C++; leave it out")
        matched, left_out = _judgeable(matched)
        for language in sorted({each.language for each in matched}):
            problems_of = (each.problem for each in matched if each.language == language)
            if timing is not None and language != PYTHON:
                title = known.language(language).title
                raise UsageError(
                    f"efficiency is measured for Python only, and solutions are {title}"
                )
            check_language(language, problems_of, flags=flags)
        given = [*session.given, *(["efficiency"] if timing else [])]
        check_settings(rules_of(each.problem for each in matched), given, caller=caller)
        return cls(benchmark, session, timing, matched, unmatched, left_out)

    @property
    def runs_code(self) -> bool:
        """Whether the solutions are programs, which need a sandbox, and not answers."""
        return rules_of(each.problem for each in self.matched).runs_code

    async def judge(self, pool: Executor, reporter: Reporter, store: GradeStore) -> None:
        """Judge programs; time those that pass, where that is wanted."""
        matched = self.matched
        problems = [*{each.problem.id: each.problem for each in matched}.values()]
        session = await asyncio.to_thread(
            self.session.for_problems, problems, self.benchmark, reporter
        )
        keep = _keeper(matched, store, session.options.flags)
        await judge_reported(
            pool, jobs_of(matched), session.options, "solutions", keep, reporter=reporter
        )
        passed = [
            TimedSolution(number, matched[number].problem, matched[number].code, each.passed)
            for number, each in store.numbered()
            if each.graded
        ]
        if self.timing is not None and passed:
            await _time_reported(
                pool,
                passed,
                session.options,
                self.timing,
                store.add_efficiency,
                reporter=reporter,
            )

    def compare_answers(self, store: GradeStore) -> None:
        """Judge answers of problems that ask for a value."""
        keep = _keeper(self.matched, store, self.session.options.flags)
        for judged in judged_answers(jobs_of(self.matched)):
            keep(judged)

    def summary(self, results: Sequence[GradedSolution]) -> GradeSummary:
        """Return the summary of what was judged."""
        return summarize_grades(results, self.matched, self.unmatched)


def _judgeable(
    matched: Sequence[MatchedSolution],
) -> tuple[list[MatchedSolution], list[str]]:
    """Return the solutions whose problems take their language, and a line on those that do not.

    Raises:
        NothingSelectedError: no problem takes its solution's language.
    """
    reasons: dict[tuple[str, str], str] = {}
    for each in matched:
        key = each.language, each.problem.id
        if key not in reasons:
            reasons[key] = refusal(each.problem, each.language)
    lines = [
        left_out_words(Counter(own), name)
        for name in sorted({name for name, _ in reasons})
        if (own := [why for (language, _), why in reasons.items() if why and language == name])
    ]
    kept = [each for each in matched if not reasons[each.language, each.problem.id]]
    if not kept:
        raise NothingSelectedError("; ".join(lines))
    return kept, lines


def _keeper(
    matched: Sequence[MatchedSolution], store: GradeStore, flags: str
) -> Callable[[Judged], None]:
    def keep(judged: Judged) -> None:
        store.add(judged.number, graded_solution(matched[judged.number], judged, flags))

    return keep


class GradedFile(GradeStore, Closing):
    """Graded solutions with their tests: only the first failed one in memory.

    Args:
        whole: keep every test of each solution as well, on disk.
    """

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole
        self._places: dict[int, tuple[int, int]] = {}
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object

    def add(self, number: int, graded: GradedSolution) -> None:
        """Keep a graded solution; `number` is its position in the final order."""
        if self._whole:
            text = graded.model_dump_json().encode()
            self._places[number] = self._file.tell(), len(text)
            self._file.write(text)
        failed = (test for test in graded.tests if not test.passed)
        first = next(failed, None)
        tests = () if first is None else (first,)
        super().add(number, graded.model_copy(update={"tests": tests}))

    def add_efficiency(self, number: int, efficiency: Efficiency) -> None:
        """Add the measured efficiency to a solution that is already kept."""
        super().add_efficiency(number, efficiency)
        if self._whole:
            whole = GradedSolution.model_validate_json(self._read(number))
            text = whole.model_copy(update={"efficiency": efficiency}).model_dump_json().encode()
            self._places[number] = self._file.seek(0, SEEK_END), len(text)
            self._file.write(text)

    def _read(self, number: int) -> bytes:
        start, size = self._places[number]
        self._file.seek(start)
        return self._file.read(size)

    def json(self, summary: GradeSummary) -> Iterator[str]:
        """Yield one JSON object in pieces: the whole results in order, and the summary."""
        yield f'{{"schema_version": {SCHEMA}, "results": ['
        for index, number in enumerate(sorted(self._places)):
            yield (", " if index else "") + self._read(number).decode()
        yield f'], "summary": {summary.model_dump_json()}}}'

    def close(self) -> None:
        """Close and delete the temporary file."""
        self._file.close()


class GradeGates(NamedTuple):
    """What graded solutions must reach for exit code 0.

    Attributes:
        solved: least pass@1; None for any.
        agreeing: least share of published verdicts that agree; None for any.
    """

    solved: float | None = None
    agreeing: float | None = None

    def check(self, matched: Sequence[MatchedSolution]) -> None:
        """Raise UsageError if agreement is asked for and no verdict is published."""
        if self.agreeing is not None and all(each.published is None for each in matched):
            raise UsageError(
                "--agree-under: no solution has a published verdict; give 'verdict' or 'passed' "
                "in its row"
            )

    def code(self, summary: GradeSummary, err: Console) -> int:
        """Return the exit code, and print which gate was missed."""
        if summary.infrastructure or not summary.graded:
            return INFRASTRUCTURE
        published = summary.published
        reached = (
            ("--fail-under", self.solved, summary.pass_at_1 and summary.pass_at_1.value, "pass@1"),
            (
                *("--agree-under", self.agreeing),
                published and published.agree / published.compared,
                "agreement with published verdicts",
            ),
        )
        missed = [each for each in reached if each[1] is not None and _is_lower(each[2], each[1])]
        for flag, least, value, what in missed:
            is_ = "unknown" if value is None else percent(value)
            err.print(f"{flag} {percent(least or 0.0)}: missed, {what} is {is_}", soft_wrap=True)
        return MISSED if missed else OK


def _is_lower(value: float | None, least: float) -> bool:
    return value is None or value < least - CLOSE


def grade_file(
    spec: str,
    path: Path,
    judging: JudgingSession,
    *,
    extract: str,
    as_json: bool,
    skip_bad_rows: bool,
    timing: Timing | None = None,
    gates: GradeGates | None = None,
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
        gates: what must be reached; None for nothing.

    Raises:
        UsageError: a flag has a value that is not accepted, or a file cannot be opened.
        DataError: a row of either file is malformed.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    err = console(error=True)
    reporter, interrupted = TerminalReporter(err), False
    solutions = read_solutions(path)
    loaded = load_telling(spec, err, skip_bad_rows=skip_bad_rows)
    run = GradeRun.of(solutions, loaded.problems, spec, judging, extract=extract, timing=timing)
    for line in run.left_out:
        reporter.notice(printable_line(line))
    gates = gates or GradeGates()
    gates.check(run.matched)
    with GradedFile(whole=as_json) as graded:
        if run.runs_code:
            interrupted = in_session(
                lambda pool: run.judge(pool, reporter, graded), judging, reporter
            )
        else:
            run.compare_answers(graded)
        results = graded.results()
        summary = run.summary(results)
        out = console()
        if as_json:
            write_json(out, graded.json(summary))
        else:
            out.print(grades_view(summary, results))
    if interrupted:
        err.print(f"interrupted: {_left(summary, results, timing)}")
        return INTERRUPTED
    return gates.code(summary, err)


def _left(summary: GradeSummary, results: Sequence[GradedSolution], timing: Timing | None) -> str:
    """Return what an interrupt left undone, in words."""
    if summary.not_judged or timing is None:
        return f"{count(summary.not_judged, 'solution')} not judged"
    untimed = sum(each.graded and each.efficiency is None for each in results)
    return f"{count(untimed, 'solution')} not timed"


async def _time_reported(
    pool: Executor,
    solutions: Sequence[TimedSolution],
    options: Options,
    timing: Timing,
    keep: Callable[[int, Efficiency], None],
    *,
    reporter: Reporter,
) -> None:
    """Time solutions, and report progress.

    Args:
        pool: the workers.
        solutions: those of one problem should follow one another.
        options: limits of time and memory.
        timing: the method.
        keep: receives each solution's number and result.
        reporter: shows the progress.
    """
    with reporter.judging(len(solutions), "solutions timed") as progress:

        def done(number: int, efficiency: Efficiency) -> None:
            keep(number, efficiency)
            progress.judged(good=efficiency.time is not None, failed=False)

        await time_all(pool, solutions, Scales(options, timing), done)
