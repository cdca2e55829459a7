"""A full score, and what rounding takes of it."""

from for_each import for_each

from harness.grading.verdict import Score


@for_each(
    ("points", "maximum", "is_full"),
    [
        (100, 100, True),
        (sum([0.1] * 1_000), 100, True),
        (33.33 + 33.33 + 33.34, 100, True),
        (99.9999, 100, False),
        (0, 1e-10, False),
        (1e-10, 1e-10, True),
        (1_000_999_999, 1_001_000_000, False),
        (sum([1e6 / 3] * 3), 1e6, True),
    ],
)
def test_a_score_is_full_if_rounding_alone_is_missing(
    points: float, maximum: float, *, is_full: bool
) -> None:
    score = Score(points=points, maximum=maximum)
    assert score.is_full is is_full
    assert (score.share == 1) is is_full
