"""One solution as a file holds it, with its published verdict."""

from typing import NamedTuple

from harness.grading.verdict import Verdict
from harness.models.protocol import Frozen


class Published(Frozen):
    """What somebody else said of a solution.

    Attributes:
        verdict: where they said it in a word that is ours.
        note: their reason.
    """

    passed: bool
    verdict: Verdict | None = None
    note: str = ""


class Solution(Frozen):
    """One solution of a file.

    Attributes:
        name: of its problem, as the file has it; empty where the file goes by `place`.
        index: among the solutions of that problem, in the file's order, from 0.
        code: the program, or the answer where a problem asks for a value; None where there is only
            the model's `output`.
        place: of its problem among all, in LiveCodeBench's order, from 0.
        completion: whether the code goes on where the problem's prompt ends.
    """

    name: str
    index: int
    code: str | None
    output: str = ""
    published: Published | None = None
    place: int | None = None
    completion: bool = False


class ReadSolution(NamedTuple):
    """A solution before it is counted."""

    name: str
    code: str | None
    output: str = ""
    published: Published | None = None
    place: int | None = None
    completion: bool = False

    def solution(self, index: int) -> Solution:
        """The same, as the `index`th of its problem's."""
        return Solution(**self._asdict(), index=index)
