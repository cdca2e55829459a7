"""`harness show`: the table of a run, afterwards."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from program import harness, results
from runs_made import write_experiment
from terminal import on_terminal


@pytest.fixture(scope="module")
def shown_runs(written_runs: Callable[..., Path]) -> Path:
    """A run of all bundled problems, and one that was interrupted."""
    made = written_runs("agentic")
    (made / "agentic").rename(made / "r")
    (made / "part").mkdir()
    for name in ("run.json", "results.jsonl"):
        (made / "part" / name).write_bytes((made / "r" / name).read_bytes())
    lines = (made / "r" / "results.jsonl").read_bytes().splitlines(keepends=True)
    (made / "part" / "results.jsonl").write_bytes(b"".join(lines[:15]) + b'{"torn')
    return made


def _shown(folder: Path, *arguments: str) -> str:
    done = harness(folder, "show", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def _told(folder: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(_shown(folder, *arguments, "--json"))


def test_every_sample_has_a_row_and_the_summary_follows(shown_runs: Path) -> None:
    text = _shown(shown_runs, "r")
    rows = _rows(text)
    assert [int(row[0]) for row in rows] == list(range(1, 21))
    by_name = {row[1].split()[0]: row for row in rows}
    for result in results(shown_runs / "r"):
        row = by_name[result["problem_id"].removeprefix("fixture/")]
        tokens = result["usage"]["input_tokens"] + result["usage"]["output_tokens"]
        assert row[2:5] == [
            result["difficulty"],
            result["verdict"].replace("_", " "),
            str(result["model_calls"]),
        ]
        assert row[6:] == [f"{tokens:,}"], "no cost is known: there is no column for it"
    assert "fixture, 20 problems, replay:written, agentic, prompt default\n" in text
    assert "solved              75.0 %  (53.1 to 88.8)  15 of 20\n" in text
    assert "by difficulty" not in text
    assert "by difficulty" in _shown(shown_runs, "r", "--details")


@for_each(
    ("only", "verdicts"),
    [
        (["solved"], {"accepted"}),
        (["unsolved"], {"wrong answer", "memory limit"}),
        (["memory_limit"], {"memory limit"}),
        (["memory_limit,accepted"], {"memory limit", "accepted"}),
        (["memory_limit", "accepted"], {"memory limit", "accepted"}),
    ],
)
def test_only_some_samples_are_shown(shown_runs: Path, only: list[str], verdicts: set[str]) -> None:
    flags = [flag for word in only for flag in ("--only", word)]
    rows = _rows(_shown(shown_runs, "r", *flags))
    assert {row[3] for row in rows} == verdicts
    wanted = {verdict.replace(" ", "_") for verdict in verdicts}
    assert len(rows) == sum(r["verdict"] in wanted for r in results(shown_runs / "r"))


def test_overfit_are_those_that_passed_the_public_tests_alone(shown_runs: Path) -> None:
    names = {sample["sample"] for sample in _told(shown_runs, "r", "--only", "overfit")["samples"]}
    assert names == {
        r["sample"]
        for r in results(shown_runs / "r")
        if r["public_passed"] == r["public_total"] > 0 and r["hidden_passed"] < r["hidden_total"]
    }
    assert names


@for_each(("sort", "key"), [("tokens", "tokens"), ("time", "seconds")])
def test_figures_are_sorted_the_largest_first(shown_runs: Path, sort: str, key: str) -> None:
    values = [sample[key] for sample in _told(shown_runs, "r", "--sort", sort)["samples"]]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 5


def test_names_and_difficulties_are_sorted_as_words_and_levels(shown_runs: Path) -> None:
    names = [row[1] for row in _rows(_shown(shown_runs, "r", "--sort", "problem"))]
    assert names == sorted(names)
    levels = [row[2] for row in _rows(_shown(shown_runs, "r", "--sort", "difficulty"))]
    assert levels == sorted(levels, key=["easy", "medium", "hard"].index)


def test_samples_that_are_not_done_are_pending(shown_runs: Path) -> None:
    rows = _rows(_shown(shown_runs, "part"))
    assert len(rows) == 20
    pending = [row for row in rows if row[3] == "pending"]
    assert len(pending) == 5
    report = _told(shown_runs, "part", "--only", "pending")
    assert [sample["solved"] for sample in report["samples"]] == [None] * 5
    assert report["summary"]["pending"] == {"not_run": 5}
    assert {sample["number"] for sample in report["samples"]} == {int(row[0]) for row in pending}


def test_json_of_show_is_one_object(shown_runs: Path) -> None:
    report = _told(shown_runs, "r")
    assert report["run"] == "r"
    assert report["summary"]["pass_at_1"]["value"] == 0.75
    first = report["samples"][0]
    row = next(r for r in results(shown_runs / "r") if r["sample"] == first["sample"])
    assert first["seconds"] == row["seconds"]
    assert (first["solved"], first["status"]) == (True, "accepted")


@for_each(
    ("arguments", "message"),
    [
        (("r", "--only", "sovled"), "known are solved, unsolved"),
        (("r", "--sort", "name"), "known are number, problem"),
        (("nowhere",), "nowhere: no such run"),
        (("grid",), "see them with: harness experiment show grid"),
        (("r/run.json",), "r/run.json is a file of a run; give its directory, r"),
        ((".",), ". is not a run: it has no run.json; it holds runs, such as "),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(
    shown_runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_experiment(shown_runs / "grid")
    done = harness(shown_runs, "show", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_no_such_sample_is_said_and_the_summary_stands(shown_runs: Path) -> None:
    text = _shown(shown_runs, "r", "--only", "time_limit")
    assert "no such sample" in text
    assert "solved              75.0 %" in text


@for_each(("columns", "gone"), [(60, ["diff", "tokens"]), (160, [])])
def test_show_fits_a_terminal_of_any_width(shown_runs: Path, columns: int, gone: list[str]) -> None:
    session = on_terminal(shown_runs, "show", "r", columns=columns, lines=200)
    table = [line for line in session.end.splitlines() if line[:1] in set("┏┃┡│└")]
    table = [line for line in table if line]
    assert len(table) == 24
    assert max(map(len, table)) <= columns
    assert session.wrapped == 0
    assert all(name not in table[1] for name in gone)
    assert re.search(r"\x1b\[[0-9;]*32m", session.raw)  # accepted is green
