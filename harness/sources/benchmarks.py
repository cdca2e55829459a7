"""One grammar says which problems, wherever problems are named: `NAME[:WHERE]`.

Where each benchmark lives on the Hugging Face hub, and what its words there mean.

A home's words are what stands after the colon in `NAME:WORD@REVISION`; the first is the default.
LiveCodeBench's and APPS's own repositories have loading scripts, which `datasets` runs no more, so
the names of their data files are here: as JSONL, as they were published, or as Parquet, as the hub
converts such repositories. Of the other data sets `datasets` says what their splits are.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple, Protocol

from harness import plugins
from harness.errors import UsageError
from harness.sources import codeforces, fixture, humaneval, icpc, jsonl, mbpp, mercury
from harness.sources.apps import apps
from harness.sources.files.download import Watch, quiet
from harness.sources.files.hub import HubFile, Wanted, all_files
from harness.sources.files.hub_place import hub_place
from harness.sources.files.parquet import open_rows
from harness.sources.files.rows import Loaded, ReadRows
from harness.sources.leetcode import dataset, leetcode
from harness.sources.livecodebench import livecodebench

LCB_LITE = "livecodebench/code_generation_lite"
LEETCODE = "greengerong/leetcode"
LEETCODEDATASET = "newfacade/LeetCodeDataset"
APPS = "codeparrot/apps"
METR_APPS = "metr-evals/apps"
MERCURY = "Elfsong/Mercury"
HUMANEVAL = "openai/openai_humaneval"
HUMANEVALPLUS = "evalplus/humanevalplus"
MBPP = "google-research-datasets/mbpp"
MBPPPLUS = "evalplus/mbppplus"
CODEFORCES = "open-r1/codeforces"

_LCB_STEMS = ("test", *(f"test{number}" for number in range(2, 7)))
"""The file that each release added, without its suffix."""

_SHARD = "-*-of-*.parquet"


@dataclass(frozen=True, slots=True)
class Home:
    """What a spec asks of the hub.

    Attributes:
        wanted: the data sets and files, in order; a revision is the first one's.
        difficulty: the source's own word for the only problems that are meant; empty for all.
    """

    wanted: tuple[Wanted, ...]
    difficulty: str = ""


def _lcb(first: int, last: int) -> Home:
    """The problems that some releases added, in one of five layouts.

    Converted repositories have a folder for each configuration of the loading script.
    """
    stems = _LCB_STEMS[first - 1 : last]
    words = [f"v{first}" if first == last else f"v{first}_v{last}"]
    words += [f"release_v{last}"] if first == 1 else []
    layouts = (
        tuple(f"{stem}.jsonl" for stem in stems),
        tuple(f"{stem}.parquet" for stem in stems),
        tuple(f"{stem}{_SHARD}" for stem in stems),
        *((f"{word}/*.parquet",) for word in reversed(words)),
        tuple(f"v{number}/*.parquet" for number in range(first, last + 1)),
    )
    return Home((Wanted(LCB_LITE, tuple(dict.fromkeys(layouts))),))


def _apps_split(split: str) -> tuple[Wanted, ...]:
    parquet = (
        f"{split}.parquet",
        f"{split}{_SHARD}",
        f"data/{split}{_SHARD}",
        f"all/{split}{_SHARD}",
    )
    return (Wanted(APPS, tuple((name,) for name in (f"{split}.jsonl", *parquet))),)


def _splits(repo: str, *splits: str) -> Home:
    return Home(tuple(Wanted(repo, split=split) for split in splits))


def _livecodebench() -> dict[str, Home]:
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


def _apps() -> dict[str, Home]:
    test = _apps_split("test")
    return {
        "test": Home(test),
        "train": Home(_apps_split("train")),
        **{word: Home(test, word) for word in ("introductory", "interview", "competition")},
        METR_APPS: _splits(METR_APPS, "test"),
    }


_leetcode = Home(
    (
        Wanted(LEETCODE, split="train"),
        Wanted(LEETCODEDATASET, split="train"),
        Wanted(LEETCODEDATASET, split="test"),
    )
)

HOMES: Mapping[str, Mapping[str, Home]] = MappingProxyType(
    {
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
        "codeforces": {"test": _splits(CODEFORCES, "test"), "train": _splits(CODEFORCES, "train")},
        "humaneval": {"test": _splits(HUMANEVAL, "test")},
        "humanevalplus": {"test": _splits(HUMANEVALPLUS, "test")},
        "mbpp": {
            "test": _splits(MBPP, "test"),
            "train": _splits(MBPP, "train"),
            "all": _splits(MBPP, "train", "test", "validation", "prompt"),
        },
        "mbppplus": {"test": _splits(MBPPPLUS, "test")},
    }
)

SAID: Mapping[str, str] = MappingProxyType(
    {name: ", ".join(homes) for name, homes in HOMES.items()}
    | {
        "livecodebench": "release_latest, release_v1 to release_v6, v1 to v6 for what each added, "
        "v1_v2 to v5_v6 for ranges, code_generation, test_generation, execution-v2"
    }
)
"""The words for a person; a source's first is its default."""


_LCB_ADDED = (400, 111, 101, 101, 167, 175)
"""How many problems each release added, as published."""


def meaning(spec: str) -> str:
    """Return what a word for LiveCodeBench's releases selects, with the published numbers."""
    source, _, where = spec.partition(":")
    word = where.partition("@")[0] or "release_latest"
    found = re.fullmatch(r"(release_)?v(\d)(?:_v(\d))?|release_latest", word)
    if source.strip().lower() != "livecodebench" or word not in HOMES["livecodebench"]:
        return ""
    if found is None:
        return ""
    last = int(found[3] or found[2] or len(_LCB_ADDED))
    first = 1 if found[1] or found[2] is None else int(found[2])
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


def home_of(source: str, where: str | None) -> Home | None:
    """What a spec asks of the hub; None where it names a path, or a source that is not there.

    Raises:
        UsageError: the source has no such word, and there is no such file.
    """
    homes = HOMES.get(source)
    place = hub_place(where, source, homes, SAID[source]) if homes else None
    if homes is None or place is None:
        return None
    home = homes[place.word or next(iter(homes))]
    spec = f"{source}:{where}" if where else source
    first, *others = home.wanted
    # What shares a data set shares its revision.
    wanted = [
        replace(each, spec=spec, revision=place.revision if each.repo == first.repo else "main")
        for each in (first, *others)
    ]
    return replace(home, wanted=tuple(wanted))


class Loader(Protocol):
    """Reads a source's problems from the place that its own grammar of `where` names."""

    def __call__(
        self, where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet
    ) -> Loaded:
        """Read; raise UsageError for the place, DataError for what is in it."""
        ...


LOADERS: MappingProxyType[str, Loader] = MappingProxyType(
    {
        "fixture": fixture.load,
        "jsonl": jsonl.load,
        "livecodebench": livecodebench.load,
        "leetcode": leetcode.load,
        "leetcodedataset": dataset.load,
        "mercury": mercury.load,
        "apps": apps.load,
        "icpc": icpc.load,
        "codeforces": codeforces.load,
        "humaneval": humaneval.load,
        "humanevalplus": partial(humaneval.load, name="humanevalplus"),
        "mbpp": mbpp.load,
        "mbppplus": partial(mbpp.load, name="mbppplus"),
    }
)

READERS: MappingProxyType[str, ReadRows] = MappingProxyType(
    {
        "livecodebench": livecodebench.read_rows,
        "leetcode": leetcode.read_rows,
        "leetcodedataset": dataset.read_rows,
        "mercury": mercury.read_rows,
        "apps": apps.read_rows,
        "codeforces": codeforces.read_rows,
        "humaneval": humaneval.read_rows,
        "humanevalplus": partial(humaneval.read_rows, name="humanevalplus"),
        "mbpp": mbpp.read_rows,
        "mbppplus": partial(mbpp.read_rows, name="mbppplus"),
    }
)
"""Of those that have a home on the hub."""


class Spec(NamedTuple):
    """A source and the place in it; `where` is None for the source's default."""

    name: str
    where: str | None


def parse_spec(spec: str) -> Spec:
    """Take `NAME[:WHERE]` apart. The case of our own names does not matter.

    Raises:
        UsageError: the name is unknown, or nothing follows the colon.
    """
    name, colon, where = spec.partition(":")
    known = name.strip().lower()
    if known not in LOADERS and plugged(name) is not None:
        known = name.strip()
    elif known not in LOADERS:
        raise UsageError(_unknown(spec, known))
    if colon and not where.strip():
        raise UsageError(f"{spec!r} ends at the colon; give {known}:WHERE")
    return Spec(known, where if colon else None)


def is_source(name: str) -> bool:
    """Whether problems come from a source of this name: one of ours, or of a plug-in."""
    return name.strip().lower() in LOADERS or plugged(name) is not None


def plugged(name: str) -> plugins.Plugin | None:
    """The plug-in that is a source of this name, where none of ours is."""
    name = name.strip()
    return None if name.lower() in LOADERS else plugins.find(plugins.SOURCES, name)


def _unknown(spec: str, name: str) -> str:
    if spec.lower().endswith((".jsonl", ".jsonl.gz")):
        return f"{spec!r} does not say what its rows are: give livecodebench:{spec} or jsonl:{spec}"
    known_name, at, revision = name.partition("@")
    if at and known_name in HOMES:
        return (
            f"{spec!r}: a revision follows the colon; give {known_name}:@{revision or 'REVISION'}"
        )
    if at and known_name in LOADERS:
        return f"{spec!r}: {known_name} is no data set of the hub and has no revisions"
    near = difflib.get_close_matches(name, LOADERS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    known = plugins.known(plugins.SOURCES, LOADERS)
    return f"unknown problem source {name!r}; {hint}known: {known}"


def load(spec: str, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """The problems that a spec names, fetched from the hub where they are not at hand.

    Args:
        spec: `NAME[:WHERE]`.
        skip_bad_rows: pass over rows that are not as their schema says, and report them.
        watch: is told of what takes a while: fetching, and reading large files.

    Raises:
        UsageError: the spec names nothing that can be read.
        DataError: a file or row is not as it should be.
        HubError: the hub cannot be reached.
    """
    name, where = parse_spec(spec)
    plugin = plugged(name)
    if plugin is not None:
        from harness.sources.plugin_source import load_plugged

        return load_plugged(plugin, where, skip_bad_rows=skip_bad_rows, watch=watch)
    home = home_of(name, where)
    if home is None:
        return LOADERS[name](where, skip_bad_rows=skip_bad_rows, watch=watch)
    files = all_files(home.wanted, watch=watch)
    rows = (open_rows(file.path, file.name) for file in files)
    loaded = READERS[name](rows, skip_bad_rows=skip_bad_rows, watch=watch)
    if not home.difficulty:
        return loaded
    problems = tuple(p for p in loaded.problems if p.difficulty_word == home.difficulty)
    return replace(loaded, problems=problems)


def fetch(
    spec: str, *, watch: Watch = quiet, verify: bool = False, update: bool = False
) -> list[HubFile]:
    """Bring what a spec names into the cache.

    Args:
        spec: `NAME[:WHERE]`, of the hub.
        watch: is told of each piece.
        verify: take the hash of every file that is there already; one that is another is replaced.
        update: take the newest commit of a branch, not the one that was fetched first.

    Raises:
        UsageError: the spec names nothing on the hub.
        HubError: the hub cannot be reached.
    """
    name, where = parse_spec(spec)
    home = home_of(name, where)
    if home is None:
        raise UsageError(
            f"there is nothing to fetch for {spec}: it names no data set of the hub, as "
            f"{', '.join(HOMES)} do, alone or with a word of theirs"
        )
    return all_files(home.wanted, watch=watch, verify=verify, update=update)
