"""Shards of a run, and the complete run that a shard belongs to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from harness.errors import NothingSelectedError

if TYPE_CHECKING:
    from harness.problem import Problem
    from harness.sources.selection import Selected


MOST_SHARDS = 100_000


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard I of N; `index` counts from 1."""

    index: int
    of: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse `I/N`.

        Raises:
            ValueError: the text is malformed; the message says what to give.
        """
        match = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        index, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= index <= of <= MOST_SHARDS:
            raise ValueError(f"give I/N, as 2/8: a part of N, from 1 to N, N at most {MOST_SHARDS}")
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def among(self, selected: "Selected") -> "Selected":
        """Return this shard's part of the problems.

        Raises:
            NothingSelectedError: there are fewer problems than shards, and this one is empty.
        """
        problems = selected.problems[self.index - 1 :: self.of]
        if not problems:
            raise NothingSelectedError(
                f"--set shard={self} is empty: there are only {len(selected.problems)} problems; "
                "merge the others without it"
            )
        return selected._replace(problems=problems)


class Whole(NamedTuple):
    """The complete run that a shard belongs to.

    Attributes:
        problems: total number of problems.
        hash: hash of their ids and contents, in order of selection.
    """

    problems: int
    hash: str

    @classmethod
    def of(cls, problems: "Sequence[Problem]") -> Self:
        """Return the whole of some selected problems."""
        from harness.sources.files.content_hash import content_hash

        parts = (text for problem in problems for text in (problem.id, problem.content_hash))
        return cls(len(problems), content_hash(*parts))

    def as_json(self, shard: Shard) -> dict[str, Any]:
        """Return the entry in a shard's `run.json`."""
        return {
            "index": shard.index,
            "of": shard.of,
            "problems": self.problems,
            "selection": self.hash,
        }


def problems_merged(manifest: Mapping[str, Any]) -> int:
    """Return a merged run's problems, including missing shards; 0 for other runs."""
    merged = manifest.get("merged")
    problems = cast("dict[str, Any]", merged).get("problems") if isinstance(merged, dict) else None
    return problems if isinstance(problems, int) else 0
