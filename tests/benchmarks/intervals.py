"""How often 95 % intervals hold the truth, and a test of 80 % power finds what is there.

Problems are drawn with a chance of success each (beta distributed, with a share that is always or
never solved), samples from it. Prints, for several numbers of problems and samples, how often the
interval of a rate and of a difference held the true one. Of the smallest detectable difference:
how often the score test (McNemar's) found a difference of that size.

    python tests/benchmarks/intervals.py [TRIALS]
"""

import math
import sys

import numpy as np

from harness.stats.paired import detectable_difference
from harness.stats.rates import mean_interval, rate, wilson

Z = 1.959964
SHAPES = {"alike": (20.0, 20.0), "spread": (0.8, 0.8), "hard": (0.4, 1.6), "easy": (3.0, 0.5)}


def main(trials: int) -> None:
    """Print the tables."""
    draw = np.random.default_rng(1)
    print(f"{'problems':>8} {'samples':>7} {'chances':>8} {'clustered':>9} {'by problem':>10}")
    for problems in (10, 30, 100, 300):
        for samples in (1, 3, 10):
            for name, shape in SHAPES.items():
                ours, plain = _rates(draw, problems, samples, shape, trials)
                print(f"{problems:8} {samples:7} {name:>8} {ours:9.1%} {plain:10.1%}")
    print(f"\n{'problems':>8} {'samples':>7} {'difference':>10} {'bootstrap':>9}")
    for problems in (10, 30, 100, 300):
        for samples in (1, 10):
            for shift in (0.0, 0.1):
                held = _differences(draw, problems, samples, shift, trials // 2)
                print(f"{problems:8} {samples:7} {shift:10.1f} {held:9.1%}")
    print(f"\n{'problems':>8} {'differing':>9} {'detectable':>10} {'found':>6}")
    for problems in (30, 100, 300, 1_000):
        for share in (0.1, 0.3):
            print(f"{problems:8} {share:9.0%} {_power(draw, problems, share, trials)}")


def _rates(
    draw: np.random.Generator, problems: int, samples: int, shape: tuple[float, float], trials: int
) -> tuple[float, float]:
    """How often the truth is held by our interval, and by Wilson's of problems alone."""
    truth, held, plain = shape[0] / sum(shape), 0, 0
    for _ in range(trials):
        fractions = draw.binomial(samples, draw.beta(*shape, problems)) / samples
        share = rate(list(map(float, fractions)), problems * samples)
        assert share is not None
        held += share.low <= truth <= share.high
        low, high = wilson(share.value, problems)
        plain += low <= truth <= high
    return held / trials, plain / trials


def _differences(
    draw: np.random.Generator, problems: int, samples: int, shift: float, trials: int
) -> float:
    held = 0
    for trial in range(trials):
        chances = draw.beta(0.8, 0.8, problems) * (1 - shift)
        a, b = (draw.binomial(samples, p) / samples for p in (chances, chances + shift))
        low, high = mean_interval([round(float(x), 12) for x in b - a], seed=trial)
        held += low <= shift <= high
    return held / trials


def _power(draw: np.random.Generator, problems: int, share: float, trials: int) -> str:
    flips = round(problems * share)
    delta = detectable_difference([*[1] * (flips // 2), *[-1] * (flips - flips // 2)]
                                  + [0] * (problems - flips))  # fmt: skip
    if delta is None:
        return "n/a"
    share = max(share, delta)
    better, worse = (share + delta) / 2, (share - delta) / 2
    detections = 0
    for b, c, _ in draw.multinomial(problems, (better, worse, 1 - share), trials):
        detections += (b - c) / math.sqrt(max(1, b + c)) > Z
    return f"{delta:10.1%} {detections / trials:6.1%}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
