"""What a fact of a run is: its name, its figure and its words, the same on all screens.

`harness.registry.FACTS` lists the tables of facts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Flag, auto
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from harness import registry
from harness.figures import UNKNOWN, counts, dollars, figure, percent, rate_words

if TYPE_CHECKING:
    from harness.run.summary.summary import Summary

Unit = Literal["rate", "part", "share", "number", "quotient", "dollars", "counts", "words"]
"""`rate`: a solved rate with its interval. `part`: another rate. `share`: between 0 and 1."""
NONE = "none"
WRITTEN: Mapping[Unit, Callable[[Any], str]] = {
    "rate": rate_words,
    "part": rate_words,
    "share": percent,
    "number": "{:,}".format,
    "quotient": figure,
    "dollars": dollars,
    "counts": lambda numbers: counts(numbers) or NONE,
    "words": lambda text: text or NONE,
}


class Screen(Flag):
    """Screens that show a fact: `show --details`, `compare --details`, report and browser.

    `REMARKS` are those below a run's last screen, and above a report.
    """

    DETAILS = auto()
    COMPARISON = auto()
    PAGES = auto()
    REMARKS = auto()


ANYWHERE = Screen.DETAILS | Screen.COMPARISON | Screen.PAGES


@dataclass(frozen=True)
class Fact:
    """A figure of a run.

    Attributes:
        key: its name in code.
        name: its name on all screens.
        unit: what the figure is, which says how it is written.
        value: returns the figure; None if it is unknown. Default: the summary's field `key`.
        text: returns its cell in a table, if that is more than the figure.
        sentence: returns its lines in the list of a single run's facts; default: the cell, but none
            for a `rate`, which has a table.
        note: returns what follows the rate on a run's last screen; None leaves it out there.
        tells: whether a run has anything to say of it; default: whether the figure is known, and a
            number of things is not 0.
        always: whether it is shown even if nothing is known of it.
        whole: whether a comparison shows it of the whole runs, and not of their shared problems.
        shown: the screens that show it.
    """

    key: str
    name: str
    unit: Unit = "number"
    value: "Callable[[Summary], Any] | None" = None
    _: KW_ONLY
    text: "Callable[[Summary], str] | None" = None
    sentence: "Callable[[Summary], str] | None" = None
    note: "Callable[[Summary], str | None] | None" = None
    tells: "Callable[[Summary], object] | None" = None
    always: bool = False
    whole: bool = False
    shown: Screen = ANYWHERE

    def of(self, summary: "Summary") -> Any:
        """Return the figure; None if it is unknown."""
        return self.value(summary) if self.value else getattr(summary, self.key)

    def figure(self, summary: "Summary") -> str:
        """Return the figure as its unit is written; `unknown` if it is not known."""
        value = self.of(summary)
        return UNKNOWN if value is None else WRITTEN[self.unit](value)

    def cell(self, summary: "Summary") -> str:
        """Return the fact as a cell of a table; `unknown` if it is not known."""
        if self.text is None or self.of(summary) is None:
            return self.figure(summary)
        return self.text(summary)

    def lines(self, summary: "Summary") -> list[str]:
        """Return the fact's lines in a list of the run's facts; empty if there is none."""
        silent = not self.always and not self.told(summary)
        if silent or (self.sentence is None and self.unit == "rate"):
            return []
        return (self.sentence or self.cell)(summary).splitlines()

    def is_rate_of(self, summary: "Summary") -> bool:
        """Whether a run has this fact as a solved rate, for a table of these."""
        return self.unit == "rate" and self.told(summary) and self.of(summary) is not None

    def told(self, summary: "Summary") -> bool:
        """Whether a run has anything to say of it."""
        if self.tells is not None:
            return bool(self.tells(summary))
        value = self.of(summary)
        return bool(value) or isinstance(value, float)


Facts = Sequence[Fact | Callable[[Sequence["Summary"]], Iterator[Fact]]]
"""A table: facts, and functions that make those whose number depends on the runs."""


def facts_of(summaries: "Sequence[Summary]", table: Facts | None = None) -> Iterator[Fact]:
    """Yield the facts of some runs, all or those of a table, in the order of screens."""
    tables = filter(None, map(registry.installed, registry.FACTS)) if table is None else [table]
    for each in chain.from_iterable(tables):
        yield from [each] if isinstance(each, Fact) else each(summaries)


def table_rows(
    summaries: "Sequence[Summary]",
    shown: Screen,
    *,
    shared: "Sequence[Summary] | None" = None,
    table: Facts | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of facts and a cell for each run, without those of which no run tells.

    Args:
        summaries: the whole runs.
        shown: the screen.
        shared: the same runs over the problems that all have; default: `summaries`.
        table: facts to show; default: all.
    """
    for fact in facts_of(summaries, table):
        if shown not in fact.shown:
            continue
        known = any(fact.cell(each) != UNKNOWN for each in summaries)
        if fact.always or (known and any(map(fact.told, summaries))):
            runs = summaries if fact.whole or shared is None else shared
            yield fact.name, [fact.cell(each) for each in runs]


def remarks_of(summary: "Summary") -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of each fact that is a remark on a run."""
    for fact in facts_of([summary]):
        if Screen.REMARKS in fact.shown and (lines := fact.lines(summary)):
            yield fact.name, lines
