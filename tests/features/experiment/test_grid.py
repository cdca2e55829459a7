"""From a grid's file to its variants; what an experiment was, and what it may become."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from for_each import for_each
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import RunDirectoryError, UsageError
from harness.features.experiment.experiment_file import (
    FILE,
    experiment_at,
    grid_hash,
    read_experiment,
)
from harness.features.experiment.grid import factorial_grid, read_grid
from harness.features.experiment.request import ExperimentRequest, as_flag
from harness.features.experiment.stopping_goal import Goal
from harness.features.experiment.variants import Grid, is_name
from harness.run.settings.spec import RunSpec

BASE: dict[str, Any] = {"benchmark": "fixture", "model": "replay:bundled"}


def grid(folder: Path, **values: Any) -> Grid:
    path = folder / "g.yaml"
    if "models" not in values:
        values = {**BASE, **values}
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    return read_grid(path, {}, {})


def names(made: Grid) -> list[str]:
    return [variant.name for variant in made.variants]


class TestCells:
    def test_variants_are_all_combinations_of_the_axes(self, tmp_path: Path) -> None:
        made = grid(
            tmp_path,
            models=["replay:a", "replay:b"],
            modes=["single_shot", "agentic"],
            prompts=["default", "terse"],
            samples=[1, 3],
        )
        assert len(made.variants) == len(set(names(made))) == 16
        spec = next(c.spec for c in made.variants if c.name == "replay-b+agentic+terse+k3")
        assert (spec.model, spec.mode, spec.prompt) == ("replay:b", "agentic", "terse")
        assert spec.samples_per_problem == 3

    def test_variants_are_named_for_what_differs_alone(self, tmp_path: Path) -> None:
        assert names(grid(tmp_path, modes=["agentic", "single_shot"], prompts="terse")) == [
            "agentic",
            "single_shot",
        ]
        vary = {"temperature": [0, 0.5], "submit_tool": [True, False], "max_turns": [10, 5]}
        assert names(grid(tmp_path, modes="agentic", vary=vary))[:3] == [
            "temperature-0.0+max_turns-10+submit_tool",
            "temperature-0.0+max_turns-5+submit_tool",
            "temperature-0.0+max_turns-10+no_submit_tool",
        ]

    @for_each(
        ("key", "values"),
        [
            ("temperature", [0.0, 1.0]),
            ("max_tokens", [100, 200]),
            ("reasoning_effort", ["low", "high"]),
            ("test_timeout", [1.0, 2.0]),
            ("rule", ["lcb", "tokens"]),
            ("concurrency", [1, 8]),
            ("extract", ["harness", "lcb"]),
        ],
    )
    def test_any_other_key_of_a_run_is_varied_as_a_list(
        self, key: str, values: list[Any], tmp_path: Path
    ) -> None:
        made = grid(tmp_path, vary={key.replace("_", "-"): values})
        assert [getattr(variant.spec, key) for variant in made.variants] == values
        assert names(made) == [f"{key}-{value}" for value in values]

    def test_a_list_of_tools_is_one_value(self, tmp_path: Path) -> None:
        made = grid(tmp_path, modes="agentic", vary={"tool": ["a:b", ["a:b", "c:d"]]})
        assert [variant.spec.tool for variant in made.variants] == [("a:b",), ("a:b", "c:d")]

    def test_leave_out_what_their_mode_does_not_heed_and_stand_once(self, tmp_path: Path) -> None:
        modes = ["single_shot", "agentic", "self_repair"]
        made = grid(tmp_path, modes=modes, vary={"repair_rounds": [1, 2]}, max_tool_calls=7)
        assert names(made) == [
            "single_shot",
            "agentic",
            "self_repair+repair_rounds-1",
            "self_repair+repair_rounds-2",
        ]
        assert [variant.spec.max_tool_calls for variant in made.variants] == [None, 7, None, None]
        made = grid(tmp_path, modes=["single_shot", "agentic"], vary={"max_turns": [5, 9]})
        assert names(made) == ["single_shot", "agentic+max_turns-5", "agentic+max_turns-9"]

    def test_an_entry_may_set_other_keys_too(self, tmp_path: Path) -> None:
        price = {"input": 1, "output": 2}
        entry = {"model": "served", "base-url": "http://u:secret@localhost:1/v1", "price": price}
        made = grid(tmp_path, models=["replay:a", entry], benchmark="fixture")
        assert [variant.spec.price is None for variant in made.variants] == [True, False]
        assert made.variants[1].spec.base_url == entry["base-url"]
        assert names(made) == ["replay-a", "served"], "the address follows from the model"
        assert "secret" not in "".join(names(made))

    def test_named_variants_stand_after_the_combinations(self, tmp_path: Path) -> None:
        own = [{"name": "mended", "mode": "self_repair"}, {"mode": "best_of_k_public"}]
        made = grid(tmp_path, modes=["single_shot", "agentic"], variants=own)
        assert names(made) == ["single_shot", "agentic", "mended", "best_of_k_public"]
        assert names(grid(tmp_path, variants=own[:1])) == ["mended"]

    def test_keys_that_are_needed_to_tell_them_apart_are_told(self, tmp_path: Path) -> None:
        urls = [f"http://localhost:{port}/v1" for port in (1, 2)]
        models = [{"model": "served", "base_url": url} for url in urls]
        assert names(grid(tmp_path, models=models, benchmark="fixture")) == [
            "base_url-http-localhost-1-v1",
            "base_url-http-localhost-2-v1",
        ]

    def test_names_that_look_alike_are_told_apart(self, tmp_path: Path) -> None:
        made = grid(tmp_path, models=["replay:a/b", "replay:a-b", "replay:a:b"])
        assert names(made) == ["replay-a-b", "replay-a-b-2", "replay-a-b-3"]

    @settings(max_examples=40)
    @given(st.text(min_size=1, max_size=300).filter(str.strip))
    def test_any_model_and_prompt_makes_a_name_that_is_one_file_s(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = grid(Path(folder), models=["replay:x", f"replay:{text}"], prompts=[text, "y"])
        assert all(is_name(name) for name in names(made))
        assert len(set(names(made))) == len(made.variants)


class TestRefused:
    @for_each(
        ("values", "message"),
        [
            ({"baselin": "x"}, "unknown key 'baselin'; did you mean 'baseline'?"),
            ({"promt": "x"}, "did you mean 'prompt"),
            ({"vary": {"temprature": [0]}}, "vary: unknown key 'temprature'; did you mean 'temper"),
            (
                {"variants": [{"mod": "agentic"}]},
                "variants: unknown key 'mod'; did you mean 'mode'?",
            ),
            ({"variants": ["agentic"]}, "variants: number 1: keys and values are expected"),
            ({"variants": [{"name": "../x"}]}, "variants: number 1: a name is up to 100 letters"),
            ({"variants": [{"name": 3}]}, "a name is up to"),
            ({"variants": [{"name": "experiment.json"}]}, "a name is up to"),
            ({"vary": {"sample_size": [1, 2]}}, "sample_size is one for the whole grid"),
            ({"variants": [{"max_cost": 2}]}, "max_cost is one for the whole grid"),
            ({"prompts": [{"prompt": "a", "benchmark": "apps"}]}, "benchmark is one for the whole"),
            ({"prompts": [{"temperature": 1}]}, "is to have prompt among them"),
            ({"models": ["replay:a"], **BASE}, "models and model are the same thing"),
            ({"modes": ["agentic"], "vary": {"mode": ["x"]}}, "mode is given already"),
            (
                {"seed": 1, "temperature": 1, "vary": {"temperature": [0]}},
                "temperature is given tw",
            ),
            ({"vary": {"price": [{"input": 1, "output": 1}]}}, "another price makes no other run"),
            ({"modes": []}, "modes: the list is empty"),
            ({"vary": [1]}, "vary: keys and values are expected"),
            ({"modes": ["agentik"]}, "mode 'agentik' is unknown"),
            ({"modes": [["agentic"]]}, "mode"),
            ({"vary": {"temperature": [0, -1]}}, "temperature: .*given: -1"),
            ({"samples": [0]}, "samples_per_problem: .*given: 0"),
            ({"max_cost": 0}, "max_cost: .*given: 0"),
            (
                {"repair_rounds": 2},
                "repair_rounds goes with mode self_repair or .*, and no variant has",
            ),
            ({"variants": [{"repair_rounds": 2}]}, "repair_rounds goes with --mode self_repair"),
            ({"vary": {"seed": [1]}}, "seed is one for the whole grid"),
            (
                {"modes": ["agentic"], "variants": [{"name": "x", "mode": "agentic"}]},
                "the same run",
            ),
            (
                {"variants": [{"name": "x"}, {"name": "x", "mode": "agentic"}]},
                "two have the name x",
            ),
            ({"vary": {"max_tokens": list(range(1, 1_002))}}, "1,001 variants; .* at most 1,000"),
            ({"baseline": ["x"]}, "baseline: keys and values are expected"),
            ({"baseline": {"moed": "x"}}, "baseline: unknown key 'moed'; did you mean 'mode'?"),
            ({"models": ["nobody's"]}, "is not a provider's name"),
        ],
    )
    def test_a_bad_grid_is_refused_in_one_line_that_names_the_key(
        self, values: dict[str, Any], message: str, tmp_path: Path
    ) -> None:
        with pytest.raises(UsageError, match=message) as caught:
            grid(tmp_path, **values)
        assert "\n" not in str(caught.value)

    def test_a_file_without_end_is_not_read_to_it(self) -> None:
        with pytest.raises(UsageError, match="longer than 1,048,576 bytes"):
            read_grid(Path("/dev/zero"), {}, {})

    def test_a_bomb_of_aliases_is_not_written_out(self, tmp_path: Path) -> None:
        rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        path = tmp_path / "g.yaml"
        path.write_text("\n".join([*rows, "models: *a11"]))
        with pytest.raises(UsageError, match="aliases expand it to more than"):
            read_grid(path, {}, {})
        path.write_text(
            "vary:\n  temperature: &b [1, 2]\nmodels: [[*b, *b], [*b, *b]]\nbenchmark: fixture"
        )
        with pytest.raises(UsageError, match="model"):
            read_grid(path, {}, {})

    @given(
        st.text(max_size=80), st.sampled_from(["models", "vary", "variants", "baseline", "modes"])
    )
    def test_no_yaml_makes_anything_but_a_grid_or_a_usage_error(self, text: str, key: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "g.yaml"
            path.write_text(f"benchmark: fixture\n{key}: {text}", encoding="utf-8")
            with suppress(UsageError):
                assert read_grid(path, {}, {"MODEL_ID": "replay:x"}).variants


class TestGrowth:
    @pytest.fixture
    def begun(self, tmp_path: Path) -> Path:
        """An experiment of two modes."""
        return self.write(tmp_path, modes=["single_shot", "agentic"])

    def write(self, folder: Path, **values: Any) -> Path:
        experiment_at(folder / "e", grid(folder, **values)).write()
        return folder / "e"

    def names_at(self, begun: Path, **values: Any) -> list[str]:
        return [c.name for c in experiment_at(begun, grid(begun.parent, **values)).variants]

    def test_the_same_grid_is_the_same_experiment(self, begun: Path) -> None:
        before = json.loads((begun / FILE).read_text())
        made = experiment_at(begun, grid(begun.parent, modes=["agentic", "single_shot"]))
        assert {variant.name for variant in made.variants} == {"single_shot", "agentic"}
        assert made.created == before["created"]

    def test_variants_keep_their_names_when_others_come(self, begun: Path) -> None:
        modes, prompts = ["single_shot", "agentic"], ["default", "terse"]
        assert self.names_at(begun, modes=modes, prompts=prompts) == [
            "single_shot",
            "single_shot+terse",
            "agentic",
            "agentic+terse",
        ]

    def test_a_grid_grows_by_problems_and_by_samples(self, begun: Path) -> None:
        both = ["single_shot", "agentic"]
        assert self.names_at(begun, modes=both, sample_size=3, samples=2) == both
        assert self.names_at(begun, modes=both, samples=[1, 2]) == [
            "single_shot",
            "single_shot+k2",
            "agentic",
            "agentic+k2",
        ]

    def test_concurrency_and_budget_may_change(self, begun: Path) -> None:
        both = ["single_shot", "agentic"]
        assert (
            self.names_at(begun, modes=both, concurrency=3, workers=1, max_tokens_total=9) == both
        )

    def test_variants_that_differ_in_how_fast_they_go_are_not_taken_for_one_another(
        self, tmp_path: Path
    ) -> None:
        begun = self.write(tmp_path, vary={"concurrency": [1, 8]})
        made = experiment_at(begun, grid(tmp_path, vary={"concurrency": [8, 4, 1]}))
        by_name = {variant.name: variant.spec.concurrency for variant in made.variants}
        assert by_name == {"concurrency-1": 1, "concurrency-8": 8, "concurrency-4": 4}

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (
                {"modes": ["single_shot"]},
                "a variant agentic with mode 'agentic', and the grid has no",
            ),
            (
                {"modes": ["single_shot", "agentic"], "temperature": 0.5},
                "a variant single_shot with temperature None, .* the nearest has 0.5",
            ),
            (
                {"modes": ["single_shot", "agentic"], "vary": {"max_turns": [3]}},
                "a variant agentic with max_turns 10, .* the nearest has 3",
            ),
            (
                {
                    "modes": ["single_shot", "agentic"],
                    "variants": [{"name": "agentic", "mode": "self_repair"}],
                },
                "has another variant agentic",
            ),
        ],
    )
    def test_anything_else_is_refused_with_what_differs(
        self, values: dict[str, Any], message: str, begun: Path
    ) -> None:
        with pytest.raises(RunDirectoryError, match=message):
            experiment_at(begun, grid(begun.parent, **values))

    def test_samples_do_not_get_fewer(self, tmp_path: Path) -> None:
        begun = self.write(tmp_path, samples=3)
        with pytest.raises(RunDirectoryError, match=r"samples_per_problem 3, .* nearest has 1"):
            experiment_at(begun, grid(tmp_path, samples=1))

    def test_a_secret_in_an_address_is_kept_nowhere(self, tmp_path: Path) -> None:
        url = "http://user:secret@localhost:1/v1"
        begun = self.write(tmp_path, models=["served"], base_url=url, benchmark="fixture")
        assert "secret" not in (begun / FILE).read_text()
        same = grid(tmp_path, models=["served"], base_url=url, benchmark="fixture")
        assert len(experiment_at(begun, same).variants) == 1

    def test_a_model_that_the_environment_names_is_kept_by_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "g.yaml"
        path.write_text("benchmark: fixture\nmodes: [single_shot, agentic]")
        experiment_at(tmp_path / "e", read_grid(path, {}, {"MODEL_ID": "replay:a"})).write()
        with pytest.raises(RunDirectoryError, match=r"model 'replay:a', .* has 'replay:b'"):
            experiment_at(tmp_path / "e", read_grid(path, {}, {"MODEL_ID": "replay:b"}))


class TestBaseline:
    @for_each(
        ("baseline", "name"),
        [(None, "single_shot"), ("agentic", "agentic"), ({"mode": "agentic"}, "agentic")],
    )
    def test_a_baseline_is_a_name_or_settings_of_one_variant(
        self, baseline: Any, name: str, tmp_path: Path
    ) -> None:
        made = grid(tmp_path, modes=["single_shot", "agentic"], baseline=baseline)
        assert experiment_at(tmp_path / "e", made).baseline == name

    @for_each(
        ("baseline", "message"),
        [
            ("agentik", "no variant 'agentik'; did you mean 'agentic'?"),
            (
                {"mode": "self_repair"},
                "no variant matches; give the name of one of single_shot, agentic",
            ),
            ({"prompt": "default"}, "2 variants match: single_shot, agentic"),
        ],
    )
    def test_a_baseline_that_is_no_variant_or_several_is_refused(
        self, baseline: Any, message: str, tmp_path: Path
    ) -> None:
        made = grid(tmp_path, modes=["single_shot", "agentic"], baseline=baseline)
        with pytest.raises(UsageError, match=message.replace("?", r"\?")):
            experiment_at(tmp_path / "e", made)


class TestFile:
    def test_says_what_was_written_and_its_hash(self, tmp_path: Path) -> None:
        experiment_at(tmp_path / "e", grid(tmp_path, modes=["single_shot", "agentic"])).write()
        experiment = read_experiment(tmp_path / "e")
        assert (experiment.baseline, list(experiment.variants)) == (
            "single_shot",
            ["single_shot", "agentic"],
        )
        assert set(experiment.variants["agentic"]) == set(RunSpec.model_fields)
        assert experiment.hash == grid_hash(experiment.variants, experiment.baseline)

    @for_each(
        ("change", "message"),
        [
            ({"hash": "0" * 64}, "was changed by hand"),
            ({"baseline": "other"}, "was changed by hand"),
            ({"variants": {}}, "is not an experiment's, or another version's (variants)"),
            ({"schema": 3}, "or another version's (schema)"),
            ({"variants": {"../../etc": {}}}, "'../../etc' is not a name of a variant"),
            ({"variants": {"/etc": {}}}, "'/etc' is not a name of a variant"),
        ],
    )
    def test_an_experiment_file_that_was_changed_is_refused(
        self, change: dict[str, Any], message: str, tmp_path: Path
    ) -> None:
        experiment_at(tmp_path / "e", grid(tmp_path, modes=["agentic"])).write()
        path = tmp_path / "e" / FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(RunDirectoryError) as caught:
            read_experiment(tmp_path / "e")
        assert message in str(caught.value)

    @for_each("text", ["", "{", "[]", "[" * 100_000, "\x00", "null"])
    def test_an_experiment_file_that_is_not_json_is_refused(
        self, text: str, tmp_path: Path
    ) -> None:
        (tmp_path / FILE).write_text(text)
        with pytest.raises(RunDirectoryError, match="is not an experiment's"):
            read_experiment(tmp_path)

    def test_what_a_crash_at_the_very_beginning_leaves_is_no_hindrance(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "e").mkdir()
        (tmp_path / "e" / f".{FILE}.draft").write_text("{")
        experiment_at(tmp_path / "e", grid(tmp_path, modes=["agentic"])).write()
        assert read_experiment(tmp_path / "e").variants

    def test_a_folder_with_something_else_is_left_alone(self, tmp_path: Path) -> None:
        made = grid(tmp_path, modes=["agentic"])
        for name, message in (
            ("run.json", "is a run, not an experiment"),
            ("mine", "exists and is"),
        ):
            place = tmp_path / name.partition(".")[0]
            place.mkdir()
            (place / name).write_text("{}")
            with pytest.raises(RunDirectoryError, match=message):
                experiment_at(place, made)


def of_lists(**given: Any) -> Grid:
    flags = given.pop("flags", {"benchmark": "fixture"})
    return factorial_grid(flags, where="made", say=as_flag, environ={}, flags=flags, **given)


def named(variant_grid: Grid) -> dict[str, tuple[str, int]]:
    return {
        variant.name: (variant.spec.mode, variant.spec.samples_per_problem)
        for variant in variant_grid.variants
    }


def test_without_flags_both_modes_play_the_recordings() -> None:
    variant_grid = of_lists(flags={})
    assert named(variant_grid) == {"single_shot": ("single_shot", 1), "agentic": ("agentic", 1)}
    assert variant_grid.auto_shots == {"single_shot"}
    assert {variant.spec.model for variant in variant_grid.variants} == {"replay:bundled"}


def test_every_combination_is_a_variant_and_single_shot_the_first() -> None:
    variant_grid = of_lists(models=["gpt-5-mini", "gpt-5"], modes=["agentic", "single_shot"])
    assert list(named(variant_grid)) == [
        "gpt-5-mini+single_shot",
        "gpt-5-mini+agentic",
        "gpt-5+single_shot",
        "gpt-5+agentic",
    ]


def test_shots_are_of_single_shot_alone() -> None:
    variant_grid = of_lists(shots="4", prompts=["default", "terse"])
    assert dict(named(variant_grid).values()) == {
        "single_shot": 4,
        "agentic": 1,
    }
    assert not variant_grid.auto_shots


def test_what_a_mode_does_not_use_is_not_varied_in_it() -> None:
    variant_grid = of_lists(vary=["max-turns=3,6", "temperature=0.5"])
    turns = sorted(
        (c.spec.mode, c.spec.max_turns, c.spec.temperature) for c in variant_grid.variants
    )
    assert turns == [("agentic", 3, 0.5), ("agentic", 6, 0.5), ("single_shot", 10, 0.5)]


@for_each(
    ("given", "message"),
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
        ({"vary": ["repair_rounds=3"]}, "reflexion or map_coder, and no variant has that"),
        ({"vary": ["max_turns=few"]}, "max_turns"),
        ({"modes": ["agentik"]}, "agentik"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        of_lists(**given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@for_each(
    ("keys", "variants", "places", "message"),
    [
        ({}, {"models": ["x"]}, {"config": Path("g.yaml")}, "-c brings .* --model does not"),
        ({"sample_size": 3}, {}, {"config": Path("g.yaml")}, "--sample-size does not go"),
        ({}, {"shots": "3"}, {"resume": Path("e")}, "--resume brings .* --shots does not"),
        ({}, {}, {"resume": Path("e"), "out": Path("f")}, "--out does not go"),
        ({}, {}, {"config": Path("g.yaml"), "resume": Path("e")}, "--resume does not go"),
    ],
)
def test_flags_that_another_source_of_settings_leaves_no_room_for_are_refused(
    keys: dict[str, Any], variants: dict[str, Any], places: dict[str, Path], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ExperimentRequest.of(keys, variants, Goal(), **places)
