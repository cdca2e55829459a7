"""The percentile of a time among references, where both are uncertain."""

import random

from for_each import for_each

from harness.features.efficiency.beyond import UncertainTime, percentile


@for_each(
    ("seconds", "doubt", "wanted"),
    [(0.5, 0.0, 100.0), (1.0, 0.0, 87.5), (2.5, 0.0, 50.0), (9.0, 0.0, 0.0), (1.02, 0.05, 87.5)],
)
def test_a_tie_counts_half(seconds: float, doubt: float, wanted: float) -> None:
    references = [UncertainTime(each) for each in (1.0, 2.0, 3.0, 4.0)]
    assert percentile(UncertainTime(seconds, doubt), references) == wanted
    assert percentile(UncertainTime(seconds, doubt), []) is None


def test_a_copy_of_a_reference_ties_with_it_in_95_of_100_measurements() -> None:
    """Both are measured with an error whose 95 % interval is two per cent wide on each side."""
    noise = random.Random(3)
    sigma, ties = 0.02 / 1.96, 0
    for _ in range(2_000):
        one, other = (1 + noise.gauss(0, sigma) for _ in range(2))
        ties += percentile(UncertainTime(one, 0.02), [UncertainTime(other, 0.02)]) == 50
    assert 0.93 < ties / 2_000 < 0.97
