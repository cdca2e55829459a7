"""`grade` and `agrade`: judge existing solutions."""

# pyright: reportMissingTypeStubs=false

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from rich.console import RenderableType

from harness.errors import UsageError
from harness.features.efficiency.measurement import asked_timing
from harness.features.grade.grade_run import GradeRun, GradeStore
from harness.features.grade.grades import GradedSolution, GradeSummary, grades_view
from harness.features.grade.solution_readers import read_row, read_solutions
from harness.features.grade.solutions import CODE, Solution, options_of
from harness.figures import count
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, log
from harness.run.session.judging_session import session_of
from harness.run.session.sync import first_of, run
from harness.run.settings.keys import GradeKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_signature import listing
from harness.run.summary.loaded_run import frame
from harness.sources.selection import select
from harness.terminal.notebook import NotebookView
from harness.text import printable_line

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, object]
Solutions = str | Path | Mapping[str, str | Sequence[str]] | Sequence[str | Row | Solution]
"""Accepted forms of solutions.

A file as `harness grade` reads it; texts by problem id; rows of such a file; or texts, one for each
problem in order.
"""

DEFAULT = "harness"
LEFT_OUT = {"tests", "published", "judged_again", "efficiency"}
"""Fields of a solution that are no column of a frame."""

OWN = ("problems", "solutions", "extract", "efficiency")


class Grades(NotebookView, Sequence[GradedSolution]):
    """Graded solutions, in the order they were given.

    Attributes:
        summary: counts and rates, as `harness grade --json` prints them.
    """

    def __init__(self, results: Sequence[GradedSolution], summary: GradeSummary) -> None:
        self._results = tuple(results)
        self.summary = summary

    @property
    def pass_at_1(self) -> float | None:
        """Mean over problems of the share of solutions that pass; None if none is graded."""
        return None if self.summary.pass_at_1 is None else self.summary.pass_at_1.value

    @overload
    def __getitem__(self, index: int) -> GradedSolution: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[GradedSolution, ...]: ...
    def __getitem__(self, index: int | slice) -> GradedSolution | tuple[GradedSolution, ...]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per solution: problem, verdict, numbers of tests."""
        kept = [name for name in GradedSolution.model_fields if name not in LEFT_OUT]
        rows = (each.model_dump(mode="json", include=set(kept)) for each in self._results)
        return frame(rows, kept)

    def view(self) -> RenderableType:
        """Return the tables that `harness grade` prints."""
        return grades_view(self.summary, self._results)

    def __repr__(self) -> str:
        return f"<Grades: {self.summary.accepted} accepted of {self.summary.graded} graded>"


@listing(GradeKeys)
def grade(
    problems: Benchmark,
    solutions: Solutions,
    *,
    extract: str | None = None,
    efficiency: bool = False,
    **keys: Unpack[GradeKeys],
) -> Grades:
    """Judge existing solutions.

    Args:
        problems: `NAME[:WHERE]`, or loaded problems.
        solutions: a file; a text or several by problem id; rows with `problem_id` and `code`,
            `answer` or `output`; or a list of texts, one for each problem in order.
        extract: rule that finds the code in texts and in each `output`: `harness`, `lcb`, or `code`
            if texts are the code. None: texts are the code, and `harness` finds it in each
            `output`.
        efficiency: also time solutions that pass.
        keys: settings of judging, and of the selection of problems.

    Raises:
        UsageError: a key, rule or file does not exist, or the solutions have none of these forms.
        DataError: a row is malformed.
        NothingSelectedError: no solution is for one of the problems.
        IsolationError: no sandbox of the required strength is available.
    """
    grading = _prepared(problems, solutions, extract, efficiency, keys)
    return run(partial(_carried_out, grading))


@listing(GradeKeys)
async def agrade(
    problems: Benchmark,
    solutions: Solutions,
    *,
    extract: str | None = None,
    efficiency: bool = False,
    **keys: Unpack[GradeKeys],
) -> Grades:
    """Async version of `grade`."""
    grading = await asyncio.to_thread(_prepared, problems, solutions, extract, efficiency, keys)
    try:
        return await _carried_out(grading)
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


def _prepared(
    benchmark: Benchmark,
    solutions: Solutions,
    extract: str | None,
    efficiency: bool,
    keys: GradeKeys,
) -> GradeRun:
    """Read problems and solutions, and match them. Raises HarnessError."""
    benchmark = checked(benchmark)
    name = name_of(benchmark)
    spec = spec_from("grade()", keys, GradeKeys, OWN, efficiency=efficiency, benchmark=name)
    problems = select(read(benchmark, spec).problems, spec.selection()).problems
    if not isinstance(benchmark, str):
        options_of(spec, "grade()")
    given = _read(solutions, problems, words=extract not in {None, CODE})
    run = GradeRun.of(
        given,
        problems,
        str(spec.benchmark),
        session_of(spec),
        extract=DEFAULT if extract in {None, CODE} else str(extract),
        timing=asked_timing(keys.get("timing"), efficiency=efficiency),
        caller="grade()",
    )
    for line in run.left_out:
        log.warning(printable_line(line))
    if run.unmatched:
        number = count(len(run.unmatched), "solution")
        log.warning(f"{number} with no or several matching problems: {run.unmatched[0]!r:.60}")
    return run


async def _carried_out(grading: GradeRun) -> Grades:
    store = GradeStore()
    if grading.runs_code:
        async with await asyncio.to_thread(grading.session.open, LOG) as pool:
            await grading.judge(pool, LOG, store)
    else:
        grading.compare_answers(store)
    results = store.results()
    return Grades(results, grading.summary(results))


def _read(solutions: Solutions, problems: Sequence[Problem], *, words: bool) -> list[Solution]:
    """Read solutions given in any accepted form. Raises UsageError, DataError."""
    if isinstance(solutions, str | Path):
        return read_solutions(Path(solutions))
    given: Any = solutions
    if isinstance(given, Mapping):
        named = cast("Mapping[Any, Any]", given)
        read = [*chain.from_iterable(_of_name(name, each, words) for name, each in named.items())]
    elif isinstance(given, Sequence):
        read = [*_listed(cast("Sequence[Any]", given), problems, words=words)]
    else:
        raise UsageError(
            f"grade(): solutions is a {type(given).__name__}: give a file, texts by the problem's "
            "id, rows, or a list of texts"
        )
    if not read:
        raise UsageError("grade(): there is no solution")
    return read


def _of_name(name: Any, given: Any, words: bool) -> Iterator[Solution]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(name, str) or not isinstance(texts, Sequence):
        raise UsageError(f"grade(): solutions[{name!r:.60}]: give the id, and a text or several")
    for text in cast("Sequence[Any]", texts):
        yield _found(name, text, words, f"solutions[{name!r:.60}]")


def _listed(
    given: Sequence[Any], problems: Sequence[Problem], *, words: bool
) -> Iterator[Solution]:
    if given and all(isinstance(each, str) for each in given):
        if len(given) != len(problems):
            raise UsageError(
                f"grade(): {count(len(given), 'text')} for {count(len(problems), 'problem')}: "
                "give one for each, or give them by the problem's id"
            )
        for problem, text in zip(problems, given, strict=True):
            yield _found(problem.id, text, words, problem.id)
        return
    for number, row in enumerate(given):
        where = f"solutions[{number}]"
        if isinstance(row, Solution):
            yield row
        elif isinstance(row, Mapping):
            yield from read_row(dict(cast("Mapping[str, object]", row)), where)
        else:
            kind = type(row).__name__
            raise UsageError(f"grade(): {where} is a {kind}; give problem_id and code in a row")


def _found(name: str, text: Any, words: bool, where: str) -> Solution:
    if not isinstance(text, str):
        raise UsageError(f"grade(): {where}: a {type(text).__name__} is not a text")
    return Solution(name, None, text) if words else Solution(name, text)
