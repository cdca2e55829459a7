"""How often the paired test errs, and how often its 95 % interval holds the true difference.

Problems are drawn with a chance of success each (beta distributed: some are alike, some almost
always or never solved). The other run has the same chance on a share of the problems, and one of
its own on the rest, so that the true difference varies by problem; `true` is its mean. Size is the
share of tests with p < 0.05 where the true difference is 0; `normal` is that of the same test
without the exact distribution. The last column is how often interval and p-value contradicted each
other, at 95 % and corrected by Holm for three comparisons: never.

    python tests/benchmarks/paired_intervals.py [TRIALS]
"""

import math
import sys

import numpy as np

from harness.stats.holm import holm
from harness.stats.paired import paired_test

SHAPES = {"spread": (0.8, 0.8), "hard": (0.4, 1.6), "easy": (3.0, 0.5)}
PROBLEMS = (5, 8, 10, 20, 50, 200)
SAMPLES = (1, 5)
OWN = 0.5
"""Share of problems on which the other run has a chance of its own."""


def main(trials: int) -> None:
    """Print the table."""
    draw = np.random.default_rng(3)
    columns = ("problems", "samples", "chances", "true", "size", "normal", "coverage", "differ")
    print(" ".join(f"{column:>8}" for column in columns))
    for problems in PROBLEMS:
        for samples in SAMPLES:
            for name, shape in SHAPES.items():
                for gain in (0.0, 0.3):
                    true = gain * shape[1] / sum(shape)
                    size, plain, held, differ = rates(
                        draw, problems, samples, shape, gain, trials=trials
                    )
                    shown = f"{size:8.1%} {plain:8.1%}" if not gain else f"{'':>8} {'':>8}"
                    print(
                        f"{problems:8} {samples:8} {name:>8} {true:8.3f} {shown} {held:8.1%} "
                        f"{differ:8.1%}",
                        flush=True,
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
) -> tuple[float, float, float, float]:
    """How often p < 0.05, also by the normal distribution alone, and the interval holds the truth.

    The last figure is how often an interval contradicts its p-value.
    """
    true = gain * shape[1] / sum(shape)
    rejected = plain = held = differ = 0
    for _ in range(trials):
        test = paired_test(shares(draw, problems, samples, shape, gain), problems * samples)
        score = test.at()
        rejected += score.p_value < 0.05
        plain += math.erfc(test.score / math.sqrt(2)) < 0.05
        held += score.low <= true <= score.high
        (p_holm, *_) = holm([score.p_value, 0.02, 0.4])
        wide = test.corrected(p_holm)
        differ += (score.p_value < 0.05) == (score.low <= 0 <= score.high)
        differ += (p_holm < 0.05) == (wide.low <= 0 <= wide.high)
    return rejected / trials, plain / trials, held / trials, differ / trials


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
