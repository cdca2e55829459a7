"""Settings of the problems: which ones, how many samples of each, and which shard of them."""

from datetime import date
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from harness.registry import LOADERS
from harness.run.settings.setting import Setting, SettingsGroup

MOST_SAMPLES = 500_000
"""Largest number of samples of a run, including all its shards."""


_grows = partial(Setting, may_grow=True, compared=False)


class ProblemSettings(SettingsGroup):
    """Which problems a run has, and how often it tries each."""

    benchmark: Annotated[
        str | None,
        Setting(
            f"Problems: {', '.join(LOADERS)} or a plug-in's; then :RELEASE, :SPLIT, :@REVISION or "
            ":PATH. Default: fixture.",
            "Problems",
            names=("-b", "--benchmark"),
            metavar="NAME[:WHERE]",
            may_change=True,
            compared=False,
            common=True,
        ),
    ] = None
    skip_bad_rows: Annotated[
        bool, _grows("Skip and count malformed rows instead of stopping at the first.")
    ] = False
    task: Annotated[
        tuple[str, ...],
        _grows(
            "Run only this problem; may be given several times.",
            "Problems",
            names=("-t", "--task"),
            metavar="ID",
        ),
    ] = ()
    filter_difficulty: Annotated[
        tuple[str, ...],
        _grows(
            "Only problems of this difficulty: easy, medium, hard, or the source's own "
            "word. Repeat, or separate by commas.",
            "Problems",
            names=("--filter-difficulty", "--difficulties"),
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
            names=("--filter-platform", "--platforms"),
        ),
    ] = ()
    min_release_date: Annotated[
        date | None,
        _grows(
            "Only problems released on this day or later.",
            "Problems",
            metavar="YYYY-MM-DD",
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
            names=("-n", "--sample-size", "--limit"),
            metavar="N",
            common=True,
        ),
    ] = Field(default=None, ge=1)
    sampling: Annotated[
        Literal["first", "random", "stratified"],
        _grows(
            "Which problems to take if more match than --sample-size.",
            "Problems",
        ),
    ] = "first"
    seed: Annotated[
        int, _grows("Random seed for --sampling, and for the key impossible.", "Problems")
    ] = 0
    samples_per_problem: Annotated[
        int,
        _grows(
            "Attempts at each problem.",
            "Problems",
            names=("-k", "--samples-per-problem"),
            common=True,
        ),
    ] = Field(default=1, ge=1, le=MOST_SAMPLES)
