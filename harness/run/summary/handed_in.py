"""Solutions handed in by modes that choose one of several."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.agent.strategies.modes import mode_named
from harness.tools.workspace import Revision


class Revised(Protocol):
    """The fields of a sample that are read here."""

    @property
    def steps(self) -> Sequence[Revision]: ...  # noqa: D102
    @property
    def public_total(self) -> int: ...  # noqa: D102
    @property
    def solved(self) -> bool: ...  # noqa: D102


class HandedIn(NamedTuple):
    """A change of the solution that would be final if the sample were cut off.

    Attributes:
        step: the step from which on it is final; None for the end of the sample.
        solved: whether the solution passes all tests; None if unknown.
    """

    step: Revision | None
    solved: bool | None


def handed_in(result: Revised, mode: str) -> list[HandedIn]:
    """Return a sample's final solution after each of its revisions, and at its end.

    When a sample is cut off, its newest revision is run on the public tests, as in one that ends
    normally. In best of k, the solution that passes the most public tests is final, the earliest
    of equals; in other modes the newest that passed all of them, else the newest.

    Args:
        result: result of the sample.
        mode: mode of the run.
    """
    find = _most_passed if mode_named(mode).hands_in == "most_passed" else _newest_passed
    solutions = [
        HandedIn(step, solved)
        for step, solved in zip(result.steps, find(result.steps, result.public_total), strict=True)
    ]
    if not solutions or solutions[-1].solved is not result.solved:
        solutions.append(HandedIn(None, result.solved))
    return solutions


def _newest_passed(steps: Sequence[Revision], public: int) -> Iterator[bool | None]:
    kept: Revision | None = None  # the newest that was run and passed
    for step in steps:
        passes = _passes(step, public)
        if kept is None or passes:
            yield step.solved
        elif passes is False:
            yield kept.solved
        else:
            yield False if step.solved is kept.solved is False else None
        if public and step.public_passed == public:
            kept = step


def _most_passed(steps: Sequence[Revision], public: int) -> Iterator[bool | None]:
    best: Revision | None = None
    for step in steps:
        if best is None or (public and (step.public_passed or 0) > (best.public_passed or 0)):
            best = step
        yield best.solved


def _passes(step: Revision, public: int) -> bool | None:
    """Whether a revision passes all public tests; None if unknown or without any."""
    if not public:
        return None
    if step.public_passed is not None:
        return step.public_passed == public
    return True if step.solved else step.passes_public
