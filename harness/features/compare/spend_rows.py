"""What a comparison at equal spend shows: lines, and a small table."""

from collections.abc import Iterator

from harness.features.compare.spend_sentence import MODES, amount_of
from harness.features.compare.spend_types import SpendComparison, SpendDifference
from harness.text import percent


def spend_columns(spend: SpendComparison) -> tuple[str, ...]:
    """The head of the table."""
    labels = spend.a.label, spend.b.label
    return ("at equal spend", "n", *labels, f"{labels[1]} - {labels[0]}", "95 % interval")


def spend_rows(spend: SpendComparison) -> Iterator[tuple[str, ...]]:
    """The arms at each spend, of all problems and of each difficulty that has enough."""
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
        ends = f"{100 * low:+.1f} to {100 * high:+.1f}"
    return (
        f"{group}{amount_of(each.at, spend.unit)}",
        f"{problems:,}",
        percent(each.a.solved),
        percent(each.b.solved),
        f"{100 * each.difference:+.1f}",
        ends,
    )


def foreign(spend: SpendComparison) -> bool:
    """Whether the sentence has words of others in it: names of models or prompt sets."""
    own = {*MODES.values(), spend.a.label, spend.b.label}
    return not {spend.a.name, spend.b.name} <= own
