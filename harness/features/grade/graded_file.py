"""Store of graded solutions: short forms in memory, whole ones on disk."""

from collections.abc import Iterator
from os import SEEK_END
from tempfile import TemporaryFile

from harness.closing import Closing
from harness.efficiency.scale import Efficiency
from harness.features.grade.grades import GradedSolution, GradeSummary


class GradedFile(Closing):
    """Store of graded solutions, which may be added in any order.

    Args:
        whole: keep every test of each solution, on disk; else only the first failed test is kept.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._kept: dict[int, GradedSolution] = {}
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
        self._kept[number] = graded.model_copy(update={"tests": tests})

    def add_efficiency(self, number: int, efficiency: Efficiency) -> None:
        """Add the measured efficiency to a solution that is already kept."""
        more = {"efficiency": efficiency}
        self._kept[number] = self._kept[number].model_copy(update=more)
        if self._whole:
            whole = GradedSolution.model_validate_json(self._read(number))
            text = whole.model_copy(update=more).model_dump_json().encode()
            self._places[number] = self._file.seek(0, SEEK_END), len(text)
            self._file.write(text)

    def _read(self, number: int) -> bytes:
        start, size = self._places[number]
        self._file.seek(start)
        return self._file.read(size)

    def numbered(self) -> list[tuple[int, GradedSolution]]:
        """Return the solutions as `results` does, each with its number."""
        return sorted(self._kept.items())

    def results(self) -> list[GradedSolution]:
        """Return the solutions in order, each with only its first failed test."""
        return [self._kept[number] for number in sorted(self._kept)]

    def json(self, summary: GradeSummary) -> Iterator[str]:
        """Yield one JSON object in pieces: the whole results in order, and the summary."""
        yield '{"results": ['
        for count, number in enumerate(sorted(self._places)):
            yield (", " if count else "") + self._read(number).decode()
        yield f'], "summary": {summary.model_dump_json()}}}'

    def close(self) -> None:
        """Close and delete the temporary file."""
        self._file.close()
