"""Data sets of the Hugging Face hub: choice of commit and files, and checks.

The commit of a branch when its data set was first fetched is used from then on, so that two runs a
month apart use the same tests. A file whose size or time has changed is hashed again, and fetched
again if its content differs.
"""

import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError

from harness.cache import cache_folder, write_whole
from harness.errors import UsageError
from harness.frozen import Frozen

# The library has no stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from harness.sources.files.download import (
    DATA_SUFFIXES,
    HubError,
    Watch,
    commit_in_cache,
    commit_of,
    download,
    files_in_cache,
    files_of,
    hub_errors,
    is_intact,
    is_named,
    quiet,
    sha256_of,
)

SHOWN_NAMES = 8


def splits_of(repo: str, commit: str) -> dict[str, tuple[str, ...]]:
    """Return the files of each split of a data set's default configuration.

    A data set with a loading script, which `datasets` no longer runs, has one split, `test`, of all
    its files of rows; LiveCodeBench's older sets are like that.

    Raises:
        UsageError: there is no such data set, or no file of rows in it.
        HubError: the hub cannot be reached.
    """
    from datasets import load_dataset_builder
    from datasets.exceptions import DatasetNotFoundError

    start = f"hf://datasets/{repo}@{commit}/"
    try:
        with hub_errors(repo, commit):
            builder = load_dataset_builder(repo, revision=commit)
    except (DatasetNotFoundError, ValueError) as error:
        raise UsageError(f"{repo} cannot be read: {' '.join(str(error).split())}") from None
    except RuntimeError:
        return {"test": _files_of_rows(repo, commit)}
    by_split = {
        str(split): tuple(map(str, files))
        for split, files in (builder.config.data_files or {}).items()
    }
    if not all(file.startswith(start) for files in by_split.values() for file in files):
        # If the hub fails half-way, `datasets` uses another commit in its cache.
        raise HubError(f"{repo}@{commit[:12]}: the hub does not say what its files are; try again")
    return {split: tuple(f.removeprefix(start) for f in files) for split, files in by_split.items()}


def _files_of_rows(repo: str, commit: str) -> tuple[str, ...]:
    data_files = tuple(name for name in files_of(repo, commit) if name.endswith(DATA_SUFFIXES))
    if not data_files:
        raise UsageError(f"{repo}@{commit[:12]} holds no file of rows")
    return data_files


_Model = TypeVar("_Model", bound=BaseModel)


class WantedFiles(NamedTuple):
    """Files wanted from a data set on the hub.

    Attributes:
        repo: `owner/name`.
        revision: a branch, tag or commit.
        layouts: possible names of the files, the preferred one first; each is a list of names or
            patterns that must all be there. Without any, the files are those of the split.
        split: split, as the data set's card or its file names define it.
        spec: spec of the user, `NAME[:WHERE]`, for messages.
        cached: another revision to take offline, if other programs fetched it.
    """

    repo: str
    layouts: tuple[tuple[str, ...], ...] = ()
    split: str = "test"
    revision: str = "main"
    spec: str = ""
    cached: str = ""


class HubFile(NamedTuple):
    """File in the cache.

    Attributes:
        path: its path.
        name: its name in messages and a run's record: `owner/name@commit/path`.
        sha256: hash of the file.
        size: size in bytes.
    """

    path: Path
    name: str
    sha256: str
    size: int


class _Pin(Frozen):
    """Stored facts about a revision of a data set.

    Attributes:
        commit: commit of the revision.
        splits: files of its splits.
        names: all files of the commit; empty if not requested yet.
    """

    commit: str
    splits: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    names: tuple[str, ...] = ()


class _CachedFile(Frozen):
    """Hash of a cached file, with its size and time when the hash was computed."""

    sha256: str
    size: int
    mtime_ns: int


def _pin(wanted: WantedFiles, *, update: bool) -> _Pin:
    kept = _pin_file(wanted)
    known = _read(kept, _Pin)
    if known is not None and not update:
        return known
    offline = _offline()
    if offline and known is not None:
        raise UsageError(f"{wanted.repo}: --update asks the hub, and HF_HUB_OFFLINE is set")
    commit = _commit_in_cache(wanted) if offline else commit_of(wanted.repo, wanted.revision)
    if known is not None and known.commit == commit:
        return known
    pin = _Pin(commit=commit)
    write_whole(kept, pin.model_dump_json())
    return pin


def _laid_out(wanted: WantedFiles, pin: _Pin) -> tuple[str, ...]:
    """Return the files of the first layout that the commit has; the hub is asked once."""
    preferred = wanted.layouts[0]
    if not pin.names and all(_cached(wanted.repo, pin.commit, name) for name in preferred):
        return preferred
    names = pin.names or _names_at(wanted, pin)
    for layout in wanted.layouts:
        matching = [sorted(fnmatch.filter(names, pattern)) for pattern in layout]
        if all(matching):
            return tuple(dict.fromkeys(name for group in matching for name in group))
    if not pin.names and _offline():
        raise _cold(wanted)
    raise UsageError(_nothing_fits(wanted, pin.commit, names))


def _names_at(wanted: WantedFiles, pin: _Pin) -> tuple[str, ...]:
    if _offline():
        names = files_in_cache(wanted.repo, pin.commit)
        if not names:
            raise _cold(wanted)
        return names
    names = files_of(wanted.repo, pin.commit)
    write_whole(_pin_file(wanted), pin.model_copy(update={"names": names}).model_dump_json())
    return names


def _nothing_fits(wanted: WantedFiles, commit: str, names: Sequence[str]) -> str:
    """Describe the missing files of each layout, and the existing data files."""
    lacking = [
        ", ".join(pattern for pattern in layout if not fnmatch.filter(names, pattern))
        for layout in wanted.layouts
    ]
    data = [name for name in names if name.endswith(DATA_SUFFIXES)]
    shown = ", ".join(data[:SHOWN_NAMES]) + (", …" if len(data) > SHOWN_NAMES else "")
    return (
        f"{wanted.repo}@{commit[:12]} lacks {'; or '.join(lacking)}; "
        f"its data files are: {shown or 'none'}"
    )


def _names(wanted: WantedFiles, pin: _Pin) -> tuple[str, ...]:
    """Return the files of a split; `datasets` is asked once."""
    if wanted.split in pin.splits:
        return pin.splits[wanted.split]
    if _offline():
        raise _cold(wanted)
    splits = splits_of(wanted.repo, pin.commit)
    if wanted.split not in splits:
        raise UsageError(
            f"{wanted.repo} has no split {wanted.split!r}; there are {', '.join(splits)}"
        )
    write_whole(_pin_file(wanted), pin.model_copy(update={"splits": splits}).model_dump_json())
    return splits[wanted.split]


def _file(wanted: WantedFiles, commit: str, name: str, watch: Watch, *, verify: bool) -> HubFile:
    kept = _folder(wanted.repo) / "files" / commit / f"{quote(name, safe='')}.json"
    facts = _read(kept, _CachedFile)
    path = _cached(wanted.repo, commit, name)
    if path is None or facts is None or verify or not _is_as_it_was(path, facts):
        known = None if path is None else _intact(path, facts, watch, offline=_offline())
        if known is None and _offline():
            damaged = f": {name} in the cache is not what was fetched"
            raise _cold(wanted) if path is None else _cold(wanted, damaged)
        if path is None or known is None:
            path = download(wanted.repo, commit, name, watch)
            known = _facts(path, sha256_of(path, watch))
        facts = known
        write_whole(kept, facts.model_dump_json())
    return HubFile(path, f"{wanted.repo}@{commit[:12]}/{name}", facts.sha256, facts.size)


def _cached(repo: str, commit: str, name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(repo, name, revision=commit, repo_type="dataset")
    return Path(cached) if isinstance(cached, str) and Path(cached).is_file() else None


def _is_as_it_was(path: Path, facts: _CachedFile) -> bool:
    status = path.stat()
    return (status.st_size, status.st_mtime_ns) == (facts.size, facts.mtime_ns)


def _intact(
    path: Path, facts: _CachedFile | None, watch: Watch, *, offline: bool
) -> _CachedFile | None:
    """Return the facts of an unchanged file; without known facts, its name must match.

    A copy has no hash in its name: the hub is asked for it; offline the copy is trusted.
    """
    if facts is not None and path.stat().st_size != facts.size:
        return None
    if facts is None and not is_named(path):
        return _facts(path, sha256_of(path, watch)) if offline else None
    digest = sha256_of(path, watch)
    intact = is_intact(path, digest) if facts is None else digest == facts.sha256
    return _facts(path, digest) if intact else None


def _facts(path: Path, sha256: str) -> _CachedFile:
    status = path.stat()
    return _CachedFile(sha256=sha256, size=status.st_size, mtime_ns=status.st_mtime_ns)


def _commit_in_cache(wanted: WantedFiles) -> str:
    """Return the commit in the hub's cache, which may have been fetched by other programs."""
    revisions = [each for each in (wanted.revision, wanted.cached) if each and wanted.layouts]
    commits = (commit_in_cache(wanted.repo, each) for each in revisions)
    commit = next((each for each in commits if each is not None), None)
    if commit is None:
        raise _cold(wanted)
    return commit


def _cold(wanted: WantedFiles, what: str = " is not in the cache") -> UsageError:
    return UsageError(
        f"{wanted.repo}{what} and HF_HUB_OFFLINE is set; on a connected machine run "
        f"'harness fetch {wanted.spec}' and copy its HF_HOME folder here"
    )


def _offline() -> bool:
    from huggingface_hub import constants

    return constants.HF_HUB_OFFLINE


def _folder(repo: str) -> Path:
    return cache_folder() / "hub" / repo.replace("/", "--")


def _pin_file(wanted: WantedFiles) -> Path:
    return _folder(wanted.repo) / "revisions" / f"{quote(wanted.revision, safe='')}.json"


def _read(path: Path, model: type[_Model]) -> _Model | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def all_files(
    some: Iterable[WantedFiles], *, watch: Watch = quiet, verify: bool = False, update: bool = False
) -> list[HubFile]:
    """Return the files of data sets, fetched where they are not in the cache or not intact.

    Args:
        some: the files wanted of each data set, in order.
        watch: function called with the progress.
        verify: whether to hash every file again.
        update: whether to ask the hub for the current commit of a branch.

    Raises:
        UsageError: the hub has no such data set, revision, split or file; or it is not in the cache
            and the network is disabled.
        HubError: the hub cannot be reached.
    """
    files: list[HubFile] = []
    for wanted in some:
        pin = _pin(wanted, update=update)
        names = _laid_out(wanted, pin) if wanted.layouts else _names(wanted, pin)
        files += [_file(wanted, pin.commit, name, watch, verify=verify) for name in names]
    return files
