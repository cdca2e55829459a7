"""A loopback server of data sets that acts and fails like the Hugging Face hub.

In a test, with the real clients in a separate process (they read HF_ENDPOINT when imported):

    with Hub({"org/name": {"a" * 40: {"README.md": b"...", "data.jsonl": Path(...)}}}) as hub:
        ...  # HF_ENDPOINT=hub.endpoint; requests are in hub.requests

As a program, for manual tests:

    python tests/support/hub_server.py --port 0 --repo org/name=FOLDER

The first line of output is the endpoint. It serves only data sets, and does not support xet.
"""

import argparse
import hashlib
import io
import json
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Self, cast
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from harness.sources.hub_datasets import PINNED

Json = dict[str, Any]
Content = bytes | Path
Files = Mapping[str, Content]
Form = Mapping[str, Sequence[str]]

LFS_SUFFIXES = (".jsonl", ".parquet", ".gz")
DATE = "2024-01-01T00:00:00.000Z"
PIECE_BYTES = 2**16
DATASETS = "*/datasets/*"  # excludes other requests of clients, such as /api/agent-harnesses
REPO = r"(?P<repo>[^/]+(?:/[^/]+)?)"
FILE_URL = re.compile(rf"/datasets/{REPO}/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
API_URL = re.compile(
    rf"/api/datasets/{REPO}(?:/(?P<what>revision|tree|paths-info)/(?P<revision>[^/]+)(?:/(?P<path>.+))?)?"
)


@dataclass(frozen=True)
class Asked:
    """A received request; `path` is as sent, without the query."""

    method: str
    path: str
    query: str = ""
    range: str | None = None
    token: str | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, self.path, self.range)))


@dataclass(frozen=True)
class Stored:
    """A file of a commit, with git and LFS data. A Path is hashed once, in pieces."""

    path: str
    content: Content
    size: int
    blob_id: str
    sha256: str | None
    pointer_size: int = 0

    @classmethod
    def of(cls, path: str, content: Content) -> Self:
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        if not path.endswith(LFS_SUFFIXES):
            return cls(path, content, size, _digest(content, _blob(size)), None)
        sha256 = _digest(content, hashlib.sha256())
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
        blob = _blob(len(pointer))
        blob.update(pointer.encode())
        return cls(path, content, size, blob.hexdigest(), sha256, len(pointer))

    def in_tree(self) -> Json:
        entry: Json = {"type": "file", "oid": self.blob_id, "size": self.size, "path": self.path}
        return entry | self._lfs("oid")

    def sibling(self, *, blobs: bool) -> Json:
        name: Json = {"rfilename": self.path}
        about = {"size": self.size, "blobId": self.blob_id} | self._lfs("sha256")
        return name | about if blobs else name

    def _lfs(self, hash_key: str) -> Json:
        about = {hash_key: self.sha256, "size": self.size, "pointerSize": self.pointer_size}
        return {"lfs": about} if self.sha256 else {}


def _blob(size: int) -> Any:
    return hashlib.sha1(f"blob {size}\0".encode())


def _open(content: Content) -> BinaryIO:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _digest(content: Content, digest: Any) -> str:
    with _open(content) as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest()


@dataclass
class Repo:
    """A data set: its commits, branches, and access rules."""

    commits: dict[str, dict[str, Stored]] = field(default_factory=dict[str, dict[str, Stored]])
    refs: dict[str, str] = field(default_factory=dict[str, str])
    token: str | None = None
    private: bool = False


@dataclass(frozen=True)
class Answer:
    """A response; `part` is the part of the content that is sent, as (start, length)."""

    status: int = 200
    content: Content = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    part: tuple[int, int] | None = None


class RefusalError(Exception):
    """Ends a request with an error in the hub's format."""

    def __init__(self, status: int, code: str | None, message: str, **headers: str) -> None:
        named = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(message)
        self.answer = _json({"error": message}, status, named)


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    body = json.dumps(value).encode()
    return Answer(status, body, {"Content-Type": "application/json", **(headers or {})})


@dataclass
class Fault:
    """A fault: what goes wrong, for which requests, and how many times more."""

    kind: str
    what: Any
    path: str
    method: str | None
    left: float

    def hits(self, asked: Asked) -> bool:
        path = unquote(asked.path)
        here = path.endswith(f"/{self.path}") or fnmatchcase(path, self.path)
        return self.left > 0 and here and self.method in (None, asked.method)


class Hub:
    """The server, running within its context.

    The `path` of a fault is the end of a URL's path (`data/a.jsonl`), or a pattern for all of it
    (`/api/*`). `times=None` means always.

    Args:
        repos: `{repository: {commit: {path: content}}}`; `main` is the last commit listed, and so
            is the commit that the program pins the repository to.
        page_size: number of entries in a page of a tree.
        throttle: bytes of file content per second and connection; None for full speed.

    Attributes:
        requests: all requests, in order of arrival.
    """

    def __init__(
        self,
        repos: Mapping[str, Mapping[str, Files]],
        *,
        port: int = 0,
        page_size: int = 1000,
        throttle: int | None = None,
    ) -> None:
        self.requests: list[Asked] = []
        self.page_size = page_size
        self.throttle = throttle
        self.mistakes: list[BaseException] = []
        self._changed = threading.Condition()
        self._repos: dict[str, Repo] = {}
        self._faults: list[Fault] = []
        for name, commits in repos.items():
            for sha, files in commits.items():
                self.commit(name, sha, files)
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        for fault in self._faults:
            if fault.kind == "hold":
                fault.what.set()
        self._server.close()
        self._thread.join()
        if self.mistakes:
            raise self.mistakes[0]

    def commit(self, repo: str, sha: str, files: Files, *, ref: str = "main") -> None:
        """Add a commit with all its files, and point a branch at it."""
        stored = {path: Stored.of(path, content) for path, content in sorted(files.items())}
        with self._changed:
            about = self._repos.setdefault(repo, Repo())
            about.commits[sha] = stored
            about.refs[ref] = sha
            if ref == "main" and repo in PINNED:
                about.refs[PINNED[repo]] = sha

    def require_token(self, repo: str, token: str, *, private: bool = False) -> None:
        """Require a token for a repository's files; a private one is not even listed."""
        self._repos[repo].token = token
        self._repos[repo].private = private

    def cut(self, path: str, *, after: int, times: int | None = 1) -> None:
        """Close the connection after some bytes of a file's body."""
        self._fail("cut", after, path, "GET", times)

    def refuse(
        self,
        status: int,
        path: str = DATASETS,
        *,
        method: str | None = None,
        times: int | None = 1,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with an error such as 429, 500 or 503."""
        answer = _json({"error": "no"}, status, headers)
        self._fail("refuse", answer, path, method, times)

    def hold(
        self,
        until: threading.Event,
        path: str = DATASETS,
        *,
        method: str | None = None,
        times: int | None = 1,
    ) -> None:
        """Delay the answer until the event is set, or the context ends."""
        self._fail("hold", until, path, method, times)

    def arrived(
        self,
        count: int = 1,
        path: str = DATASETS,
        *,
        method: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        """Wait until this many matching requests have arrived. Raises TimeoutError."""
        wanted = Fault("", None, path, method, inf)
        with self._changed:
            if not self._changed.wait_for(
                lambda: sum(map(wanted.hits, self.requests)) >= count, timeout_s
            ):
                raise TimeoutError(f"no {count} requests for {path}: {self.requests}")

    def answer(self, asked: Asked, form: Form) -> Answer:
        """Record a request and return its answer, applying the faults."""
        with self._changed:
            self.requests.append(asked)
            self._changed.notify_all()
        if (until := self.fault("hold", asked)) is not None:
            until.wait()
        if (refusal := self.fault("refuse", asked)) is not None:
            return refusal
        try:
            if asked.method in ("HEAD", "GET") and (match := FILE_URL.fullmatch(asked.path)):
                return self._file(asked, *map(unquote, match.group("repo", "revision", "path")))
            if match := API_URL.fullmatch(asked.path):
                return self._api(asked, match, form)
        except RefusalError as refused:
            return refused.answer
        return RefusalError(404, None, f"no {asked.method} {asked.path} here").answer

    def fault(self, kind: str, asked: Asked) -> Any:
        """Return the next fault of a kind for a request, using it up; else None."""
        with self._changed:
            for fault in self._faults:
                if fault.kind == kind and fault.hits(asked):
                    fault.left -= 1
                    return fault.what
        return None

    def _fail(self, kind: str, what: Any, path: str, method: str | None, times: int | None) -> None:
        with self._changed:
            left = inf if times is None else times
            self._faults.append(Fault(kind, what, path, method, left))

    def _at(self, name: str, revision: str, asked: Asked, *, files: bool) -> tuple[str, Repo]:
        """Return the commit of a revision, if the request's token gives access to it."""
        repo = self._repos.get(name)
        if repo is None:
            raise RefusalError(404, "RepoNotFound", "Repository not found")
        if repo.token not in (None, asked.token):
            if repo.private:
                raise RefusalError(401, "RepoNotFound", "Invalid username or password.")
            if files:
                status = 401 if asked.token is None else 403
                raise RefusalError(status, "GatedRepo", f"Access to dataset {name} is restricted.")
        sha = repo.refs.get(revision, revision)
        if sha not in repo.commits:
            raise RefusalError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return sha, repo

    def _file(self, asked: Asked, name: str, revision: str, path: str) -> Answer:
        sha, repo = self._at(name, revision, asked, files=True)
        file = repo.commits[sha].get(path)
        if file is None:
            raise RefusalError(404, "EntryNotFound", "Entry not found", X_Repo_Commit=sha)
        headers = {
            "Content-Type": "application/octet-stream",
            "ETag": f'"{file.sha256 or file.blob_id}"',
            "X-Repo-Commit": sha,
            "Accept-Ranges": "bytes",
        }
        if file.sha256:
            headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
        if asked.range is None or asked.method == "HEAD":
            return Answer(200, file.content, headers, (0, file.size))
        part = _part(asked.range, file.size)
        if part is None:
            raise RefusalError(416, None, "bad range", Content_Range=f"bytes */{file.size}")
        headers["Content-Range"] = f"bytes {part[0]}-{sum(part) - 1}/{file.size}"
        return Answer(206, file.content, headers, part)

    def _api(self, asked: Asked, path_match: re.Match[str], form: Form) -> Answer:
        name, revision, path = (
            unquote(path_match[part] or "") for part in ("repo", "revision", "path")
        )
        what = path_match["what"] or "revision"
        sha, repo = self._at(name, revision or "main", asked, files=False)
        files, query = repo.commits[sha], parse_qs(asked.query)
        match asked.method, what, path:
            case "GET", "revision", "":
                blobs = query.get("blobs") == ["true"]
                return _json(_info(name, sha, repo, blobs=blobs))
            case "GET", "tree", _:
                entries = _tree(files, path, recursive=query.get("recursive") == ["true"])
                return self._page(asked, query, entries)
            case "POST", "paths-info", "":
                known = {entry["path"]: entry for entry in _tree(files, "", recursive=True)}
                return _json([known[path] for path in form.get("paths", ()) if path in known])
            case _:
                raise RefusalError(404, None, f"no {asked.method} {asked.path} here")

    def _page(self, asked: Asked, query: Form, entries: Sequence[Json]) -> Answer:
        start = int(query.get("cursor", ["0"])[0])
        end = start + self.page_size
        headers: dict[str, str] = {}
        if end < len(entries):
            following = urlencode({**query, "cursor": end}, doseq=True)
            headers["Link"] = f'<{self.endpoint}{asked.path}?{following}>; rel="next"'
        return _json(entries[start:end], headers=headers)


def _info(name: str, sha: str, repo: Repo, *, blobs: bool) -> Json:
    return {
        "id": name,
        "author": name.partition("/")[0],
        "sha": sha,
        "createdAt": DATE,
        "lastModified": DATE,
        "private": repo.private,
        "gated": "manual" if repo.token and not repo.private else False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [file.sibling(blobs=blobs) for file in repo.commits[sha].values()],
    }


def _tree(files: Mapping[str, Stored], folder: str, *, recursive: bool) -> list[Json]:
    """Return the entries below a folder, folders before their contents."""
    prefix = f"{folder}/" if folder else ""
    entries: dict[str, Json] = {}
    for path, file in files.items():
        if not path.startswith(prefix):
            continue
        parts = path[len(prefix) :].split("/")
        for depth in range(1, len(parts) if recursive else min(len(parts), 2)):
            name = prefix + "/".join(parts[:depth])
            oid = hashlib.sha1(name.encode()).hexdigest()
            entries[name] = {"type": "directory", "oid": oid, "size": 0, "path": name}
        if recursive or len(parts) == 1:
            entries[path] = file.in_tree()
    if folder and not entries:
        raise RefusalError(404, "EntryNotFound", f"{folder} does not exist")
    return list(entries.values())


def _part(text: str, size: int) -> tuple[int, int] | None:
    """Return start and length of a range: `bytes=5-`, `bytes=5-9` or `bytes=-5`."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", text)
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last) + 1, size) if first and last else size
    return (start, end - start) if start < end else None


class _Server(ThreadingHTTPServer):
    """Closes its connections at the end, so that idle clients do not block it."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, hub: Hub, port: int) -> None:
        self.hub = hub
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - as given
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.hub.mistakes.append(error)

    def close(self) -> None:
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        hub = cast("_Server", self.server).hub
        url = urlsplit(self.path)
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        bearer = (self.headers.get("Authorization") or "").partition("Bearer ")[2]
        asked = Asked(self.command, url.path, url.query, self.headers.get("Range"), bearer or None)
        answer = hub.answer(asked, form)
        start, length = answer.part or (0, len(cast("bytes", answer.content)))
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        cut = hub.fault("cut", asked) if answer.part else None
        if cut is not None and cut < length:
            length = cut
            self.close_connection = True
        with _open(answer.content) as file:
            file.seek(start)
            self._send(file, length, hub.throttle if answer.part else None)

    do_HEAD = do_POST = do_GET  # noqa: N815 - the base class's names

    def _send(self, file: BinaryIO, length: int, throttle: int | None) -> None:
        size = max(throttle // 10, 1) if throttle else PIECE_BYTES
        while length and (piece := file.read(min(size, length))):
            self.wfile.write(piece)
            length -= len(piece)
            if throttle:
                time.sleep(len(piece) / throttle)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


# The program


def _folder(named: str) -> tuple[str, dict[str, dict[str, Path]]]:
    """Return `org/name=FOLDER` as a repository of one commit, named by its contents."""
    name, _, folder = named.partition("=")
    root = Path(folder)
    if not (name and root.is_dir()):
        raise argparse.ArgumentTypeError(f"not org/name=FOLDER: {named!r}")
    files = {
        str(path.relative_to(root)): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    listing = "\n".join(f"{path} {file.stat().st_size}" for path, file in files.items())
    return name, {hashlib.sha1(listing.encode()).hexdigest(): files}


def main() -> int:
    parser = argparse.ArgumentParser(description="A hub of data sets on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--repo", type=_folder, action="append", required=True)
    parser.add_argument("--throttle", type=int, help="bytes a second and connection")
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stop.set())
    with Hub(dict(arguments.repo), port=arguments.port, throttle=arguments.throttle) as hub:
        print(hub.endpoint, flush=True)
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
