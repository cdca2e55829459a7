"""The runs of a report with unique labels, and the pairs of them that it compares."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from harness.agent.strategies.modes import SHOT, mode_named
from harness.features.compare.comparison import Comparison, compare_read
from harness.features.compare.differences.conditions import conditions_differ
from harness.features.compare.differences.judging import changed_problems, unlike
from harness.features.compare.flips import Flip, flips_of
from harness.figures import count
from harness.run.settings.spec import GROWING, RESUMABLE, SETTINGS, RunSpec, uses
from harness.run.store.origin import PUBLISHED, verdicts_of
from harness.run.store.pending import NOT_NEEDED, NOT_RUN
from harness.run.store.results import SampleResult
from harness.run.store.transcript import transcript_command
from harness.run.summary.fact import remarks_of
from harness.run.summary.loaded_run import Run
from harness.stats.holm import holm
from harness.stats.paired import Paired, compare_counts, paired_score
from harness.stats.pass_at_k import Counts
from harness.text import printable_line

LONGEST_LABEL = 48
NOT_KEYS = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "valueOf"),
        *("toString", "toLocaleString", "__proto__", "__defineGetter__", "__defineSetter__"),
        *("__lookupGetter__", "__lookupSetter__"),
    }
)
"""Properties of all JavaScript objects, which Vega cannot use as names of groups."""
NOT_USED = "not used"
NO_FACTORS = RESUMABLE | GROWING | {"shard", "batch", "require_isolation", "unsafe_no_sandbox"}
"""Keys of the spec that do not affect how much a run solves."""
ITERATING = frozenset(key for key in SETTINGS if not uses(SHOT.name, key))
"""Keys that some modes ignore; between two modes they are part of the mode."""


@dataclass(frozen=True)
class LabelledRun:
    """A run and its label in the report."""

    label: str
    run: Run

    @cached_property
    def graded(self) -> tuple[SampleResult, ...]:
        """The samples that count in rates."""
        return tuple(result for result in self.run.results if result.graded)

    @property
    def imported(self) -> bool:
        """Whether only solutions were imported: turns, tokens and costs are unknown."""
        imported = self.run.manifest.get("imported")
        return imported is not None and "format" not in imported

    def setting(self, key: str) -> str:
        """Return a setting as text, or why there is none.

        It is `unknown` if the run is older than the key, `not used` if the run's mode ignores it.
        """
        value = self.run.spec.get(key)
        if value is not None and not uses(self.run.spec.get("mode"), key):
            return NOT_USED
        return "unknown" if value is None else str(value)

    def transcript(self, sample: str) -> str:
        """Return the shell command for a sample's transcript; empty if there is none."""
        if self.imported:
            return ""
        return transcript_command(self.run.path, sample)


def sides_of(runs: Sequence[Run]) -> list[LabelledRun]:
    """Return the runs in the given order; equal directory names are numbered."""
    names = [_short(groupable(run.name)) or "run" for run in runs]
    often, seen, taken = Counter(names), Counter[str](), set(names)
    labels: list[str] = []
    for name in names:
        label = name
        while often[name] > 1 and label in taken:
            seen[name] += 1
            label = f"{name} ({seen[name]})"
        taken.add(label)
        labels.append(label)
    return [LabelledRun(label, run) for label, run in zip(labels, runs, strict=True)]


def groupable(name: str) -> str:
    """Return a name on one line, and changed if charts cannot use it."""
    shown = printable_line(name)
    return f"{shown} " if shown in NOT_KEYS else shown


def remarks(sides: Sequence[LabelledRun]) -> Iterator[str]:
    """Yield warnings: pending or ungraded samples, and differences between runs."""
    for side in sides:
        left_out = {NOT_NEEDED, NOT_RUN} if side.run.manifest.get(NOT_NEEDED) else set[str]()
        reasons = side.run.summary.pending.items()
        pending = sum(number for why, number in reasons if why not in left_out)
        if pending:
            yield (
                f"{side.label}: {count(pending, 'sample')} of {side.run.planned:,} pending, "
                "in no figure"
            )
        if side.imported:
            tests = "tests, " if verdicts_of(side.run.manifest) == PUBLISHED else ""
            yield (
                f"{side.label}: imported, its verdicts {verdicts_of(side.run.manifest)}; nothing "
                f"is known of {tests}turns, tokens and cost"
            )
        elif "imported" in side.run.manifest:
            yield (
                f"{side.label}: agent runs made elsewhere; turns, tokens and cost are what their "
                "file says, the verdicts were made here"
            )
        summary = side.run.summary
        if summary.untested:
            yield f"{side.label}: {count(summary.untested, 'sample')} not graded, and in no rate"
        for name, (first, *more) in remarks_of(summary):
            yield f"{side.label}: {name}: {first}; {'; '.join(more)}"
    for side in sides[1:]:
        yield from _unlike(sides[0], side)


def _unlike(first: LabelledRun, side: LabelledRun) -> Iterator[str]:
    problems, those = (each.run.manifest["problems"].keys() for each in (first, side))
    both = f"{first.label} and {side.label}"
    if problems != those:
        yield f"{both} are not of the same problems: their rates side by side are no comparison"
    labels = first.label, side.label
    differences = unlike(first.run, side.run, labels, changed_problems(first.run, side.run))
    for difference in (*differences, *conditions_differ(first.run, side.run)):
        yield f"{both}: {difference}"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"


class Match(NamedTuple):
    """Two runs to compare, and the settings in which they differ."""

    base: LabelledRun
    other: LabelledRun
    factors: tuple[str, ...]


def matches(sides: Sequence[LabelledRun]) -> list[Match]:
    """Choose the runs to compare: those that differ in one setting.

    In a group of runs that differ in the same single setting, the others are compared with the
    first,
    or with the single shot if the setting is the mode. An iterating run and a single shot of the
    same
    model without such a partner are matched too, the nearest first. If there is no match at all,
    every
    run is compared with the first.
    """
    matches = list(_by_one_setting(sides))
    matches += _by_mode(sides, matches)
    return matches or [Match(sides[0], side, factors(sides[0], side)) for side in sides[1:]]


def factors(one: LabelledRun, other: LabelledRun) -> tuple[str, ...]:
    """Return the keys of the settings in which two runs differ."""
    ignored = NO_FACTORS
    if _value(one, "mode") != _value(other, "mode"):
        ignored |= ITERATING
    keys = [key for key in RunSpec.model_fields if key not in ignored]
    return tuple(key for key in keys if _value(one, key) != _value(other, key))


def is_shot(side: LabelledRun) -> bool:
    """Whether a run's mode is single shot."""
    return mode_named(side.setting("mode")).single


def _by_one_setting(sides: Sequence[LabelledRun]) -> Iterator[Match]:
    """Match each run with one that differs from it in a single setting."""
    ordered = sorted(sides, key=lambda side: not is_shot(side))
    partners = [(one, other, factors(one, other)) for one, other in combinations(ordered, 2)]
    taken: set[tuple[int, tuple[str, ...]]] = set()
    for base, other, keys in partners:
        if len(keys) > 1 or (id(other), keys) in taken:
            continue
        taken.add((id(other), keys))
        yield Match(base, other, keys)


def _by_mode(sides: Sequence[LabelledRun], matches: Sequence[Match]) -> Iterator[Match]:
    """Match unmatched iterating runs with an unmatched single shot of the same model."""
    matched = {id(side) for each in matches if each.factors == ("mode",) for side in each[:2]}
    shots = [side for side in sides if is_shot(side) and id(side) not in matched]
    for side in sides:
        own = [shot for shot in shots if shot.setting("model") == side.setting("model")]
        if is_shot(side) or id(side) in matched or not own:
            continue
        nearest = min(own, key=lambda shot: len(factors(shot, side)))
        yield Match(nearest, side, factors(nearest, side))


def _value(side: LabelledRun, key: str) -> object:
    return side.run.spec.get(key, RunSpec.model_fields[key].get_default())


@dataclass(frozen=True)
class Pairing:
    """Comparison of two runs over the problems of the same content that both graded.

    Attributes:
        base, other: the baseline and the run compared with it.
        paired: the paired comparison; A is `base`, B is `other`.
        p_value: p-value, corrected by Holm for the pairings that differ in the same settings.
        low, high: interval of the difference, corrected likewise: it excludes 0 exactly if
            p_value < 0.05.
        factors: keys of the settings in which the two differ.
        flips: problems on which one of them did better.
    """

    base: LabelledRun
    other: LabelledRun
    paired: Paired
    p_value: float
    low: float
    high: float
    flips: tuple[Flip, ...]
    factors: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[LabelledRun, LabelledRun]:
        """The baseline and the run compared with it."""
        return self.base, self.other

    @cached_property
    def comparison(self) -> Comparison:
        """What `harness compare` says of the two."""
        return compare_read([self.base.run, self.other.run])

    @property
    def iterating(self) -> bool:
        """Whether an iterating run is compared with a single shot of the same model."""
        alike = self.base.setting("model") == self.other.setting("model")
        return alike and is_shot(self.base) and not is_shot(self.other)

    @property
    def differs_in(self) -> str:
        """The settings in which the two differ, with the values of both."""
        values = (
            f"{key.replace('_', ' ')}: {self.base.setting(key)} -> {self.other.setting(key)}"
            for key in self.factors
        )
        return "; ".join(values) or "no setting"


def pairings(sides: Sequence[LabelledRun]) -> list[Pairing]:
    """Compare the runs that `matches` chooses, if they share a problem."""
    made = [(match, *_paired(match.base, match.other)) for match in matches(sides)]
    made = [each for each in made if each[1].problems]
    corrected: dict[int, float] = {}
    for keys in {match.factors for match, *_ in made}:
        places = [place for place, each in enumerate(made) if each[0].factors == keys]
        p_values = holm([made[place][1].p_value for place in places])
        corrected |= dict(zip(places, p_values, strict=True))
    return [
        _pairing(match, paired, counts, corrected[place])
        for place, (match, paired, counts) in enumerate(made)
    ]


Sides = tuple[dict[str, Counts], dict[str, Counts]]


def _paired(base: LabelledRun, other: LabelledRun) -> tuple[Paired, Sides]:
    a, b = base.run.columns.counts, other.run.columns.counts
    same = a.keys() & b.keys() - changed_problems(base.run, other.run)
    counts_a, counts_b = ({p: n for p, n in of.items() if p in same} for of in (a, b))
    return compare_counts(counts_a, counts_b), (counts_a, counts_b)


def _pairing(match: Match, paired: Paired, counts: Sides, p_value: float) -> Pairing:
    score = paired_score(*counts).corrected(p_value)
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
