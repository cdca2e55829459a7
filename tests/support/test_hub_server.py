"""The loopback hub with real clients, each in a separate process."""

import hashlib
import http.client
import io
import json
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hub_server import Asked, Hub
from imported import Begun, Command
from program import environment, the_one_imported
from pyarrow import parquet  # type: ignore[import-untyped]

PROGRAM = Path(__file__).with_name("hub_server.py")
OLD, NEW, UNKNOWN = "a" * 40, "b" * 40, "c" * 40
# From `git hash-object` and `sha256sum`; ROW_BLOB is that of the LFS pointer.
README_BLOB = "f717ae074c034c464580cea163160bb0f7e3086a"
ROW_BLOB = "b2c2a290420f3c6e630f1d50579d054006ea920b"
ROW_SHA = "e8c628edc9968ef0c668f54e0ba2636b35503357eb1aca0ddc828aeace432f67"
# The client writes a file in pieces of this size; downloads resume at a multiple of it.
CHUNK = 10 * 2**20
CARD = b"""---
configs:
- config_name: main
  default: true
  data_files:
  - split: train
    path: rows/train*.jsonl
  - split: test
    path: rows/test.jsonl
- config_name: extra
  data_files: extra.jsonl
---
# Rows
"""
ROW = b'{"a": 1}\n'
FILES = {
    "README.md": CARD,
    "rows/train-1.jsonl": ROW * 3,
    "rows/train-2.jsonl": ROW * 4,
    "rows/test.jsonl": ROW * 2,
    "extra.jsonl": ROW,
}
DOWNLOAD = f"""
path = huggingface_hub.hf_hub_download(
    "org/rows", "rows/test.jsonl", repo_type="dataset", revision="{OLD}")
say(open(path).read())
"""
# Runs a client's code; prints its result or exception as the last line.
CLIENT = """
import huggingface_hub, json, sys
def say(value): print(json.dumps(value))
try: exec(sys.argv[1])
except Exception as error: say([type(error).__name__, str(error)])
sys.exit()
"""


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub({"org/rows": {OLD: FILES}}) as hub:
        yield hub


class Client:
    """A machine with its own cache, using a hub or another URL."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self, hub: Hub | str, code: str, **env: str) -> Begun:
        setting = {
            "HF_ENDPOINT": hub if isinstance(hub, str) else hub.endpoint,
            "HF_HOME": str(self._folder / "hf"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        }
        surroundings = environment(**{**setting, **env})
        return the_one_imported().begin(Command(str(self._folder), [code], surroundings, CLIENT))

    def said(self, process: Begun) -> Any:
        code, out, err = process.finish(timeout=120)
        assert code == 0, err
        return json.loads(out.splitlines()[-1])

    def __call__(self, hub: Hub | str, code: str, **env: str) -> Any:
        return self.said(self.start(hub, code, **env))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def file_url(path: str, revision: str = OLD, repo: str = "org/rows") -> str:
    return f"/datasets/{repo}/resolve/{revision}/{path}"


def lines(hub: Hub) -> list[str]:
    return [str(asked) for asked in hub.requests]


def get(hub: Hub, path: str, **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    """Send a plain request, for details that clients hide."""
    connection = http.client.HTTPConnection(hub.endpoint.removeprefix("http://"), timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read(), response.headers
    finally:
        connection.close()


# Repository data


def test_the_info_of_a_dataset_tells_sizes_and_hashes_as_git_and_lfs_do(client: Client) -> None:
    code = f"""
info = huggingface_hub.HfApi().dataset_info("org/rows", revision="{OLD}", files_metadata=True)
say([info.sha, [[s.rfilename, s.size, s.blob_id, s.lfs and s.lfs.sha256] for s in info.siblings]])
"""
    with Hub({"org/rows": {OLD: {"README.md": b"# Rows\n", "extra.jsonl": ROW}}}) as hub:
        sha, siblings = client(hub, code)
    assert sha == OLD
    assert siblings == [["README.md", 7, README_BLOB, None], ["extra.jsonl", 9, ROW_BLOB, ROW_SHA]]
    assert hub.requests == [Asked("GET", f"/api/datasets/org/rows/revision/{OLD}", "blobs=true")]


def test_a_tree_is_listed_by_folder_or_whole_and_page_by_page(client: Client) -> None:
    code = """
api = huggingface_hub.HfApi()
say([[entry.path for entry in api.list_repo_tree("org/rows", path, recursive=whole,
    repo_type="dataset")] for path, whole in ((None, True), (None, False), ("rows", False))])
"""
    with Hub({"org/rows": {OLD: FILES}}, page_size=2) as hub:
        whole, top, folder = client(hub, code)
    assert whole == sorted({*FILES, "rows"})
    assert top == ["README.md", "extra.jsonl", "rows"]
    assert folder == ["rows/test.jsonl", "rows/train-1.jsonl", "rows/train-2.jsonl"]
    assert len(hub.requests) == 3 + 2 + 2


def test_of_the_paths_asked_for_only_those_that_exist_are_described(
    hub: Hub, client: Client
) -> None:
    code = """
found = huggingface_hub.HfApi().get_paths_info(
    "org/rows", ["rows", "extra.jsonl", "none"], repo_type="dataset")
say([[type(entry).__name__, entry.path] for entry in found])
"""
    assert client(hub, code) == [["RepoFolder", "rows"], ["RepoFile", "extra.jsonl"]]
    assert lines(hub) == ["POST /api/datasets/org/rows/paths-info/main"]


# Files


def test_a_file_is_asked_for_once_and_then_never(hub: Hub, client: Client) -> None:
    url = file_url("rows/test.jsonl")
    assert client(hub, DOWNLOAD) == (ROW * 2).decode()
    assert lines(hub) == [f"HEAD {url}", f"GET {url}"]
    assert client(hub, DOWNLOAD) == (ROW * 2).decode()
    assert len(hub.requests) == 2


def test_a_snapshot_of_a_commit_is_asked_for_once_and_then_never(hub: Hub, client: Client) -> None:
    code = f"""
import pathlib
root = pathlib.Path(huggingface_hub.snapshot_download(
    "org/rows", repo_type="dataset", revision="{OLD}"))
say({{str(path.relative_to(root)): path.read_text() for path in root.rglob("*.*")}})
"""
    expected = {path: content.decode() for path, content in FILES.items()}
    assert client(hub, code) == expected
    each = [f"{method} {file_url(path)}" for path in FILES for method in ("HEAD", "GET")]
    assert sorted(lines(hub)) == sorted([f"GET /api/datasets/org/rows/tree/{OLD}", *each])
    assert client(hub, code) == expected
    assert len(hub.requests) == 1 + len(each)


def test_a_branch_moves_and_a_commit_stays(hub: Hub, client: Client) -> None:
    code = DOWNLOAD.replace(OLD, "main")
    assert client(hub, code) == (ROW * 2).decode()
    hub.commit("org/rows", NEW, {**FILES, "rows/test.jsonl": b"new"})
    assert client(hub, code) == "new"
    assert client(hub, DOWNLOAD) == (ROW * 2).decode()


def test_a_part_of_a_file_is_served_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "digits"
    path.write_bytes(b"0123456789")
    with Hub({"org/rows": {OLD: {"digits.gz": path}}}) as hub:
        url = file_url("digits.gz", "main")
        status, body, headers = get(hub, url, Range="bytes=2-4")
        assert (status, body, headers["Content-Range"]) == (206, b"234", "bytes 2-4/10")
        assert get(hub, url, Range="bytes=7-")[1] == b"789"
        assert get(hub, url, Range="bytes=7-99")[1] == b"789"
        assert get(hub, url, Range="bytes=-3")[1] == b"789"
        status, _, headers = get(hub, url, Range="bytes=10-")
        assert (status, headers["Content-Range"]) == (416, "bytes */10")
        status, body, headers = get(hub, url)
        assert (status, body, headers["X-Repo-Commit"]) == (200, b"0123456789", OLD)
        assert headers["X-Linked-Size"] == "10"
        assert headers["X-Linked-Etag"] == headers["ETag"]
    assert hub.requests[0].range == "bytes=2-4"


# Faults


@pytest.mark.thorough
def test_a_cut_download_resumes_where_its_last_whole_chunk_ended(
    tmp_path: Path, client: Client
) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"".join(number.to_bytes(8) for number in range((CHUNK + 2**20) // 8)))
    code = f"""
import hashlib
path = huggingface_hub.hf_hub_download("org/rows", "l.gz", repo_type="dataset", revision="{OLD}")
say(hashlib.sha256(open(path, "rb").read()).hexdigest())
"""
    with Hub({"org/rows": {OLD: {"l.gz": path}}}) as hub:
        hub.cut("l.gz", after=CHUNK + 1000)
        assert client(hub, code) == hashlib.sha256(path.read_bytes()).hexdigest()
    url = file_url("l.gz")
    assert lines(hub) == [f"HEAD {url}", f"GET {url}", f"GET {url} bytes={CHUNK}-"]


def test_a_download_cut_for_ever_fails(hub: Hub) -> None:
    hub.cut("rows/test.jsonl", after=4, times=None)
    for _ in range(3):
        with pytest.raises(http.client.IncompleteRead) as broken:
            get(hub, file_url("rows/test.jsonl"))
        assert broken.value.partial == ROW[:4]
    assert get(hub, file_url("extra.jsonl"))[1] == ROW


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refused_file_is_asked_for_again(hub: Hub, client: Client, status: int) -> None:
    hub.refuse(status, "rows/test.jsonl", method="HEAD")
    assert client(hub, DOWNLOAD) == (ROW * 2).decode()
    url = file_url("rows/test.jsonl")
    assert lines(hub) == [f"HEAD {url}", f"HEAD {url}", f"GET {url}"]


def test_a_refusal_carries_its_headers_and_ends_after_its_times(hub: Hub) -> None:
    hub.refuse(429, times=2, headers={"Retry-After": "7"})
    url = file_url("extra.jsonl")
    assert [get(hub, url)[2]["Retry-After"] for _ in range(3)] == ["7", "7", None]


def test_a_held_answer_waits_for_its_event(hub: Hub, client: Client) -> None:
    release = threading.Event()
    hub.hold(release, "rows/test.jsonl", method="GET")
    process = client.start(hub, DOWNLOAD)
    hub.arrived(1, "rows/test.jsonl", method="GET")
    assert not select.select([process.ending], [], [], 0)[0]
    release.set()
    assert client.said(process) == (ROW * 2).decode()


def test_the_end_of_the_hub_lets_go_of_what_it_holds() -> None:
    release = threading.Event()
    with Hub({"org/rows": {OLD: FILES}}) as hub:
        hub.hold(release)
        asking = threading.Thread(target=lambda: _left_alone(hub))
        asking.start()
        hub.arrived()
    asking.join(60)
    assert not asking.is_alive()
    assert release.is_set()


def _left_alone(hub: Hub) -> None:
    with suppress(OSError, http.client.HTTPException):
        get(hub, file_url("extra.jsonl"))


def test_waiting_for_a_request_that_never_comes_ends(hub: Hub) -> None:
    with pytest.raises(TimeoutError):
        hub.arrived(timeout_s=0.01)


# The hub's own refusals


MISSES = {
    "a commit that is not there": ("org/rows", UNKNOWN, "extra.jsonl", "RevisionNotFoundError"),
    "a branch that is not there": ("org/rows", "refs/pr/1", "extra.jsonl", "RevisionNotFoundError"),
    "a file that is not there": ("org/rows", OLD, "none.jsonl", "RemoteEntryNotFoundError"),
    "a repository that is not there": ("org/none", OLD, "a.jsonl", "RepositoryNotFoundError"),
}


@pytest.mark.parametrize("miss", MISSES)
def test_what_is_not_there_is_named(hub: Hub, client: Client, miss: str) -> None:
    repo, revision, path, error = MISSES[miss]
    code = f"""
huggingface_hub.hf_hub_download({repo!r}, {path!r}, repo_type="dataset", revision={revision!r})
"""
    assert client(hub, code)[0] == error
    assert [asked.method for asked in hub.requests] == ["HEAD"]


@pytest.mark.thorough
def test_a_gated_repository_is_listed_to_all_and_read_with_its_token(
    hub: Hub, client: Client
) -> None:
    hub.require_token("org/rows", "hf_good")
    assert client(hub, DOWNLOAD)[0] == "GatedRepoError"
    assert client(hub, DOWNLOAD, HF_TOKEN="hf_other")[0] == "GatedRepoError"
    assert client(hub, DOWNLOAD, HF_TOKEN="hf_good") == (ROW * 2).decode()
    tokens = [asked.token for asked in hub.requests]
    assert tokens == [None, "hf_other", "hf_good", "hf_good"]
    info = 'say(huggingface_hub.HfApi().dataset_info("org/rows").gated)'
    assert client(hub, info) == "manual"


def test_a_private_repository_does_not_exist_for_others(hub: Hub, client: Client) -> None:
    hub.require_token("org/rows", "hf_good", private=True)
    info = 'say(huggingface_hub.HfApi().dataset_info("org/rows").private)'
    assert client(hub, info)[0] == "RepositoryNotFoundError"
    assert client(hub, info, HF_TOKEN="hf_good") is True


def test_anything_else_is_recorded_and_not_found(hub: Hub) -> None:
    assert get(hub, "/api/agent-harnesses")[0] == 404
    assert get(hub, "/api/datasets/org/rows/commits/main")[0] == 404
    assert lines(hub) == ["GET /api/agent-harnesses", "GET /api/datasets/org/rows/commits/main"]


# Data sets

BUILDER = f"""
import datasets
builder = datasets.load_dataset_builder(REPO, NAME, revision="{OLD}")
found = builder.config.data_files.items()
say([builder.config.name, {{split: list(map(str, files)) for split, files in found}}])
"""


def builder(repo: str, name: str | None = None) -> str:
    return BUILDER.replace("REPO", repr(repo)).replace("NAME", repr(name))


@pytest.mark.thorough
def test_splits_are_those_that_the_card_names(hub: Hub, client: Client) -> None:
    root = f"hf://datasets/org/rows@{OLD}"
    rows = f"{root}/rows"
    assert client(hub, builder("org/rows")) == [
        "main",
        {
            "train": [f"{rows}/train-1.jsonl", f"{rows}/train-2.jsonl"],
            "test": [f"{rows}/test.jsonl"],
        },
    ]
    assert client(hub, builder("org/rows", "extra")) == [
        "extra",
        {"train": [f"{root}/extra.jsonl"]},
    ]


@pytest.mark.thorough
def test_splits_are_those_that_the_file_names_tell(client: Client) -> None:
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": [1, 2, 3]}), buffer)
    names = [f"data/{split}-00000-of-00001.parquet" for split in ("train", "test")]
    with Hub({"org/rows": {OLD: dict.fromkeys(names, buffer.getvalue())}}) as hub:
        root = f"hf://datasets/org/rows@{OLD}"
        assert client(hub, builder("org/rows")) == [
            "default",
            {"train": [f"{root}/{names[0]}"], "test": [f"{root}/{names[1]}"]},
        ]
        code = f"""
import datasets
say(datasets.load_dataset("org/rows", split="test", revision="{OLD}")["a"][:])
"""
        assert client(hub, code) == [1, 2, 3]


@pytest.mark.thorough
def test_a_repository_with_a_loading_script_is_refused_by_the_client(client: Client) -> None:
    files = {"README.md": b"# Rows\n", "rows.py": b"import datasets\n", "test.jsonl": ROW}
    with Hub({"org/rows": {OLD: files}}) as hub:
        error, message = client(hub, builder("org/rows"))
    assert error == "RuntimeError"
    assert message == "Dataset scripts are no longer supported, but found rows.py"
    assert lines(hub)[-1] == f"GET {file_url('rows.py')}"


# The program


@pytest.mark.thorough
def test_the_program_serves_folders_slowly_and_ends_quietly(tmp_path: Path, client: Client) -> None:
    folder = tmp_path / "rows"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "test.jsonl").write_bytes(ROW * 1000)
    code = """
path = huggingface_hub.hf_hub_download("org/rows", "data/test.jsonl", repo_type="dataset")
say(open(path).read())
"""
    arguments = ["--port", "0", "--repo", f"org/rows={folder}", "--throttle", "20000"]
    with subprocess.Popen(
        [sys.executable, PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        endpoint = process.stdout.readline().strip()
        before = time.monotonic()
        assert client(endpoint, code) == (ROW * 1000).decode()
        assert time.monotonic() - before > 9000 / 20000
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
