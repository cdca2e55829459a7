"""A solution read from a file, and its published verdict."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.errors import DataError
from harness.grading.verdict import Verdict
from harness.models.protocol import Frozen


class Published(Frozen):
    """Published verdict on a solution.

    Attributes:
        verdict: the verdict as a word of this project; None if only passed or failed was published.
        note: the published reason.
    """

    passed: bool
    verdict: Verdict | None = None
    note: str = ""

    @classmethod
    def in_row(cls, row: Mapping[str, Any], where: str) -> "Published | None":
        """Return a row's `verdict`, a known word, or `passed`, perhaps a number of `total` tests.

        Raises:
            DataError: a field has another value.
        """
        match row:
            case {"verdict": str(word)}:
                if word not in set(Verdict):
                    known = ", ".join(Verdict)
                    raise DataError(where, "verdict", f"{word!r:.60} is not one of {known}")
                return cls(passed=word == Verdict.ACCEPTED, verdict=Verdict(word))
            case {"passed": bool(passed)}:
                return cls(passed=passed)
            case {"passed": int(passed), "total": int(total)}:
                return cls(passed=passed == total, note=f"{passed} of {total} tests")
            case {"passed": passed} if passed is not None:
                what = "neither true nor false, nor a number of tests with a total"
                raise DataError(where, "passed", f"{passed!r:.60} is {what}")
            case _:
                return None


class Solution(Frozen):
    """One solution of a file.

    Attributes:
        name: name of its problem, as the file has it; empty if the file uses `place`.
        index: number of the solution among those of its problem, in the file's order, from 0.
        code: the program, or the answer to a value question; None if only `output` is given.
        output: the model's text.
        place: index of its problem among all problems, in LiveCodeBench's order, from 0.
        completion: whether the code continues the problem's prompt.
    """

    name: str
    index: int
    code: str | None
    output: str = ""
    published: Published | None = None
    place: int | None = None
    completion: bool = False


class ReadSolution(NamedTuple):
    """A solution before it gets its index."""

    name: str
    code: str | None
    output: str = ""
    published: Published | None = None
    place: int | None = None
    completion: bool = False

    def solution(self, index: int) -> Solution:
        """Return this as a `Solution` with the given index among its problem's solutions."""
        return Solution(**self._asdict(), index=index)
