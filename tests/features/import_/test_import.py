"""`harness import`: published evaluations as runs, and what they say against their own figures."""

import gzip
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from json_lines import json_lines
from program import harness, results

ITEMS = [
    {
        "question_id": "echo",
        "code_list": ["print(input())", "print(1)", "while True: pass"],
        "graded_list": [True, False, False],
        "metadata": ["{}", '{"error_message": "Wrong Answer"}',
                     '{"error_message": "Time Limit Exceeded"}'],
    },
    {
        "question_id": "double",
        "code_list": ["def double(n): return n", "def double(n): return 2 * n", "1 / 0"],
        "graded_list": [True, True, False],
        "metadata": ["{}", "{}", '{"error_message": "Runtime Error"}'],
    },
    {"question_id": "nobody's", "code_list": ["x"], "graded_list": [True]},
]  # fmt: skip


@pytest.fixture
def with_items(two_problems: Path) -> Path:
    write(two_problems, ITEMS)
    return two_problems


def write(folder: Path, items: Any, name: str = "some-model_codegeneration_3_0.2_eval_all") -> None:
    (folder / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(items).encode()))


def take_in(folder: Path, *flags: str) -> Any:
    (file,) = folder.glob("*.json.gz")
    done = harness(folder, "import", file.name, "--problems", "jsonl:own.jsonl", "--out", "r",
                   "--json", *flags)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_verdicts_are_the_published_ones(with_items: Path) -> None:
    summary = take_in(with_items)
    verdicts = [(r["sample"], r["verdict"]) for r in results(with_items / "r")]
    assert verdicts == [
        ("own/echo#0", "accepted"), ("own/echo#1", "wrong_answer"), ("own/echo#2", "time_limit"),
        ("jsonl/double#0", "accepted"), ("jsonl/double#1", "accepted"),
        ("jsonl/double#2", "runtime_error"),
    ]  # fmt: skip
    assert (summary["pass_at_1"]["value"], summary["pending"]) == (0.5, {})
    assert summary["mean_fraction"] is None  # which tests passed is not told
    assert summary["no_hidden"] == 0
    manifest = json.loads((with_items / "r" / "run.json").read_text())
    assert manifest["imported"]["verdicts"] == "published"
    assert manifest["imported"]["file"] == "some-model_codegeneration_3_0.2_eval_all.json.gz"
    assert manifest["spec"]["model"] == "some-model"
    assert manifest["spec"]["samples_per_problem"] == 3


def test_import_takes_model_and_mode_from_flags(with_items: Path) -> None:
    take_in(with_items, "--model", "theirs", "--mode", "self_repair")
    spec = json.loads((with_items / "r" / "run.json").read_text())["spec"]
    assert (spec["model"], spec["mode"]) == ("theirs", "self_repair")


def test_what_belongs_to_no_problem_is_left_out_by_name(with_items: Path) -> None:
    (file,) = with_items.glob("*.json.gz")
    done = harness(with_items, "import", file, "--problems", "jsonl:own.jsonl", "--out", "r")
    assert done.returncode == 0
    assert (
        "solutions skipped: 1 problem is not in --problems (or matches several): nobody's"
        in done.stderr
    )
    last = "1 of 7 in the file are left out: their names match no problem, or several"
    assert done.stderr.splitlines()[-1] == last


def test_judged_again_it_is_a_run_of_ours(with_items: Path) -> None:
    take_in(with_items)
    done = harness(with_items, "grade", "r", "--json", "--test-timeout", "0.2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pass_at_1"]["value"] == pytest.approx(1 / 3)
    assert "jsonl/double#0: accepted before, wrong_answer now" in done.stderr
    manifest = json.loads((with_items / "r-regraded" / "run.json").read_text())
    assert manifest["imported"]["verdicts"] == "made here"
    both = harness(with_items, "compare", "r", "r-regraded", "--strict")
    assert both.returncode == 2
    assert "the origin of verdicts differs: A published, B made here" in both.stderr


def test_a_solution_without_a_verdict_is_ungraded(with_items: Path) -> None:
    for file in with_items.glob("*.json.gz"):
        file.unlink()
    write(with_items, [{"question_id": "echo", "code_list": ["print(input())"]}])
    (file,) = with_items.glob("*.json.gz")
    done = harness(with_items, "import", file, "--problems", "jsonl:own.jsonl", "--out", "r")
    assert done.returncode == 0
    assert "1 solution without a published verdict: ungraded" in done.stderr
    assert [r["verdict"] for r in results(with_items / "r")] == ["ungraded"]


def test_an_infrastructure_s_failure_stays_pending(with_items: Path) -> None:
    rows = [{"problem_id": "echo", "code": "1", "verdict": "sandbox_error"},
            {"problem_id": "echo", "code": "1", "verdict": "accepted"}]  # fmt: skip
    (with_items / "s.jsonl").write_text(json_lines(rows))
    flags = ("--problems", "jsonl:own.jsonl", "--out", "r", "--json")
    done = harness(with_items, "import", "s.jsonl", *flags)
    assert done.returncode == 0
    assert json.loads(done.stdout)["pending"] == {"not_run": 1}
    assert [r["sample"] for r in results(with_items / "r")] == ["own/echo#1"]


def test_resume_of_an_imported_run_is_refused(with_items: Path) -> None:
    take_in(with_items)
    done = harness(with_items, "run", "--resume", "r")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nowhere.json", "--out", "r"), 2, "nowhere.json"),
        (("own.jsonl", "--out", "r"), 2, "problem_id"),
        (("other.json", "--out", "r"), 3, "none of 1 solution"),
        (("some-model_codegeneration_3_0.2_eval_all.json.gz", "--out", "."), 2, "not an empty"),
        (("other.json", "--out", "r", "--mode", "agentik"), 2, "agentik"),
        (("other.json", "--out", "r", "--extract", "magic"), 2, "magic"),
    ],
)
def test_bad_usage_is_one_line(
    with_items: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (with_items / "other.json").write_text(json.dumps([ITEMS[2]]))
    done = harness(with_items, "import", *arguments, "--problems", "jsonl:own.jsonl")
    assert done.returncode == code
    assert message in done.stderr
    *_, last = done.stderr.splitlines()
    assert last.startswith("harness: ")
    assert not (with_items / "r").exists()


class TestPublishedEvaluations:
    """LiveCodeBench's published evaluations, compared, against the figures of their own files."""

    @staticmethod
    def imported(data: Path, folder: Path, file: str, out: str) -> list[dict[str, Any]]:
        problems = data / "lcb_codegen_public1055" / "test_public_only.jsonl.gz"
        path = data / "lcb_evals" / f"{file}_eval_all.json.gz"
        flags = ("--problems", f"livecodebench:{problems}", "--out", out)
        done = harness(folder, "import", path, *flags)
        assert done.returncode == 0, done.stderr
        return json.loads(gzip.decompress(path.read_bytes()))

    @pytest.mark.thorough
    def test_a_pair_of_them(self, test_data: Path, tmp_path: Path) -> None:
        files = (
            "Qwen2.5-7B-Instruct-ZeroShotCoT_codegeneration_1_0.2",
            "Qwen2.5-7B-Instruct_selfrepair_1_0.2",
        )
        a, b = (
            {item["question_id"]: item for item in self.imported(test_data, tmp_path, file, out)}
            for file, out in zip(files, "ab", strict=True)
        )
        done = harness(tmp_path, "compare", "a", "b", "--json", "--strict")
        assert done.returncode == 0, done.stderr
        comparison = json.loads(done.stdout)
        for side, items in zip(comparison["runs"], (a, b), strict=True):
            rate = side["summary"]["pass_at_1"]
            assert rate["problems"] == len(items) == 1055
            assert rate["value"] == pytest.approx(fmean(i["pass@1"] for i in items.values()))
            for level, level_rate in side["summary"]["by_difficulty"].items():
                theirs = [i["pass@1"] for i in items.values() if i["difficulty"] == level]
                assert level_rate["value"] == pytest.approx(fmean(theirs))
        (versus,) = comparison["versus"]
        better = {f"livecodebench/{q}" for q in a if b[q]["pass@1"] > a[q]["pass@1"]}
        assert set(versus["paired"]["better_b"]) == better
        assert {f["problem"] for f in versus["flips"] if f["better"] == "B"} == better
        flips = len(versus["flips"])
        mcnemar = (2 * len(better) - flips) ** 2 / flips
        expected = pytest.importorskip("scipy.stats").chi2.sf(mcnemar, df=1)
        assert versus["paired"]["p_value"] == pytest.approx(expected, rel=1e-6, abs=0)
        months = {group["name"]: group["problems"] for group in versus["groups"]["month"]}
        assert sum(months.values()) == 1055

    @pytest.mark.thorough
    def test_import_of_a_published_evaluation_with_ten_samples_has_its_pass_at_1(
        self, test_data: Path, tmp_path: Path
    ) -> None:
        name = "Qwen2.5-Coder-Ins-7B_codegeneration_10_0.2"
        self.imported(test_data, tmp_path, name, "r")
        file = test_data / "lcb_evals" / f"{name}_eval.json.gz"
        theirs = json.loads(gzip.decompress(file.read_bytes()))[0]
        summary = json.loads((tmp_path / "r" / "summary.json").read_text())
        ours = {each["k"]: each["any_right"]["value"] for each in summary["of_several"]}
        assert summary["pass_at_1"]["value"] == pytest.approx(theirs["pass@1"])
        assert (ours[5], ours[10]) == pytest.approx((theirs["pass@5"], theirs["pass@10"]))


ROW = {"task_id": "dry-beds", "prompt_tokens": [1000], "completion_tokens": [200], "api_calls": 12}


def _mapcoder_run(tmp_path: Path, *rows: dict[str, object]) -> list[dict[str, Any]]:
    file = tmp_path / "results.jsonl"
    file.write_text(json_lines(rows))
    flags = ["--problems", "fixture", "--mode", "map_coder", "--model", "m", "--out", "r"]
    done = harness(tmp_path, "import", str(file), *flags)
    assert done.returncode == 0, done.stderr
    return results(tmp_path / "r")


def test_results_of_mapcoder_keep_verdict_tokens_and_calls(tmp_path: Path) -> None:
    row = {**ROW, "source_codes": ["print(1)"], "is_solved": True}
    (result,) = _mapcoder_run(tmp_path, row)
    assert (result["verdict"], result["code"]) == ("accepted", "print(1)")
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (1000, 200)
    assert result["model_calls"] == 12


def test_only_the_last_of_a_row_s_solutions_is_solved(tmp_path: Path) -> None:
    counts = {"prompt_tokens": [5, 0], "completion_tokens": [6, 0]}
    row = {**ROW, **counts, "source_codes": ["print(1)", "print(2)"], "is_solved": True}
    first, second = _mapcoder_run(tmp_path, row)
    assert [first["verdict"], second["verdict"]] == ["wrong_answer", "accepted"]
    assert first["usage"]["input_tokens"] == 5
    assert second["usage"] is None
    assert first["model_calls"] == second["model_calls"] == 0


def test_a_verdict_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({**ROW, "source_codes": ["x"], "is_solved": "yes"}) + "\n")
    done = harness(tmp_path, "import", str(file), "--problems", "fixture", "--out", "r")
    assert done.returncode == 2
    assert "is_solved" in done.stderr
