"""What a sample would have handed in if it had been cut off earlier."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.run.store.results import Step

BEST_OF = "best_of_k_public"


class Revised(Protocol):
    """What is looked at of a sample."""

    @property
    def steps(self) -> Sequence[Step]: ...  # noqa: D102
    @property
    def public_total(self) -> int: ...  # noqa: D102
    @property
    def solved(self) -> bool: ...  # noqa: D102


class HandedIn(NamedTuple):
    """From this step on another solution would be handed in.

    Attributes:
        step: the step; None for the end of the sample.
        solved: whether that solution passes all tests; None where nobody knows.
    """

    step: Step | None
    solved: bool | None


def handed_in(result: Revised, mode: str) -> list[HandedIn]:
    """Return what a sample would have handed in after each of its revisions, and at its end.

    A sample that is cut off has its newest revision run on the public tests, as one that ends by
    itself. Several shots hand in the one that passes the most public tests, the earliest of equals;
    every other mode the newest that passed all of them, else the newest.

    Args:
        result: of the sample.
        mode: how the solution was sought.
    """
    find = _most_passed if mode == BEST_OF else _newest_passed
    found = [
        HandedIn(step, solved)
        for step, solved in zip(result.steps, find(result.steps, result.public_total), strict=True)
    ]
    if not found or found[-1].solved is not result.solved:
        found.append(HandedIn(None, result.solved))
    return found


def _newest_passed(steps: Sequence[Step], public: int) -> Iterator[bool | None]:
    kept: Step | None = None  # the newest that was run and passed
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


def _most_passed(steps: Sequence[Step], public: int) -> Iterator[bool | None]:
    best: Step | None = None
    for step in steps:
        if best is None or (public and (step.public_passed or 0) > (best.public_passed or 0)):
            best = step
        yield best.solved


def _passes(step: Step, public: int) -> bool | None:
    """Whether a revision passes all public tests; None where nobody knows, or there are none."""
    if not public:
        return None
    if step.public_passed is not None:
        return step.public_passed == public
    return True if step.solved else step.passes_public
