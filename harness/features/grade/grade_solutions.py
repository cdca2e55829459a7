"""`harness grade`: read a file, grade it, print the result."""

from collections.abc import Iterator, Sequence
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile

from harness.closing import Closing
from harness.efficiency import Timing
from harness.efficiency.scale import Efficiency
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK
from harness.features.grade.grade_run import GradeRun, GradeStore
from harness.features.grade.grades import GradedSolution, GradeSummary, grades_view
from harness.features.grade.solution_readers import read_solutions
from harness.run.session.judging_session import JudgingSession, in_session
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.summary_table import console, write_json
from harness.text import count


class GradedFile(GradeStore, Closing):
    """Graded solutions with their tests: only the first failed one in memory.

    Args:
        whole: keep every test of each solution as well, on disk.
    """

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole
        self._places: dict[int, tuple[int, int]] = {}
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object

    def add(self, number: int, graded: GradedSolution) -> None:
        """Keep a graded solution; `number` is its position in the final order."""
        if self._whole:
            text = graded.model_dump_json().encode()
            self._places[number] = self._file.tell(), len(text)
            self._file.write(text)
        failed = (test for test in graded.tests if not test.passed)
        first = next(failed, None)
        tests = () if first is None else (first,)
        super().add(number, graded.model_copy(update={"tests": tests}))

    def add_efficiency(self, number: int, efficiency: Efficiency) -> None:
        """Add the measured efficiency to a solution that is already kept."""
        super().add_efficiency(number, efficiency)
        if self._whole:
            whole = GradedSolution.model_validate_json(self._read(number))
            text = whole.model_copy(update={"efficiency": efficiency}).model_dump_json().encode()
            self._places[number] = self._file.seek(0, SEEK_END), len(text)
            self._file.write(text)

    def _read(self, number: int) -> bytes:
        start, size = self._places[number]
        self._file.seek(start)
        return self._file.read(size)

    def json(self, summary: GradeSummary) -> Iterator[str]:
        """Yield one JSON object in pieces: the whole results in order, and the summary."""
        yield '{"results": ['
        for index, number in enumerate(sorted(self._places)):
            yield (", " if index else "") + self._read(number).decode()
        yield f'], "summary": {summary.model_dump_json()}}}'

    def close(self) -> None:
        """Close and delete the temporary file."""
        self._file.close()


def grade_file(
    spec: str,
    path: Path,
    judging: JudgingSession,
    *,
    extract: str,
    as_json: bool,
    skip_bad_rows: bool,
    timing: Timing | None = None,
) -> int:
    """Grade a file of solutions and return the exit code.

    Args:
        spec: the benchmark and where its files are, as `NAME[:WHERE]`.
        path: the file of solutions.
        judging: the settings of judging.
        extract: name of the rule that finds code in the model's text.
        as_json: print one JSON object in place of tables.
        skip_bad_rows: skip malformed rows of the problems.
        timing: timing method for solutions that pass; None to time none.

    Raises:
        UsageError: a flag has a value that is not accepted, or a file cannot be opened.
        DataError: a row of either file is malformed.
        NothingSelectedError: no solution of the file belongs to any of the problems.
    """
    err = console(error=True)
    solutions = read_solutions(path)
    loaded = load_telling(spec, err, skip_bad_rows=skip_bad_rows)
    run = GradeRun.of(solutions, loaded.problems, spec, judging, extract=extract, timing=timing)
    reporter, interrupted = TerminalReporter(err), False
    with GradedFile(whole=as_json) as graded:
        if run.runs_code:
            interrupted = in_session(
                lambda pool: run.judge(pool, reporter, graded), judging, reporter
            )
        else:
            run.compare_answers(graded)
        results = graded.results()
        summary = run.summary(results)
        out = console()
        if as_json:
            write_json(out, graded.json(summary))
        else:
            out.print(grades_view(summary, results))
    if interrupted:
        err.print(f"interrupted: {_left(summary, results, timing)}")
        return INTERRUPTED
    return INFRASTRUCTURE if summary.infrastructure else OK


def _left(summary: GradeSummary, results: Sequence[GradedSolution], timing: Timing | None) -> str:
    """Return what an interrupt left undone, in words."""
    if summary.not_judged or timing is None:
        return f"{count(summary.not_judged, 'solution')} not judged"
    untimed = sum(each.graded and each.efficiency is None for each in results)
    return f"{count(untimed, 'solution')} not timed"
