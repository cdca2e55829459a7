"""Compare references on generated inputs (`verify --generated`).

A problem's inputs are made by its generator and compared in batches. None is kept, as they may be
large. Work on a problem stops after a batch in which its generator makes nothing, and where judging
of a solution would stop: after a batch in which a reference hit a limit, unless all tests are asked
for; or after a disagreement, if judging stops at failures.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from harness.errors import DataError
from harness.features.verify.cross_check import CrossCheck, Disagreement, disagreements
from harness.features.verify.generated_inputs import EXCERPT, Generated, generated_inputs
from harness.grading.checkers import CheckerError
from harness.grading.jobs import Options, code_hash
from harness.grading.stop import Stop
from harness.grading.verdict import INFRASTRUCTURE, LIMITS, Verdict
from harness.models.protocol import Frozen
from harness.problem import Problem, TestSuite
from harness.run.summary.summary import counted
from harness.sandbox.executor import Executor
from harness.sandbox.program import SandboxError
from harness.sandbox.worker import Worker
from harness.text import around, writable

MOST_INPUTS = 1000
BATCH = 20
"""Inputs at a time, each of at most 8 MiB."""
ENOUGH = 2  # references needed to compare


class Disagreeing(Frozen):
    """Disagreements of a reference with the first one, with the same verdict.

    Attributes:
        reference: index among the problem's references, where 0 is the first one.
        verdict: verdict on its answers, if the first one's are right; or that of an infrastructure
            failure, which says nothing about the reference.
        inputs: number of inputs.
        seed, input, detail: the first of these inputs; the texts are excerpts.
    """

    reference: int
    verdict: Verdict
    inputs: int
    seed: int
    input: str
    detail: str


class Fault(Frozen):
    """Seeds that failed: their number, the first of them, and its cause."""

    inputs: int
    seed: int
    why: str


class CrossChecked(Frozen):
    """Result of a problem's generated inputs.

    Attributes:
        references: number of references; with fewer than two nothing can be compared.
        tried: number of inputs requested, from seed 0; fewer than wanted if the problem ended
            early.
        made: number of inputs that the generator made.
        different: number of distinct inputs among these.
        compared: number of those compared; without those on which the first reference or hooks
            fail.
        disagreements: disagreements, by reference.
        generator_fails: seeds for which no input was made.
        not_compared: inputs on which nothing could be compared.
        failure: infrastructure failure that ended the check; earlier findings stay valid.
        isolation: level of the sandbox.
    """

    references: int
    tried: int
    made: int
    different: int
    compared: int
    disagreements: tuple[Disagreeing, ...] = ()
    generator_fails: Fault | None = None
    not_compared: Fault | None = None
    failure: str = ""
    isolation: str = ""

    @property
    def disagree(self) -> bool:
        """Whether a reference differs from the first, apart from infrastructure failures."""
        return any(each.verdict not in INFRASTRUCTURE for each in self.disagreements)

    @property
    def infrastructure(self) -> bool:
        """Whether infrastructure failed, for the problem or for a reference."""
        return bool(self.failure) or any(
            each.verdict in INFRASTRUCTURE for each in self.disagreements
        )


class CrossChecks(Frozen):
    """Results of a source's problems.

    Attributes:
        problems, with_generator: numbers of selected problems, and of those with a generator.
        checked, made_for: number of those reached before an interrupt, and of those with inputs.
        tried, made, different, compared: sums of these fields of `CrossChecked`.
        disagree: problems whose references disagree.
        generator_fails: problems whose generator fails, for some seeds or all.
        too_few_references: problems with fewer than two references.
        infrastructure: number of problems with an infrastructure failure.
    """

    problems: int
    with_generator: int
    checked: int
    made_for: int
    tried: int
    made: int
    different: int
    compared: int
    disagree: tuple[str, ...]
    generator_fails: tuple[str, ...]
    too_few_references: tuple[str, ...]
    infrastructure: int
    isolation: dict[str, int]


def has_generator(problem: Problem) -> bool:
    """Whether the problem's data contain an input generator."""
    return bool(problem.generator.strip())


async def cross_check_all(
    pool: Executor,
    problems: Sequence[Problem],
    options: Options,
    done: Callable[[int, CrossChecked], None],
    *,
    inputs: int,
    most: int | None = None,
) -> None:
    """Cross-check the problems with a generator, one at a time on each worker.

    An infrastructure failure ends only its own problem. When cancelled, it drops problems in
    progress; reported ones stay valid.

    Args:
        pool: executor of generators and references.
        problems: problems; those without a generator are skipped.
        options: limits of a call, the rule, and when to stop.
        done: called with each problem's index and result, in no particular order.
        inputs: inputs of each problem; their seeds count from 0.
        most: most references of a problem, from the first; None for all.
    """
    waiting = iter([place for place, problem in enumerate(problems) if has_generator(problem)])

    async def take_turns() -> None:
        for place in waiting:
            check = _Check(problems[place], options, inputs, most)
            done(place, await _cross_check(pool, check))

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())


async def _cross_check(pool: Executor, check: "_Check") -> CrossChecked:
    failure = ""
    try:
        while not check.over:
            check = await pool.call(check.next_batch)
    except (SandboxError, DataError, CheckerError) as error:
        failure = _excerpt(str(error)) or type(error).__name__
    return check.result(failure)


@dataclass(slots=True)
class _Check:
    """A problem in progress; a batch changes the fields only at its end."""

    problem: Problem
    options: Options
    inputs: int
    most: int | None
    over: bool = False
    decoded: Problem | None = None
    references: int = 0
    tried: int = 0
    made: int = 0
    compared: int = 0
    seen: set[str] = field(default_factory=set[str])
    found: dict[tuple[int, Verdict], Disagreeing] = field(
        default_factory=dict[tuple[int, Verdict], Disagreeing]
    )
    generator_fails: Fault | None = None
    not_compared: Fault | None = None
    isolation: str = ""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to send to another machine, where data are decoded again."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**state, "decoded": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def next_batch(self, worker: Worker) -> "_Check":
        """Run the next batch and return this object.

        Raises:
            SandboxError, DataError, CheckerError: the check of the problem ends.
        """
        problem = self.decoded = self.decoded or self._decode()
        self.references = len(problem.load_references())
        self.isolation = worker.isolation.level
        limits = self.options.limits(problem)
        count = min(BATCH, self.inputs - self.tried)
        made = generated_inputs(worker, problem, count, self.tried, limits)
        seeds = self._new(made)
        found = disagreements(worker, problem, list(seeds), limits)
        self._take(made, seeds, found)
        self.over = self._is_enough(made, found)
        return self

    def _decode(self) -> Problem:
        """Return the problem with decoded data and the requested rule."""
        references = [r for r in self.problem.load_references() if r.language == "python"]
        chosen = tuple(references[: self.most])
        hidden = self.problem.tests.load_hidden()
        changes = {
            "tests": TestSuite(self.problem.tests.public, lambda: hidden),
            "load_references": lambda: chosen,
        }
        if self.options.rule:
            changes |= {"rule": self.options.rule, "checker": None}
        return self.problem.model_copy(update=changes)

    def _new(self, made: Sequence[Generated]) -> dict[str, int]:
        """Return the inputs not seen before, with the first seed that made each."""
        seeds: dict[str, int] = {}
        for each in made:
            if not each.failure and code_hash(each.input) not in self.seen:
                seeds.setdefault(each.input, each.seed)
        return seeds

    def _take(self, made: Sequence[Generated], seeds: dict[str, int], found: CrossCheck) -> None:
        self.tried += len(made)
        self.made += sum(not each.failure for each in made)
        self.seen |= set(map(code_hash, seeds))
        self.compared += found.compared if self.references >= ENOUGH else 0
        for each in found.disagreements:
            # A reference that cannot be compiled is reported once, and wrong on all inputs.
            inputs = found.compared if each.verdict is Verdict.COMPILE_ERROR else 1
            self._add(each, seeds[each.input], inputs)
        for each in made:
            if each.failure:
                self.generator_fails = _and(self.generator_fails, each.seed, each.failure)
        for seed, why in sorted((seeds[each.input], each.why) for each in found.unusable):
            self.not_compared = _and(self.not_compared, seed, why)

    def _add(self, found: Disagreement, seed: int, inputs: int) -> None:
        key = (found.reference, found.verdict)
        before = self.found.get(key)
        if before is not None and before.seed < seed:
            self.found[key] = before.model_copy(update={"inputs": before.inputs + inputs})
            return
        self.found[key] = Disagreeing(
            reference=found.reference,
            verdict=found.verdict,
            inputs=inputs + (before.inputs if before else 0),
            seed=seed,
            input=_excerpt(found.input),
            detail=writable(found.detail),
        )

    def _is_enough(self, made: Sequence[Generated], found: CrossCheck) -> bool:
        verdicts = {each.verdict for each in found.disagreements}
        match self.options.stop:
            case _ if self.tried >= self.inputs or all(each.failure for each in made):
                return True
            case Stop.NEVER | Stop.LATE:
                return False
            case Stop.AUTO:
                return bool(verdicts & LIMITS)
            case Stop.FAILURE:
                return bool(verdicts)

    def result(self, failure: str) -> CrossChecked:
        """Return the result."""
        return CrossChecked(
            references=self.references,
            tried=self.tried,
            made=self.made,
            different=len(self.seen),
            compared=self.compared,
            disagreements=tuple(self.found[key] for key in sorted(self.found)),
            generator_fails=self.generator_fails,
            not_compared=self.not_compared,
            failure=failure,
            isolation=self.isolation,
        )


def _and(before: Fault | None, seed: int, why: str) -> Fault:
    if before is None:
        return Fault(inputs=1, seed=seed, why=_excerpt(why))
    return before.model_copy(update={"inputs": before.inputs + 1})


def _excerpt(text: str) -> str:
    return writable(around(" ".join(text.split()), 0, EXCERPT))


def summarize_cross_checks(
    problems: Sequence[Problem], checked: dict[int, CrossChecked]
) -> CrossChecks:
    """Summarize cross-checks; the keys of `checked` are indices of problems."""
    pairs = [(problems[place].id, checked[place]) for place in sorted(checked)]
    found = [each for _, each in pairs]
    return CrossChecks(
        problems=len(problems),
        with_generator=sum(map(has_generator, problems)),
        checked=len(found),
        made_for=sum(each.made > 0 for each in found),
        tried=sum(each.tried for each in found),
        made=sum(each.made for each in found),
        different=sum(each.different for each in found),
        compared=sum(each.compared for each in found),
        disagree=tuple(name for name, each in pairs if each.disagree),
        generator_fails=tuple(name for name, each in pairs if each.generator_fails),
        too_few_references=tuple(
            name for name, each in pairs if each.references < ENOUGH and not each.failure
        ),
        infrastructure=sum(each.infrastructure for each in found),
        isolation=counted(each.isolation for each in found if each.isolation),
    )
