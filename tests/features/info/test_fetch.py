"""Sources by name: from a hub that is cold, warm, gone, cut off, moved on, or damaged on disk."""

import asyncio
import gzip
import hashlib
import json
import os
import shutil
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hub_server import Hub
from program import Done, finish, harness, start
from pyarrow import parquet  # type: ignore[import-untyped]
from schemas import valid

LCB, LEETCODE, LCD = (
    "livecodebench/code_generation_lite",
    "greengerong/leetcode",
    "newfacade/LeetCodeDataset",
)
APPS, METR, MERCURY = "codeparrot/apps", "metr-evals/apps", "Elfsong/Mercury"
FIRST, SECOND = "a" * 40, "b" * 40
NOWHERE = "http://127.0.0.1:9"
MEBIBYTE = 1 << 20
CHUNK = 10 * MEBIBYTE  # what the hub's client hands on at a time

Program = Callable[..., Done]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def lcb_row(name: str, **columns: str) -> dict[str, str]:
    test = {"input": "1\n", "output": "1\n", "testtype": "stdin"}
    return {
        "question_title": name,
        "question_content": "Print the input.",
        "platform": "atcoder",
        "question_id": name,
        "contest_id": "c",
        "contest_date": "2024-01-02T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([test]),
        "private_test_cases": json.dumps([{**test, "input": "2\n", "output": "2\n"}] * 2),
        "metadata": "{}",
        **columns,
    }


def apps_row(number: int, difficulty: str = "interview") -> dict[str, Any]:
    return {
        "id": number,
        "question": "Print the input.",
        "solutions": json.dumps(["print(input())"]),
        "input_output": json.dumps({"inputs": ["1\n"], "outputs": ["1\n"]}),
        "difficulty": difficulty,
        "url": "",
        "starter_code": "",
    }


def lcd_row(slug: str) -> dict[str, Any]:
    code = "class Solution:\n    def twice(self, n: int) -> int:\n        "
    return {
        "task_id": slug,
        "question_id": 7,
        "difficulty": "Easy",
        "tags": ["Math"],
        "problem_description": "Return twice n.",
        "starter_code": code,
        "estimated_date": "2024-03-01",
        "prompt": "",
        "completion": code + "return 2 * n",
        "entry_point": "Solution().twice",
        "test": "def check(candidate):\n    assert candidate(n = 1) == 2\n"
        "    assert candidate(n = 2) == 4\n",
    }


def leetcode_row(slug: str) -> dict[str, Any]:
    code = (
        "```python\nclass Solution:\n    def twice(self, n: int) -> int:\n        return 2*n\n```"
    )
    example = "Return twice n.\n\n**Example 1:**\n\n**Input:** n = 3\n**Output:** 6\n"
    other = {"java": "```java\n```", "c++": "", "javascript": ""}
    row = {"id": 7, "slug": slug, "title": slug, "difficulty": "Easy", "content": example}
    return {**row, "python": code, **other}


MERCURY_ROW = {
    "slug_name": "twice",
    "entry_point": "twice",
    "test_cases": json.dumps([{"input": [n], "expected": 2 * n} for n in range(4)]),
    "convert_offline": "def convert_offline(case):\n    return case",
    "evaluate_offline": "def evaluate_offline(inputs, outputs, expected):\n"
    "    return outputs == expected",
    "difficulty": "Easy",
    "solutions": [{"solution": "class Solution:\n    def twice(self, n):\n        return 2 * n"}],
}


def table(path: Path, *rows: dict[str, Any]) -> Path:
    parquet.write_table(pa.Table.from_pylist([*rows]), path)
    return path


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """Every source's data set, with a row or two of its schema; two have loading scripts."""
    releases = {
        f"test{number or ''}.jsonl": lines(lcb_row(f"q{number or 1}"))
        for number in (0, 2, 3, 4, 5, 6)
    }
    eval_split = table(tmp_path / "eval.parquet", MERCURY_ROW)
    repos: dict[str, dict[str, bytes | Path]] = {
        LCB: {**releases, "code_generation_lite.py": b"raise SystemExit"},
        LEETCODE: {"leetcode-train.jsonl": lines(leetcode_row("twice"), leetcode_row("alone"))},
        LCD: {
            "LeetCodeDataset-train.jsonl": lines(lcd_row("twice")),
            "LeetCodeDataset-test.jsonl": lines(lcd_row("other"), lcd_row("third")),
        },
        APPS: {
            "train.jsonl": lines(apps_row(1)),
            "test.jsonl": lines(apps_row(2), apps_row(3, "introductory")),
            "apps.py": b"raise SystemExit",
        },
        METR: {"data/test-00000-of-00001.parquet": table(tmp_path / "m.parquet", apps_row(4))},
        MERCURY: {
            "data/eval-00000-of-00001.parquet": eval_split,
            "data/train-00000-of-00001.parquet": table(
                tmp_path / "train.parquet", {**MERCURY_ROW, "slug_name": "other"}
            ),
        },
        "livecodebench/code_generation": {
            "test.jsonl": lines(lcb_row("full")),
            "test2.jsonl": lines(lcb_row("fuller")),
            "code_generation.py": b"raise SystemExit",
        },
    }
    with Hub({name: {FIRST: files} for name, files in repos.items()}) as hub:
        yield hub


@pytest.fixture
def program(tmp_path: Path, hub: Hub) -> Program:
    """The program, with a cache of its own and this hub."""
    (tmp_path / "here").mkdir()

    def run(*arguments: str, **env: str) -> Done:
        settings = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub.endpoint, **env}
        return harness(tmp_path / "here", *arguments, **settings)

    return run


def ids(done: Done) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [word for line in done.stdout.splitlines() for word in line.split()[:1] if "/" in word]


def fetched(done: Done) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return valid("files", done.stdout)


def blob(cache: Path, repo: str, name: str) -> Path:
    """The bytes of a file in the cache."""
    folder = cache / "hub" / f"datasets--{repo.replace('/', '--')}" / "snapshots"
    (path,) = folder.glob(f"*/{name}")
    return path.resolve()


BY_NAME = {
    "livecodebench": [f"livecodebench/q{number}" for number in range(1, 7)],
    "livecodebench:release_v2": ["livecodebench/q1", "livecodebench/q2"],
    "livecodebench:v5": ["livecodebench/q5"],
    "livecodebench:v4_v6": ["livecodebench/q4", "livecodebench/q5", "livecodebench/q6"],
    "livecodebench:code_generation": ["livecodebench/full", "livecodebench/fuller"],
    "leetcode": ["leetcode/twice", "leetcode/alone"],
    "leetcodedataset": ["leetcodedataset/other", "leetcodedataset/third"],
    "leetcodedataset:all": [f"leetcodedataset/{slug}" for slug in ("twice", "other", "third")],
    "apps": ["apps/2", "apps/3"],
    "apps:train": ["apps/1"],
    "apps:introductory": ["apps/3"],
    "apps:metr-evals/apps": ["apps/4"],
    "mercury": ["mercury/twice"],
    "mercury:train": ["mercury/other"],
    "mercury:all": ["mercury/other", "mercury/twice"],
}


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=[pytest.mark.thorough] if ":" in spec else []) for spec in BY_NAME],
)
def test_a_source_loads_by_name_and_then_without_a_network(
    spec: str, program: Program, hub: Hub
) -> None:
    assert ids(program("problems", spec)) == BY_NAME[spec]
    before = len(hub.requests)
    assert before > 0
    away = {} if ":" in spec else {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": NOWHERE}
    assert ids(program("problems", spec, **away)) == BY_NAME[spec]
    assert len(hub.requests) == before


def test_nothing_is_fetched_but_what_was_named(program: Program, hub: Hub) -> None:
    program("problems", "livecodebench:v2_v3")
    asked = {each.path.rpartition("/")[2] for each in hub.requests if "/resolve/" in each.path}
    assert asked == {"test2.jsonl", "test3.jsonl"}


@pytest.mark.thorough
def test_leetcode_s_hidden_tests_are_the_other_data_set_s(program: Program) -> None:
    shown = program("problems", "leetcode/twice", "-b", "leetcode").stdout
    assert "tags:         Math" in shown
    assert "1 hidden" in shown


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["huggingface:v2", "huggingface:release_v3@main"])
def test_the_source_flag_is_another_spelling_of_a_benchmark(source: str, program: Program) -> None:
    problem_ids = ids(program("problems", "--source", source))
    assert problem_ids == [
        f"livecodebench/q{n}" for n in ((2,) if source.endswith("2") else (1, 2, 3))
    ]
    assert ids(program("problems", "-b", "mercury", "--source", "huggingface")) == ["mercury/twice"]


def test_a_run_records_the_commit_and_the_hash_of_each_file(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "here" / "mine.py").write_text("def solve(problem): return 'print(input())'\n")
    done = program("run", "-b", "livecodebench:v2", "-m", "python:mine:solve", "--out", "r")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "here" / "r" / "run.json").read_text())
    row = lines(lcb_row("q2"))
    assert json.dumps(manifest).count(f"{LCB}@{FIRST[:12]}/test2.jsonl") == 1
    assert json.dumps(manifest).count(hashlib.sha256(row).hexdigest()) == 1
    result = json.loads((tmp_path / "here" / "r" / "results.jsonl").read_text())
    assert (result["verdict"], result["hidden_total"]) == ("accepted", 2)


def as_parquet(folder: Path, layout: str) -> dict[str, bytes | Path]:
    """LiveCodeBench's repository, converted; each release adds a problem."""
    files: dict[str, bytes | Path] = {"README.md": b""}
    rows = [lcb_row(f"q{number}") for number in range(1, 7)]
    for number, row in enumerate(rows, 1):
        stem = f"test{number if number > 1 else ''}"
        match layout:
            case "files":
                files[f"{stem}.parquet"] = table(folder / f"{number}.parquet", row)
            case "shards":
                files[f"{stem}-00000-of-00001.parquet"] = table(folder / f"{number}.parquet", row)
            case "releases":
                name = f"release_v{number}/test-0000{{}}-of-00002.parquet"
                files[name.format(0)] = table(folder / f"{number}.parquet", rows[0])
                files[name.format(1)] = table(
                    folder / f"{number}b.parquet", *rows[1:number], lcb_row("x")
                )
            case _:
                files[f"v{number}/test-00000-of-00001.parquet"] = table(
                    folder / f"{number}.parquet", row
                )
    return files


class TestLayouts:
    """LiveCodeBench's files, in whichever way the repository lays them out."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("layout", ["files", "shards", "releases", "pieces"])
    def test_parquet_is_read_as_jsonl_is(
        self, layout: str, program: Program, hub: Hub, tmp_path: Path
    ) -> None:
        hub.commit(LCB, SECOND, as_parquet(tmp_path, layout))
        done = program("problems", "livecodebench:release_v3")
        assert "v3 is the 101 that release 3 added" in done.stdout
        problem_ids = ids(done)
        wanted = {f"livecodebench/q{number}" for number in (1, 2, 3)}
        assert {*problem_ids} == wanted | ({"livecodebench/x"} if layout == "releases" else set())
        asked = len(hub.requests)
        env = {"HF_HUB_OFFLINE": "1"}
        assert ids(program("problems", "livecodebench:release_v3", **env)) == problem_ids
        assert ids(program("problems", "livecodebench:release_v3")) == problem_ids
        assert len(hub.requests) == asked

    def test_missing_files_are_named(self, program: Program, hub: Hub, tmp_path: Path) -> None:
        files = as_parquet(tmp_path, "releases")
        hub.commit(LCB, SECOND, files)
        done = program("problems", "livecodebench:v5_v6")
        assert done.returncode == 2
        (line,) = done.stderr.strip().splitlines()
        for phrase in (
            f"{LCB}@{SECOND[:12]} lacks test5.jsonl, test6.jsonl; or ",
            "v5_v6/*.parquet",
        ):
            assert phrase in line
        assert "its data files are: release_v1/test-00000-of-00002.parquet" in line

    def test_a_cache_that_others_filled_will_do(
        self, program: Program, hub: Hub, tmp_path: Path
    ) -> None:
        hub.commit(LCB, SECOND, as_parquet(tmp_path, "pieces"))
        program("problems", "livecodebench:v2")
        for kept in (tmp_path / "cache").rglob("revisions"):
            shutil.rmtree(kept)
        (snapshots,) = (tmp_path / "cache").rglob("snapshots")
        (snapshots.parent / "refs").mkdir(exist_ok=True)
        (snapshots.parent / "refs" / "main").write_text(SECOND)
        env = {"HF_HUB_OFFLINE": "1"}
        assert ids(program("problems", "livecodebench:v2", **env)) == ["livecodebench/q2"]
        assert "harness fetch" in program("problems", "livecodebench:v3", **env).stderr


class TestFetch:
    def test_fetch_says_what_is_in_the_cache(self, program: Program) -> None:
        fetched_files = fetched(program("fetch", "livecodebench:v2", "--json"))
        row = lines(lcb_row("q2"))
        name = f"{LCB}@{FIRST[:12]}/test2.jsonl"
        digest = hashlib.sha256(row).hexdigest()
        assert fetched_files["files"] == [{"name": name, "sha256": digest, "bytes": len(row)}]
        assert (fetched_files["problems"], fetched_files["bad_rows"]) == (1, [])
        table = program("fetch", "livecodebench:v2").stdout
        assert name in table
        assert digest[:16] in table
        assert "1 problem" in table

    def test_local_problems_are_refused(self, program: Program, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_bytes(lines(lcb_row("q")))
        for spec in ("fixture", f"livecodebench:{tmp_path / 'rows.jsonl'}", "jsonl:nosuch"):
            done = program("fetch", spec)
            assert done.returncode == 2
            assert "nothing to fetch" in done.stderr

    @pytest.mark.thorough
    def test_a_commit_that_changes_other_files_costs_no_download(
        self, program: Program, hub: Hub
    ) -> None:
        assert ids(program("problems", "apps:train")) == ["apps/1"]
        hub.commit(APPS, SECOND, {"train.jsonl": lines(apps_row(1)), "README.md": b"# New"})
        before = sum(each.method == "GET" and "/resolve/" in each.path for each in hub.requests)
        fetched(program("fetch", "apps:train", "--update", "--json"))
        after = sum(each.method == "GET" and "/resolve/" in each.path for each in hub.requests)
        assert before == after

    def test_a_word_is_a_word_whatever_files_there_are(
        self, program: Program, tmp_path: Path
    ) -> None:
        (tmp_path / "here" / "train").mkdir()
        assert ids(program("problems", "apps:train")) == ["apps/1"]

    def test_the_address_s_password_is_not_shown(self, program: Program, hub: Hub) -> None:
        there = hub.endpoint.replace("//", "//user:s3cretpw@") + "/nosuch"
        done = program("fetch", "apps", HF_ENDPOINT=there)
        assert done.returncode != 0
        assert "s3cretpw" not in done.stderr

    @pytest.mark.parametrize(
        ("spec", "env", "word"),
        [
            ("livecodebench:~nosuchuser/x", {}, "cannot be a path"),
            ("apps", {"HF_TOKEN": "hf_secr\u00e9t"}, "HF_TOKEN"),
        ],
    )
    def test_odd_values_get_one_line(
        self, spec: str, env: dict[str, str], word: str, program: Program
    ) -> None:
        done = program("problems", spec, **env)
        assert done.returncode in {2, 4}
        assert word in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr

    @pytest.mark.thorough
    def test_a_branch_is_followed_once(self, program: Program, hub: Hub) -> None:
        spec = "apps:train"
        assert ids(program("problems", spec)) == ["apps/1"]
        hub.commit(APPS, SECOND, {"train.jsonl": lines(apps_row(8))})
        assert ids(program("problems", spec)) == ["apps/1"]
        assert fetched(program("fetch", spec, "--json"))["files"][0]["name"].count(FIRST[:12])
        assert ids(program("problems", f"{spec}@{SECOND}")) == ["apps/8"]
        assert fetched(program("fetch", spec, "--update", "--json"))["files"][0]["name"].count(
            SECOND[:12]
        )
        assert ids(program("problems", spec)) == ["apps/8"]
        assert ids(program("problems", f"{spec}@{FIRST}")) == ["apps/1"]


class TestWhatIsNotThere:
    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("livecodebench:v2@nope", ["code_generation_lite", "no revision 'nope'"]),
            ("livecodebench:release_v7", ["no 'release_v7'", "did you mean 'release_v", "v1_v2"]),
            ("livecodebench:v2@", ["ends at the @"]),
            ("livecodebench:test_generation", ["no data set livecodebench/test_generation"]),
            ("apps:tset", ["did you mean 'test'?"]),
            ("leetcode:eval", ["known: train"]),
        ],
    )
    def test_a_missing_source_or_file_is_one_line(
        self, spec: str, words: list[str], program: Program
    ) -> None:
        done = program("problems", spec)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        for word in words:
            assert word in line

    def test_a_cold_cache_without_a_network_says_what_to_run(self, program: Program) -> None:
        for spec in ("livecodebench:v2", "mercury", "leetcode"):
            done = program("problems", spec, HF_HUB_OFFLINE="1")
            assert (done.returncode, done.stdout) == (2, "")
            (line,) = done.stderr.splitlines()
            assert f"'harness fetch {spec}'" in line
            assert "HF_HUB_OFFLINE" in line

    def test_a_hub_that_cannot_be_reached(self, program: Program) -> None:
        done = program("problems", "apps", HF_ENDPOINT=NOWHERE)
        assert (done.returncode, done.stdout) == (4, "")
        assert "codeparrot/apps cannot be fetched" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr

    def test_a_gated_data_set_asks_for_a_token(self, program: Program, hub: Hub) -> None:
        hub.require_token(APPS, "hf_secret")
        done = program("problems", "apps")
        assert (done.returncode, done.stdout) == (2, "")
        assert "HF_TOKEN" in done.stderr
        assert ids(program("problems", "apps", HF_TOKEN="hf_secret")) == ["apps/2", "apps/3"]


LARGE = lines(*(lcb_row(f"q{n}", metadata=json.dumps("x" * MEBIBYTE)) for n in range(11)))


class TestInterrupted:
    @pytest.fixture(autouse=True)
    def large(self, hub: Hub) -> None:
        hub.commit(LCB, SECOND, {"test2.jsonl": LARGE})

    def ranges(self, hub: Hub) -> list[str | None]:
        path = f"/datasets/{LCB}/resolve/{SECOND}/test2.jsonl"
        return [each.range for each in hub.requests if (each.method, each.path) == ("GET", path)]

    def test_a_broken_connection_is_taken_up_again(self, program: Program, hub: Hub) -> None:
        hub.cut("test2.jsonl", after=CHUNK + 1)
        fetched_files = fetched(program("fetch", "livecodebench:v2", "--json"))
        assert fetched_files["files"][0]["sha256"] == hashlib.sha256(LARGE).hexdigest()
        assert self.ranges(hub) == [None, f"bytes={CHUNK}-"]

    @pytest.mark.thorough
    async def test_a_download_of_a_killed_process_is_taken_up_again(
        self, program: Program, hub: Hub, tmp_path: Path
    ) -> None:
        held = threading.Event()
        hub.cut("test2.jsonl", after=CHUNK + 1)
        env = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub.endpoint}
        process = await start(tmp_path, "fetch", "livecodebench:v2", **env)
        try:
            await asyncio.to_thread(hub.arrived, 1, "test2.jsonl", method="GET")
            hub.hold(held, "test2.jsonl", method="GET")  # the one that would go on
            await asyncio.to_thread(hub.arrived, 2, "test2.jsonl", method="GET")
        finally:
            process.send_signal(signal.SIGKILL)
            held.set()
        await finish(process)
        fetched_files = fetched(
            await asyncio.to_thread(program, "fetch", "livecodebench:v2", "--json")
        )
        assert fetched_files["files"][0]["sha256"] == hashlib.sha256(LARGE).hexdigest()
        assert self.ranges(hub) == [None, f"bytes={CHUNK}-", f"bytes={CHUNK}-"]
        left = [path.name for path in (tmp_path / "cache" / "hub").rglob("*incomplete*")]
        assert left == []

    def test_a_damaged_beginning_is_thrown_away(
        self, program: Program, hub: Hub, tmp_path: Path
    ) -> None:
        blobs = tmp_path / "cache" / "hub" / f"datasets--{LCB.replace('/', '--')}" / "blobs"
        blobs.mkdir(parents=True)
        digest = hashlib.sha256(LARGE).hexdigest()
        (blobs / f"{digest}.harness.incomplete").write_bytes(b"?" * CHUNK)
        assert (
            fetched(program("fetch", "livecodebench:v2", "--json"))["files"][0]["sha256"] == digest
        )
        assert self.ranges(hub) == [f"bytes={CHUNK}-", None]


class TestDamaged:
    """What somebody did to the cache is noticed, and mended where there is a hub."""

    SPEC = "apps:train"

    @pytest.fixture
    def file(self, program: Program, tmp_path: Path) -> Path:
        assert ids(program("problems", self.SPEC)) == ["apps/1"]
        return blob(tmp_path / "cache", APPS, "train.jsonl")

    @pytest.mark.thorough
    @pytest.mark.parametrize("damage", ["cut short", "altered", "gone"])
    def test_a_damaged_file_is_fetched_again(
        self, damage: str, file: Path, program: Program, hub: Hub
    ) -> None:
        whole = file.read_bytes()
        match damage:
            case "cut short":
                file.write_bytes(whole[:-9])
            case "altered":
                file.write_bytes(whole.replace(b"interview", b"interwiev"))
            case _:
                file.unlink()
        away = program("problems", self.SPEC, HF_HUB_OFFLINE="1")
        assert away.returncode == 2
        assert f"'harness fetch {self.SPEC}'" in away.stderr
        before = len(hub.requests)
        assert ids(program("problems", self.SPEC)) == ["apps/1"]
        assert len(hub.requests) > before
        assert file.read_bytes() == whole

    @pytest.mark.thorough
    @pytest.mark.parametrize("known", [True, False], ids=["facts", "no facts"])
    def test_a_copy_without_links_is_mended_too(
        self, known: bool, file: Path, program: Program, tmp_path: Path
    ) -> None:
        whole = file.read_bytes()
        shutil.copytree(tmp_path / "cache", tmp_path / "copy")
        copy = {"HF_HOME": str(tmp_path / "copy")}
        (there,) = (tmp_path / "copy" / "hub").rglob("train.jsonl")
        assert not there.is_symlink()
        there.write_bytes(whole[:-9])
        if not known:
            shutil.rmtree(tmp_path / "copy" / "assets")
        assert ids(program("problems", self.SPEC, **copy)) == ["apps/1"]
        assert there.read_bytes() == whole

    def test_a_touched_file_is_the_same(self, file: Path, program: Program, hub: Hub) -> None:
        os.utime(file, (1, 1))
        before = len(hub.requests)
        assert ids(program("problems", self.SPEC)) == ["apps/1"]
        assert len(hub.requests) == before

    @pytest.mark.thorough
    def test_verify_finds_what_hides_behind_the_old_time(
        self, file: Path, program: Program
    ) -> None:
        whole, status = file.read_bytes(), file.stat()
        file.write_bytes(whole.replace(b"interview", b"interwiev"))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        fetched(program("fetch", self.SPEC, "--json"))
        assert file.read_bytes() != whole
        fetched(program("fetch", self.SPEC, "--verify", "--json"))
        assert file.read_bytes() == whole

    @pytest.mark.thorough
    def test_a_cache_filled_by_others_is_checked(
        self, file: Path, program: Program, tmp_path: Path
    ) -> None:
        for kept in (tmp_path / "cache" / "assets").rglob("*.json"):
            kept.unlink()
        away = {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": NOWHERE}
        assert ids(program("problems", f"{self.SPEC}@{FIRST}", **away)) == ["apps/1"]
        assert program("problems", self.SPEC, **away).returncode == 2
        (file.parents[1] / "refs").mkdir()
        (file.parents[1] / "refs" / "main").write_text(FIRST)
        assert ids(program("problems", self.SPEC, **away)) == ["apps/1"]


class TestRealRows:
    """Rows of the data sets themselves, as many as are at hand, through the real clients."""

    @pytest.mark.thorough
    def test_every_source_loads_its_real_rows(self, test_data: Path, tmp_path: Path) -> None:
        releases: dict[str, list[str]] = defaultdict(list)
        with gzip.open(
            test_data / "lcb_codegen_public1055/test_public_only.jsonl.gz", "rt"
        ) as all_:
            for line in all_:
                releases[json.loads(line)["release_file"]].append(line)
        lcb = {
            name if name.endswith(".jsonl") else f"{name}.jsonl": "".join(rows).encode()
            for name, rows in releases.items()
        }
        lcd = {
            f"LeetCodeDataset-{split}.jsonl": gzip.decompress(
                (test_data / f"leetcodedataset/LeetCodeDataset-{version}.jsonl.gz").read_bytes()
            )
            for split, version in (("test", "v0.3.1-test"), ("train", "v0.2.0-train"))
        }
        apps = b"".join(
            (test_data / f"apps_codechain_minival/{name}.jsonl").read_bytes()
            for name in ("introductory", "interview", "competition")
        )
        mercury = json.loads((test_data / "mercury_partial_row/add-two-numbers.json").read_text())
        repos: dict[str, dict[str, bytes | Path]] = {
            LCB: {**lcb},
            LEETCODE: {
                "leetcode-train.jsonl": test_data
                / "greengerong_leetcode/leetcode-train.first2.jsonl"
            },
            LCD: {**lcd},
            APPS: {"train.jsonl": apps},
            MERCURY: {
                "data/eval-00000-of-00001.parquet": table(tmp_path / "e.parquet", mercury["row"])
            },
        }
        wanted = {
            "livecodebench": 1055,
            "livecodebench:release_v1": 400,
            "livecodebench:v4_v5": 268,
            "leetcode": 2,
            "leetcodedataset": 228,
            "apps:train": 150,
            "mercury": 1,
        }
        again = {*wanted} - {"livecodebench", "livecodebench:release_v1"}  # one of each source
        with Hub({name: {FIRST: files} for name, files in repos.items()}) as hub:
            env = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub.endpoint}
            for spec, number in wanted.items():
                fetched_files = fetched(harness(tmp_path, "fetch", spec, "--json", **env))
                assert (fetched_files["problems"], fetched_files["bad_rows"]) == (number, []), spec
            before = len(hub.requests)
            for spec in again:
                assert len(ids(harness(tmp_path, "problems", spec, **env))) == wanted[spec]
            assert len(hub.requests) == before
