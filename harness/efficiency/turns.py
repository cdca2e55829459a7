"""Solutions of one problem timed in turns, on its tests.

A pass is one run of a solution on all tests of the problem. What a pass costs here drifts by a
quarter from second to second, and with it every time that is compared with one of another moment;
so two solutions take turns, test by test or pass by pass, and what counts is the ratio of the two.

Short passes are timed several together, each in a namespace of its own. What a process keeps
elsewhere would still be found by its next pass: so, in every new process, the first look at some
tests is compared with the second. Who is much faster then, and more so than the others, remembers;
see `Turns.remembers`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from secrets import randbelow
from statistics import median

from harness.efficiency.expected import Answers, Expected
from harness.sandbox.timing_race import Lap, Step, TimingRace
from harness.sandbox.worker import Worker

LONG_ENOUGH_S = 0.0015  # a turn: what it costs to begin and end one is a hundredth of it
MOST_PASSES = 64  # in a turn: so many namespaces are made for it
TURN_S = 0.0003  # what the beginning and the end of a turn cost
EMPTY_TURNS = 8
SHORT_S = 0.0001  # less than this the first look may take longer for any reason
SUSPICIOUS = 1.25  # so many times longer than the second, by the others' measure
LOOKS = 3
LOOKED_AT = 3  # a solution and the first two of its anchors
WRONG = "gave a wrong answer when it was timed"
PATIENCE = 20.0  # wall seconds by CPU seconds
OUTSIDE_FACTOR, OUTSIDE_S = 2.0, 0.00005  # what may be done between the phases, by theirs


class LapError(Exception):
    """Solutions did not come to their end, or answered wrongly, when they were timed.

    Attributes:
        programs: whose fault it was, by their places in the race.
        why: what happened.
    """

    def __init__(self, programs: set[int], why: str) -> None:
        self.programs = programs
        self.why = why
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tests are run together.

    Attributes:
        apart: each test for itself, with a namespace of its own; scripts are always run so.
        groups: the tests of each group, by index.
        every, first, second: groups that make up all the tests, and two halves of them.
    """

    apart: bool
    groups: tuple[tuple[int, ...], ...]
    every: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    @classmethod
    def of(cls, tests: int, *, apart: bool) -> "Plan":
        """Of so many tests; the halves take turns, so that neither has all the large ones."""
        numbers = tuple(range(tests))
        if apart:
            groups = tuple((number,) for number in numbers)
            return cls(apart, groups, numbers, numbers[::2], numbers[1::2])
        if tests == 1:
            return cls(apart, (numbers,), (0,), (0,), ())
        return cls(apart, (numbers, numbers[::2], numbers[1::2]), (0,), (1,), (2,))


@dataclass(slots=True)
class Turns:
    """Solutions at their turns; of the first one more is said than of the others, its anchors.

    Attributes:
        passes: in a turn; a script has one.
        empty_s: of each, what a turn with no pass takes.
        answers: what each said to which group: every answer that differs from the ones before.
        spent_s: CPU seconds of all turns so far, about.
    """

    worker: Worker
    race: TimingRace
    plan: Plan
    passes: int = 1
    empty_s: list[float] = field(default_factory=list[float])
    answers: dict[tuple[int, int], set[Answers]] = field(
        default_factory=lambda: defaultdict(set[Answers])
    )
    spent_s: float = 0.0

    def take(self, steps: Sequence[Step]) -> list[Lap]:
        """Carry out steps.

        Raises:
            LapError: one of them did not come to its end.
            SandboxError: the sandbox failed.
        """
        laps = self.worker.take_turns(self.race, steps)
        for step, lap in zip(steps, laps, strict=True):
            if lap.error:
                raise LapError({step.program}, lap.error)
            self.spent_s += lap.cpu_s + lap.outside_s + TURN_S
            if step.passes:
                self.answers[step.program, step.group].add(lap.answers)
        return laps

    def looks(self, programs: Iterable[int]) -> dict[int, float]:
        """How many times longer each takes to see tests for the first time than for the second.

        Each half of the tests is looked at twice, by a process that has seen the other half before,
        so that nothing else is new to it; of a single test, the first and the second run.
        """
        plan, found = self.plan, dict[int, float]()
        for program in programs:
            first = second = 0.0
            for one, other in ((plan.first, plan.second), (plan.second, plan.first)):
                seen, looked = (one, other) if plan.second else ((), plan.first)
                groups = (*seen, *looked, *looked)
                laps = self.take(
                    [Step(program, g, fresh=place == 0) for place, g in enumerate(groups)]
                )
                spent = [lap.cpu_s + lap.outside_s for lap in laps[len(seen) :]]
                first += sum(spent[: len(looked)])
                second += sum(spent[len(looked) :])
            found[program] = max(first - SHORT_S, second) / second
        return found

    def remembers(self, program: int = 0) -> bool:
        """Whether one gains more by its second look than any of the others does by theirs.

        What looks suspicious is looked at twice more: it may have been an accident.
        """
        everyone = range(min(len(self.race.programs), LOOKED_AT))
        seen = [self._more(self.looks(everyone), program)]
        while seen[-1] > SUSPICIOUS and len(seen) < LOOKS:
            seen.append(self._more(self.looks(everyone), program))
        return median(seen) > SUSPICIOUS and len(seen) == LOOKS

    def _more(self, looks: dict[int, float], program: int) -> float:
        """By how much more."""
        return looks[program] / max(value for each, value in looks.items() if each != program)

    def settle(self) -> list[float]:
        """Choose how many passes make a turn; the CPU seconds of one pass of each program."""
        programs = range(len(self.race.programs))
        every = self.plan.every
        spent = [sum(lap.cpu_s for lap in self.take([Step(n, g) for g in every])) for n in programs]
        self.empty_s = [0.0 for _ in programs]
        if not self.race.is_functional:  # a script's turn is an execution
            return spent
        for each in programs:
            empty = [lap.cpu_s for lap in self.take([Step(each, 0, passes=0)] * EMPTY_TURNS)]
            self.empty_s[each] = median(empty)
            spent[each] = max(spent[each] - len(every) * self.empty_s[each], 1e-6)
        shortest = min(spent) / len(every)
        self.passes = min(MOST_PASSES, max(1, math.ceil(LONG_ENOUGH_S / shortest)))
        return spent

    def pairs(self, pairs: Sequence[tuple[int, int]], *, fresh: bool = False) -> list[float]:
        """How many times longer the first of each pair takes than the second, a pass each.

        Args:
            pairs: of programs.
            fresh: none is to see a test that its process has seen before: half of the tests, then
                the other half in a new process.
        """
        plans = [self._steps(pair, number, fresh=fresh) for number, pair in enumerate(pairs)]
        laps = iter(self.take([step for steps in plans for step, _ in steps]))
        found: list[float] = []
        for (one, other), steps in zip(pairs, plans, strict=True):
            call, outside = dict.fromkeys((one, other), 0.0), dict.fromkeys((one, other), 0.0)
            for step, counts in steps:
                lap = next(laps)
                if counts:
                    call[step.program] += lap.cpu_s - self.empty_s[step.program]
                    outside[step.program] += lap.outside_s
            usual = OUTSIDE_FACTOR * outside[other] + OUTSIDE_S * len(steps)
            charged = call[one] + max(0.0, outside[one] - usual)
            found.append(max(charged, 1e-9) / max(call[other], 1e-9))
        return found

    def _steps(self, pair: tuple[int, int], number: int, *, fresh: bool) -> list[tuple[Step, bool]]:
        """The steps of a pair, and whether each counts."""
        shown = randbelow(self.passes)  # not to be foreseen by who would answer that one alone
        if not fresh or not self.plan.second:
            return [
                (Step(program, group, self.passes, fresh=fresh, shown=shown), True)
                for place, group in enumerate(self.plan.every)
                for program in (pair if (number + place) % 2 else pair[::-1])
            ]
        one, other = self.plan.first, self.plan.second
        return [
            (Step(program, group, fresh=place == 0), place >= len(halves[0]))
            for halves in ((one, other), (other, one))
            for program in (pair if number % 2 else pair[::-1])
            for place, group in enumerate((*halves[0], *halves[1]))
        ]

    def wrong(self, expected: Expected) -> set[int]:
        """Which programs gave a wrong answer in one of their passes.

        Raises:
            SandboxError: the checker's sandbox failed.
        """
        return {
            program
            for (program, group), answers in self.answers.items()
            for each in answers
            if not expected.accepts(self.plan.groups[group], each)
        }


def race_of(expected: Expected, codes: Sequence[str], plan: Plan, *, times: int = 1) -> TimingRace:
    """The race of some solutions on a problem's tests; to be closed.

    Args:
        expected: the tests.
        codes: the solutions.
        plan: which tests are run together.
        times: how often each is run in one phase.
    """
    programs = [expected.solution(code) for code in codes]
    groups = [[expected.inputs[index] for index in group] for group in plan.groups]
    limits = expected.task.limits
    cpu_s = limits.cpu_s * times * max(map(len, plan.groups), default=1)
    # It has passed already: what it waits for here is its core.
    return TimingRace(programs, groups, replace(limits, cpu_s=cpu_s, own_wall_s=PATIENCE * cpu_s))
