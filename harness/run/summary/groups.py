"""Results selected by filters, and grouped by difficulty, platform, tag or month of release."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypedDict

from pydantic import ValidationError

from harness.errors import HarnessError, UsageError
from harness.figures import count
from harness.models.protocol import Frozen
from harness.run.settings.spec import fault_words
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.run.summary.summary import rate_of
from harness.sources.selection import Selection, matching
from harness.stats.rates import Rate
from harness.text import printable_line

FEWEST = 5
"""Least number of problems of a group that is printed."""

ORDER = ("easy", "medium", "hard", "unknown")

KINDS: Mapping[str, Callable[[SampleResult], Iterable[str]]] = {
    "difficulty": lambda result: (result.difficulty or "unknown",),
    "platform": lambda result: (result.platform or "unknown",),
    "tag": lambda result: result.tags,
    "month": lambda result: (f"{result.release_date:%Y-%m}" if result.release_date else "unknown",),
}
"""Ways of grouping: the groups of a sample's problem."""

_FIELDS: Mapping[str, str] = {
    "filter_difficulty": "difficulties",
    "filter_platform": "platforms",
    "filter_tags": "tags",
    "min_release_date": "min_release_date",
    "max_release_date": "max_release_date",
    "exclude_known_issues": "exclude_known_issues",
}
"""The key of each filter, and its field of `Selection`."""

EVERYTHING = Selection()


class GroupRate(Frozen):
    """pass@1 of a group of problems."""

    name: str
    rate: Rate


def rates_by(results: Sequence[SampleResult], kind: str) -> list[GroupRate]:
    """Return pass@1 of each group, from easy to hard, or by name."""
    members: dict[str, list[SampleResult]] = defaultdict(list)
    for result in results:
        for name in KINDS[kind](result):
            members[name].append(result)
    ranked = sorted(members, key=lambda name: (rank(name), name))
    rates = ((name, rate_of(members[name])) for name in ranked)
    return [GroupRate(name=name, rate=rate) for name, rate in rates if rate is not None]


def rank(name: str) -> int:
    """Return a group's sort key: difficulties have an order, other names are equal."""
    return ORDER.index(name) if name in ORDER else 0


def read_kinds(words: Iterable[str]) -> tuple[str, ...]:
    """Parse the groupings of `--by difficulty,month`, without duplicates, in order.

    Raises:
        UsageError: a grouping is unknown.
    """
    found = dict.fromkeys(part.strip() for word in words for part in word.split(","))
    for kind in found:
        if kind not in KINDS:
            raise UsageError(f"--by {kind!r}: known are {', '.join(KINDS)}")
    return tuple(found)


class Filters(TypedDict, total=False):
    """The filters by key, as in a run's spec."""

    filter_difficulty: list[str] | tuple[str, ...] | str
    filter_platform: list[str] | tuple[str, ...] | str
    filter_tags: list[str] | tuple[str, ...] | str
    min_release_date: str | date
    max_release_date: str | date
    exclude_known_issues: bool


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts of a problem that filters use, taken from a result."""

    id: str
    platform: str
    difficulty: str | None
    tags: tuple[str, ...]
    release_date: date | None
    known_issues: tuple[str, ...]
    difficulty_word: str = ""


def read_filters(values: Mapping[str, Any]) -> Selection:
    """Read filters by key; None and empty lists have no effect.

    Raises:
        UsageError: a filter is unknown, or a value is invalid.
    """
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _FIELDS:
            raise UsageError(f"{key!r} is not a filter; known are {', '.join(_FIELDS)}")
        if value is None or value in ([], ()):
            continue
        several = key.startswith("filter_")
        given[_FIELDS[key]] = [value] if several and isinstance(value, str) else value
    try:
        return Selection(**given)
    except ValidationError as error:
        first = error.errors()[0]
        names = {field: key for key, field in _FIELDS.items()}
        name = names.get(str(first["loc"][0]), "filter")
        several = name.startswith("filter_")
        words = "give a word, or a list of words" if several else fault_words(first)
        raise UsageError(f"{name} {first['input']!r}: {words}") from None


def filtered(run: Run, selection: Selection) -> Run:
    """Return a run of only the matching problems, as if others had not been selected.

    The facts of a problem come from its results. So problems without a result are left out;
    `filter_notes` of the run says how many.

    Raises:
        UsageError: no problem of the run has a requested value.
        NothingSelectedError: no problem of the run matches.
    """
    if selection == EVERYTHING:
        return run
    facts = {
        each.problem_id: _Facts(
            *(each.problem_id, each.platform, each.difficulty),
            *(each.tags, each.release_date, each.known_issues),
        )
        for each in run.results
    }
    try:
        kept, undated = matching([*facts.values()], selection)
    except HarnessError as error:
        raise type(error)(f"{printable_line(str(run.path))}: {error}") from None
    names = {each.id for each in kept}
    problems: Mapping[str, Any] = run.manifest["problems"]
    unknown = sum(name not in facts for name in problems)
    manifest = {
        **run.manifest,
        "problems": {name: each for name, each in problems.items() if name in names},
    }
    manifest.pop("merged", None)
    notes = (
        *([f"{count(undated, 'problem')} without a release date left out"] if undated else []),
        *(
            [f"{count(unknown, 'problem')} without a result left out: nothing says what they are"]
            if unknown
            else []
        ),
    )
    return replace(
        run,
        manifest=manifest,
        results=tuple(each for each in run.results if each.problem_id in names),
        filtered_by=filter_words(selection),
        filter_notes=notes,
    )


def filter_words(selection: Selection) -> str:
    """Return a short description of a selection."""
    first, last = selection.min_release_date, selection.max_release_date
    parts = (
        *("/".join(values) for values in (selection.difficulties, selection.platforms) if values),
        *(f"tag {tag}" for tag in selection.tags),
        *([f"released from {first}"] if first else []),
        *([f"released to {last}"] if last else []),
        *(["no known issues"] if selection.exclude_known_issues else []),
    )
    return ", ".join(map(printable_line, parts))
