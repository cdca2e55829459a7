"""Comparison of two runs in the viewer: first screen, and outcomes by problem."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from harness.features.compare.answer import names_of
from harness.features.compare.comparison import compare_read
from harness.features.report.charts import PALETTE
from harness.features.report.first_screen import FirstScreen, screen_of_two
from harness.features.viewer.open_run import key_of
from harness.run.store.results import SampleResult
from harness.run.summary.groups import filtered
from harness.run.summary.loaded_run import Run, read_run
from harness.sources.selection import Selection

Kind = Literal["gained", "lost", "both", "neither", "equal"]
KINDS: tuple[Kind, ...] = ("gained", "lost", "both", "neither", "equal")
"""`gained`: the second run solves a larger share. `equal`: the same, but not all."""
MOST_TAGS = 100


@dataclass(frozen=True, slots=True)
class Fared:
    """Outcome of a run on a problem: its solved samples, and the sample to show."""

    solved: int
    samples: int
    shown: SampleResult

    @property
    def words(self) -> str:
        """The verdict; if there are several samples, how many are solved."""
        if self.samples > 1:
            return f"{self.solved} of {self.samples} solved"
        return str(self.shown.verdict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A problem that both runs have graded."""

    key: str
    problem: str
    title: str
    difficulty: str
    platform: str
    tags: tuple[str, ...]
    released: date | None
    known_issues: tuple[str, ...]
    kind: Kind
    a: Fared
    b: Fared


@dataclass(frozen=True)
class Beside:
    """Comparison of two runs.

    Attributes:
        screen: first screen, as in the report.
        names: names of both runs.
        outcomes: outcomes by key, changed ones first.
        warnings: reasons why the runs are not fully comparable.
    """

    screen: FirstScreen
    names: tuple[str, str]
    outcomes: dict[str, Outcome]
    warnings: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Number of problems of each kind."""
        kinds = [outcome.kind for outcome in self.outcomes.values()]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    @property
    def difficulties(self) -> list[str]:
        """Difficulties that occur, in order."""
        order = ("easy", "medium", "hard")
        found = {outcome.difficulty for outcome in self.outcomes.values()} - {""}
        return sorted(found, key=lambda name: (name not in order, name != "easy", name))

    @property
    def platforms(self) -> list[str]:
        """Those that there are."""
        return sorted({outcome.platform for outcome in self.outcomes.values()} - {""})

    @property
    def tags(self) -> dict[str, int]:
        """The most frequent tags, at most `MOST_TAGS`, and how many problems have each."""
        every = Counter(tag for outcome in self.outcomes.values() for tag in outcome.tags)
        return dict(sorted(every.most_common(MOST_TAGS)))

    @property
    def with_issues(self) -> int:
        """Problems with known issues."""
        return sum(bool(outcome.known_issues) for outcome in self.outcomes.values())

    @property
    def dated(self) -> bool:
        """Whether any problem has a release date."""
        return any(outcome.released for outcome in self.outcomes.values())


def beside(a: Any, b: Any, only: Selection) -> Beside:
    """Compare two runs.

    Args:
        a: directory of the baseline.
        b: directory of the other run.
        only: filter of problems.

    Raises:
        RunDirectoryError: a run cannot be read, or no graded problem is in both.
        UsageError, NothingSelectedError: the filters leave nothing.
    """
    runs = tuple(filtered(read_run(path), only) for path in (a, b))
    comparison = compare_read(runs)
    names = names_of(comparison)
    versus = comparison.versus[0]
    return Beside(
        screen=screen_of_two(comparison, (PALETTE[0], PALETTE[1])),
        names=(names[versus.baseline], names[versus.label]),
        outcomes={each.key: each for each in _outcomes(runs[0], runs[1], versus.changed)},
        warnings=(*versus.unlike, *versus.differs, *versus.notes),
    )


def _outcomes(a: Run, b: Run, changed: Iterable[str]) -> list[Outcome]:
    one, other = _by_problem(a), _by_problem(b)
    shared = [problem for problem in one if problem in other and problem not in set(changed)]
    found = [_outcome(problem, one[problem], other[problem]) for problem in shared]
    return sorted(found, key=lambda each: (KINDS.index(each.kind), each.title.casefold()))


def _by_problem(run: Run) -> dict[str, list[SampleResult]]:
    found: dict[str, list[SampleResult]] = {}
    for result in sorted(run.results, key=lambda result: result.index):
        if result.graded:
            found.setdefault(result.problem_id, []).append(result)
    return found


def _outcome(problem: str, a: Sequence[SampleResult], b: Sequence[SampleResult]) -> Outcome:
    solved = [sum(result.solved for result in own) for own in (a, b)]
    shares = solved[0] / len(a), solved[1] / len(b)
    kind: Kind = "gained" if shares[1] > shares[0] else "lost" if shares[1] < shares[0] else "equal"
    if kind == "equal" and shares[0] in {0, 1}:
        kind = "both" if shares[0] else "neither"
    want_a = kind != "gained" if kind in {"gained", "lost"} else shares[0] > 0
    want_b = kind != "lost" if kind in {"gained", "lost"} else shares[1] > 0
    first = a[0]
    return Outcome(
        key=key_of(problem),
        problem=problem,
        title=first.title or problem,
        difficulty=first.difficulty or "",
        platform=first.platform,
        tags=first.tags,
        released=first.release_date,
        known_issues=first.known_issues,
        kind=kind,
        a=Fared(solved[0], len(a), _shown(a, solved=want_a)),
        b=Fared(solved[1], len(b), _shown(b, solved=want_b)),
    )


def _shown(own: Sequence[SampleResult], *, solved: bool) -> SampleResult:
    """Return the first sample with the wanted outcome; else the first sample."""
    return next((result for result in own if result.solved == solved), own[0])
