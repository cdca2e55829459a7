"""Benchmarks' data sets on the Hugging Face hub, and the words that select parts.

A word stands after the colon in `NAME:WORD@REVISION`; the first is the default. LiveCodeBench's and
APPS's own repositories have loading scripts, which `datasets` no longer runs, so the names of their
data files are listed here: as JSONL, as they were published, or as Parquet, as the hub converts
such repositories. The splits of the other data sets come from `datasets`.
"""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from harness.sources.files.hub import WantedFiles

LCB_LITE = "livecodebench/code_generation_lite"
LEETCODE = "greengerong/leetcode"
LEETCODEDATASET = "newfacade/LeetCodeDataset"
APPS = "codeparrot/apps"
METR_APPS = "metr-evals/apps"
MERCURY = "Elfsong/Mercury"
_HUMANEVAL = "openai/openai_humaneval"
_MBPP = "google-research-datasets/mbpp"

PINNED: Mapping[str, str] = {
    LCB_LITE: "0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
    APPS: "21e74ddf8de1a21436da12e3e653065c5213e9d1",
    _HUMANEVAL: "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
    _MBPP: "4bb6404fdc6cacfda99d4ac4205087b89d32030c",
}
"""The commits that are meant where no revision is given; others published results with them. Of
the other data sets no commit is known: the first one fetched stays."""

_LCB_STEMS = ("test", *(f"test{number}" for number in range(2, 7)))
"""Stem of the file that each release added."""

_SHARD = "-*-of-*.parquet"
_LCB_ADDED = (400, 111, 101, 101, 167, 175)
"""Number of problems that each release added, as published."""


class HubDataset(NamedTuple):
    """Files of a spec on the hub.

    Attributes:
        wanted: the data sets and files, in order; a revision applies to the first one.
        difficulty: the source's word for a difficulty to select; empty for all.
    """

    wanted: tuple[WantedFiles, ...]
    difficulty: str = ""


def _lcb(first: int, last: int) -> HubDataset:
    """Return the problems that some releases added, with all possible layouts.

    Converted repositories have a folder for each configuration of the loading script.
    """
    stems = _LCB_STEMS[first - 1 : last]
    versions = [f"v{first}" if first == last else f"v{first}_v{last}"]
    versions += [f"release_v{last}"] if first == 1 else []
    layouts = (
        tuple(f"{stem}.jsonl" for stem in stems),
        tuple(f"{stem}.parquet" for stem in stems),
        tuple(f"{stem}{_SHARD}" for stem in stems),
        *((f"{word}/*.parquet",) for word in reversed(versions)),
        tuple(f"v{number}/*.parquet" for number in range(first, last + 1)),
    )
    return HubDataset((WantedFiles(LCB_LITE, tuple(dict.fromkeys(layouts))),))


def _apps_split(split: str) -> tuple[WantedFiles, ...]:
    parquet = (
        f"{split}.parquet",
        f"{split}{_SHARD}",
        f"data/{split}{_SHARD}",
        f"all/{split}{_SHARD}",
    )
    return (WantedFiles(APPS, tuple((name,) for name in (f"{split}.jsonl", *parquet))),)


def _splits(repo: str, *splits: str) -> HubDataset:
    return HubDataset(tuple(WantedFiles(repo, split=split) for split in splits))


def _livecodebench() -> dict[str, HubDataset]:
    releases = range(1, len(_LCB_STEMS) + 1)
    return {
        "release_latest": _lcb(1, len(_LCB_STEMS)),
        **{f"release_v{last}": _lcb(1, last) for last in releases},
        **{f"v{number}": _lcb(number, number) for number in releases},
        **{f"v{first}_v{last}": _lcb(first, last) for first, last in combinations(releases, 2)},
        **{
            name: _splits(f"livecodebench/{name}", "test")
            for name in ("code_generation", "test_generation", "execution-v2")
        },
    }


def _apps() -> dict[str, HubDataset]:
    test = _apps_split("test")
    return {
        "test": HubDataset(test),
        "train": HubDataset(_apps_split("train")),
        **{word: HubDataset(test, word) for word in ("introductory", "interview", "competition")},
        METR_APPS: _splits(METR_APPS, "test"),
    }


_leetcode = HubDataset(
    (
        WantedFiles(LEETCODE, split="train"),
        WantedFiles(LEETCODEDATASET, split="train"),
        WantedFiles(LEETCODEDATASET, split="test"),
    )
)

HOMES: Mapping[str, Mapping[str, HubDataset]] = {
    "livecodebench": _livecodebench(),
    "leetcode": {"train": _leetcode},
    "leetcodedataset": {
        "test": _splits(LEETCODEDATASET, "test"),
        "train": _splits(LEETCODEDATASET, "train"),
        "all": _splits(LEETCODEDATASET, "train", "test"),
    },
    "apps": _apps(),
    "mercury": {
        "eval": _splits(MERCURY, "eval"),
        "train": _splits(MERCURY, "train"),
        "all": _splits(MERCURY, "train", "eval"),
    },
    "codeforces": {
        "test": _splits("open-r1/codeforces", "test"),
        "train": _splits("open-r1/codeforces", "train"),
    },
    "humaneval": {"test": _splits(_HUMANEVAL, "test")},
    "humanevalplus": {"test": _splits("evalplus/humanevalplus", "test")},
    "mbpp": {
        "test": _splits(_MBPP, "test"),
        "train": _splits(_MBPP, "train"),
        "all": _splits(_MBPP, "train", "test", "validation", "prompt"),
    },
    "mbppplus": {"test": _splits("evalplus/mbppplus", "test")},
}

SAID: Mapping[str, str] = {name: ", ".join(homes) for name, homes in HOMES.items()} | {
    "livecodebench": "release_latest, release_v1 to release_v6, v1 to v6 for what each added, "
    "v1_v2 to v5_v6 for ranges, code_generation, test_generation, execution-v2"
}
"""Words of each source, for messages; the first is the default."""


def meaning(spec: str) -> str:
    """Describe what a word for LiveCodeBench's releases selects, with published numbers."""
    source, _, where = spec.partition(":")
    word = where.partition("@")[0] or "release_latest"
    match = re.fullmatch(r"(release_)?v(\d)(?:_v(\d))?|release_latest", word)
    if source.strip().lower() != "livecodebench" or word not in HOMES["livecodebench"]:
        return ""
    if match is None:
        return ""
    last = int(match[3] or match[2] or len(_LCB_ADDED))
    first = 1 if match[1] or match[2] is None else int(match[2])
    added, total = _LCB_ADDED[last - 1], sum(_LCB_ADDED[:last])
    if word.startswith("release"):
        return (
            f"{word} is all that releases 1 to {last} hold, {total:,} problems; "
            f"v{last} is the {added} that release {last} added"
        )
    if first < last:
        between = sum(_LCB_ADDED[first - 1 : last])
        return f"{word} is the {between:,} problems that releases {first} to {last} added"
    return (
        f"{word} is the {added} problems that release {last} added; "
        f"release_{word} is all {total:,} up to it"
    )
