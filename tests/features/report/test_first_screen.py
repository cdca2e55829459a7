"""The first screen, changed outcomes, and an experiment's sections, as data."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs_made import request, response, start, tool_result, write_steps, write_transcript

from harness.agent.attempt import LoopFacts
from harness.errors import UsageError
from harness.features.experiment.experiment_file import FILE, grid_hash
from harness.features.report.changed_outcomes import changed_outcomes
from harness.features.report.first_screen import first_screen
from harness.features.report.labelled_runs import pairings, sides_of
from harness.features.report.page import write_report
from harness.features.report.pairs_sections import pairs_sections
from harness.features.report.summary_section import summary_section
from harness.figures import points
from harness.run.settings.spec import RunSpec, stored
from harness.run.store.results import SampleResult
from harness.run.summary.filters import read_filters
from harness.run.summary.loaded_run import read_run
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]


@pytest.fixture
def pair(make_result: MakeResult, write_run: WriteRun) -> tuple[Path, Path]:
    """A single shot that solves 4 of 12, and an agent that solves 10 of them, one other less."""
    names = [f"p/{n}" for n in range(12)]
    shot = [make_result(name, solved=n in {0, 1, 2, 11}) for n, name in enumerate(names)]
    agent = [make_result(name, solved=n < 10, cost=1.5) for n, name in enumerate(names)]
    return (
        write_run("shot", shot, mode="single_shot", benchmark="livecodebench:v6"),
        write_run("agent", agent, mode="agentic", benchmark="livecodebench:v6"),
    )


def test_the_first_screen_has_sentence_rates_difference_and_cost(
    pair: tuple[Path, Path],
) -> None:
    sides = sides_of([read_run(path) for path in pair])
    screen = first_screen(sides, pairings(sides))
    assert screen.title == "agentic against single shot: made-model, livecodebench v6, 12 problems"
    assert screen.sentences[0].startswith(
        "The agent solves 50.0 points more than single shot (95 %"
    )
    assert screen.sentences[1] == "The agent takes 3 times the cost."
    shot, agent, difference = screen.figures
    assert (shot.value, agent.value, difference.value) == ("33.3 %", "83.3 %", "+50.0 points")
    assert (shot.name, agent.name) == ("single shot", "agentic")
    assert shot.low < shot.at < shot.high
    assert shot.colour != agent.colour
    assert difference.zero == 50
    assert difference.at > 50
    assert "of all samples: 7 gained, 1 lost" in screen.facts
    assert "whole cost $6.00 and $18.00" in screen.facts
    assert screen.chart is not None
    drawn = screen.chart.chart  # layers of the same data have them in common
    rows = [row for part in (drawn, *drawn["layer"]) for row in _rows(part)]
    assert {row.get("arm") for row in rows} >= {"single shot", "agentic"}


def test_one_run_says_what_iterating_gained_and_what_later_requests_brought(
    make_result: MakeResult, write_run: WriteRun
) -> None:
    def step(turn: int, *, solved: bool) -> Revision:
        return Revision(
            turn=turn, solved=solved, tokens=1, cost=None, seconds=None, public_passed=int(solved)
        )

    steps = step(1, solved=False), step(2, solved=True)
    facts = LoopFacts(later=1, new_programs=1)
    gained = make_result("a", solved=True, model_calls=2, steps=steps, loop=facts)
    results = [gained, make_result("b", steps=steps[:1])]
    sides = sides_of([read_run(write_run("loop", results, mode="agentic"))])
    (sentence, *_) = first_screen(sides, []).sentences
    told = "The first attempt solves 0.0 %; iterating gained 1 of 2, lost 0."
    assert sentence == f"1 of 2 samples solved. {told}"
    rows = summary_section(sides).exhibits[-1].table.rows
    assert ("iterating", "gained 1 of 2, lost 0") in rows
    assert ("requests after the first", "1 later request: 1 with a new program") in rows


def test_runs_beside_the_pair_are_named_with_their_rates(
    pair: tuple[Path, Path], make_result: MakeResult, write_run: WriteRun
) -> None:
    few = [make_result(f"p/{n}", solved=n == 0) for n in range(4)]
    third = write_run("third", few, mode="agentic", prompt="terse", benchmark="livecodebench:v6")
    sides = sides_of([read_run(path) for path in (*pair, third)])
    screen = first_screen(sides, pairings(sides))
    assert screen.facts[-1] == "also on this page: third 25.0 %"
    assert "third" not in " ".join(first_screen(sides[:2], pairings(sides[:2])).facts)


def _rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
    return layer.get("data", {}).get("values", [])


def test_a_changed_outcome_has_both_conversations(pair: tuple[Path, Path]) -> None:
    shot, agent = pair
    answer = response(1, "Like this:\n```python\nprint(1)\n```")
    write_transcript(shot, "p/3", [start("p/3"), request(1, ("user", "solve")), answer])
    calls = [("c1", "write_solution", json.dumps({"code": "print(2)"}))]
    write_transcript(
        agent,
        "p/3",
        [
            start("p/3"),
            response(1, "First try", calls),
            tool_result(1, "c1", "run_tests", "1 of 2 public tests passed.",
                        tests={"verdict": "wrong_answer", "passed": 1, "total": 2}),
            response(2, "I try", [("c2", "run_code", json.dumps({"code": "print(4)"}))]),
            response(3, "Now right", [("c3", "write_solution", json.dumps({"code": "print(3)"}))]),
        ],
    )  # fmt: skip
    write_steps(shot, "p/3", "print(1)")
    write_steps(agent, "p/3", "print(2)", "print(2)", "print(3)")
    sides = sides_of([read_run(path) for path in pair])
    outcomes = changed_outcomes(pairings(sides))
    assert outcomes is not None
    assert outcomes.names == ("single shot", "agentic")
    change = next(each for each in outcomes.shown if each.problem == "p/3")
    (first, second) = change.rows
    assert first[0] is not None
    assert first[1] is not None
    assert (first[0].text, first[0].code) == ("Like this:", "print(1)")
    assert (first[1].text, first[1].code, first[1].turn) == ("First try", "print(2)", 1)
    assert first[1].tests is not None
    assert (first[1].tests.passed, first[1].report) == (1, "1 of 2 public tests passed.")
    assert second[0] is None
    assert second[1] is not None
    assert second[1].code == "print(3)", "a program that was only run is no revision"
    assert (change.gained, change.a.good, change.b.good) == (True, False, True)
    assert [each.gained for each in outcomes.shown].count(False) == 1


@pytest.fixture
def experiment(tmp_path: Path, make_result: MakeResult, write_run: WriteRun) -> Path:
    """A grid of two modes and two prompts."""
    folder = tmp_path / "grid"
    folder.mkdir()
    variants = {}
    for mode, prompt, solved in (
        ("single_shot", "default", 4),
        ("agentic", "default", 9),
        ("single_shot", "brief", 5),
        ("agentic", "brief", 10),
    ):
        results = [
            make_result(f"p/{n}", solved=n < solved, cost=0.1 * (1 + 2 * (mode == "agentic")))
            for n in range(12)
        ]
        name = f"{mode}+{prompt}"
        manifest = {"prompt": {"name": prompt, "hash": prompt}}
        write_run(f"grid/{name}", results, manifest, mode=mode, prompt=prompt)
        variants[name] = stored(RunSpec(model="made-model", mode=mode, prompt=prompt))
    definition = {
        "schema": 2,
        "harness": "0",
        "created": "2026-11-22T00:00:00+00:00",
        "hash": grid_hash(variants, "single_shot+default"),
        "baseline": "single_shot+default",
        "variants": variants,
    }
    (folder / FILE).write_text(json.dumps(definition))
    return folder


def test_pairs_show_the_interval_that_is_corrected_as_p_is(experiment: Path) -> None:
    sides = sides_of([read_run(path) for path in sorted(experiment.iterdir()) if path.is_dir()])
    pairs = [pair for pair in pairings(sides) if pair.factors == ("mode",)]
    assert pairs[0].paired.low is not None
    assert abs(pairs[0].low - pairs[0].paired.low) > 0.01
    section = next(each for each in pairs_sections(pairs) if each.name == "by-mode")
    exhibit = section.exhibits[0]
    assert exhibit.table.rows[0][2] == f"{points(pairs[0].low)} to {points(pairs[0].high)}"
    assert exhibit.chart is not None
    drawn = exhibit.chart["layer"][1]["data"]["values"]
    assert [(row["low"], row["high"]) for row in drawn] == [
        (pytest.approx(100 * pair.low), pytest.approx(100 * pair.high)) for pair in pairs
    ]


@pytest.mark.thorough
def test_an_experiment_has_its_ranking_its_front_and_pairs_by_setting(
    experiment: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    write_report([experiment], out, cutoff=None, title="Report")
    page = out.read_text()
    assert "grid, 4 variants: " in page
    for phrase in (
        "1. agentic+brief",
        "Price and solve rate",
        "Mode against mode, with the same prompt and model",
        "agentic - single shot (default, made-model)",
        "Prompt against prompt, in the same mode",
        "brief - default (agentic, made-model)",
    ):
        assert phrase in page, phrase
    charts = page.partition('id="chart-data">')[2].partition("</script>")[0]
    specs = json.loads(charts)
    assert {"pareto", "differences-mode", "differences-prompt", "equal-spend"} <= specs.keys()


def test_an_experiment_is_named_alone_and_without_filters(
    experiment: Path, tmp_path: Path, pair: tuple[Path, Path]
) -> None:
    out = tmp_path / "report.html"
    with pytest.raises(UsageError, match="name it alone"):
        write_report([experiment, pair[0]], out, cutoff=None, title="Report")
    only = read_filters({"filter_difficulty": "easy"})
    with pytest.raises(UsageError, match="filters go with runs"):
        write_report([experiment], out, cutoff=None, title="Report", only=only)


@pytest.mark.thorough
def test_filters_are_told_on_the_page(pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    only = read_filters({"filter_difficulty": "easy"})
    write_report(list(pair), out, cutoff=None, title="Report", only=only)
    assert "only easy" in out.read_text()
