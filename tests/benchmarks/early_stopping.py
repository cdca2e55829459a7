"""How often an experiment that stops when it is decided errs, and how many requests it saves.

    python tests/benchmarks/early_stopping.py [--draws 4000]

Each experiment has 500 problems. A problem is solved by the agent alone, by the other variant
alone, by both, or by neither; problems are asked in a random order. The same code decides as in
`harness experiment --stop-when-decided`, at its looks, and after every pair.
"""

import argparse
import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from harness.features.experiment.grid_run import batches
from harness.stats.sequential import LEVEL, evidence, log_e_value

PROBLEMS = 500
SEED = 20
LOST = (0.02, 0.10, 0.20)
DIFFERENCES = (0.0, 0.1, 0.2, 0.3)
BOUND = -math.log(LEVEL)

Counts = NDArray[np.int64]


def drawn(difference: float, lost: float, draws: int, problems: int) -> tuple[Counts, Counts]:
    """The pairs won and lost after each problem, as arrays of draws times problems."""
    random = np.random.default_rng(SEED).random((draws, problems))
    won = random < lost + difference
    against = (random >= lost + difference) & (random < 2 * lost + difference)
    return np.cumsum(won, axis=1), np.cumsum(against, axis=1)


@cache
def log_e(won: int, lost: int) -> float:
    """The logarithm of the e-value of so many pairs either way."""
    return log_e_value({1.0: won, -1.0: lost})


@cache
def width(won: int, lost: int, pairs: int) -> float:
    """The width of the interval in points."""
    interval = evidence([1] * won + [-1] * lost + [0] * (pairs - won - lost))
    return 100 * (interval.high - interval.low)


def decided(won: Counts, lost: Counts) -> NDArray[np.bool_]:
    """Whether the e-value decides, for each of two arrays of counts."""
    both, place = np.unique(
        np.stack([won, lost], axis=-1).reshape(-1, 2), axis=0, return_inverse=True
    )
    e_values = np.array([log_e(int(b), int(c)) for b, c in both])
    return (e_values >= BOUND)[place.ravel()].reshape(won.shape)


def looks(problems: int) -> list[int]:
    """How many problems are asked by each look."""
    order = [str(number) for number in range(problems)]
    return [len(asked) for asked in batches(order, concurrency=8)]


def asked_until(hit: NDArray[np.bool_], sizes: list[int]) -> NDArray[np.int64]:
    """The problems asked by the first look that decides; all where none does."""
    first = np.where(hit.any(axis=1), hit.argmax(axis=1), len(sizes) - 1)
    return np.array(sizes)[first]


def error_table(draws: int) -> None:
    """Experiments without any difference that are decided all the same."""
    print(f"no difference, {draws:,} experiments of {PROBLEMS} and of 2,000 problems")
    print("differ either way  wrong, looking after every pair  of 2,000  wrong at the real looks")
    for lost in LOST:
        rates = []
        for problems in (PROBLEMS, 2_000):
            hit = decided(
                *drawn(0.0, lost, draws if problems == PROBLEMS else draws // 4, problems)
            )
            rates.append(hit.any(axis=1).mean())
            if problems == PROBLEMS:
                at_looks = hit[:, [size - 1 for size in looks(problems)]].any(axis=1).mean()
        print(f"{lost:>17.0%}  {rates[0]:>31.2%}  {rates[1]:>8.2%}  {at_looks:>23.2%}")


def saving_table(draws: int) -> None:
    """Problems that need not be asked."""
    sizes = looks(PROBLEMS)
    columns = [size - 1 for size in sizes]
    print(f"\n{PROBLEMS} problems, {draws:,} experiments, {len(sizes)} looks")
    print("difference  solved by worse alone  decided  for the worse  requests saved  median asked")
    for difference in DIFFERENCES:
        for lost in LOST:
            won, against = (
                counts[:, columns] for counts in drawn(difference, lost, draws, PROBLEMS)
            )
            hit = decided(won, against)
            asked = asked_until(hit, sizes)
            first = hit.argmax(axis=1)
            rows = np.arange(draws)
            wrong = hit.any(axis=1) & (won[rows, first] < against[rows, first])
            print(
                f"{100 * difference:>+7.0f} pt  {lost:>21.0%}  {hit.any(axis=1).mean():>7.1%}  "
                f"{wrong.mean():>13.2%}  {1 - asked.mean() / PROBLEMS:>14.1%}  "
                f"{int(np.median(asked)):>12}"
            )


def precision_table(draws: int) -> None:
    """The same where a narrow interval is enough."""
    sizes = looks(PROBLEMS)
    print(f"\n--precision alone, {draws} experiments, 10 % solved by the worse alone")
    print("difference  points wide  narrow enough  requests saved")
    for difference in DIFFERENCES:
        won, lost = drawn(difference, 0.10, draws, PROBLEMS)
        for points in (30, 20, 15):
            narrow = np.array(
                [
                    [width(int(b[s - 1]), int(c[s - 1]), s) < points for s in sizes]
                    for b, c in zip(won, lost, strict=True)
                ]
            )
            asked = asked_until(narrow, sizes)
            print(
                f"{100 * difference:>+7.0f} pt  {points:>11}  {narrow.any(axis=1).mean():>13.1%}  "
                f"{1 - asked.mean() / PROBLEMS:>14.1%}"
            )


def coverage_table(draws: int) -> None:
    """Experiments whose interval misses the true difference at any look, with several samples."""
    sizes = looks(PROBLEMS)
    values = np.array([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1])
    print(f"\ninterval, {draws} experiments, four samples a problem in one variant")
    print("difference  misses it at any of the looks")
    for tilt in (0.0, 0.3, 0.6):
        shares = np.array([1, 1, 2, 3, 8, 3, 2, 1, 1]) * np.exp(tilt * 2 * values)
        shares /= shares.sum()
        mean = float(values @ shares)
        random, missed = np.random.default_rng(SEED), 0
        for _ in range(draws):
            sample = random.choice(values, size=PROBLEMS, p=shares)
            missed += any(_excluded(sample[:size], mean, values) for size in sizes)
        print(f"{100 * mean:>+7.1f} pt  {missed / draws:>29.2%}")


def _excluded(sample: NDArray[np.float64], mean: float, values: NDArray[np.float64]) -> bool:
    tallies = {float(value): int((sample == value).sum()) for value in values}
    return log_e_value(tallies, mean) >= BOUND


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    draws = parser.parse_args().draws
    error_table(draws)
    saving_table(draws)
    precision_table(max(10, draws // 40))
    coverage_table(max(10, draws // 8))


if __name__ == "__main__":
    main()
