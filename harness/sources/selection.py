"""Selection of a run's problems: named ones, filters, then a sample.

A problem's rank is a hash of the seed and its id. So the same seed picks the same problems in any
order of the data, and a larger random sample holds every smaller one.
"""

import difflib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt

from harness.errors import NothingSelectedError, UsageError
from harness.problem import Problem
from harness.sources.problem_names import Names, listed

Stratum = tuple[str, str]


def rank(seed: int, name: str) -> bytes:
    """Return a problem's place in the shuffle of a seed: 32 bytes, lowest first."""
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()


def random_sample(problems: Sequence[Problem], size: int, seed: int) -> list[Problem]:
    """Return `size` random problems, or all when there are fewer, in order of rank."""
    return sorted(problems, key=lambda problem: rank(seed, problem.id))[:size]


def stratified_sample(problems: Sequence[Problem], size: int, seed: int) -> list[Problem]:
    """Return a random sample with the data's shares of platforms and difficulties.

    It holds all problems if there are fewer than `size`.
    """
    ranked = random_sample(problems, len(problems), seed)
    left = quotas(Counter(map(stratum, problems)), size, seed)
    sample: list[Problem] = []
    for problem in ranked:
        if left[stratum(problem)]:
            left[stratum(problem)] -= 1
            sample.append(problem)
    return sample


def stratum(problem: Problem) -> Stratum:
    """Return the stratum of a problem: platform and difficulty."""
    return problem.platform, problem.difficulty or problem.difficulty_word


def quotas(counts: Counter[Stratum], size: int, seed: int) -> Counter[Stratum]:
    """Return how many problems of each stratum make a sample, by largest remainders.

    By Hamilton's method every stratum gets its share rounded down; the rest goes one each to the
    largest remainders, equal ones by rank. Shares are integers, so there is no rounding error.

    Args:
        counts: number of problems of each stratum.
        size: size of the sample; all problems at most.
        seed: seed of the ranks.
    """
    total = counts.total()
    size = min(size, total)
    shares = {name: divmod(count * size, total) for name, count in counts.items()}
    given = Counter({name: whole for name, (whole, _) in shares.items()})
    by_remainder = sorted(shares, key=lambda name: (-shares[name][1], rank(seed, "\0".join(name))))
    given.update(by_remainder[: size - given.total()])
    return given


class Selection(BaseModel):
    """Criteria of a selection. All given ones must hold.

    Attributes:
        tasks: full ids, native ids or aliases, in any case; any of them.
        difficulties: easy, medium, hard, or the source's own words; any of them.
        tags: tags that a problem must all have.
        platforms: any of them.
        min_release_date: earliest date, inclusive. A date filter excludes problems without a date.
        max_release_date: latest date, inclusive.
        exclude_known_issues: whether to exclude problems whose verdicts are known to mislead.
        sample_size: largest number of problems, after the filters; None keeps all.
        sampling: the `first` in the data's order, `random`, or `stratified` (at random, with
            platforms and difficulties in proportion).
        seed: seed of random and stratified sampling.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    min_release_date: date | None = None
    max_release_date: date | None = None
    exclude_known_issues: bool = False
    sample_size: PositiveInt | None = None
    sampling: Literal["first", "random", "stratified"] = "first"
    seed: int = 0


class Selected(NamedTuple):
    """Result of a selection.

    Attributes:
        problems: selected problems, in the data's order.
        available: number of problems in the data.
        matched: number of problems that passed the filters, before sampling.
        undated: number of problems that only a date filter excluded, because they have no date.
    """

    problems: tuple[Problem, ...]
    available: int
    matched: int
    undated: int


class Described(Protocol):
    """Fields that filters read, of a problem or of a result's copy of them."""

    @property
    def platform(self) -> str: ...  # noqa: D102
    @property
    def difficulty(self) -> str | None: ...  # noqa: D102
    @property
    def difficulty_word(self) -> str: ...  # noqa: D102
    @property
    def tags(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def release_date(self) -> date | None: ...  # noqa: D102
    @property
    def known_issues(self) -> tuple[str, ...]: ...  # noqa: D102


D = TypeVar("D", bound=Described)


@dataclass(frozen=True, slots=True)
class _Filter:
    name: str
    keeps: Callable[[Any], bool]


def select(problems: Sequence[Problem], selection: Selection) -> Selected:
    """Select problems; their order stays the data's.

    An ambiguous task is an error that names the candidates; a full id always means its own problem.
    A sample size larger than the number of problems keeps all.

    Raises:
        UsageError: a task, difficulty, tag or platform that nothing in the data has, an ambiguous
            task, or a date range that ends before it starts.
        NothingSelectedError: no problem is left.
    """
    kept, undated = matching(problems, selection, _task_filter(problems, selection))
    return Selected(_sample(kept, selection), len(problems), len(kept), undated)


def matching(
    problems: Sequence[D], selection: Selection, first: Sequence[_Filter] = ()
) -> tuple[list[D], int]:
    """Apply the filters of a selection, except named tasks and the sample.

    Args:
        problems: problems, or results' copies of their fields.
        selection: the criteria.
        first: filters to apply before these.

    Returns:
        The problems that pass all filters, and the number excluded for having no date.

    Raises:
        UsageError, NothingSelectedError: as `select`.
    """
    filters = [*first, *_filters(problems, selection)]
    dated = _date_filter(selection)
    kept = [problem for problem in problems if all(each.keeps(problem) for each in filters)]
    undated = sum(problem.release_date is None for problem in kept) if dated else 0
    if dated:
        filters.append(dated)
        kept = [problem for problem in kept if dated.keeps(problem)]
    if not kept:
        raise NothingSelectedError(_nothing(len(problems), filters, undated))
    return kept, undated


def _task_filter(problems: Sequence[Problem], selection: Selection) -> list[_Filter]:
    if not selection.tasks:
        return []
    names = Names(problems)
    wanted = {names.find(task).id for task in selection.tasks}
    return [_Filter(f"task {listed(selection.tasks)}", lambda problem: problem.id in wanted)]


def _filters(problems: Sequence[Described], selection: Selection) -> list[_Filter]:
    """Return every filter but that of the dates, whose losses are counted separately."""
    filters: list[_Filter] = []
    for name, values, of, needed in (
        ("difficulty", selection.difficulties, _difficulties, any),
        ("platform", selection.platforms, _platforms, any),
        ("tag", selection.tags, _tags, all),
    ):
        if not values:
            continue
        wanted = {value.strip().casefold() for value in values}
        present = set[str]().union(*map(of, problems))
        for value in sorted(wanted - present):
            if problems:  # without any problem, another error is raised
                raise UsageError(_absent(name, value, present))
        filters.append(_Filter(f"{name} {listed(values)}", partial(_has, of, needed, wanted)))
    if selection.exclude_known_issues:
        filters.append(_Filter("known issues excluded", lambda problem: not problem.known_issues))
    return filters


def _has(
    of: Callable[[Described], set[str]],
    needed: Callable[[Iterable[bool]], bool],
    wanted: Iterable[str],
    problem: Described,
) -> bool:
    return needed(value in of(problem) for value in wanted)


def _difficulties(problem: Described) -> set[str]:
    return {word.casefold() for word in (problem.difficulty, problem.difficulty_word) if word}


def _platforms(problem: Described) -> set[str]:
    return {problem.platform.casefold()} - {""}


def _tags(problem: Described) -> set[str]:
    return {tag.casefold() for tag in problem.tags}


def _date_filter(selection: Selection) -> _Filter | None:
    first, last = selection.min_release_date, selection.max_release_date
    if first is None and last is None:
        return None
    if first and last and first > last:
        raise UsageError(f"the release dates end ({last}) before they start ({first})")
    name = "released" + (f" from {first}" if first else "") + (f" to {last}" if last else "")

    def within(problem: Described) -> bool:
        day = problem.release_date
        return day is not None and (first or day) <= day <= (last or day)

    return _Filter(name, within)


def _sample(kept: Sequence[Problem], selection: Selection) -> tuple[Problem, ...]:
    size = selection.sample_size
    if size is None or size >= len(kept):
        return tuple(kept)
    if selection.sampling == "first":
        return tuple(kept[:size])
    choose = random_sample if selection.sampling == "random" else stratified_sample
    chosen = {problem.id for problem in choose(kept, size, selection.seed)}
    return tuple(problem for problem in kept if problem.id in chosen)


def _absent(name: str, value: str, present: set[str]) -> str:
    if not present:
        return f"{name} {value!r}: no problem here has a {name}"
    near = difflib.get_close_matches(value, present, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{name} {value!r}: no problem here has it; {hint}there are {listed(sorted(present))}"


def _nothing(available: int, filters: Sequence[_Filter], undated: int) -> str:
    if not available:
        return "the data holds no problem"
    names = "; ".join(each.name for each in filters)
    missing = f" ({undated} have no date)" if undated else ""
    return f"no problem matches: {available} loaded, none with {names}{missing}"
