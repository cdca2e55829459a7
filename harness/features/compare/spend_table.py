"""The table of two runs at equal spend."""

from collections.abc import Iterator, Mapping

from harness.features.compare.spend_result import SpendComparison, SpendDifference
from harness.features.compare.spend_sentence import amount_of
from harness.figures import percent, points


def spend_columns(spend: SpendComparison, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the column heads of the equal-spend table."""
    one, other = names[spend.a.label], names[spend.b.label]
    return ("at equal spend", "n", one, other, "difference", "95 % interval")


def spend_rows(spend: SpendComparison) -> Iterator[tuple[str, ...]]:
    """Yield the arms at each spend, over all problems and by difficulty."""
    for each in spend.differences:
        yield _row(spend, each, spend.problems, "")
    for group in spend.by_difficulty:
        for each in group.differences:
            yield _row(spend, each, group.problems, f"{group.name}, ")


def _row(
    spend: SpendComparison, each: SpendDifference, problems: int, group: str
) -> tuple[str, ...]:
    low, high = each.low, each.high
    ends = "one problem"
    if low is not None and high is not None:
        ends = f"{points(low)} to {points(high)}"
    return (
        f"{group}{amount_of(each.at, spend.unit)}",
        f"{problems:,}",
        percent(each.a.solved),
        percent(each.b.solved),
        points(each.difference),
        ends,
    )
