"""One file of a data set on the Hugging Face hub, fetched into the hub's own cache.

The hub's client goes on after a broken connection, but not after its process has ended. A file of
more than a gigabyte is worth that: its beginning is kept beside the cache's blobs and continued.
Addresses, tokens, redirects and the cache's layout are `huggingface_hub`'s business, and so are the
variables HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE.
"""

# The hub's client is typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import hashlib
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from harness.errors import HarnessError, UsageError

Watch = Callable[[str, int, int], None]
"""Is told how far something large has come: what, bytes done, bytes in all."""

DATA_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".parquet")
"""How the names of files of rows end."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1 = re.compile(r"[0-9a-f]{40}")
_USER = re.compile(r"//[^/@\s'\"]*@")  # of an HF_ENDPOINT, with its password
_BLOCK = 1 << 20


class HubError(HarnessError):
    """The hub cannot be reached, or does not give what it has."""


def quiet(what: str, done: int, total: int) -> None:
    """A watch that tells nobody."""
    del what, done, total


def commit_of(repo: str, revision: str) -> str:
    """The commit that a branch, tag or commit of a data set stands for now.

    Raises:
        UsageError: there is no such data set or revision, or it is not open to this user.
        HubError: the hub cannot be reached.
    """
    from huggingface_hub import HfApi

    with hub_errors(repo, revision):
        commit = HfApi().dataset_info(repo, revision=revision).sha
    if commit is None:
        raise HubError(f"the hub names no commit of {repo}@{revision}")
    return commit


def files_of(repo: str, commit: str) -> tuple[str, ...]:
    """Return the names of all files of a data set's commit, sorted. Raises as `commit_of` does."""
    from huggingface_hub import HfApi

    with hub_errors(repo, commit):
        return tuple(sorted(HfApi().list_repo_files(repo, repo_type="dataset", revision=commit)))


def commit_in_cache(repo: str, revision: str) -> str | None:
    """Return the commit of a revision in the hub's cache; None where the cache has none."""
    folder = _folder_in_cache(repo)
    with suppress(OSError, ValueError):
        revision = (folder / "refs" / revision).read_text("utf-8").strip()
    return revision if (folder / "snapshots" / revision).is_dir() else None


def files_in_cache(repo: str, commit: str) -> tuple[str, ...]:
    """Return the names of the files of a commit that are in the hub's cache, sorted."""
    folder = _folder_in_cache(repo) / "snapshots" / commit
    found = (path for path in folder.rglob("*") if path.is_file())
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found))


def _folder_in_cache(repo: str) -> Path:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type="dataset")


def download(repo: str, commit: str, name: str, watch: Watch) -> Path:
    """Fetch a file whether or not it is in the cache; go on where an earlier attempt stopped.

    Args:
        repo: the data set.
        commit: of it.
        name: the file's path in it.
        watch: is told of each piece.

    Returns:
        Where it is; its bytes are those that the hub has a hash of.

    Raises:
        UsageError: there is no such file.
        HubError: the hub cannot be reached, or sends something else.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.utils import WeakFileLock

    url = hf_hub_url(repo, name, repo_type="dataset", revision=commit)
    with hub_errors(repo, commit, name):
        remote = get_hf_file_metadata(url, retry_on_errors=True)
    etag, size = remote.etag, remote.size
    if not etag or "/" in etag or size is None:
        raise HubError(f"the hub says neither hash nor size of {repo}/{name}")
    blob = _folder_in_cache(repo) / "blobs" / etag
    with hub_errors(repo, commit, name):
        blob.parent.mkdir(parents=True, exist_ok=True)
    partial = blob.with_name(f"{etag}.harness.incomplete")
    with hub_errors(repo, commit, name), WeakFileLock(partial.with_suffix(".lock")):
        # Another process, or another commit, may have brought it meanwhile.
        if not (blob.is_file() and blob.stat().st_size == size and _is(blob, etag)):
            _fetch(url, partial, size, (etag, f"{repo}/{name}"), watch)
            partial.replace(blob)
    with hub_errors(repo, commit, name):
        path = Path(hf_hub_download(repo, name, repo_type="dataset", revision=commit))
        if path.resolve() != blob.resolve() and not _is(path, etag):
            path.unlink()  # a copy, where there are no symbolic links; the client never looks at it
            path = Path(hf_hub_download(repo, name, repo_type="dataset", revision=commit))
    return path


def _fetch(url: str, partial: Path, size: int, known_as: tuple[str, str], watch: Watch) -> None:
    """Fetch a file to where it is whole, and what its hash says. Raises HubError."""
    etag, name = known_as
    for _ in range(2):  # what an earlier attempt left may be damaged
        resumed = _get(url, partial, size, name.rpartition("/")[2], watch)
        if _is(partial, etag):
            return
        partial.unlink()
        if not resumed:
            break
    raise HubError(f"what the hub sends of {name} has not the hash it says")


def _get(url: str, partial: Path, size: int, name: str, watch: Watch) -> bool:
    """Fetch what is missing of a file; returns whether there was a beginning."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    class Bar:
        """Stands where the hub's client wants a progress bar."""

        def __init__(self, *, initial: int = 0, **_: Any) -> None:
            self.done = initial

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def update(self, count: int = 1) -> None:
            self.done += count
            watch(f"fetching {name}", self.done, size)

    with partial.open("ab") as file:
        done = file.tell()
        if done > size:
            file.truncate(0)
            file.seek(0)
            done = 0
        watch(f"fetching {name}", done, size)
        http_get(
            url,
            file,
            resume_size=done,
            headers=build_hf_headers(),
            expected_size=size,
            tqdm_class=Bar,  # pyright: ignore[reportArgumentType] - as much of one as is used
        )
    return done > 0


def sha256_of(path: Path, watch: Watch = quiet) -> str:
    """The hash of a file, in hexadecimal."""
    return _digest(path, hashlib.sha256(), watch)


def is_named(path: Path) -> bool:
    """Whether a file of the hub's cache is called by its hash: a copy of one is not."""
    name = path.resolve().name
    return bool(_SHA256.fullmatch(name) or _GIT_SHA1.fullmatch(name))


def is_intact(path: Path, sha256: str) -> bool:
    """Whether a file of the hub's cache is what its name there says.

    Args:
        path: of the cache; its blob is called by the hash that the hub has of it.
        sha256: its hash.
    """
    name = path.resolve().name
    if _SHA256.fullmatch(name):
        return name == sha256
    return not _GIT_SHA1.fullmatch(name) or _is(path, name)


def _is(path: Path, etag: str) -> bool:
    """Whether a file has the hash that the hub knows it by: LFS's SHA-256, or git's of a blob."""
    if _SHA256.fullmatch(etag):
        return sha256_of(path) == etag
    if _GIT_SHA1.fullmatch(etag):
        start = f"blob {path.stat().st_size}\0".encode()
        return _digest(path, hashlib.sha1(start, usedforsecurity=False), quiet) == etag
    return True


def _digest(path: Path, digest: Any, watch: Watch) -> str:
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            watch(f"checking {path.name}", done, total)
    return digest.hexdigest()


@contextmanager
def hub_errors(repo: str, revision: str, name: str = "") -> Generator[None]:
    """Say in one line what the hub's client complains of.

    Raises:
        UsageError: what was asked for is not there, or not for this user.
        HubError: anything else.
    """
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        raise UsageError(
            f"{repo} is open to registered users only: ask for access at its page on the hub, and "
            "set HF_TOKEN"
        ) from None
    except errors.RevisionNotFoundError:
        raise UsageError(f"{repo} has no revision {revision!r} on the hub") from None
    except errors.RepositoryNotFoundError:
        raise UsageError(
            f"the hub has no data set {repo}, or it is private: set HF_TOKEN if it is"
        ) from None
    except errors.RemoteEntryNotFoundError:
        raise UsageError(f"{repo}@{revision[:12]} has no file {name!r}") from None
    except UnicodeEncodeError:
        raise UsageError("HF_TOKEN (or HF_ENDPOINT) holds what no header can") from None
    except errors.OfflineModeIsEnabled:
        raise HubError(f"{repo}: HF_HUB_OFFLINE is set") from None
    except (httpx2.HTTPError, errors.LocalEntryNotFoundError, OSError, ValueError) as error:
        what = f"{repo}/{name}" if name else repo
        said = _USER.sub("//", " ".join(str(error).split()))[:200] or type(error).__name__
        raise HubError(
            f"{what} cannot be fetched: {said}; what has come is kept, run the command again"
        ) from None
