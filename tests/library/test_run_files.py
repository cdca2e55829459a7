"""`import_run`, `export_run` and `merge_runs`: as their commands, from Python."""

import gzip
import json
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, cast

import pytest
from for_each import for_each
from json_lines import json_lines
from own_problems import DOUBLE, ECHO
from program import harness as command
from program import results

import harness
from harness.errors import StorageError
from harness.features.export import command as export
from harness.features.export.sample_rows import csv_text
from harness.features.grade.sample_judgements import SampleJudgements
from harness.features.merge import merge
from harness.grading.jobs import Judged
from harness.run.store.directory import write_json
from harness.run.summary.loaded_run import Run

pytestmark = pytest.mark.usefixtures("kept_sandbox")

RUNS = "agentic_runs/gpt-5-mini_lcb_v6.runs1-2.jsonl.gz"
PUBLISHED = "Qwen2.5-7B-Instruct_selfrepair_1_0.2_eval_all.json.gz"
MEASURED = {"seconds", "tests", "peak_bytes", "cost"}
OF_NOW = {"created", "harness", "machine", "sandbox", "git_revision"}
REVISION = {"problem_id": "own/echo", "code": "print(input())", "turn": 1, "passed": False}


def told(run: Path) -> list[dict[str, Any]]:
    """The results without what was measured, ordered by sample."""
    rows = [{k: v for k, v in each.items() if k not in MEASURED} for each in results(run)]
    return sorted(rows, key=lambda each: each["sample"])


def manifest(run: Path) -> dict[str, Any]:
    data = json.loads((run / "run.json").read_text())
    data["imported"].pop("created", None)
    return {key: value for key, value in data.items() if key not in OF_NOW}


@pytest.fixture
def revisions(tmp_path: Path) -> Path:
    """A file of an agent run that is right, though its verdict says that it is not."""
    path = tmp_path / "agent.jsonl"
    path.write_text(json.dumps(REVISION) + "\n")
    return path


class TestImport:
    @pytest.mark.thorough
    async def test_real_agent_runs_in_a_running_loop(self, test_data: Path, tmp_path: Path) -> None:
        where = f"livecodebench:{test_data / 'lcb_codegen_full184' / 'test_small.jsonl'}"
        problems = harness.load_problems(where)
        known = {problem.native_id for problem in problems}
        rows = map(json.loads, gzip.decompress((test_data / RUNS).read_bytes()).splitlines())
        some = [
            {**row, "passed": all(test["passed"] for test in row["tests"])}
            for row in rows
            if row["tests"] and (row["question_id"] in known or not row["revisions"])
        ][:8]
        file = tmp_path / "theirs.jsonl"
        file.write_text(json_lines(some))
        given = ("--problems", where, "--out", "theirs", "--model", "m", "--memory", "900")
        done = command(tmp_path, "import", file.name, *given)
        assert done.returncode == 0, done.stderr
        out = tmp_path / "ours"
        run = harness.import_run(file, problems, out, model="m", memory=900)
        assert isinstance(run, harness.LoadedRun)
        assert told(out) == told(tmp_path / "theirs")
        assert len(run.results) == len(some)
        ours, theirs = manifest(out), manifest(tmp_path / "theirs")
        assert ours.pop("data") != theirs.pop("data")  # loaded problems name no files
        assert ours.pop("spec") == theirs.pop("spec") | {"benchmark": "livecodebench"}
        assert ours == theirs
        assert (run.agreement, len(run.compared), run.left_out) == (1.0, len(some), {})
        assert f"{len(some)} of {len(some)} published verdicts agree" in done.stderr
        assert f"{len(some)} of {len(some)} published verdicts agree" in run._repr_html_()

    @pytest.mark.thorough
    def test_import_run_of_a_published_evaluation_is_that_of_the_command(
        self, test_data: Path, tmp_path: Path
    ) -> None:
        where = "livecodebench:" + str(
            test_data / "lcb_codegen_public1055" / "test_public_only.jsonl.gz"
        )
        file = test_data / "lcb_evals" / PUBLISHED
        done = command(tmp_path, "import", file, "--problems", where, "--out", "theirs", "--json")
        assert done.returncode == 0, done.stderr
        run = harness.import_run(file, where, tmp_path / "ours")
        assert manifest(tmp_path / "ours") == manifest(tmp_path / "theirs")
        assert told(run.path) == told(tmp_path / "theirs")
        assert run.pass_at_1 == json.loads(done.stdout)["pass_at_1"]["value"]
        assert (run.agreement, run.compared, run.failures) == (None, (), ())
        for to in ("csv", "lcb"):
            printed = command(tmp_path, "export", "ours", "--to", to)
            assert printed.returncode == 0, printed.stderr
            text = harness.export_run(run, to)
            assert text.replace("\r\n", "\n") == printed.stdout

    def test_rows_are_problems_and_what_fits_none_is_told(
        self, tmp_path: Path, revisions: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with revisions.open("a") as file:
            file.write(json.dumps({**REVISION, "problem_id": "elsewhere"}) + "\n")
        run = harness.import_run(revisions, [ECHO, DOUBLE], tmp_path / "r")
        assert (run.pass_at_1, run.agreement, run.left_out) == (1.0, 0.0, {"elsewhere": 1})
        assert run.compared[0].what == "own/echo#0 revision 1"
        assert "1 of 2 trajectories skipped" in caplog.text
        again = harness.import_run(revisions, [ECHO, DOUBLE], tmp_path / "r")
        assert (len(again.results), again.agreement) == (1, 0.0)
        assert again.compared[0].grade is not None
        assert again.compared[0].grade.verdict == "accepted"
        assert harness.compare(run, again).versus[0].paired.difference == 0

    @for_each(
        ("given", "message"),
        [
            ({"file_format": "xml"}, "import_run(): file_format 'xml': known are solutions, "),
            ({"write_tool": "<a b>"}, "import_run(): write_tool '<a b>': a tag is written as"),
            ({"extract": "magic"}, "magic"),
            ({"mode": "agentik"}, "mode 'agentik' is unknown"),
            ({"write_tool": 3}, "import_run(): write_tool has 3; give names, or one name"),
            ({"write_tool": [3]}, "import_run(): write_tool has 3; give names, or one name"),
            ({"write_tool": {"a": 1}}, "import_run(): write_tool has {'a': 1}; give names"),
            ({"problem_field": 3}, "import_run(): problem_field: give a path"),
            ({"model": 3}, "model"),
            ({"file_format": ["atif"]}, "import_run(): file_format ['atif']: known are"),
            ({"out": "a\0b"}, "import_run(): out 'a\\x00b': a path has no NUL"),
            (
                {"out": "a" * 300},
                ": a run cannot be kept there (File name too long); choose another",
            ),
            ({"memry": 512}, "import_run(): unknown key 'memry'; did you mean 'memory'?"),
            ({"file": 3}, "import_run(): file is of type int; give a path"),
            ({"file": "nowhere.jsonl"}, "nowhere.jsonl"),
            ({"problems": [DOUBLE]}, "none of 1 trajectories"),
            ({"problems": 3}, "the benchmark is a int; give NAME[:WHERE]"),
            ({"file_format": "solutions", "memory": 512}, "import_run(): memory: the file holds"),
        ],
    )
    def test_misuse_is_one_line(
        self, tmp_path: Path, revisions: Path, given: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {"file": revisions, "problems": [ECHO], "out": tmp_path / "r"}
        with pytest.raises(harness.HarnessError) as raised:
            harness.import_run(**{**arguments, **given})
        assert message in str(raised.value)
        assert "--" not in str(raised.value)
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "r").exists()

    @pytest.mark.thorough
    def test_an_interrupt_keeps_what_was_judged(
        self, tmp_path: Path, revisions: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def keep(self: SampleJudgements, judged: Judged) -> None:
            keep_all(self, judged)
            if len(harness.load_run(tmp_path / "r").results) == 1:
                signal.raise_signal(signal.SIGINT)

        keep_all = SampleJudgements.keep
        with revisions.open("a") as file:
            for row in (
                {"turn": 2, "code": "print(0)", "passed": True},
                {"turn": 3, "code": "print(input() )", "passed": True},
                {"problem_id": "double", "turn": 1, "code": "print(1)", "passed": False},
            ):
                file.write(json.dumps({**REVISION, **row}) + "\n")
        whole = harness.import_run(revisions, [ECHO, DOUBLE], tmp_path / "whole")
        given = (revisions, [ECHO, DOUBLE], tmp_path / "r")
        with monkeypatch.context() as patch:
            patch.setattr(SampleJudgements, "keep", keep)
            with pytest.raises(KeyboardInterrupt, match=r"the same call, with out='.*r', goes on"):
                harness.import_run(*given, workers=1)
        assert len(harness.load_run(tmp_path / "r").results) == 1
        for _ in range(2):  # the second time nothing is left to judge
            run = harness.import_run(*given, workers=1)
            assert (len(run.results), len(run.compared), run.agreement) == (2, 6, 4 / 6)
            assert [each[:3] for each in run.compared] == [each[:3] for each in whole.compared]
        file = (revisions, "--problems", f"jsonl:{tmp_path / 'rows.jsonl'}", "--out", "c")
        rows = json_lines((ECHO, DOUBLE))
        (tmp_path / "rows.jsonl").write_text(rows)
        for _ in range(2):
            done = command(tmp_path, "import", *file)
            assert (done.returncode, "4 of 6 published verdicts agree" in done.stderr) == (0, True)
        assert "own/echo#0 revision 2: published passed, here failed" in done.stderr

    def test_a_row_without_a_problem(self, tmp_path: Path, revisions: Path) -> None:
        revisions.write_text(json.dumps({"code": "print(1)", "turn": 1}) + "\n")
        with pytest.raises(harness.DataError, match=r"^import_run.*, or give problem_field$"):
            harness.import_run(revisions, [ECHO], tmp_path / "r", file_format="revisions")

    def test_a_failed_start_leaves_nothing(self, tmp_path: Path, revisions: Path) -> None:
        pytest.importorskip("ray")
        (tmp_path / "old").mkdir()
        before = sorted(tmp_path.rglob("*"))
        for name in ("old", "new"):
            given = (revisions, [ECHO], tmp_path / name)
            with pytest.raises(harness.UsageError, match="no Ray cluster"):
                harness.import_run(*given, executor="ray", ray_address="127.0.0.1:9")
            assert sorted(tmp_path.rglob("*")) == before
        assert len(harness.import_run(*given).results) == 1

    def test_import_run_over_another_run_is_refused(self, tmp_path: Path, revisions: Path) -> None:
        harness.import_run(revisions, [ECHO], tmp_path / "r")
        with pytest.raises(harness.UsageError, match="is another run; choose another out"):
            harness.import_run(revisions, [ECHO], tmp_path / "r", memory=512)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers = {ECHO["id"]: "print(input())"}
    made = tmp_path_factory.mktemp("made") / "r"
    harness.evaluate(
        lambda problem: answers.get(problem["id"], "print(0)"),
        benchmark=[{**ECHO, "difficulty": "easy"}, DOUBLE],
        out=made,
    )
    return made


class TestExport:
    @pytest.fixture
    def loaded(self, made: Path, tmp_path: Path) -> harness.LoadedRun:
        return harness.load_run(shutil.copytree(made, tmp_path / "r"))

    @pytest.mark.thorough
    async def test_export_run_writes_what_the_command_writes(
        self, tmp_path: Path, loaded: harness.LoadedRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for to in ("csv", "junit", "atif", "openai-messages"):
            printed = command(tmp_path, "export", "r", "--to", to)
            assert printed.returncode == 0, printed.stderr
            assert harness.export_run("r", to).replace("\r\n", "\n") == printed.stdout
            assert harness.export_run("r", to, "f") == [Path("f")]
            assert (tmp_path / "f").read_text() == printed.stdout
        assert command(tmp_path, "export", "r", "--to", "parquet", "-o", "a").returncode == 0
        assert harness.export_run(loaded, "parquet", tmp_path / "b") == [tmp_path / "b"]
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_calls_at_once_write_one_whole_file(
        self, tmp_path: Path, loaded: harness.LoadedRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        together = Barrier(3, timeout=60)

        def text(given: Run) -> Iterator[str]:
            yield from csv_text(given)
            together.wait()

        monkeypatch.setitem(cast("dict[str, Any]", export.TEXTS), "csv", text)
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: harness.export_run(loaded, "csv", tmp_path / "a"), range(3)))
        assert (tmp_path / "a").read_text().splitlines() == list(
            "".join(csv_text(loaded.run)).splitlines()
        )
        assert {path.name for path in tmp_path.iterdir()} == {"r", "a"}

    def test_lcb_takes_the_problems_of_now(self, tmp_path: Path, loaded: harness.LoadedRun) -> None:
        with pytest.raises(harness.UsageError, match="say where it is with benchmark"):
            harness.export_run(loaded, "lcb")
        assert len(json.loads(harness.export_run(loaded, "lcb", benchmark=[ECHO, DOUBLE]))) == 2
        files = harness.export_run(loaded, "lcb", tmp_path / "all", benchmark=[ECHO, DOUBLE])
        assert sorted(files) == sorted((tmp_path / "all").iterdir())
        with pytest.raises(harness.UsageError, match="is no longer among the run's problems"):
            harness.export_run(loaded, "lcb", benchmark=[ECHO])

    def test_what_was_filtered_out_is_not_in_it(self, loaded: harness.LoadedRun) -> None:
        easy = harness.load_run(loaded.path, filter_difficulty="easy")
        assert len(harness.export_run(loaded, "csv").splitlines()) == 3
        assert len(harness.export_run(easy, "csv").splitlines()) == 2
        assert "double" not in harness.export_run(easy, "junit")

    @pytest.mark.parametrize("to", ["csv", "parquet", "lcb"])
    @pytest.mark.parametrize("end", [".txt", ""])
    def test_what_the_disk_refuses_is_one_line(
        self, tmp_path: Path, loaded: harness.LoadedRun, to: str, end: str
    ) -> None:
        own: dict[str, Any] = {"benchmark": [ECHO, DOUBLE]} if to == "lcb" else {}
        for out in (Path(f"/proc/a{end}"), tmp_path / ("a" * 300 + end)):
            with pytest.raises(StorageError) as raised:
                harness.export_run(loaded, to, out, **own)
            assert str(raised.value).startswith(f"{out}: ")
            assert "\n" not in str(raised.value)

    def test_the_runs_own_files_are_not_replaced(
        self, tmp_path: Path, loaded: harness.LoadedRun
    ) -> None:
        (tmp_path / "link").symlink_to(loaded.path)
        before = {path: path.read_bytes() for path in loaded.path.rglob("*") if path.is_file()}
        names = (
            *("run.json", "results.jsonl", "summary.json", "batches.jsonl"),
            *("transcripts/a.csv", "../link/results.jsonl"),
        )
        for name in names:
            with pytest.raises(
                harness.UsageError, match="is one of a run's own files; choose another"
            ):
                harness.export_run(loaded, "csv", loaded.path / name)
        for name in (names[0], names[-1]):
            done = command(tmp_path, "export", "r", "--to", "csv", "-o", f"r/{name}")
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        own = [ECHO, DOUBLE]
        with pytest.raises(harness.UsageError, match="own files"):
            harness.export_run(loaded, "lcb", loaded.path / "transcripts", benchmark=own)
        assert before == {p: p.read_bytes() for p in loaded.path.rglob("*") if p.is_file()}
        assert harness.export_run(loaded, "csv", loaded.path / "samples.csv")
        assert len(harness.export_run(loaded, "lcb", loaded.path, benchmark=own)) == 3

    @for_each(
        ("given", "message"),
        [
            ({"to": "xml"}, "export_run(): to 'xml': known are csv, parquet, junit"),
            ({"benchmark": "fixture"}, "export_run(): benchmark goes with to lcb"),
            (
                {"to": "parquet"},
                'export_run(): to parquet is not a text: name its file with out="r.pa',
            ),
            ({"out": "a\0b"}, "export_run(): out 'a\\x00b': a path has no NUL"),
            ({"run": "a\0b"}, "export_run(): run 'a\\x00b': a path has no NUL"),
            ({"run": 3}, "export_run(): run is of type int; give a path"),
            ({"run": "nowhere"}, "nowhere: no such run"),
            ({"out": "no/where.csv"}, "there is no folder no"),
        ],
    )
    def test_misuse_is_one_line(
        self, loaded: harness.LoadedRun, given: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {"run": loaded, "to": "csv"}
        with pytest.raises(harness.UsageError) as raised:
            harness.export_run(**{**arguments, **given})
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)


class TestMerge:
    @pytest.mark.thorough
    async def test_shards_of_real_rows(self, test_data: Path, tmp_path: Path) -> None:
        rows = test_data / "lcb_codegen_full184" / "test_small.jsonl"
        for index in (1, 2):
            await harness.aevaluate(
                lambda _: "print(0)",
                benchmark=f"livecodebench:{rows}",
                limit=5,
                shard=f"{index}/2",
                out=tmp_path / f"s{index}",
            )
        done = command(tmp_path, "merge", "s1", "s2", "--out", "theirs", "--json")
        assert done.returncode == 0, done.stderr
        shards = [harness.load_run(tmp_path / "s2"), tmp_path / "s1"]
        run = harness.merge_runs(shards, tmp_path / "ours")
        assert len(run.results) == 5
        for name in ("results.jsonl", "run.json", "summary.json"):
            theirs = (tmp_path / "theirs" / name).read_bytes()
            assert (tmp_path / "ours" / name).read_bytes() == theirs
        assert run.summary.model_dump(mode="json") | {"run": "theirs"} == json.loads(done.stdout)
        with pytest.raises(
            harness.UsageError, match=r"missing; give it too, or partial=True to go"
        ):
            harness.merge_runs([tmp_path / "s1"], tmp_path / "half")
        half = harness.merge_runs([tmp_path / "s1"], tmp_path / "half", partial=True)
        assert (len(half.results), half.summary.pending) == (3, {"not_run": 2})
        unclear: Any = "no"
        with pytest.raises(harness.UsageError, match=r"merge_runs.*partial 'no': give True or Fal"):
            harness.merge_runs([tmp_path / "s1"], tmp_path / "no", partial=unclear)
        with pytest.raises(harness.HarnessError, match="File name too long; the shards are safe"):
            harness.merge_runs(shards, tmp_path / ("m" * 300))
        with pytest.raises(harness.UsageError, match="made by `harness run --set shard=I/N`"):
            harness.merge_runs([run, *shards], tmp_path / "more")
        with pytest.raises(
            harness.UsageError, match="is not an empty directory; choose another out"
        ):
            harness.merge_runs(shards, tmp_path / "half")

    def test_merge_runs_called_at_once_makes_one_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for index in (1, 2):
            out = tmp_path / f"s{index}"
            own = [ECHO, DOUBLE]
            harness.evaluate(lambda _: "print(0)", benchmark=own, shard=f"{index}/2", out=out)
        together = Barrier(3, timeout=60)

        def write(*given: Any) -> None:
            together.wait()  # all have seen that `out` is free
            write_json(*given)

        def call(_: int) -> str:
            try:
                return str(harness.merge_runs([tmp_path / "s1", tmp_path / "s2"], tmp_path / "m"))
            except harness.HarnessError as error:
                return str(error)

        monkeypatch.setattr(merge, "write_json", write)
        with ThreadPoolExecutor(3) as pool:
            outcomes = sorted(pool.map(call, range(3)), key=len)
        taken = f"{tmp_path / 'm'} exists and is not an empty directory; choose another out"
        assert sum(taken in each for each in outcomes) == 2, outcomes
        assert len(harness.load_run(tmp_path / "m").results) == 2
        assert len(list((tmp_path / "m" / "transcripts").iterdir())) == 2
        assert {path.name for path in tmp_path.iterdir()} == {"s1", "s2", "m"}

    @for_each(
        ("shards", "message"),
        [
            (["a\0b"], "merge_runs(): a shard 'a\\x00b': a path has no NUL"),
            ("s1", "merge_runs(): shards is of type str; give a list"),
            ({"s1": 1}, "merge_runs(): shards is of type dict; give a list"),
            ([], "merge_runs(): there is no shard"),
            ([3], "merge_runs(): a shard is of type int; give a path"),
            (["nowhere"], "nowhere: no such run"),
        ],
    )
    def test_misuse_is_one_line(self, tmp_path: Path, shards: Any, message: str) -> None:
        with pytest.raises(harness.UsageError) as raised:
            harness.merge_runs(shards, tmp_path / "m")
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)
