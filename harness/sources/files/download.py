"""Download of a data set's file on the Hugging Face hub into its cache.

The hub's client resumes after a broken connection, but not after its process has ended. For files
of more than a gigabyte that matters: the part received is kept beside the cache's blobs and
continued. `huggingface_hub` handles addresses, tokens, redirects, the cache's layout, and the
variables HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE.
"""

# The hub's client is only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import hashlib
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from harness.errors import HarnessError, UsageError
from harness.http_environment import environment_fault

Watch = Callable[[str, int, int], None]
"""Function called with the progress of a long task: title, bytes done, bytes in all."""

DATA_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".parquet")
"""Suffixes of files of rows."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1 = re.compile(r"[0-9a-f]{40}")
_USER = re.compile(r"//[^/@\s'\"]*@")  # user and password of an HF_ENDPOINT
_BLOCK = 1 << 20


class HubError(HarnessError):
    """The hub cannot be reached, or does not send a file that it has."""


def quiet(what: str, done: int, total: int) -> None:
    """Ignore progress."""
    del what, done, total


def commit_of(repo: str, revision: str) -> str:
    """Return the current commit of a data set's branch, tag or commit.

    Raises:
        UsageError: there is no such data set or revision, or the user has no access.
        HubError: the hub cannot be reached.
    """
    from huggingface_hub import HfApi

    with hub_errors(repo, revision):
        commit = HfApi().dataset_info(repo, revision=revision).sha
    if commit is None:
        raise HubError(f"the hub names no commit of {repo}@{revision}")
    return commit


def files_of(repo: str, commit: str) -> tuple[str, ...]:
    """Return the sorted names of all files of a commit. Raises as `commit_of` does."""
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
    """Return the sorted names of the files of a commit that are in the hub's cache."""
    folder = _folder_in_cache(repo) / "snapshots" / commit
    files = (path for path in folder.rglob("*") if path.is_file())
    return tuple(sorted(path.relative_to(folder).as_posix() for path in files))


def _folder_in_cache(repo: str) -> Path:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type="dataset")


def download(repo: str, commit: str, name: str, watch: Watch) -> Path:
    """Fetch a file, cached or not; resume where an earlier attempt stopped.

    Args:
        repo: repository of the data set.
        commit: commit of the data set.
        name: path of the file in it.
        watch: function called with the progress.

    Returns:
        Its path; the content matches the hub's hash.

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
        # Another process, or another commit, may have fetched it meanwhile.
        if not (blob.is_file() and blob.stat().st_size == size and _is(blob, etag)):
            _fetch(url, partial, size, (etag, f"{repo}/{name}"), watch)
            partial.replace(blob)
    with hub_errors(repo, commit, name):
        path = Path(hf_hub_download(repo, name, repo_type="dataset", revision=commit))
        if path.resolve() != blob.resolve() and not _is(path, etag):
            path.unlink()  # without symbolic links a copy, which the client never checks
            path = Path(hf_hub_download(repo, name, repo_type="dataset", revision=commit))
    return path


def _fetch(url: str, partial: Path, size: int, known_as: tuple[str, str], watch: Watch) -> None:
    """Fetch a file until it is complete and its hash matches. Raises HubError."""
    etag, name = known_as
    for _ in range(2):  # the part of an earlier attempt may be damaged
        resumed = _get(url, partial, size, name.rpartition("/")[2], watch)
        if _is(partial, etag):
            return
        partial.unlink()
        if not resumed:
            break
    raise HubError(f"{name} as sent by the hub does not match its hash")


def _get(url: str, partial: Path, size: int, name: str, watch: Watch) -> bool:
    """Fetch the missing part of a file; return whether it was resumed."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    class Bar:
        """Takes the place of the hub client's progress bar."""

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
            tqdm_class=Bar,  # pyright: ignore[reportArgumentType] - only these methods are used
        )
    return done > 0


def sha256_of(path: Path, watch: Watch = quiet) -> str:
    """Return the hash of a file, in hexadecimal."""
    return _digest(path, hashlib.sha256(), watch)


def is_named(path: Path) -> bool:
    """Return whether a file of the hub's cache is named by its hash, unlike a copy."""
    name = path.resolve().name
    return bool(_SHA256.fullmatch(name) or _GIT_SHA1.fullmatch(name))


def is_intact(path: Path, sha256: str) -> bool:
    """Return whether a file of the hub's cache matches the hash in its name.

    Args:
        path: path in the cache; its blob is named by the hub's hash.
        sha256: hash of the file.
    """
    name = path.resolve().name
    if _SHA256.fullmatch(name):
        return name == sha256
    return not _GIT_SHA1.fullmatch(name) or _is(path, name)


def _is(path: Path, etag: str) -> bool:
    """Return whether a file has the hub's hash: LFS's SHA-256, or git's of a blob."""
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
    """Turn errors of the hub's client into one-line errors.

    Raises:
        UsageError: the data set or file does not exist, or the user has no access.
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
        raise UsageError("HF_TOKEN (or HF_ENDPOINT) is not valid in an HTTP header") from None
    except errors.OfflineModeIsEnabled:
        raise HubError(f"{repo}: HF_HUB_OFFLINE is set") from None
    except (
        httpx2.HTTPError,
        errors.LocalEntryNotFoundError,
        ImportError,
        OSError,
        ValueError,
    ) as error:
        if (fault := environment_fault(error, "the hub")) is not None:
            raise UsageError(fault) from None
        if isinstance(error, ImportError):
            raise
        what = f"{repo}/{name}" if name else repo
        cause = _USER.sub("//", " ".join(str(error).split()))[:200] or type(error).__name__
        raise HubError(
            f"{what} cannot be fetched: {cause}; run the command again to resume"
        ) from None
