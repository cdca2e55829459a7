"""`harness import` of agent runs: every revision judged, in the form that our own runs have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_runs_made import RIGHT, WRONG, atif, eval_log, inspect_sample, messages
from program import Done, harness, results

from harness.features.report.labelled_runs import remarks, sides_of
from harness.languages.program_key import code_hash
from harness.run.summary.loaded_run import read_run

Import = Callable[..., Done]


def manifest_of(run: Path) -> Any:
    return json.loads((run / "run.json").read_text())


def test_each_revision_is_judged_on_hidden_tests_too(own: Path, take: Import) -> None:
    rows = [
        {"problem_id": "echo", "code": WRONG, "turn": 1, "tokens": 100, "tested": True},
        {"problem_id": "echo", "code": RIGHT, "turn": 3, "tokens": 900, "seconds": 4},
        {"problem_id": "echo", "sample": 1, "code": None, "turn": 2, "tokens": 400},
        {"problem_id": "double", "code": "def double(n): return n", "turn": 1, "tokens": 1},
    ]  # fmt: skip
    done = take(rows, "--json", "--model", "theirs")
    assert done.returncode == 0, done.stderr
    assert "3 samples with 3 revisions" in done.stderr
    samples = {r["sample"]: r for r in results(own / "r")}
    assert {name: r["verdict"] for name, r in samples.items()} == {
        "jsonl/double#0": "wrong_answer", "own/echo#0": "accepted", "own/echo#1": "no_solution",
    }  # fmt: skip
    echo, nothing = samples["own/echo#0"], samples["own/echo#1"]
    assert echo["steps"] == [
        {"turn": 1, "tokens": 100, "cost": None, "seconds": None, "public_passed": 1,
         "passes_public": True, "solved": False, "code_hash": code_hash(WRONG)},
        {"turn": 3, "tokens": 900, "cost": None, "seconds": 4.0, "public_passed": None,
         "passes_public": True, "solved": True, "code_hash": code_hash(RIGHT)},
    ]  # fmt: skip
    assert (echo["model_calls"], echo["seconds"], echo["hidden_passed"]) == (3, 4.0, 2)
    assert (nothing["model_calls"], nothing.get("steps", []), nothing["written"]) == (2, [], 0)
    curve = json.loads(done.stdout)["curve"]
    by_turn = {point["turn"]: point["solved"] for point in curve["by_turn"]}
    assert (by_turn[1], by_turn[3]) == (0.0, 0.25)  # one of two samples of one of two problems
    assert curve["by_tokens"][-1]["solved"] == 0.25
    assert curve["by_test_run"][0]["passed_public"] == 0.25
    manifest = manifest_of(own / "r")
    assert (manifest["imported"]["format"], manifest["imported"]["verdicts"]) == (
        "revisions", "made here",
    )  # fmt: skip
    assert (manifest["spec"]["model"], manifest["spec"]["mode"]) == ("theirs", "agentic")
    assert manifest["sandbox"]["level"]
    assert "> write_solution\n    print(1)" in transcript(own, "own/echo#0")


def transcript(folder: Path, sample: str) -> str:
    done = harness(folder, "transcript", "r", sample)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_conversation_is_kept_as_a_transcript(own: Path, take: Import) -> None:
    evil = "\x1b[2J\ud800 \u2066 {{ 7*7 }} <script>"
    conversation = [*messages(WRONG, RIGHT), {"role": "assistant", "content": evil}]
    done = take([{"messages": conversation, "problem_id": "own/echo", "model": "m"}])
    assert done.returncode == 0, done.stderr
    shown = transcript(own, "own/echo#0")
    assert "--- turn 1: model, 0.00 s, 100 tokens in, 20 out" in shown
    assert "=== verdict: accepted" in shown
    assert "\x1b" not in shown
    (side,) = sides_of([read_run(own / "r")])
    assert not side.imported  # its turns and tokens are known
    assert "the verdicts were made here" in " ".join(remarks([side]))
    out = harness(own, "export", "r", "--to", "atif")  # and may be exported in its turn
    assert json.loads(out.stdout)["extra"]["harness"]["revision_turns"] == [1, 2]


def test_an_error_of_infrastructure_stays_pending(own: Path, take: Import) -> None:
    row = {"messages": messages(RIGHT), "problem_id": "echo"}
    done = take([row, {**row, "error": "the provider was down"}], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pending"] == {"model_error": 1}
    assert len(results(own / "r")) == 1
    assert "=== not graded: model error" in transcript(own, "own/echo#1")
    for flags in ((), ("--details",)):
        shown = harness(own, "show", "r", *flags).stdout
        assert "the same import judges what the log has" in shown
        assert "--resume" not in shown
    resumed = harness(own, "run", "--resume", "r")
    assert resumed.returncode == 2
    assert "r was made by `harness import`; the same import judges" in resumed.stderr


def test_published_verdicts_are_compared(take: Import) -> None:
    revisions = [{"code": WRONG, "passed": True}, {"code": RIGHT, "passed": True}]
    done = take([{"problem_id": "echo", "passed": True, "revisions": revisions}])
    assert done.returncode == 0
    assert "2 of 3 published verdicts agree" in done.stderr
    disagreement = "own/echo#0 revision 1: published passed, here wrong_answer at hidden test 2"
    assert disagreement in done.stderr


def test_dollars_follow_from_a_price(own: Path, take: Import) -> None:
    row = {"problem_id": "echo", "code": RIGHT, "turn": 1}
    refused = take([{**row, "tokens": 9}], "--price", "2,10")
    assert refused.returncode == 2
    assert "does not tell input from output tokens" in refused.stderr
    row["tokens"] = {"input": 1_000_000, "output": 100_000}
    done = take([row], "--price", "2,10", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = results(own / "r")
    assert (result["cost"], result["steps"][0]["cost"]) == (3.0, 3.0)
    assert json.loads(done.stdout)["curve"]["by_dollars"][-1]["solved"] == 1.0


def test_a_folder_of_trials(own: Path) -> None:
    for name, code, reward in (("a", RIGHT, 1), ("b", WRONG, 1)):
        folder = own / "job" / name / "agent"
        folder.mkdir(parents=True)
        (folder / "trajectory.json").write_text(json.dumps(atif(code), indent=2))
        trial_result = {"task_name": "echo", "verifier_result": {"rewards": {"reward": reward}}}
        (folder.parent / "result.json").write_text(json.dumps(trial_result))
    given = ("--problems", "jsonl:own.jsonl", "--out", "r", "--write-tool", "submit")
    done = harness(own, "import", "job", *given)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 published verdicts agree" in done.stderr
    outcomes = {r["sample"]: (r["verdict"], r["cost"]) for r in results(own / "r")}
    assert outcomes == {"own/echo#0": ("accepted", 0.25), "own/echo#1": ("wrong_answer", 0.25)}
    assert manifest_of(own / "r")["spec"]["model"] == "their-model"


def test_a_token_limit_of_theirs_is_a_result(own: Path, take: Import) -> None:
    """Of a run of ours such a result would be the run's own budget, and pending."""
    take(eval_log(inspect_sample(RIGHT, limit={"type": "token"})), name="a.eval")
    shown = harness(own, "show", "r", "--json")
    assert json.loads(shown.stdout)["summary"]["graded"] == 1


def test_import_of_trajectories_goes_on_where_it_stopped(own: Path, take: Import) -> None:
    rows = [
        {"problem_id": "echo", "code": RIGHT, "turn": 1},
        {"problem_id": "echo", "code": WRONG, "turn": 1, "sample": 1},
    ]
    take(rows)
    lines = (own / "r" / "results.jsonl").read_text().splitlines(keepends=True)
    (own / "r" / "results.jsonl").write_text(lines[0])
    done = take(rows)
    assert done.returncode == 0, done.stderr
    assert "1 judged before" in done.stderr
    assert len(results(own / "r")) == 2
    other = take(rows[:1])
    assert other.returncode == 2
    assert "r is another run" in other.stderr


@pytest.mark.thorough
def test_flags_have_their_effect(own: Path, take: Import) -> None:
    conversation = [
        {"role": "assistant", "content": f"```\n{RIGHT}\n```\n```\nwhile True: pass\n```"}
    ]
    flags = ("--test-timeout", "0.5", "--workers", "1", "--rule", "tokens", "--extract", "lcb")
    flags += ("--mode", "self_repair", "--problem-field", "a.b", "--from", "messages")
    done = take([{"messages": conversation, "a": {"b": "echo"}}], *flags)
    assert done.returncode == 0, done.stderr
    assert results(own / "r")[0]["verdict"] == "time_limit"
    spec = manifest_of(own / "r")["spec"]
    assert (spec["test_timeout"], spec["rule"], spec["workers"]) == (0.5, "tokens", 1)
    assert (spec["mode"], spec["extract"]) == ("self_repair", "lcb")


@pytest.mark.parametrize(
    "flags",
    [
        ("--workers", "1"),
        ("--write-tool", "x"),
        ("--problem-field", "x"),
        ("--price", "1,2"),
        ("--test-timeout", "3"),
        ("--set isolate_tests", "true"),
    ],
)
def test_flags_of_agent_runs_are_refused_for_solutions(
    take: Import, flags: tuple[str, ...]
) -> None:
    words = "=".join(flags).split()
    done = take([{"problem_id": "echo", "code": RIGHT}], *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"harness: {flags[0]}: the file holds solutions")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--from", "csv"), "--from 'csv': known are solutions, revisions"),
        (("--write-tool", "a."), "--write-tool 'a.'"),
        (("--write-tool", "<a"), "a tag is written as '<solution>'"),
        (("--price", "cheap"), "--price 'cheap'"),
        (("--mode", "agentik"), "agentik"),
        (("--extract", "magic"), "magic"),
        (("--rule", "magic"), "magic"),
        (("--from", "atif"), "a.jsonl:1: field 'schema_version'"),
    ],
)
def test_bad_flags_are_one_line(
    own: Path, take: Import, flags: tuple[str, ...], message: str
) -> None:
    done = take([{"messages": messages(RIGHT), "problem_id": "echo"}], *flags)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("harness: ")
    assert message in last
    assert not (own / "r").exists()


def test_several_models_are_no_run(take: Import) -> None:
    row = {"messages": messages(RIGHT), "problem_id": "echo"}
    done = take([{**row, "model": "a"}, {**row, "model": "b"}])
    assert done.returncode == 2
    assert "runs of 2 models (a, b)" in done.stderr


@pytest.mark.parametrize("key", ["solution", "Code"])
def test_a_row_without_its_program_is_refused(own: Path, take: Import, key: str) -> None:
    done = take([{"problem_id": "echo", key: RIGHT, "turn": 1}])
    assert done.returncode == 2
    assert "field 'code': missing; a revision has its program" in done.stderr
    assert not (own / "r").exists()


def test_a_conversation_without_an_answer_stays_pending(own: Path, take: Import) -> None:
    asked = [{"role": "user", "content": "Echo."}]
    rows = [{"messages": asked, "problem_id": "double"}]
    done = take([*rows, {"messages": messages(RIGHT), "problem_id": "echo"}])
    assert done.returncode == 0, done.stderr
    assert "1 ended in an error by what the file says and stay pending" in done.stderr
    assert [each["problem_id"] for each in results(own / "r")] == ["own/echo"]


def test_an_export_counts_the_samples_that_are_in_it(own: Path, take: Import) -> None:
    rows = [{"problem_id": name, "code": RIGHT, "turn": 1} for name in ("echo", "double")]
    assert take(rows).returncode == 0
    for path in (own / "r" / "transcripts").glob("*double*"):
        path.unlink()
    done = harness(own, "export", "r", "--to", "atif", "-o", "r.jsonl")
    assert len((own / "r.jsonl").read_text().splitlines()) == 1
    assert done.stderr.splitlines() == [
        "1 sample in r.jsonl",
        "1 graded sample without an answer of the model, or a transcript: not in it",
    ]


def test_names_of_no_problem(take: Import) -> None:
    row = {"problem_id": "echo", "code": RIGHT, "turn": 1}
    done = take([{**row, "problem_id": "nobody"}])
    assert done.returncode == 3
    assert "none of 1 trajectories" in done.stderr
    both = take([row, {**row, "problem_id": "nobody"}])
    assert both.returncode == 0
    assert (
        "1 of 2 trajectories skipped: 1 problem is not in --problems (or matches several): nobody"
        in both.stderr
    )


def test_a_tag_holds_the_solution(own: Path, take: Import) -> None:
    tried = f"<execute>\n{RIGHT}\n</execute>"
    handed = f"First {tried}, then <solution>\nno\n</solution> <solution>\n{WRONG}\n</solution>"
    conversation = [
        {"role": "user", "content": "Solve it."},
        {"role": "assistant", "content": tried},
        {"role": "user", "content": "It ran."},
        {"role": "assistant", "content": handed},
    ]
    done = take(
        [{"messages": conversation, "problem_id": "own/echo"}], "--write-tool", "<solution>"
    )
    assert done.returncode == 0, done.stderr
    assert "1 sample with 1 revision" in done.stderr
    (result,) = results(own / "r")
    assert (result["verdict"], [step["turn"] for step in result["steps"]]) == ("wrong_answer", [2])
    assert manifest_of(own / "r")["imported"]["write_tools"] == ["<solution>"]
