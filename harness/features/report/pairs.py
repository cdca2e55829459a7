"""Runs against each other, problem by problem."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.features.compare.flips import Flip, flips_of
from harness.features.report.factors import Match, is_shot, matches
from harness.features.report.run_labels import Side, changed
from harness.run.summary.summary import solved_counts
from harness.stats.paired import (
    Paired,
    compare_paired,
    corrected_confidence,
    holm,
    paired_score,
)
from harness.stats.pass_at_k import Counts


@dataclass(frozen=True)
class Pairing:
    """Two runs over the problems that both graded, of the same content.

    Attributes:
        base, other: what is compared with what.
        paired: A is `base`, B is `other`.
        p_value: corrected by Holm for the pairings that differ in the same settings.
        low, high: the interval of the difference, corrected likewise: it excludes 0 exactly where
            p_value < 0.05.
        factors: the settings in which the two differ.
        flips: the problems that one of them did better on.
    """

    base: Side
    other: Side
    paired: Paired
    p_value: float
    low: float
    high: float
    flips: tuple[Flip, ...]
    factors: tuple[str, ...] = ()

    @property
    def iterating(self) -> bool:
        """Whether it is a run that may iterate against one that may not, of the same model."""
        alike = self.base.said("model") == self.other.said("model")
        return alike and is_shot(self.base) and not is_shot(self.other)

    @property
    def differs_in(self) -> str:
        """The settings in which the two differ, with the values of the first and of the other."""
        values = (
            f"{key.replace('_', ' ')}: {self.base.said(key)} -> {self.other.said(key)}"
            for key in self.factors
        )
        return "; ".join(values) or "no setting"


def pairings(sides: Sequence[Side]) -> list[Pairing]:
    """Set runs against each other as `factors.matches` has it; no shared problem is no pair."""
    made = [(match, *_paired(match.base, match.other)) for match in matches(sides)]
    made = [each for each in made if each[1].problems]
    corrected: dict[int, float] = {}
    for factors in {match.factors for match, *_ in made}:
        places = [place for place, each in enumerate(made) if each[0].factors == factors]
        p_values = holm([made[place][1].p_value for place in places])
        corrected |= dict(zip(places, p_values, strict=True))
    return [
        _pairing(match, paired, counts, corrected[place])
        for place, (match, paired, counts) in enumerate(made)
    ]


Sides = tuple[dict[str, Counts], dict[str, Counts]]


def _paired(base: Side, other: Side) -> tuple[Paired, Sides]:
    a, b = solved_counts(base.graded), solved_counts(other.graded)
    same = a.keys() & b.keys() - changed(base, other)
    counts_a, counts_b = ({p: n for p, n in of.items() if p in same} for of in (a, b))
    return compare_paired(*_shares(counts_a, counts_b)), (counts_a, counts_b)


def _pairing(match: Match, paired: Paired, counts: Sides, p_value: float) -> Pairing:
    confidence = corrected_confidence(paired.p_value, p_value)
    score = paired_score(*_shares(*counts), confidence)
    labels = match.base.label, match.other.label
    return Pairing(
        match.base,
        match.other,
        paired,
        p_value,
        score.low,
        score.high,
        tuple(flips_of(match.base.run, match.other.run, labels, counts)),
        match.factors,
    )


def _shares(
    a: dict[str, Counts], b: dict[str, Counts]
) -> tuple[dict[str, float], dict[str, float], dict[str, int], dict[str, int]]:
    """What `compare_paired` takes: the shares solved, and how many samples there are."""
    one, other = ({p: solved / n for p, (n, solved) in of.items()} for of in (a, b))
    number, others = ({p: n for p, (n, _) in of.items()} for of in (a, b))
    return one, other, number, others
