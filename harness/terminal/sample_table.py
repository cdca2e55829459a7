"""The table of a run's samples, live and afterwards."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from harness.figures import UNKNOWN
from harness.registry import hooks
from harness.run.store.planned_samples import in_rounds
from harness.run.store.results import SampleResult
from harness.run.store.transcript import sample_name
from harness.run.summary.sample_facts import SampleFact, sample_facts
from harness.terminal.columns import Cell, Column, ColumnGrid
from harness.terminal.part_view import PartView, shown_parts
from harness.text import printable_line

COLUMNS = (
    Column("#", right=True),
    Column("problem", least=14),
    Column("diff", leaves=2),
    Column("status"),
)
"""Columns before those of facts: 60 characters drop tokens, difficulty, cost; 30 turns, time."""
LONGEST_LABEL = 120
UNFINISHED = frozenset({"running", "grading", "retrying", "pending"})
"""States of samples without a result."""
_STYLES = {
    "accepted": "green",
    "running": "cyan",
    "grading": "cyan",
    "pending": "yellow",
    "ungraded": "yellow",
}


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample's row in the table.

    Attributes:
        number: its position among all samples of the run, from 1: the first sample of each
            problem, then the second of each.
        problem: the problem's id; `title` is empty if unknown.
        index: index among the problem's samples; None if there is only one.
        status: as in `SampleResult`, or `running`, `retrying` or `pending`.
        tests: result of the latest run of public tests of a running sample; points of a graded
            one; else empty.
        figures: known figures by the key of a `SampleFact`; None or missing if there are none.
        parts: what features added to the result, by their setting.
        cut_off: whether the token limit cut an answer off.
    """

    number: int
    sample: str
    problem: str
    title: str
    index: int | None
    difficulty: str
    status: str
    tests: str = ""
    figures: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cut_off: bool = False

    @property
    def label(self) -> str:
        """The problem's name and title, safe to print."""
        return label(self.problem, self.title, self.index)

    def cells(self) -> tuple[Cell, ...]:
        """Return the cells of `COLUMNS`, and of the facts."""
        return (
            Cell(str(self.number), "dim"),
            Cell(self.label),
            Cell(self.difficulty),
            Cell(
                " ".join(filter(None, (self.status.replace("_", " "), self.tests)))
                + ", cut off" * self.cut_off,
                _STYLES.get(self.status, "yellow" if ": " in self.status else "red"),
            ),
            *(Cell(self._text(fact)) for fact in sample_facts()),
        )

    def _text(self, fact: SampleFact) -> str:
        """Return a figure as text; a dash if there is none yet."""
        value = self.figures.get(fact.key)
        return "-" if value is None and self.status in UNFINISHED else fact.written(value)

    def part_cells(self, key: str, view: PartView) -> tuple[Cell, ...]:
        """Return the cells of the columns of what a feature added; dashes if that is nothing."""
        texts = view.cells(self.parts[key]) if key in self.parts else None
        return tuple(map(Cell, texts or "-" * len(view.columns)))


def sample_table(
    rows: Iterable[SampleRow], *, width: int | None = None, parts: Collection[str] = ()
) -> ColumnGrid:
    """Return the table; a column whose every value is unknown is left out.

    Args:
        rows: rows of the samples.
        width: width of the table; default: the window's.
        parts: features whose columns it has even if no row has anything of them.
    """
    shown: Sequence[SampleRow] = list(rows)
    there = {*parts, *chain.from_iterable(row.parts for row in shown)}
    views = [*hooks("view", there).items()]
    cells = [
        (*row.cells(), *chain.from_iterable(row.part_cells(*each) for each in views))
        for row in shown
    ]
    facts = (Column(each.name, right=True, leaves=each.leaves) for each in sample_facts())
    columns = (*COLUMNS, *facts, *chain.from_iterable(view.columns for _, view in views))
    kept = [at for at in range(len(columns)) if not _all_unknown([row[at].text for row in cells])]
    return ColumnGrid(
        tuple(columns[at] for at in kept),
        [[row[at] for at in kept] for row in cells],
        expand=width is not None,
        width=width,
    )


def _all_unknown(texts: Sequence[str]) -> bool:
    """Whether nobody knows any of these; a dash stands for what is still to come."""
    return UNKNOWN in texts and set(texts) <= {UNKNOWN, "-"}


class Numbers:
    """Numbers of samples, from the order of a run's problems.

    Args:
        problems: ids of the problems.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self._places = {problem: place for place, problem in enumerate(problems, 1)}

    def of(self, problem: str, index: int) -> int:
        """Return the number of a sample; 0 if its problem is no longer in the run."""
        place = self._places.get(problem, 0)
        return place and index * len(self._places) + place


def result_row(result: SampleResult, number: int, *, several: bool) -> SampleRow:
    """Return the row of a graded sample; `several`: problems have several samples."""
    return SampleRow(
        number=number,
        sample=result.sample,
        problem=result.problem_id,
        title=result.title,
        index=result.index if several else None,
        difficulty=result.difficulty or "",
        status=result.status,
        tests="" if result.score is None else f"({result.score})",
        figures={fact.key: fact.value(result) for fact in sample_facts()},
        parts={key: part for key, _, part in shown_parts(result)},
        cut_off=bool(result.cut_off),
    )


def pending_rows(samples: Mapping[str, int], done: Iterable[SampleResult]) -> Iterator[SampleRow]:
    """Yield the rows of samples without a result.

    Args:
        samples: number of samples of each problem of the run.
        done: results of graded samples.
    """
    numbers, there = Numbers(samples), {result.sample for result in done}
    several = max(samples.values(), default=1) > 1
    for problem, index in in_rounds(samples):
        sample = sample_name(problem, index)
        if sample not in there:
            yield SampleRow(
                number=numbers.of(problem, index),
                sample=sample,
                problem=problem,
                title="",
                index=index if several else None,
                difficulty="",
                status="pending",
            )


@lru_cache(maxsize=1_024)  # a live table draws the same rows repeatedly
def label(problem: str, title: str, index: int | None = None) -> str:
    """Return a problem's id within its source, and its title if that adds anything."""
    native = problem.partition("/")[2] or problem
    name = native if index is None else f"{native}#{index}"
    more = "" if _letters(title) in _letters(problem) else f"  {title}"
    return printable_line(f"{name}{more}"[:LONGEST_LABEL])


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text[:LONGEST_LABEL].casefold()))
