"""Settings of the problems: which ones, how many samples of each, and which shard of them.

Problems are distributed by their position in the selection: shard I of N has the I-th, the
(I+N)-th and so on. So the sizes of shards differ by at most one problem, each has the same share
of any section of the data, and the original order can be restored. All samples of a problem are in
one shard.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import Field

from harness.errors import NothingSelectedError
from harness.run.settings.setting import (
    Setting,
    SettingsGroup,
)

if TYPE_CHECKING:
    from harness.problem import Problem
    from harness.sources.selection import Selected


MOST_SHARDS = 100_000
MOST_SAMPLES = 500_000
"""Largest number of samples of a run, including all its shards."""


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
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        index, of = map(int, found.groups()) if found else (0, 0)
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
                f"--shard {self} is empty: there are only {len(selected.problems)} problems; merge "
                "the others without it"
            )
        return replace(selected, problems=problems)


@dataclass(frozen=True, slots=True)
class Whole:
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
        from harness.sources.files.rows import content_hash

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


def planned_samples(manifest: Mapping[str, Any]) -> int:
    """Return the number of planned samples, including those of missing shards."""
    problems = max(len(manifest["problems"]), problems_merged(manifest))
    return problems * manifest["spec"]["samples_per_problem"]


def problems_merged(manifest: Mapping[str, Any]) -> int:
    """Return a merged run's problems, including missing shards; 0 for other runs."""
    merged = manifest.get("merged")
    found = cast("dict[str, Any]", merged).get("problems") if isinstance(merged, dict) else None
    return found if isinstance(found, int) else 0


_grows = partial(Setting, may_grow=True, compared=False)


class ProblemSettings(SettingsGroup):
    """Which problems a run has, and how often it tries each."""

    benchmark: Annotated[
        str | None,
        Setting(
            "Problems: livecodebench, leetcode, leetcodedataset, apps or mercury from the "
            "hub; after a colon a release or split, @REVISION, or a path; jsonl:PATH; "
            "fixture (default: the bundled problems); or a plug-in's name.",
            "Problems",
            names=(
                "-b",
                "--benchmark",
            ),
            metavar="NAME[:WHERE]",
            may_change=True,
            compared=False,
            common=True,
        ),
    ] = None
    skip_bad_rows: Annotated[
        bool, _grows("Skip and count malformed rows instead of stopping at the first.", "Problems")
    ] = False
    task: Annotated[
        tuple[str, ...],
        _grows(
            "Run only this problem; may be given several times.",
            "Problems",
            names=(
                "-t",
                "--task",
            ),
            metavar="ID",
        ),
    ] = ()
    filter_difficulty: Annotated[
        tuple[str, ...],
        _grows(
            "Only problems of this difficulty: easy, medium, hard, or the source's own "
            "word. Repeat, or separate by commas.",
            "Problems",
            names=(
                "--filter-difficulty",
                "--difficulties",
            ),
            common=True,
        ),
    ] = ()
    filter_tags: Annotated[
        tuple[str, ...],
        _grows("Only problems that have this tag; repeat to require several.", "Problems"),
    ] = ()
    filter_platform: Annotated[
        tuple[str, ...],
        _grows(
            "Only problems of this platform: leetcode, atcoder, codeforces, ... Repeat, or "
            "separate by commas.",
            "Problems",
            names=(
                "--filter-platform",
                "--platforms",
            ),
        ),
    ] = ()
    min_release_date: Annotated[
        date | None,
        _grows(
            "Only problems released on this day or later.",
            "Problems",
            metavar="YYYY-MM-DD",
            common=True,
        ),
    ] = None
    max_release_date: Annotated[
        date | None,
        _grows("Only problems released on this day or before.", "Problems", metavar="YYYY-MM-DD"),
    ] = None
    exclude_known_issues: Annotated[
        bool, _grows("Leave out problems that are known to be judged wrongly.", "Problems")
    ] = False
    sample_size: Annotated[
        int | None,
        _grows(
            "Number of problems to take after the filters. Default: all.",
            "Problems",
            names=(
                "-n",
                "--sample-size",
                "--limit",
            ),
            metavar="N",
            common=True,
        ),
    ] = Field(default=None, ge=1)
    sampling: Annotated[
        Literal["first", "random", "stratified"],
        _grows(
            "Which problems to take when there are more.",
            "Problems",
            metavar="first|random|stratified",
        ),
    ] = "first"
    seed: Annotated[int, _grows("Random seed for --sampling.", "Problems")] = 0
    samples_per_problem: Annotated[
        int,
        _grows(
            "Attempts at each problem.",
            "Problems",
            names=(
                "-k",
                "--samples-per-problem",
            ),
            common=True,
        ),
    ] = Field(default=1, ge=1, le=MOST_SAMPLES)
