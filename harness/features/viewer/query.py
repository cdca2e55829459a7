"""Queries of URLs: search, filter, sort and page a run's samples, or two runs' problems."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from harness.errors import UsageError
from harness.features.efficiency.efficiency_summary import beyonds
from harness.features.efficiency.mean_share import known_rate
from harness.features.viewer.html import line
from harness.features.viewer.open_run import Item
from harness.features.viewer.result_index import ResultRow
from harness.run.summary.filters import read_filters
from harness.run.summary.sample_facts import sample_facts
from harness.sources.selection import Selection
from harness.stats.rates import Rate, rate_by_problem

T = TypeVar("T")
PER_PAGE = 100
LONGEST_SEARCH = 200
TEXTS = ("state", "difficulty", "platform")
ISSUES = ("none", "known")
LEVELS = {"easy": 0, "medium": 1, "hard": 2}
FILTERS = ("difficulty", "platform", "tag", "since", "until", "issues")


def page_number(word: str, most: int = 9_999_999) -> int:
    """Return the number of a page from a URL, between 1 and `most`; 1 if it is not a number."""
    return min(max(int(word), 1), most) if word.isdecimal() and len(word) < 8 else 1  # noqa: PLR2004 - digits


def url_words(named: Mapping[str, str | int]) -> str:
    """Return the end of a URL with the words that are not empty, and pages after the first.

    Lone surrogates cannot be encoded; a search for them finds nothing anyway.
    """
    told = {name: word for name, word in named.items() if word not in {"", 1}}
    return urlencode(told, errors="replace")


class Query(NamedTuple):
    """Filter and order of samples, from a URL; unknown words are ignored.

    Attributes:
        search: words that must all be in a sample's name, title or tags.
        state: a verdict, or `solved`, `unsolved`, `not_run`, `under_way`; empty for all.
        since, until: the first and the last release date, as `2024-01-31`; a problem without a date
            is then left out.
        issues: `none` or `known`: problems without and with known issues.
        sort: a column or the key of a fact, ascending; empty for the order in which samples ended.
        down: sort in descending order.
        page: number of the page, from 1.
    """

    search: str = ""
    state: str = ""
    difficulty: str = ""
    platform: str = ""
    since: str = ""
    until: str = ""
    issues: str = ""
    sort: str = ""
    down: bool = False
    page: int = 1

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "Query":
        """Read the query of a URL."""
        issues, sort = parameters.get("issues", ""), parameters.get("sort", "")
        return cls(
            search=parameters.get("q", "")[:LONGEST_SEARCH],
            **{name: parameters.get(name, "")[:LONGEST_SEARCH] for name in TEXTS},
            **{name: _day(parameters.get(name, "")) for name in ("since", "until")},
            issues=issues if issues in ISSUES else "",
            sort=sort if sort in COLUMNS or sort in _keys() else "",
            down=parameters.get("down", "") == "1",
            page=page_number(parameters.get("page", "1")),
        )

    @property
    def words(self) -> dict[str, str]:
        """The words of its URL, without its page."""
        names = (*TEXTS, "since", "until", "issues", "sort")
        values = {name: getattr(self, name) for name in names}
        return {"q": self.search, **values, "down": "1" if self.down else ""}

    @property
    def url_part(self) -> str:
        """The query as the end of a URL, without its page; empty if nothing is set."""
        return url_words(self.words)

    def at(self, page: int) -> str:
        """Return the URL of a page, relative to the run's."""
        return f"?{url_words({**self.words, 'page': page})}"

    def by(self, column: str) -> str:
        """Return the URL that sorts by a column, or reverses its order if it is sorted."""
        down = not self.down if self.sort == column else column in _keys()
        return self._replace(sort=column, down=down, page=1).at(1)

    def order(self, column: str) -> str:
        """Return the value of `aria-sort` for a column."""
        if self.sort != column:
            return "none"
        return "descending" if self.down else "ascending"


class ComparisonQuery(NamedTuple):
    """Query of a comparison's URL; unknown words are ignored.

    Attributes:
        kind: one of `KINDS`, `changed`, or empty for all.
        difficulty, platform, tag, since, until: filters of problems.
        issues: `none` to leave out problems with known issues.
    """

    a: str
    b: str
    kind: str = ""
    difficulty: str = ""
    platform: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    issues: str = ""
    page: int = 1

    @classmethod
    def of(cls, parameters: QueryParams) -> "ComparisonQuery":
        """Read the query of a URL: `a` and `b`, or `run` twice. Raises UsageError."""
        given = parameters.getlist("run") or [parameters.get("a", ""), parameters.get("b", "")]
        chosen = [each for each in given if each]
        if len(chosen) != 2:  # noqa: PLR2004 - a pair
            number = {0: "none is", 1: "one is"}.get(len(chosen), f"{len(chosen):,} are")
            raise UsageError(f"choose two runs to compare; {number} chosen")
        values = {name: parameters.get(name, "")[:LONGEST_SEARCH] for name in ("kind", *FILTERS)}
        page = page_number(parameters.get("page", "1"))
        return cls(chosen[0][:64], chosen[1][:64], **values, page=page)

    def at(self, page: int = 1) -> str:
        """Return the URL of a page of the comparison."""
        return f"/compare?{self._replace(page=page).url_part}"

    @property
    def url_part(self) -> str:
        """The query as the end of a URL."""
        names = ("a", "b", "kind", *FILTERS, "page")
        return url_words({name: getattr(self, name) for name in names})

    @property
    def only(self) -> Selection:
        """Filter of problems. Raises UsageError if a date is malformed."""
        return read_filters(
            {
                "filter_difficulty": [self.difficulty] if self.difficulty else [],
                "filter_platform": [self.platform] if self.platform else [],
                "filter_tags": [self.tag] if self.tag else [],
                "min_release_date": self.since or None,
                "max_release_date": self.until or None,
                "exclude_known_issues": True if self.issues == "none" else None,
            }
        )


def _day(word: str) -> str:
    """A date as an address has it; empty where it is none."""
    try:
        return date.fromisoformat(word).isoformat()
    except ValueError:
        return ""


def _share(row: ResultRow) -> float | None:
    total = row.public_total + row.hidden_total
    return (row.public_passed + row.hidden_passed) / total if total else None


Key = Callable[[ResultRow], Any]
COLUMNS: dict[str, Key] = {
    "problem": lambda row: (row.title.casefold(), row.index),
    "difficulty": lambda row: (LEVELS.get(row.difficulty or "", len(LEVELS)), row.difficulty or ""),
    "released": lambda row: row.release_date,
    "verdict": lambda row: (not row.solved, str(row.verdict)),
    "tests": _share,
}
"""Columns before those of facts, and the value that each is sorted by."""


def _keys() -> dict[str, Key]:
    return {fact.key: fact.value for fact in sample_facts()}


def select(items: Iterable[Item], query: Query) -> list[Item]:
    """Return the samples of a query, in its order; unknown values are last."""
    words = query.search.casefold().split()
    matching = [item for item in items if _meant(item, query) and _has(item, words)]
    if not query.sort:
        return matching
    key = COLUMNS.get(query.sort) or _keys()[query.sort]
    known = [
        (value, item) for item in matching if item.row and (value := key(item.row)) is not None
    ]
    places = {item.key for _, item in known}
    known.sort(key=lambda pair: pair[0], reverse=query.down)
    return [*(item for _, item in known), *(item for item in matching if item.key not in places)]


def _meant(item: Item, query: Query) -> bool:
    row = item.row
    if query.state == "solved":
        meant = row is not None and row.solved
    elif query.state == "unsolved":
        meant = row is not None and not row.solved
    else:
        meant = query.state in {"", item.state}
    if query.difficulty:
        meant = meant and row is not None and _level(row) == query.difficulty
    if query.platform:
        meant = meant and row is not None and _named(row.platform) == query.platform
    if query.since or query.until:
        meant = meant and row is not None and _released(row, query)
    if query.issues:
        meant = meant and row is not None and bool(row.known_issues) == (query.issues == "known")
    return meant


def _released(row: ResultRow, query: Query) -> bool:
    day = row.release_date.isoformat() if row.release_date else ""
    return bool(day) and query.since <= day <= (query.until or day)


def _level(row: ResultRow) -> str:
    return _named(row.difficulty or "unknown")


@lru_cache(maxsize=1_000)
def _named(word: str) -> str:
    """Return a word of the data in a form that pages and URLs can hold."""
    return line(word)[:LONGEST_SEARCH]


def _has(item: Item, words: Sequence[str]) -> bool:
    if not words:
        return True
    tags = item.row.tags if item.row else ()
    text = "\n".join((item.sample, item.title, *tags)).casefold()
    return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list; `of` is the number of pages, `total` that of all items."""

    items: tuple[T, ...]
    number: int
    of: int
    total: int


def page_of(items: Sequence[T], page: int) -> Page[T]:
    """Return a query's page; a number too large gives the last page."""
    pages = max(1, -(-len(items) // PER_PAGE))
    number = min(page, pages)
    start = (number - 1) * PER_PAGE
    return Page(tuple(items[start : start + PER_PAGE]), number, pages, len(items))


def neighbours(items: Sequence[T], place: int) -> tuple[T | None, T | None]:
    """Return the items before and after a place; None beyond the ends, or if it is -1."""
    before = items[place - 1] if place > 0 else None
    return before, items[place + 1] if 0 <= place < len(items) - 1 else None


class Sums(NamedTuple):
    """Totals of a run's samples so far.

    Attributes:
        cost: US dollars; None if that of any sample is unknown.
        cut_off: number of answers that ended at the token limit.
        states, difficulties, platforms: number of samples of each.
        dated, with_issues: number of samples whose problem has a release date, or known issues.
        by_difficulty: pass@1 of each difficulty.
        beyond: Beyond@1; None if no sample has a Beyond.
    """

    rate: Rate | None
    done: int
    graded: int
    solved: int
    tokens: int | None
    cost: float | None
    seconds: float
    cut_off: int
    states: dict[str, int]
    difficulties: dict[str, int]
    platforms: dict[str, int]
    by_difficulty: dict[str, Rate]
    dated: int
    with_issues: int
    beyond: Rate | None


def sums(items: Iterable[Item]) -> Sums:
    """Sum up the samples of a run."""
    all_items = list(items)
    rows = [item.row for item in all_items if item.row is not None]
    graded = [row for row in rows if row.graded]
    difficulties = _counted(map(_level, rows))
    levels = sorted(difficulties, key=lambda name: (LEVELS.get(name, len(LEVELS)), name))
    grouped = {name: _rate(row for row in graded if _level(row) == name) for name in levels[:20]}
    return Sums(
        rate=_rate(graded),
        done=len(rows),
        graded=len(graded),
        solved=sum(row.solved for row in graded),
        tokens=_all(row.tokens for row in rows),
        cost=_all(row.cost for row in rows),
        seconds=sum(row.seconds for row in rows),
        cut_off=sum(row.cut_off for row in rows),
        states=_counted(item.state for item in all_items),
        difficulties={name: difficulties[name] for name in levels},
        platforms=_counted(_named(row.platform) for row in rows),
        by_difficulty={name: value for name, value in grouped.items() if value is not None},
        dated=sum(row.release_date is not None for row in rows),
        with_issues=sum(bool(row.known_issues) for row in rows),
        beyond=known_rate(beyonds(rows)),
    )


def _rate(rows: Iterable[ResultRow]) -> Rate | None:
    return rate_by_problem((row.problem_id, float(row.solved)) for row in rows)


def _all(values: Iterable[Any]) -> Any:
    """Return the sum; None if a value is unknown, or there are none."""
    known = list(values)
    return sum(known) if known and None not in known else None


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words).most_common())
