"""When an experiment of two variants may stop early."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from harness.errors import UsageError
from harness.stats.sequential import LEVEL, Evidence

PAIR = 2
WIDEST = 200
"""Width in points of the widest interval, from -100 to 100."""
Say = Callable[[str], str]
"""Returns how a caller spells a setting: as a flag, or as a keyword."""


class Goal(NamedTuple):
    """When an experiment of two variants may stop.

    Attributes:
        decided: stop as soon as the variants differ significantly.
        level: significance level, the chance to find a difference where there is none.
        precision: stop as soon as the interval of the difference is narrower than this, in points.
    """

    decided: bool = False
    level: float = LEVEL
    precision: float | None = None

    @property
    def stops(self) -> bool:
        """Whether the experiment may stop before all problems are run."""
        return self.decided or self.precision is not None

    @property
    def flags(self) -> dict[str, Any]:
        """The flags that set this goal, by key."""
        given = {
            "stop_when_decided": self.decided or None,
            "level": None if self.level == LEVEL else self.level,
            "precision": self.precision,
        }
        return {name: value for name, value in given.items() if value is not None}


def goal_of(*, decided: bool, level: float | None, precision: float | None, say: Say) -> Goal:
    """Check the settings of early stopping.

    Raises:
        UsageError: a value is out of range or has no effect.
    """
    _check_range("level", level, 1, "a chance between 0 and 1, as 0.05", say)
    _check_range("precision", precision, WIDEST, f"points between 0 and {WIDEST}, as 10", say)
    if level is not None and not decided and precision is None:
        raise UsageError(
            f"{say('level')} goes with {say('stop_when_decided')} or {say('precision')}"
        )
    return Goal(decided, LEVEL if level is None else level, precision)


def _check_range(name: str, given: object, most: float, wanted: str, say: Say) -> None:
    is_number = isinstance(given, int | float)
    if given is not None and not (is_number and 0 < given < most):
        shown = f"{given:g}" if is_number else repr(given)[:100]
        raise UsageError(f"{say(name)} {shown}: give {wanted}")


def check_pair(goal: Goal, variants: int, say: Say) -> None:
    """Refuse early stopping unless the experiment has two variants. Raises UsageError."""
    if goal.stops and variants != PAIR:
        raise UsageError(
            f"{say('stop_when_decided')} and {say('precision')} compare two variants, and this "
            f"experiment has {variants}; leave them out"
        )


def reason_to_stop(evidence: Evidence, goal: Goal) -> Literal["decided", "precise"] | None:
    """Return why no further problem is needed; None if more are needed."""
    if goal.decided and (evidence.low > 0 or evidence.high < 0):
        return "decided"
    if goal.precision is not None and 100 * (evidence.high - evidence.low) < goal.precision:
        return "precise"
    return None
