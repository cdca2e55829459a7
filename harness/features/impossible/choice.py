"""Choose the problems that get an impossible test, by a seed, and change their tests.

Problems are looked at in an order that the seed and their ids give, until there are enough. A
problem that is not fit, or whose change cannot be proven, is passed over and counted. A resumed or
replayed run keeps its changes; of problems that are added, the same share is changed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from harness.errors import NothingSelectedError, RunDirectoryError
from harness.features.impossible.changed_tests import IMPOSSIBLE, TestChange, with_changes
from harness.features.impossible.fitness import (
    Proof,
    ReferenceRuns,
    only_tests,
    rule_refuses,
    unfit,
)
from harness.features.impossible.impossible_tests import ImpossibleTests
from harness.features.impossible.mutations import mutants
from harness.grading.jobs import Options
from harness.models.providers import REPLAY_PREFIX
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.plan.run_part import RunPart
from harness.run.reporter import Reporter
from harness.run.session.judging import in_session
from harness.run.session.judging_session import session_of
from harness.run.settings.impossible_settings import ImpossibleKind
from harness.run.store.directory import read_manifest
from harness.sandbox.executor import Executor
from harness.sources.selection import select

NOTHING_TO_CHANGE = "no output that can be changed"
REASONS = {
    Proof.PASSED: "a reference passes the changed test",
    Proof.DOUBTFUL: "the references do not agree with the test",
}


def with_impossible_tests(plan: Plan, before: Mapping[str, Any] | None, reporter: Reporter) -> Plan:
    """Return the plan of a run that asks for impossible tests, with them.

    Args:
        plan: a plan.
        before: the manifest of a run to resume, which keeps its tests; None for a new run.
        reporter: shows notices about the sandbox, in which references are run.

    Raises:
        NothingSelectedError: no problem is fit for an impossible test.
        RunDirectoryError: the run to resume has other tests now.
        DataError: tests or references cannot be decoded.
        IsolationError: no sandbox is strong enough for the references.
    """
    assert plan.spec.impossible is not None
    kept, known = _kept(plan, before)
    wanted = max(1, round(plan.spec.impossible * len(_whole(plan)))) - len(kept.changes)
    new = [problem for problem in _whole(plan) if problem.id not in known]
    tests = kept
    if wanted > 0 and new:
        choice = Choice(plan.judging, plan.spec.impossible_kind, plan.spec.seed)
        choose = choice.chooser(new, wanted)
        if in_session(choose, session_of(plan.spec), reporter):
            raise KeyboardInterrupt
        tests = choice.added_to(kept)
    if not tests.changes:
        reasons = ", ".join(f"{why} {number:,}" for why, number in tests.unfit.items())
        raise NothingSelectedError(
            f"--set impossible: no problem is fit for such a test ({reasons})"
        )
    own = {problem.id for problem in plan.problems}
    changes = {name: change for name, change in tests.changes.items() if name in own}
    selected = plan.selected._replace(problems=with_changes(plan.problems, changes))
    tests = replace(tests, changes=changes)
    notice = tests.notice(len(plan.problems))
    part = RunPart(graded=tests.graded, notice=notice, stored=tests.as_json())
    parts = {**plan.parts, IMPOSSIBLE: part}
    return replace(plan, selected=selected, to_the_end=changes, parts=parts)


def _whole(plan: Plan) -> Sequence[Problem]:
    """Return the problems of the whole run, of which a shard has a part."""
    if plan.spec.shard is None:
        return plan.problems
    return select(plan.loaded.problems, plan.spec.selection()).problems


def _kept(
    plan: Plan, before: Mapping[str, Any] | None
) -> tuple[ImpossibleTests, Mapping[str, Any]]:
    """Return the tests of the run to resume or replay, and all its problems."""
    name = plan.model_name
    if before is None and name.startswith(REPLAY_PREFIX):
        try:
            before = read_manifest(Path(name.removeprefix(REPLAY_PREFIX)))
        except RunDirectoryError:  # not a run: bundled recordings, or another program's
            return ImpossibleTests({}), {}
        if before["spec"].get("impossible_kind") != plan.spec.impossible_kind:
            return ImpossibleTests({}), {}
    previous = None if before is None else ImpossibleTests.read(before)
    if before is None or previous is None:
        return ImpossibleTests({}), {}
    return previous, before["problems"]


@dataclass
class Choice:
    """Changes the tests of problems until there are enough.

    Attributes:
        options: how solutions are judged.
        kind: kind of the changes.
        seed: seed of the order and of the changes.
        changes: changes by problem id.
        reasons: number of problems that were not fit, by reason.
        looked_at: number of problems looked at.
    """

    options: Options
    kind: ImpossibleKind
    seed: int
    changes: dict[str, TestChange] = field(default_factory=dict[str, TestChange])
    reasons: Counter[str] = field(default_factory=Counter[str])
    looked_at: int = 0

    def chooser(self, problems: Sequence[Problem], wanted: int) -> Any:
        """Return a coroutine function of an executor that makes so many changes."""

        async def choose(pool: Executor) -> None:
            references = ReferenceRuns(pool, self.options)
            for problem in sorted(problems, key=self._rank):
                if len(self.changes) == wanted:
                    return
                await self._look_at(problem, references)

        return choose

    def added_to(self, kept: ImpossibleTests) -> ImpossibleTests:
        """Return the changes beside earlier ones."""
        return ImpossibleTests(
            {**kept.changes, **self.changes},
            kept.looked_at + self.looked_at,
            dict(Counter(kept.unfit) + self.reasons),
        )

    async def _look_at(self, problem: Problem, references: ReferenceRuns) -> None:
        self.looked_at += 1
        reason = unfit(problem, self.options)
        change = None
        if reason is None:
            change = next(self.proposals(problem), None)
            reason = NOTHING_TO_CHANGE if change is None else None
        if change is not None:
            reason = REASONS.get(await references.proof(problem, change))
        if change is None or reason is not None:
            self.reasons[reason or NOTHING_TO_CHANGE] += 1
        else:
            self.changes[problem.id] = change

    def proposals(self, problem: Problem) -> Iterator[TestChange]:
        """Yield changes of a problem's tests that its rule refuses, in the seed's order."""
        random = Random(self._rank(problem))  # noqa: S311 - to be repeated, not secret
        tests = problem.tests.public
        places = only_tests(tests)
        random.shuffle(places)
        for place in places:
            before = tests[place].output
            for each in mutants(before, random, functional=problem.entry_point is not None):
                if rule_refuses(problem, self.options, before, each.output):
                    yield TestChange(
                        kind=self.kind,
                        test=place + (self.kind == "conflicting"),
                        mutation=each.mutation,
                        before=before,
                        after=each.output,
                    )

    def _rank(self, problem: Problem) -> str:
        """Return a text that orders the problems by the seed."""
        return hashlib.sha256(f"{self.seed}\0{problem.id}".encode()).hexdigest()
