"""The table of a run's samples: while it goes on, and afterwards."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from harness.efficiency.labels import cpu_time, rank, score
from harness.efficiency.scale import Efficiency
from harness.run.store.results import SampleResult
from harness.run.store.transcript import sample_name
from harness.terminal.columns import Cell, Column, Grid
from harness.text import UNKNOWN, printable_line

COLUMNS = (
    Column("#", right=True),
    Column("problem", least=14),
    Column("diff", leaves=2),
    Column("status"),
    Column("turns", right=True, leaves=5),
    Column("time", right=True, leaves=4),
    Column("tokens", right=True, leaves=1),
    Column("cost", right=True, leaves=3),
)
"""In a window of 60 columns tokens, difficulty and cost have left; in one of 30 turns and time."""
EFFICIENCY_COLUMNS = (
    Column("CPU time", right=True, leaves=6),
    Column("Pctl", right=True, leaves=7),
    Column("B@1", right=True, leaves=8),
)
"""Of runs whose solutions are timed; the others leave before them."""
LONGEST_LABEL = 120
UNFINISHED = frozenset({"running", "retrying", "pending"})
"""What a sample is called that has no result yet."""
MINUTE, HOUR = 60, 3_600
_STYLES = {"accepted": "green", "running": "cyan", "pending": "yellow", "ungraded": "yellow"}


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample as the table has it.

    Attributes:
        number: its place among all samples of the run, from 1: first one of each problem, then the
            second of each.
        problem: its id; `title` is empty where it is not known.
        index: which sample of the problem it is; None where there is one alone.
        status: a verdict, `running`, `retrying` or `pending`.
        tests: of one that is running, how many public tests it passed last; empty otherwise.
        turns: model calls.
        seconds: of wall time; None, as the others, where there is none yet or nobody knows.
        efficiency: how fast the solution is.
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
    turns: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    efficiency: Efficiency | None = None
    cut_off: bool = False

    @property
    def label(self) -> str:
        """The problem in words, safe to print."""
        return label(self.problem, self.title, self.index)

    def cells(self) -> tuple[Cell, ...]:
        """By the table's columns."""
        return (
            Cell(str(self.number), "dim"),
            Cell(self.label),
            Cell(self.difficulty),
            Cell(
                " ".join(filter(None, (self.status.replace("_", " "), self.tests)))
                + ", cut off" * self.cut_off,
                _STYLES.get(self.status, "red"),
            ),
            Cell(self._of(self.turns, "{:,}".format)),
            Cell(self._of(self.seconds, clock)),
            Cell(self._of(self.tokens, "{:,}".format)),
            Cell(self._of(self.cost, "${:.4f}".format)),
        )

    def _of(self, value: float | None, told: Callable[[Any], str]) -> str:
        """A figure; a dash where there is none yet."""
        if value is None:
            return "-" if self.status in UNFINISHED else UNKNOWN
        return told(value)

    def efficiency_cells(self) -> tuple[Cell, ...]:
        """By `EFFICIENCY_COLUMNS`; of a solution that failed there is no time."""
        found = self.efficiency
        if found is None or found.cpu_s is None:
            return (Cell("-"),) * len(EFFICIENCY_COLUMNS)
        texts = cpu_time(found.cpu_s), rank(found.percentile), score(found.beyond)
        return tuple(map(Cell, texts))


def sample_table(
    rows: Iterable[SampleRow], *, width: int | None = None, timed: bool | None = None
) -> Grid:
    """Return the table; a column whose every value is unknown is left out.

    Args:
        rows: of the samples.
        width: that of the window if not given.
        timed: whether there are columns of efficiency; if not given, where a row has some.
    """
    shown: Sequence[SampleRow] = list(rows)
    if timed is None:
        timed = any(row.efficiency is not None for row in shown)
    cells = [row.cells() + (row.efficiency_cells() if timed else ()) for row in shown]
    columns = COLUMNS + EFFICIENCY_COLUMNS * timed
    kept = [at for at in range(len(columns)) if not _all_unknown([row[at].text for row in cells])]
    return Grid(
        tuple(columns[at] for at in kept),
        ([row[at] for at in kept] for row in cells),
        expand=width is not None,
        width=width,
    )


def _all_unknown(texts: Sequence[str]) -> bool:
    """Whether nobody knows any of these; a dash stands for what is still to come."""
    return UNKNOWN in texts and set(texts) <= {UNKNOWN, "-"}


class Numbers:
    """The number of each sample, from the problems of a run in their order.

    Args:
        problems: their ids.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self._places = {problem: place for place, problem in enumerate(problems, 1)}

    def of(self, problem: str, index: int) -> int:
        """The number of a sample; of a problem that the run no longer names, it is 0."""
        place = self._places.get(problem, 0)
        return place and index * len(self._places) + place


def result_row(result: SampleResult, number: int, *, several: bool) -> SampleRow:
    """The row of a graded sample; `several`: there is more than one of each problem."""
    return SampleRow(
        number=number,
        sample=result.sample,
        problem=result.problem_id,
        title=result.title,
        index=result.index if several else None,
        difficulty=result.difficulty or "",
        status=str(result.verdict),
        turns=result.model_calls or None,  # an imported sample has neither
        seconds=result.seconds or None,
        tokens=None if result.usage is None else result.usage.total_tokens,
        cost=result.cost,
        efficiency=result.efficiency,
        cut_off=bool(result.cut_off),
    )


def pending_rows(
    problems: Mapping[str, object], samples: int, done: Iterable[SampleResult]
) -> Iterator[SampleRow]:
    """The rows of samples that have no result yet.

    Args:
        problems: of the run, by id.
        samples: how many each problem has.
        done: those that are graded.
    """
    numbers, there = Numbers(problems), {result.sample for result in done}
    for index in range(samples):
        for problem in problems:
            sample = sample_name(problem, index)
            if sample not in there:
                yield SampleRow(
                    number=numbers.of(problem, index),
                    sample=sample,
                    problem=problem,
                    title="",
                    index=index if samples > 1 else None,
                    difficulty="",
                    status="pending",
                )


@lru_cache(maxsize=1_024)  # a live table draws the same rows again and again
def label(problem: str, title: str, index: int | None = None) -> str:
    """A problem in words: its id within its source, and its title where that says more."""
    native = problem.partition("/")[2] or problem
    name = native if index is None else f"{native}#{index}"
    more = "" if _letters(title) in _letters(problem) else f"  {title}"
    return printable_line(f"{name}{more}"[:LONGEST_LABEL])


def clock(seconds: float) -> str:
    """A span of time as a table has it: `8.3 s`, `4:05`, `1:02:03`."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), MINUTE)
    if seconds < HOUR:
        return f"{minutes}:{rest:02}"
    return f"{minutes // MINUTE}:{minutes % MINUTE:02}:{rest:02}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text[:LONGEST_LABEL].casefold()))
