"""Benchmarks by name: parsing `NAME[:WHERE]`, and loading or fetching its problems."""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import partial
from glob import has_magic
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, TypeVar

from harness import plugins
from harness.errors import DataError, UsageError
from harness.plugins import Plugin, words_of
from harness.problem import Problem, TestSuite
from harness.registry import LOADERS
from harness.sources.files.download import Watch, quiet
from harness.sources.files.hub import HubFile, all_files
from harness.sources.files.rows import Loaded, ReadRows, load_paths, load_rows, open_rows
from harness.sources.hub_datasets import HOMES, PINNED, SAID, HubDataset

T = TypeVar("T")
_SUFFIXES = (".jsonl", ".json", ".gz", ".parquet")
_NAMED = frozenset({"humaneval", "humanevalplus", "mbpp", "mbppplus"})
"""Sources that share a module with another one, which has only `parse_row(line, *, name)`."""


def load_plugged(
    plugin: Plugin, where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet
) -> Loaded:
    """Load the problems of a plug-in's source, called like a built-in one.

    Raises:
        UsageError: it does not load, raises, or returns something else than problems.
        HarnessError: the plug-in itself raised one.
    """
    load = plugin.load()
    if not callable(load):
        raise UsageError(f"{plugin} is a {type(load).__name__}; a source is a function")
    try:
        source: object = load(where, skip_bad_rows=skip_bad_rows, watch=watch)
    except (Exception, SystemExit) as error:
        raise plugin.blame(error) from error
    if not isinstance(source, Loaded):
        raise UsageError(
            f"{plugin} returned a {type(source).__name__}, not a harness.sources.files.rows.Loaded"
        )
    problems = tuple(source.problems)
    strange = next((each for each in problems if not isinstance(each, Problem)), None)  # pyright: ignore[reportUnnecessaryIsInstance] - theirs
    if strange is not None:
        raise UsageError(f"{plugin} returned a {type(strange).__name__} among its problems")
    twice = [name for name, count in Counter(p.id for p in problems).items() if count > 1]
    if twice:
        raise UsageError(f"{plugin} returned two problems of the id {twice[0]!r}")
    return source._replace(problems=tuple(_guarded(plugin, each) for each in problems))


def _guarded(plugin: Plugin, problem: Problem) -> Problem:
    """Return the problem; errors of later decoding are raised as DataError."""

    def guard(what: str, decode: Callable[[], Iterable[T]]) -> Callable[[], tuple[T, ...]]:
        return partial(_decoded, plugin, problem.id, what, decode)

    suite = TestSuite(problem.tests.public, guard("hidden tests", problem.tests.load_hidden))
    references = guard("references", problem.load_references)
    return problem.model_copy(update={"tests": suite, "load_references": references})


def _decoded(
    plugin: Plugin, problem: str, what: str, decode: Callable[[], Iterable[T]]
) -> tuple[T, ...]:
    try:
        return tuple(decode())
    except DataError:
        raise
    except (Exception, SystemExit) as error:
        message = f"its {what}, by {plugin}: {words_of(error)}"
        raise DataError(problem, None, message) from error


class HubPlace(NamedTuple):
    """Release, split or set on the hub; an empty string stands for the source's default."""

    word: str
    revision: str


def hub_place(
    where: str | None, source: str, words: Collection[str], message: str
) -> HubPlace | None:
    """Parse a place on the hub, `[WORD][@REVISION]`; return None for a path or glob.

    A word is never a path: a file of that name is `./WORD`.

    Args:
        where: text after the colon, if any.
        source: name before it.
        words: words that the source knows.
        message: the same words for a message.

    Raises:
        UsageError: it is neither one of these words nor looks like a path.
    """
    if where is None:
        return HubPlace("", "")
    word, at, revision = where.partition("@")
    if word not in words and _exists(where):
        return None
    if at and not revision:
        raise UsageError(f"{source}:{where} ends at the @; give {source}:{word}@REVISION")
    if word in words or (at and not word):
        return HubPlace(word, revision)
    if has_magic(where) or "/" in where or where.endswith(_SUFFIXES) or where.startswith("~"):
        return None
    near = difflib.get_close_matches(word, words, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UsageError(
        f"{source} has no {word!r}, and there is no such file; {hint}known: {message}, or a path"
    )


def _exists(where: str) -> bool:
    """Return whether it is an existing path. Raises UsageError where it cannot be one."""
    try:
        where.encode()
        return Path(where).expanduser().exists()
    except UnicodeError:
        raise UsageError(f"{where!r} is not UTF-8") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: `~` of an unknown user
        raise UsageError(f"{where!r:.80} cannot be a path: {error!s:.200}") from None


def home_of(source: str, where: str | None) -> HubDataset | None:
    """Return the hub files of a spec; None for a path, or a source without any.

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
    # The revision applies to all files of the same repository.
    given = {first.repo: place.revision} if place.revision else {}
    wanted = [
        each._replace(
            spec=spec,
            revision={**PINNED, **given}.get(each.repo, "main"),
            cached="" if each.repo in given else "main",
        )
        for each in (first, *others)
    ]
    return home._replace(wanted=tuple(wanted))


Loader = Callable[..., Loaded]
"""Reads the problems from a place: `(where, *, skip_bad_rows=False, watch=quiet) -> Loaded`.

Raises UsageError for an invalid place, DataError for invalid content.
"""


def loader(name: str) -> Loader:
    """Import the function that reads a source from a path."""
    if name in _NAMED:
        return partial(load_paths, name, read=reader(name))
    module, _, function = LOADERS[name].partition(":")
    return getattr(import_module(module), function or "load")


def reader(name: str) -> ReadRows:
    """Import the function that makes problems of the rows of a source on the hub."""
    module = import_module(LOADERS[name])
    if name in _NAMED:
        return partial(load_rows, parse=partial(module.parse_row, name=name))
    return module.read_rows


class Spec(NamedTuple):
    """Source and place in it; `where` is None for the source's default."""

    name: str
    where: str | None


def parse_spec(spec: str) -> Spec:
    """Parse `NAME[:WHERE]`. The case of built-in names does not matter.

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
    """Return whether this is the name of a source, built in or of a plug-in."""
    return name.strip().lower() in LOADERS or plugged(name) is not None


def plugged(name: str) -> Plugin | None:
    """Return the plug-in of a source's name, unless the source is built in."""
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
        return f"{spec!r}: {known_name} is not a data set of the hub and has no revisions"
    near = difflib.get_close_matches(name, LOADERS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    known = plugins.known(plugins.SOURCES, LOADERS)
    return f"unknown problem source {name!r}; {hint}known: {known}"


def load(spec: str, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the problems of a spec, fetching them from the hub if necessary.

    Args:
        spec: `NAME[:WHERE]`.
        skip_bad_rows: whether to skip and report rows that do not match their schema.
        watch: function called with the progress of fetching, and of reading large files.

    Raises:
        UsageError: the spec names nothing that can be read.
        DataError: a file or row is invalid.
        HubError: the hub cannot be reached.
    """
    name, where = parse_spec(spec)
    plugin = plugged(name)
    if plugin is not None:
        return load_plugged(plugin, where, skip_bad_rows=skip_bad_rows, watch=watch)
    home = home_of(name, where)
    if home is None:
        return loader(name)(where, skip_bad_rows=skip_bad_rows, watch=watch)
    files = all_files(home.wanted, watch=watch)
    rows = (open_rows(file.path, file.name) for file in files)
    loaded = reader(name)(rows, skip_bad_rows=skip_bad_rows, watch=watch)
    if not home.difficulty:
        return loaded
    problems = tuple(p for p in loaded.problems if p.difficulty_word == home.difficulty)
    return loaded._replace(problems=problems)


def fetch(
    spec: str, *, watch: Watch = quiet, verify: bool = False, update: bool = False
) -> list[HubFile]:
    """Fetch the files of a spec into the cache.

    Args:
        spec: `NAME[:WHERE]`, of a data set on the hub.
        watch: function called with the progress.
        verify: whether to hash every file in the cache, and replace those that differ.
        update: whether to use the newest commit of a branch, not the one fetched first.

    Raises:
        UsageError: the spec names nothing on the hub.
        HubError: the hub cannot be reached.
    """
    name, where = parse_spec(spec)
    home = home_of(name, where)
    if home is None:
        raise UsageError(
            f"there is nothing to fetch for {spec}: it is not on the hub; these are, alone or with "
            f"one of their words: {', '.join(HOMES)}"
        )
    return all_files(home.wanted, watch=watch, verify=verify, update=update)
