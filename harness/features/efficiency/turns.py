"""Solutions of one problem timed in turns, on its tests.

A pass is one run of a solution on all tests of the problem. The cost of a pass drifts by a quarter
from second to second, so times of different moments cannot be compared. Two solutions therefore
take turns, test by test or pass by pass, and the ratio of the two is used.

Short passes are timed several together, each in a namespace of its own. A solution could still keep
results elsewhere in its process for the next pass. Therefore, in every new process, the first run
of some tests is compared with the second. A solution whose second run is much faster, and by more
than the others', remembers; see `Turns.remembers`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from secrets import randbelow
from statistics import median
from typing import NamedTuple

from harness.grading.answer_comparison import CheckerError
from harness.grading.rules import find_rule
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.task import Task
from harness.kinds.checkers.check import Check
from harness.sandbox.program import Program
from harness.sandbox.timing_race import Lap, ProgramStep, TimingRace
from harness.sandbox.trial import encoded
from harness.sandbox.worker import Worker

NUL = b"\0"

Answers = tuple[bytes, ...]
"""One answer per test: printed output, or a function's result in the sandbox's notation."""

LONG_ENOUGH_S = 0.0015  # of a turn: starting and ending one costs a hundredth of it
MOST_PASSES = 64  # in a turn: that many namespaces are made for it
TURN_S = 0.0003  # cost of starting and ending a turn
FRESH_S = 0.003  # cost of a new process
PAIRS, FEWEST_PAIRS = 6, 4  # of a batch
KEPT = 2 / 3  # of its turns: the fastest, the others were disturbed
EMPTY_TURNS = 8
SHORT_S = 0.0001  # a first run may be slower by this for any reason
SUSPICIOUS = 1.25  # ratio of first to second run, relative to the others
LOOKS = 3
LOOKED_AT = 3  # a solution and the first two of its anchors
WRONG = "gave a wrong answer when it was timed"
PATIENCE = 20.0  # wall seconds per CPU second
OUTSIDE_FACTOR, OUTSIDE_S = 2.0, 0.00005  # allowed between the phases, relative to the others' time


class Expected(NamedTuple):
    """Tests of a problem, with the checker's changes to program and inputs applied.

    Attributes:
        inputs: input of each test.
        program: program in the form in which solutions are run.
    """

    task: Task
    check: Check | None
    program: Program
    inputs: Sequence[bytes]

    @classmethod
    def of(cls, worker: Worker, task: Task) -> "Expected":
        """Prepare the tests of a task whose program is one of the solutions.

        Raises:
            CheckerError: the checker cannot make the inputs, or the tests are code or judged by a
                program.
            SandboxError: the sandbox failed.
        """
        if task.checker is None:
            inputs = [encoded(test.input) for test in task.tests]
            return cls(task, None, task.program, inputs)
        if task.checker.tests is not None:
            raise CheckerError("tests that are code are not timed")
        if task.checker.program is not None:
            raise CheckerError("problems whose checker is a program are not timed")
        functional = task.program.entry_point is not None
        check = Check.of(RetryingWorker(worker), task.checker, functional=functional)
        program, inputs = check.prepare(task.program, task.tests)
        return cls(task, check, program, [encoded(each) for each in inputs])

    @property
    def apart(self) -> bool:
        """Whether a script's tests cannot be given together: a NUL separates their inputs."""
        outputs = (test.output for test in self.task.tests)
        has_nul = any(NUL in each for each in self.inputs) or any("\0" in each for each in outputs)
        return self.program.entry_point is None and has_nul

    def solution(self, code: str) -> Program:
        """Return the program that runs a solution's code."""
        return replace(self.program, code=code)

    def accepts(self, indexes: Sequence[int], answers: Answers) -> bool:
        """Return whether the answers to some tests are right.

        Raises:
            SandboxError: the checker's sandbox failed.
        """
        if len(indexes) != len(answers):
            return False
        tests = [self.task.tests[index] for index in indexes]
        pairs = zip(tests, answers, strict=True)
        if self.check is not None:
            check = self.check
            comparisons = check.compare(
                [(test, check.text_of(answer, test)) for test, answer in pairs]
            )
            return all(each is None or isinstance(each, CheckerError) for each in comparisons)
        rule = find_rule(self.task.rule)
        functional = self.program.entry_point is not None
        compare = rule.compare_value if functional else rule.compare_output
        return all(compare(test.output, answer) is None for test, answer in pairs)


class LapError(Exception):
    """Solutions failed, or answered wrongly, when they were timed.

    Attributes:
        programs: places in the race of the solutions that failed.
        why: what happened.
    """

    def __init__(self, programs: set[int], why: str) -> None:
        self.programs = programs
        self.why = why
        super().__init__(why)


class Grouping(NamedTuple):
    """Grouping of tests: which tests are run together.

    Attributes:
        apart: whether each test runs by itself, in a turn of its own. Together, the tests of a
            function share a namespace; a script has one for each test.
        groups: indexes of the tests of each group.
        every, first, second: groups that make up all the tests, and two halves of them.
    """

    apart: bool
    groups: tuple[tuple[int, ...], ...]
    every: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    @classmethod
    def of(cls, tests: int, *, apart: bool) -> "Grouping":
        """Make the plan for a number of tests; the halves alternate, to share the large ones."""
        numbers = tuple(range(tests))
        if apart:
            groups = tuple((number,) for number in numbers)
            return cls(apart, groups, numbers, numbers[::2], numbers[1::2])
        if tests == 1:
            return cls(apart, (numbers,), (0,), (0,), ())
        return cls(apart, (numbers, numbers[::2], numbers[1::2]), (0,), (1,), (2,))


@dataclass(slots=True)
class Turns:
    """Turns of a solution (program 0) and its anchors.

    Attributes:
        passes: passes in a turn; a script whose tests are apart has one.
        empty_s: CPU seconds of a turn without a pass, for each program.
        answers: all different answers of each program to each group.
        spent_s: approximate CPU seconds of all turns so far.
    """

    worker: Worker
    race: TimingRace
    plan: Grouping
    passes: int = 1
    empty_s: list[float] = field(default_factory=list[float])
    answers: dict[tuple[int, int], set[Answers]] = field(
        default_factory=lambda: defaultdict(set[Answers])
    )
    spent_s: float = 0.0

    def take(self, steps: Sequence[ProgramStep]) -> list[Lap]:
        """Carry out steps.

        Raises:
            LapError: a program failed.
            SandboxError: the sandbox failed.
        """
        laps = self.worker.take_turns(self.race, steps)
        for step, lap in zip(steps, laps, strict=True):
            if lap.error:
                raise LapError({step.program}, lap.error)
            self.spent_s += lap.build_s + lap.cpu_s + lap.outside_s + TURN_S
            self.spent_s += FRESH_S if step.fresh else 0.0
            if step.passes:
                self.answers[step.program, step.group].add(lap.answers)
        return laps

    def looks(self, programs: Iterable[int]) -> dict[int, float]:
        """Return the ratio of the first to the second run of the tests, for each program.

        Each half of the tests is run twice, by a process that has run the other half before, so
        that only the tests are new to it; a single test is run twice.
        """
        plan, seconds = self.plan, dict[int, float]()
        for program in programs:
            first = second = 0.0
            for one, other in ((plan.first, plan.second), (plan.second, plan.first)):
                seen, looked = (one, other) if plan.second else ((), plan.first)
                groups = (*seen, *looked, *looked)
                laps = self.take(
                    [ProgramStep(program, g, fresh=place == 0) for place, g in enumerate(groups)]
                )
                spent = [lap.cpu_s + lap.outside_s for lap in laps[len(seen) :]]
                first += sum(spent[: len(looked)])
                second += sum(spent[len(looked) :])
            seconds[program] = max(first - SHORT_S, second) / second
        return seconds

    def remembers(self, program: int = 0) -> bool:
        """Return whether a program gains more from its second run than any of the others.

        First it is compared with one of them. A suspicious result is measured three times more,
        with more of them: it may be chance.
        """
        everyone = range(min(len(self.race.programs), LOOKED_AT))
        if (
            self._more(self.looks((program, *(set(everyone) - {program}))[:2]), program)
            <= SUSPICIOUS
        ):
            return False
        seen = [self._more(self.looks(everyone), program)]
        while seen[-1] > SUSPICIOUS and len(seen) < LOOKS:
            seen.append(self._more(self.looks(everyone), program))
        return median(seen) > SUSPICIOUS and len(seen) == LOOKS

    def _more(self, looks: dict[int, float], program: int) -> float:
        """Return the ratio of one program's gain to the largest gain of the others."""
        return looks[program] / max(value for each, value in looks.items() if each != program)

    def settle(self) -> list[float]:
        """Choose the passes per turn; return the CPU seconds of one pass of each program."""
        programs = range(len(self.race.programs))
        every = self.plan.every
        spent = [
            sum(lap.cpu_s for lap in self.take([ProgramStep(n, g) for g in every]))
            for n in programs
        ]
        self.empty_s = [0.0 for _ in programs]
        if self.plan.apart and not self.race.is_functional:  # a turn is one execution
            return spent
        for each in programs:
            empty = [lap.cpu_s for lap in self.take([ProgramStep(each, 0, passes=0)] * EMPTY_TURNS)]
            self.empty_s[each] = median(empty)
            spent[each] = max(spent[each] - len(every) * self.empty_s[each], 1e-6)
        shortest = min(spent) / len(every)
        self.passes = min(self._most_passes(), max(1, math.ceil(LONG_ENOUGH_S / shortest)))
        return spent

    def _most_passes(self) -> int:
        """Return the largest number of passes: a script's outputs must fit into one file."""
        size = max(sum(map(len, each)) for texts in self.answers.values() for each in texts)
        return min(MOST_PASSES, max(1, self.race.limits.output_bytes // (2 * (size + 1))))

    def batch(self, pair: tuple[int, int], count: int = PAIRS, *, fresh: bool = False) -> float:
        """Return the ratio of two programs' times, of some turns of each in new processes.

        Where its memory happens to lie makes a process faster or slower by a hundredth for as long
        as it lives. So several processes are timed. Their first turn, before caches are filled and
        the interpreter has adapted the code, does not count. Of the others the fastest of each
        program count: other processes on the core or beside it only ever cost time.

        Args:
            pair: the programs.
            count: number of turns of each that may count.
            fresh: whether no process may run a test twice.
        """
        warm_up = [
            ProgramStep(program, group, self.passes, fresh=place == 0, shown=self._shown())
            for program in (() if fresh else pair)
            for place, group in enumerate(self.plan.every)
        ]
        turns = [self._steps(pair, number, fresh=fresh) for number in range(count)]
        laps = iter(self.take([*warm_up, *(step for steps in turns for step, _ in steps)]))
        for _ in warm_up:
            next(laps)
        times = [self._times(pair, [(*step, next(laps)) for step in steps]) for steps in turns]
        kept = math.ceil(KEPT * count)
        one, other = (sum(sorted(own)[:kept]) for own in zip(*times, strict=True))
        return one / other

    def _times(
        self, pair: tuple[int, int], laps: Sequence[tuple[ProgramStep, bool, Lap]]
    ) -> tuple[float, float]:
        """Return the CPU seconds of a pair's laps that count, at least a nanosecond each."""
        one, other = pair
        call, outside = dict.fromkeys(pair, 0.0), dict.fromkeys(pair, 0.0)
        for step, counts, lap in laps:
            if counts:
                call[step.program] += lap.cpu_s - self.empty_s[step.program]
                outside[step.program] += lap.outside_s
        usual = OUTSIDE_FACTOR * outside[other] + OUTSIDE_S * len(laps)
        charged = call[one] + max(0.0, outside[one] - usual)
        return max(charged, 1e-9), max(call[other], 1e-9)

    def _steps(
        self, pair: tuple[int, int], number: int, *, fresh: bool
    ) -> list[tuple[ProgramStep, bool]]:
        """Return the steps of a pair, and whether each counts."""
        shown = self._shown()
        if not fresh or not self.plan.second:
            passes = 1 if fresh else self.passes
            return [
                (ProgramStep(program, group, passes, fresh=fresh, shown=shown % passes), True)
                for place, group in enumerate(self.plan.every)
                for program in (pair if (number + place) % 2 else pair[::-1])
            ]
        one, other = self.plan.first, self.plan.second
        return [
            (ProgramStep(program, group, fresh=place == 0), place >= len(halves[0]))
            for halves in ((one, other), (other, one))
            for program in (pair if number % 2 else pair[::-1])
            for place, group in enumerate((*halves[0], *halves[1]))
        ]

    def _shown(self) -> int:
        """Return the pass to look at: random, so that a solution cannot answer only that one."""
        return randbelow(self.passes)

    def wrong(self, expected: Expected) -> set[int]:
        """Return the programs that gave a wrong answer in one of their passes.

        Raises:
            SandboxError: the checker's sandbox failed.
        """
        return {
            program
            for (program, group), answers in self.answers.items()
            for each in answers
            if not expected.accepts(self.plan.groups[group], each)
        }


def race_of(
    expected: Expected, codes: Sequence[str], plan: Grouping, *, times: int = 1
) -> TimingRace:
    """Return the race of some solutions on a problem's tests; the caller closes it.

    Args:
        expected: the tests.
        codes: code of each solution.
        plan: which tests are run together.
        times: number of runs in one phase.
    """
    programs = [expected.solution(code) for code in codes]
    groups = [[expected.inputs[index] for index in group] for group in plan.groups]
    limits = expected.task.limits
    cpu_s = limits.cpu_s * times * max(map(len, plan.groups), default=1)
    # The solution has passed already, so a long wall time means waiting for its core.
    return TimingRace(programs, groups, replace(limits, cpu_s=cpu_s, own_wall_s=PATIENCE * cpu_s))
