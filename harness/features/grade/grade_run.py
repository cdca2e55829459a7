"""Grade solutions: match, check, judge, time. The command and the library both use this."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.efficiency import Timing
from harness.efficiency.measurement import Timed
from harness.efficiency.scale import Efficiency
from harness.errors import NothingSelectedError
from harness.features.grade.grades import (
    GradedSolution,
    GradeSummary,
    graded_solution,
    summarize_grades,
)
from harness.features.grade.solutions import (
    MatchedSolution,
    Solution,
    jobs_of,
    judged_answers,
    match,
)
from harness.grading.jobs import Judged
from harness.problem import Problem
from harness.run.plan.problem_kinds import check_settings, check_tested, rules_of
from harness.run.reporter import Reporter
from harness.run.session.judging_session import JudgingSession, judge_reported, vetted_in
from harness.run.session.timing_session import time_reported
from harness.sandbox.executor import Executor
from harness.text import count


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


@dataclass(frozen=True, slots=True)
class GradeRun:
    """Solutions that are matched with their problems and can be judged.

    Attributes:
        benchmark: the `NAME[:WHERE]` that the problems are of.
        session: how and where they are judged.
        timing: how accepted solutions are timed; None: they are not.
        unmatched: the names of solutions that match no single problem.
    """

    benchmark: str
    session: JudgingSession
    timing: Timing | None
    matched: Sequence[MatchedSolution]
    unmatched: Sequence[str]

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
            NothingSelectedError: no solution matches a problem, or no problem has a test.
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
        said = [*session.said, *(["efficiency"] if timing else [])]
        check_settings(rules_of(each.problem for each in matched), said, caller=caller)
        return cls(benchmark, session, timing, matched, unmatched)

    @property
    def runs_code(self) -> bool:
        """Whether the solutions are programs, which need a sandbox, and not answers."""
        return rules_of(each.problem for each in self.matched).runs_code

    async def judge(self, pool: Executor, reporter: Reporter, store: GradeStore) -> None:
        """Judge programs; time those that pass, where that is wanted."""
        distinct = {each.problem.id: each.problem for each in self.matched}
        problems = await vetted_in(pool, [*distinct.values()], reporter)
        vetted = {problem.id: problem for problem in problems}
        matched = [replace(each, problem=vetted[each.problem.id]) for each in self.matched]
        session = await asyncio.to_thread(
            self.session.for_problems, problems, self.benchmark, reporter
        )
        keep = _keeper(matched, store)
        await judge_reported(
            pool, jobs_of(matched), session.options, "solutions", keep, reporter=reporter
        )
        passed = [
            Timed(number, matched[number].problem, matched[number].code, each.passed)
            for number, each in store.numbered()
            if each.graded
        ]
        if self.timing is not None and passed:
            await time_reported(
                pool,
                passed,
                session.options,
                self.timing,
                store.add_efficiency,
                reporter=reporter,
            )

    def compare_answers(self, store: GradeStore) -> None:
        """Judge answers of problems that ask for a value."""
        keep = _keeper(self.matched, store)
        for judged in judged_answers(self.matched):
            keep(judged)

    def summary(self, results: Sequence[GradedSolution]) -> GradeSummary:
        """Return the summary of what was judged."""
        return summarize_grades(results, self.matched, self.unmatched)


def _keeper(matched: Sequence[MatchedSolution], store: GradeStore) -> Callable[[Judged], None]:
    def keep(judged: Judged) -> None:
        store.add(judged.number, graded_solution(matched[judged.number], judged))

    return keep
