"""A run in parts, for batch schedulers: each is a run of its own, and `harness merge` joins them.

The problems are dealt out by their position in the selection, like cards: shard I of N has the
I-th, the (I+N)-th and so on. So shards differ by one problem at most, each has the same share of
any stretch of the data, and the order of the whole follows from theirs. All samples of a problem
are in one shard.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

from harness.errors import NothingSelectedError

if TYPE_CHECKING:
    from harness.problem import Problem
    from harness.sources.selection import Selected

MOST_SHARDS = 100_000
MOST_SAMPLES = 500_000
"""Of a run, with all its shards."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The I-th of N parts; from 1."""

    index: int
    of: int

    @classmethod
    def read(cls, text: str) -> Self:
        """From `I/N`.

        Raises:
            ValueError: it is no such thing; the message says what to give.
        """
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        index, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= index <= of <= MOST_SHARDS:
            raise ValueError(f"give I/N, as 2/8: a part of N, from 1 to N, N at most {MOST_SHARDS}")
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def among(self, selected: "Selected") -> "Selected":
        """Its part of the problems.

        Raises:
            NothingSelectedError: there are fewer problems than shards, and it has none.
        """
        problems = selected.problems[self.index - 1 :: self.of]
        if not problems:
            raise NothingSelectedError(
                f"--shard {self} is empty: there are only {len(selected.problems)} problems; merge "
                "the others without it"
            )
        return replace(selected, problems=problems)


@dataclass(frozen=True, slots=True)
class Whole:
    """What a shard is a part of.

    Attributes:
        problems: how many there are in all.
        hash: of their ids and contents, in order, as they were selected.
    """

    problems: int
    hash: str

    @classmethod
    def of(cls, problems: "Sequence[Problem]") -> Self:
        """Of selected problems."""
        from harness.sources.files.rows import content_hash

        parts = (text for problem in problems for text in (problem.id, problem.content_hash))
        return cls(len(problems), content_hash(*parts))

    def as_json(self, shard: Shard) -> dict[str, Any]:
        """What `run.json` of one of its shards says."""
        return {
            "index": shard.index,
            "of": shard.of,
            "problems": self.problems,
            "selection": self.hash,
        }


def planned_samples(manifest: Mapping[str, Any]) -> int:
    """Return how many samples a run is to have, those of missing shards included."""
    problems = max(len(manifest["problems"]), problems_merged(manifest))
    return problems * manifest["spec"]["samples_per_problem"]


def problems_merged(manifest: Mapping[str, Any]) -> int:
    """How many problems a run of shards has, those of missing ones included; 0 for other runs."""
    merged = manifest.get("merged")
    found = cast("dict[str, Any]", merged).get("problems") if isinstance(merged, dict) else None
    return found if isinstance(found, int) else 0
