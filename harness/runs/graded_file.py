"""What is kept of many graded solutions: little in memory, all of it on disk where it is wanted."""

from collections.abc import Iterator
from tempfile import TemporaryFile

from harness.closing import Closing
from harness.runs.grades import GradedSolution, GradeSummary


class GradedFile(Closing):
    """Graded solutions as they come, in any order.

    Args:
        whole: whether every test of each will be asked for; else the first that failed is kept.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._kept: dict[int, GradedSolution] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object

    def add(self, number: int, graded: GradedSolution) -> None:
        """Keep one; `number` is its place in the order of all."""
        if self._whole:
            text = graded.model_dump_json().encode()
            self._places[number] = self._file.tell(), len(text)
            self._file.write(text)
        failed = (test for test in graded.tests if not test.passed)
        first = next(failed, None)
        tests = () if first is None else (first,)
        self._kept[number] = graded.model_copy(update={"tests": tests})

    def results(self) -> list[GradedSolution]:
        """In order, each with the first of its tests that failed."""
        return [self._kept[number] for number in sorted(self._kept)]

    def json(self, summary: GradeSummary) -> Iterator[str]:
        """One JSON object of the whole results, in order, and the summary, piece by piece."""
        yield '{"results": ['
        for count, number in enumerate(sorted(self._places)):
            start, size = self._places[number]
            self._file.seek(start)
            yield (", " if count else "") + self._file.read(size).decode()
        yield f'], "summary": {summary.model_dump_json()}}}'

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
