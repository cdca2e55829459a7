"""How often the intervals of a comparison at equal spend hold the truth, and find the crossing.

Shots and attempts are drawn from a known population (`tests/support/spend_made.py`) whose curves
cross. Prints, for several numbers of problems, the coverage of the 95 % intervals of both curves
and of their difference at some spends, and of the crossing point. Just above 5 many attempts
change their solution at once, so that their rate jumps there.

    python tests/benchmarks/spend_coverage.py [DRAWS]
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from spend_made import Truth, held

AT = (3.0, 5.0, 5.2, 8.0)
PROBLEMS = (20, 60, 200)
RESAMPLES = 500


def main(draws: int) -> None:
    """Print the table."""
    truth = Truth.of(100_000, AT)
    print(f"truth at {AT}: shots {truth.shots}, attempts {truth.attempts}")
    print(f"the curves cross at {truth.crossing:.2f}")
    for problems in PROBLEMS:
        draw = np.random.default_rng(problems)
        coverages = [held(draw, problems, truth, RESAMPLES, seed) for seed in range(draws)]
        for name in ("shots", "attempts", "difference"):
            rates = np.mean([getattr(each, name) for each in coverages], axis=0)
            print(f"{problems:5} {name:>10}", *(f"{rate:6.1%}" for rate in rates))
        print(
            f"{problems:5}   crossing {np.mean([each.crossing for each in coverages]):6.1%}", end=""
        )
        print(f"  found {np.mean([each.crossed for each in coverages]):6.1%}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
