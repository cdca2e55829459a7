"""How the tests of a problem give points."""

import math
from typing import Literal

from harness.frozen import Frozen
from harness.judged_by import CheckerProgram


class TestGroup(Frozen):
    """Tests that give points together, and how: `harness.kinds.packages.scores` has the rules.

    Attributes:
        name: path of its folder; the whole problem's is empty.
        parts: its tests, by their position among the problem's, and its inner groups.
        points_of: how its points follow from those of its parts; `pass`: `accept_score` if all
            parts are accepted, else 0.
        verdict_of: when it is accepted: if no part is rejected, if any is accepted, or always.
        breaks: whether the parts after a rejected one are not run.
        last_only: whether only its last part counts.
        needs: names of groups that must be accepted for this one to be run.
        accept_score, reject_score: points of an accepted and of a rejected test.
        most: most points of the group.
        own_scores: whether the checker's points of an accepted test are never allowed, ignored,
            allowed up to `accept_score`, or always there.
        grader_flags: arguments of the problem's own grader, which then decides on verdict and
            points; None where the rules above do.
    """

    __test__ = False

    name: str = ""
    parts: tuple["TestGroup | int", ...]
    points_of: Literal["sum", "avg", "min", "max", "pass"] = "sum"
    verdict_of: Literal["all", "any", "always"] = "all"
    breaks: bool = False
    last_only: bool = False
    needs: tuple[str, ...] = ()
    accept_score: float = 1.0
    reject_score: float = 0.0
    most: float = math.inf
    own_scores: Literal["never", "ignored", "optional", "required"] = "never"
    grader_flags: tuple[str, ...] | None = None


class Scoring(Frozen):
    """How a problem gives points.

    Attributes:
        root: group of all tests.
        maximum: points of a full score.
        tests: number of the problem's tests; fewer are judged without points.
        grader: the problem's own grader; None where no group needs one.
    """

    root: TestGroup
    maximum: float
    tests: int
    grader: CheckerProgram | None = None
