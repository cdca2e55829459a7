"""How often the paired test errs, and how often its 95 % interval holds the true difference.

Problems are drawn with a chance of success each (beta distributed: some are alike, some almost
always or never solved). The other run has the same chance on a share of the problems, and one of
its own on the rest, so that the true difference varies by problem; `true` is its mean. Size is the
share of tests with p < 0.05 where the true difference is 0. The last columns are the coverage of
the bootstrap that was shown before, and how often interval and test disagreed: never.

    python tests/benchmarks/paired_intervals.py [TRIALS]
"""

import sys

import numpy as np

from harness.stats.paired import score_interval
from harness.stats.rates import mean_interval

SHAPES = {"spread": (0.8, 0.8), "hard": (0.4, 1.6), "easy": (3.0, 0.5)}
PROBLEMS = (10, 20, 50, 200)
SAMPLES = (1, 5)
OWN = 0.5
"""Share of problems on which the other run has a chance of its own."""


def main(trials: int) -> None:
    """Print the table."""
    draw = np.random.default_rng(3)
    columns = ("problems", "samples", "chances", "true", "size", "coverage", "bootstrap", "differ")
    print(" ".join(f"{column:>9}" for column in columns))
    for problems in PROBLEMS:
        for samples in SAMPLES:
            for name, shape in SHAPES.items():
                for gain in (0.0, 0.3):
                    true = gain * shape[1] / sum(shape)
                    size, held, before, differ = rates(
                        draw, problems, samples, shape, gain, trials=trials
                    )
                    shown = f"{size:9.1%}" if not gain else f"{'':>9}"
                    print(
                        f"{problems:9} {samples:9} {name:>9} {true:9.3f} {shown} {held:9.1%} "
                        f"{before:9.1%} {differ:9.1%}"
                    )


def shares(
    draw: np.random.Generator,
    problems: int,
    samples: int,
    shape: tuple[float, float],
    gain: float,
) -> list[tuple[float, float]]:
    """One experiment: the shares that A and B solve, by problem."""
    chances = draw.beta(*shape, problems)
    others = np.where(draw.random(problems) < OWN, draw.beta(*shape, problems), chances)
    others += gain * (1 - others)
    a, b = (draw.binomial(samples, each) / samples for each in (chances, others))
    return [(float(x), float(y)) for x, y in zip(a, b, strict=True)]


def rates(
    draw: np.random.Generator,
    problems: int,
    samples: int,
    shape: tuple[float, float],
    gain: float,
    *,
    trials: int,
    bootstrap: bool = True,
) -> tuple[float, float, float, float]:
    """How often p < 0.05, both intervals hold the truth, and interval and test disagree."""
    true = gain * shape[1] / sum(shape)
    rejected = held = before = differ = 0
    for trial in range(trials):
        found = shares(draw, problems, samples, shape, gain)
        score = score_interval(found, problems * samples)
        rejected += score.p_value < 0.05
        held += score.low <= true <= score.high
        differ += (score.p_value < 0.05) == (score.low <= 0 <= score.high)
        if bootstrap:
            values = [round(y - x, 12) for x, y in found]
            low, high = mean_interval(values, resamples=2_000, seed=trial)
            before += low <= true <= high
    return rejected / trials, held / trials, before / trials, differ / trials


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
