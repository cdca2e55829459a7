"""What iterating brought, from a run's own results: figured out here once more, by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from program import harness, results
from written import PLAYED, link_written

Json = dict[str, Any]


@pytest.fixture(scope="module")
def priced_runs(written_runs: Callable[..., Path]) -> Path:
    folder = written_runs("single")
    done = harness(folder, "run", *PLAYED, "--agentic-mode", "--price", "1,2", "--out", "agentic")
    assert done.returncode == 0, done.stderr
    (folder / "agentic.txt").write_text(done.stdout)
    return folder


def summary(runs: Path, name: str) -> Json:
    return json.loads((runs / name / "summary.json").read_text())


def share(samples: list[Json], there: Callable[[Json], bool]) -> float:
    """Each bundled problem has one sample."""
    return pytest.approx(sum(map(there, samples)) / len(samples))


def solved_in(steps: list[Json]) -> bool:
    return any(step["solved"] for step in steps)


def test_the_first_write_is_that_of_the_results(priced_runs: Path) -> None:
    samples = results(priced_runs / "agentic")
    curve = summary(priced_runs, "agentic")["curve"]
    assert curve["first_write"]["value"] == share(samples, lambda r: solved_in(r["steps"][:1]))
    assert (curve["first_write_unknown"], curve["without_steps"]) == (0, 0)


def test_the_curve_by_turn_and_amount_is_what_the_steps_say(priced_runs: Path) -> None:
    samples = results(priced_runs / "agentic")
    run_summary = summary(priced_runs, "agentic")
    curve = run_summary["curve"]
    for kind, key, of in (
        ("by_turn", "turn", "turn"),
        ("by_tokens", "within", "tokens"),
        ("by_dollars", "within", "cost"),
    ):
        assert len(curve[kind]) > 2
        for point in curve[kind]:
            assert point["solved"] == share(
                samples,
                lambda r, of=of, most=point[key]: solved_in(
                    [step for step in r["steps"] if step[of] <= most]
                ),
            )
        assert curve[kind][-1]["solved"] == pytest.approx(run_summary["pass_at_1"]["value"])
    assert len(curve["by_turn"]) == max(r["model_calls"] for r in samples)


def test_the_curve_by_test_run_is_what_the_steps_say(priced_runs: Path) -> None:
    samples = results(priced_runs / "agentic")
    curve = summary(priced_runs, "agentic")["curve"]
    assert len(curve["by_test_run"]) == max(
        sum(step["public_passed"] is not None for step in r["steps"]) for r in samples
    )
    for point in curve["by_test_run"]:

        def run(r: Json, last: int = point["test_run"]) -> list[Json]:
            return [step for step in r["steps"] if step["public_passed"] is not None][:last]

        assert point["solved"] == share(samples, lambda r, run=run: solved_in(run(r)))
        assert point["passed_public"] == share(
            samples,
            lambda r, run=run: any(s["public_passed"] == r["public_total"] for s in run(r)),
        )
    assert any(r["extraction"] for r in samples), "one is taken from the text of an answer"
    assert curve["solved_unrun"] == 0  # what no tool call tested was tested at the end


def test_what_was_spent_is_over_all_samples(priced_runs: Path) -> None:
    samples = results(priced_runs / "agentic")
    run_summary = summary(priced_runs, "agentic")
    solved = sum(r["verdict"] == "accepted" for r in samples)
    tokens = sum(r["usage"]["input_tokens"] + r["usage"]["output_tokens"] for r in samples)
    assert run_summary["solved_per_1000_tokens"] == pytest.approx(1_000 * solved / tokens)
    assert run_summary["solved_per_dollar"] == pytest.approx(
        solved / sum(r["cost"] for r in samples)
    )
    calls, bad = (sum(r[key] for r in samples) for key in ("tool_calls", "malformed_tool_calls"))
    assert run_summary["well_formed_tool_calls"] == pytest.approx(1 - bad / calls) != 1


def test_the_table_tells_it_of_iterating_alone(priced_runs: Path) -> None:
    agentic, single = (
        harness(priced_runs, "show", name, "--details").stdout for name in ("agentic", "single")
    )
    assert "first attempt" in (priced_runs / "agentic.txt").read_text()
    one = harness(priced_runs, "run", *PLAYED, "-n", "1", "--out", "one")
    assert one.returncode == 0, one.stderr
    assert "first attempt" not in one.stdout
    for label in ("first attempt", "test run 1 ", "turn 2 ", "2,000 tokens ", "$0.002"):
        assert label in agentic
        assert label not in single
    assert "solved per dollar 257 solved per 1,000 tokens 0.293" in " ".join(agentic.split())
    assert [point["turn"] for point in summary(priced_runs, "single")["curve"]["by_turn"]] == [1]


@pytest.mark.thorough
def test_compare_tells_it_of_both(priced_runs: Path) -> None:
    result = harness(priced_runs, "compare", "single", "agentic", "--json")
    sides = json.loads(result.stdout)["runs"]
    for side, name in zip(sides, ("single", "agentic"), strict=True):
        assert side["summary"]["curve"] == summary(priced_runs, name)["curve"]
    shown = harness(priced_runs, "compare", "single", "agentic", "--details").stdout
    for row in ("first attempt", "tool calls well-formed", "solved per 1,000 tokens"):
        assert row in shown


def test_results_of_an_older_version_are_told_as_unknown(priced_runs: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("run.json", "results.jsonl"):
        lines = (priced_runs / "agentic" / name).read_text().splitlines()
        rows = [json.loads(line) for line in lines] if name == "results.jsonl" else []
        kept = [{key: row[key] for key in row if key != "steps"} for row in rows]
        text = json_lines(kept) or "\n".join(lines)
        (old / name).write_text(text)
    link_written(tmp_path)
    done = harness(tmp_path, "run", "--resume", "old")
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path, "old")["curve"] is None
    assert "first attempt" not in done.stdout
    details = harness(tmp_path, "show", "old", "--details").stdout
    assert "first attempt unknown" in " ".join(details.split())
