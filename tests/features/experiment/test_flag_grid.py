"""A grid from flags: its cells, their shots, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.features.experiment.grid import Grid
from harness.features.experiment.grid_run import batches, random_order
from harness.features.experiment.invocation import goal_of, grid_from_flags, invocation


def grid(**given: Any) -> Grid:
    flags = given.pop("flags", {"benchmark": "fixture"})
    return grid_from_flags(flags, environ={}, **given)


def named(found: Grid) -> dict[str, tuple[str, int]]:
    return {cell.name: (cell.spec.mode, cell.spec.samples_per_problem) for cell in found.cells}


def test_without_flags_both_modes_play_the_recordings() -> None:
    found = grid(flags={})
    assert named(found) == {"single_shot": ("single_shot", 1), "agentic": ("agentic", 1)}
    assert found.auto_shots == {"single_shot"}
    assert {cell.spec.model for cell in found.cells} == {"replay:bundled"}


def test_every_combination_is_a_cell_and_single_shot_the_first() -> None:
    found = grid(models=["gpt-5-mini", "gpt-5"], modes=["agentic", "single_shot"])
    assert list(named(found)) == [
        "gpt-5-mini+single_shot",
        "gpt-5-mini+agentic",
        "gpt-5+single_shot",
        "gpt-5+agentic",
    ]


def test_shots_are_of_single_shot_alone() -> None:
    found = grid(shots="4", prompts=["default", "terse"])
    assert dict(named(found).values()) == {
        "single_shot": 4,
        "agentic": 1,
    }
    assert not found.auto_shots


def test_what_a_mode_does_not_use_is_not_varied_in_it() -> None:
    found = grid(vary=["max-turns=3,6", "temperature=0.5"])
    turns = sorted((c.spec.mode, c.spec.max_turns, c.spec.temperature) for c in found.cells)
    assert turns == [("agentic", 3, 0.5), ("agentic", 6, 0.5), ("single_shot", 10, 0.5)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shots": "0"}, "--shots 0: give auto, or a number from 1 to 100"),
        ({"shots": "many"}, "--shots many: give auto"),
        ({"shots": "3", "modes": ["agentic"]}, "--shots goes with --mode single_shot"),
        ({"shots": "auto", "modes": ["single_shot"]}, "follows the spend of another mode"),
        ({"vary": ["max_turns"]}, "--vary max_turns: give KEY=A,B"),
        ({"vary": ["max_turns=3,"]}, "--vary max_turns=3,: give KEY=A,B"),
        ({"vary": ["max_turns=3", "max-turns=4"]}, "--vary max_turns is given twice"),
        ({"vary": ["model=a,b"]}, "--vary model: give --model instead"),
        ({"vary": ["samples_per_problem=3"]}, "give --shots instead"),
        ({"vary": ["max_turn=3"]}, "did you mean 'max_turns'?"),
        ({"vary": ["repair_rounds=3"]}, "goes with mode self_repair, and no cell has that"),
        ({"vary": ["max_turns=few"]}, "max_turns"),
        ({"modes": ["agentik"]}, "agentik"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        grid(**given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"decided": False, "level": 0.1, "precision": None}, "--level goes with"),
        ({"decided": True, "level": 1.0, "precision": None}, "--level 1: give a chance"),
        ({"decided": False, "level": None, "precision": 0.0}, "--precision 0: give points"),
        ({"decided": False, "level": None, "precision": 200.0}, "--precision 200: give points"),
    ],
)
def test_goals_out_of_range_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        goal_of(**given)


@pytest.mark.parametrize(
    ("keys", "cells", "places", "words"),
    [
        ({}, {"models": ["x"]}, {"config": Path("g.yaml")}, "-c brings .* --model does not"),
        ({"sample_size": 3}, {}, {"config": Path("g.yaml")}, "--sample-size does not go"),
        ({}, {"shots": "3"}, {"resume": Path("e")}, "--resume brings .* --shots does not"),
        ({}, {}, {"resume": Path("e"), "out": Path("f")}, "--out does not go"),
        ({}, {}, {"config": Path("g.yaml"), "resume": Path("e")}, "--resume does not go"),
    ],
)
def test_flags_that_another_source_of_settings_leaves_no_room_for_are_refused(
    keys: dict[str, Any], cells: dict[str, Any], places: dict[str, Path], words: str
) -> None:
    goal = goal_of(decided=False, level=None, precision=None)
    where = {"config": None, "out": None, "resume": None, **places}
    with pytest.raises(UsageError, match=words):
        invocation(keys, cells, goal, **where)


class TestOrder:
    def test_is_the_seeds_and_stays_when_problems_are_added(self) -> None:
        few = random_order([f"p{number}" for number in range(40)], seed=1)
        more = random_order([f"p{number}" for number in range(90)], seed=1)
        assert [each for each in more if each in set(few)] == few
        assert few != sorted(few)
        assert random_order(few, seed=2) != few

    def test_first_and_last_places_are_as_likely_for_every_problem(self) -> None:
        names = [f"p{number}" for number in range(10)]
        first = [random_order(names, seed)[0] for seed in range(2_000)]
        assert all(140 < first.count(name) < 260 for name in names)

    def test_batches_grow_and_end_with_all(self) -> None:
        order = [str(number) for number in range(500)]
        sizes = [len(asked) for asked in batches(order, concurrency=4)]
        assert sizes[:3] == [8, 16, 24]
        assert sizes[-1] == 500
        assert len(sizes) < 36
        assert len(next(iter(batches(order, concurrency=50)))) == 50
