"""How often an agent is wrongly told from the shots that its spend buys, with early stopping.

    python tests/benchmarks/early_stopping_shots.py [--draws 1000] [--problems 100]

The code of `harness experiment --stop-when-decided` buys the shots, forms the pairs and decides, at
its looks. What an agent or a shot spends, and whether it solves the problem, is drawn:

- A problem has a chance that a shot solves it, from a Beta distribution. Of the shots that do not,
  15 % pass the public tests.
- Shots cost 1 on average. The agent spends 3.4 times that on average, more on hard problems.
- Without a difference the agent solves each problem with the chance that the mixture of three and
  four shots has, of which the public tests choose one. With a difference it solves more.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from results_made import made_result

from harness.features.compare.arms import samples_of
from harness.features.compare.spend import gains_of
from harness.features.experiment.decision import look
from harness.features.experiment.equal_shots import shots_wanted
from harness.features.experiment.grid_run import ROUNDS, batches
from harness.features.experiment.stopping_goal import Goal, reason_to_stop
from harness.run.store.results import Columns, SampleResult

RATIO = 3.4
PUBLIC_ONLY = 0.15
SHAPES = {"even": (1.5, 1.5), "hard": (0.5, 2.0), "easy": (2.0, 0.5)}
"""Parameters of the Beta distribution of a shot's chance, by name."""
GOAL = Goal(decided=True)
MODES = ("single_shot", "agentic")


@dataclass(slots=True)
class Simulated:
    """An experiment whose samples are drawn."""

    draw: random.Random
    chances: dict[str, float]
    difference: float

    def shot(self, problem: str, index: int) -> SampleResult:
        """Draw a shot."""
        solved = self.draw.random() < self.chances[problem]
        passed = solved or self.draw.random() < PUBLIC_ONLY
        return made_result(
            problem,
            solved=solved,
            index=index,
            public_passed=int(passed),
            code="code",
            cost=self.draw.uniform(0.5, 1.5),
        )

    def attempt(self, problem: str) -> SampleResult:
        """Draw an agent's attempt."""
        chance = self.chances[problem]
        whole, part = divmod(RATIO, 1)
        worth = (1 - part) * _of_shots(chance, whole) + part * _of_shots(chance, whole + 1)
        mean = RATIO * (1 + 0.6 * (self._mean_chance - chance))
        return made_result(
            problem,
            solved=self.draw.random() < worth + self.difference,
            code="code",
            cost=mean * self.draw.uniform(0.3, 1.7),
        )

    @property
    def _mean_chance(self) -> float:
        return sum(self.chances.values()) / len(self.chances)

    def decided_after(self) -> tuple[int, float]:
        """Return after how many problems it was decided, and for whom; 0 if it was not."""
        order = list(self.chances)
        shots: list[SampleResult] = []
        attempts: list[SampleResult] = []
        for asked in batches(order, concurrency=8):
            attempts += [self.attempt(problem) for problem in asked[len(attempts) :]]
            has = Counter(each.problem_id for each in shots)
            shots += [self.shot(problem, 0) for problem in asked if not has[problem]]
            self._buy(shots, attempts, asked)
            one, other = (samples_of(Columns(each).samples, asked) for each in (shots, attempts))
            gains = gains_of((one, other), MODES, "dollars")
            assert gains is not None, "the shots are worth what the agent spends"
            evidence = look(list(gains.values()), GOAL.level)
            if reason_to_stop(evidence, GOAL):
                return len(asked), evidence.difference
        return 0, 0.0

    def _buy(
        self, shots: list[SampleResult], attempts: Sequence[SampleResult], asked: Sequence[str]
    ) -> None:
        for _ in range(ROUNDS):
            has = Counter(each.problem_id for each in shots)
            wanted = shots_wanted(shots, [attempts], asked)
            more = [
                self.shot(problem, index)
                for problem, number in wanted.shots.items()
                for index in range(has[problem], number)
            ]
            if not more:
                return
            shots += more


def _of_shots(chance: float, number: float) -> float:
    """Return the chance that the one of some shots is right that the public tests choose."""
    passes = chance + PUBLIC_ONLY * (1 - chance)
    return chance / passes * (1 - (1 - passes) ** number) if passes else 0.0


def simulate(shape: str, difference: float, draws: int, problems: int) -> str:
    """Return a line of the table."""
    decided = wrong = asked = 0
    begin = time.process_time()
    for number in range(draws):
        draw = random.Random(f"{shape} {difference} {number}")
        chances = {f"p{n}": draw.betavariate(*SHAPES[shape]) for n in range(problems)}
        after, estimate = Simulated(draw, chances, difference).decided_after()
        decided += bool(after)
        wrong += bool(after) and (not difference or estimate < 0)
        asked += after or problems
    return (
        f"{shape:<6} {100 * difference:>+6.0f} pt  {decided / draws:>8.1%}  {wrong / draws:>7.1%}  "
        f"{1 - asked / draws / problems:>15.0%}  {time.process_time() - begin:>6.0f} s"
    )


def main() -> None:
    """Print a line for each kind of problems and difference."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--draws", type=int, default=1_000)
    options.add_argument("--problems", type=int, default=100)
    options.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    options.add_argument("--differences", nargs="*", type=float, default=[0.0, 0.2])
    given = options.parse_args()
    print(f"{given.draws:,} experiments of {given.problems} problems, level {GOAL.level}")
    print("a shot's chance, difference  decided  wrongly  problems saved     CPU")
    for difference in given.differences:
        for shape in given.shapes:
            line = simulate(shape, difference, given.draws, given.problems)
            print(line, flush=True)


if __name__ == "__main__":
    main()
