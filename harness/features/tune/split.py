"""ProblemSplit problems by seed, and by date if asked, into train, selection and test parts."""

from collections.abc import Sequence
from datetime import date

from harness.errors import NothingSelectedError, UsageError
from harness.figures import count
from harness.frozen import Frozen
from harness.problem import Problem
from harness.sources.selection import random_sample

USUAL = {"train": 30, "selection": 30, "test": 60}
"""Problems of each part, where there are enough."""
FEWEST = 8
"""Fewest problems that can be split."""
FEWEST_WORDS = 8
"""Words of a statement that two problems do not share by chance."""


class Sizes(Frozen):
    """Problems of each part that the user asks for; None for the usual number.

    Attributes:
        train: problems whose failures are shown to the reflection model.
        selection: problems that choose among candidates.
        test: problems that are asked once, at the end.
    """

    train: int | None = None
    selection: int | None = None
    test: int | None = None


class ProblemSplit(Frozen):
    """The ids of the problems of each part."""

    train: tuple[str, ...]
    selection: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def searched(self) -> tuple[str, ...]:
        """The problems that the search may ask."""
        return self.train + self.selection


def split_problems(
    problems: Sequence[Problem], sizes: Sizes, seed: int, test_from: date | None = None
) -> ProblemSplit:
    """ProblemSplit problems at random; the same seed gives the same parts.

    Args:
        problems: the selected problems; those without tests, and repeats, are left out.
        sizes: problems of each part.
        seed: seed of the order.
        test_from: first release date of the test part; the other parts are older. Problems without
            a date are left out.

    Raises:
        NothingSelectedError: there are too few problems.
        UsageError: there are fewer problems than asked for.
    """
    tested = without_repeats([each for each in problems if each.tests.public or each.tests.all()])
    ordered = random_sample(tested, len(tested), seed)
    if test_from is None:
        wanted = _numbers(sizes, len(ordered))
        later, earlier = ordered[: wanted["test"]], ordered[wanted["test"] :]
    else:
        dated = [(each.release_date, each) for each in ordered if each.release_date is not None]
        later = [each for released, each in dated if released >= test_from]
        earlier = [each for released, each in dated if released < test_from]
        wanted = _by_date(sizes, len(earlier), len(later), test_from)
    ids = [each.id for each in earlier]
    return ProblemSplit(
        train=tuple(ids[: wanted["train"]]),
        selection=tuple(ids[wanted["train"] : wanted["train"] + wanted["selection"]]),
        test=tuple(each.id for each in later[: wanted["test"]]),
    )


def without_repeats(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems without those that another one repeats under another id.

    Problems are the same if their content is, or their statement of more than a few words. The
    oldest is kept, since it may have been seen since then.
    """
    kept: list[Problem] = []
    seen: set[str] = set()
    for problem in sorted(problems, key=lambda each: (each.release_date or date.max, each.id)):
        words = problem.statement.casefold().split()
        keys = {problem.content_hash}
        if len(words) >= FEWEST_WORDS:
            keys.add(" ".join(words))
        if not keys & seen:
            kept.append(problem)
        seen |= keys
    return kept


def _numbers(sizes: Sizes, there: int) -> dict[str, int]:
    """Return the problems of each part: as asked, as usual, or a half for the test."""
    if there < FEWEST:
        raise NothingSelectedError(
            f"tuning needs at least {FEWEST} problems with tests, and {there} are selected"
        )
    given = sizes.model_dump(exclude_none=True)
    if not given and sum(USUAL.values()) > there:
        test = there // 2
        selection = (there - test) // 2
        return {"train": there - test - selection, "selection": selection, "test": test}
    wanted = {**USUAL, **given}
    if sum(wanted.values()) > there:
        raise UsageError(
            f"{' + '.join(f'{number} {part}' for part, number in wanted.items())} problems are "
            f"more than the {there} selected; give smaller --train, --selection and --test"
        )
    return wanted


def _by_date(sizes: Sizes, earlier: int, later: int, first: date) -> dict[str, int]:
    """Return the problems of each part where a date separates the test part."""
    if earlier < FEWEST // 2 or not later:
        raise NothingSelectedError(
            f"--test-from {first}: {count(earlier, 'problem')} before that day and {later} from "
            f"it on; at least {FEWEST // 2} and 1 are needed"
        )
    given = sizes.model_dump(exclude_none=True)
    wanted = {**USUAL, **given}
    if "test" not in given:
        wanted["test"] = min(wanted["test"], later)
    if not {"train", "selection"} & given.keys():
        wanted["train"] = min(wanted["train"], earlier - earlier // 2)
        wanted["selection"] = min(wanted["selection"], earlier // 2)
    if wanted["train"] + wanted["selection"] > earlier or wanted["test"] > later:
        raise UsageError(
            f"--test-from {first}: {wanted['train']} train + {wanted['selection']} selection "
            f"problems of {earlier}, and {wanted['test']} test problems of {later}; give smaller "
            "--train, --selection and --test"
        )
    return wanted
