"""Every setting, in every mode, at every entry point: used where it is declared, else refused."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from for_each import for_each

import harness
from harness.agent.strategies.modes import built_in_modes
from harness.cli.app import app
from harness.errors import RunDirectoryError, UsageError
from harness.features.evaluate.evaluate_arguments import EvaluateArguments
from harness.features.experiment.grid import read_grid
from harness.registry import MODES
from harness.run.settings.keys import GradeKeys, JudgingKeys, RunKeys, SelectionKeys
from harness.run.settings.setting import Setting
from harness.run.settings.spec import (
    COMPARED,
    GROWING,
    RESUMABLE,
    SETTINGS,
    RunSpec,
    flag_of,
    known_keys,
    read_spec,
    refuse_ineffective,
    spec_of,
    users_of,
    uses,
)

VALUES: dict[str, tuple[Any, Any]] = {
    "context": ("grow", "fresh"),
    "tool_protocol": ("native", "text"),
    "stop_on_pass": (False, True),
    "price": ({"input": 1, "output": 2}, {"input": 2, "output": 3}),
    "base_url": ("http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"),
    "test_timeout": (3, 4),
    "time_factor": (2, 3),
    "cpp_flags": ("-O1", "-O3"),
    "language": ("cpp", "python"),
    "timing": ("mercury", "paired"),
    "executor": ("ray", "local"),
    "rule": ("tokens", "lcb"),
    "memory": (512, 1024),
    "wall_timeout": (30, 40),
    "ray_address": ("auto", "127.0.0.1:1"),
    "agent_memory": (512, 1024),
    "top_p": (0.5, 0.6),
    "min_p": (0.5, 0.6),
    "frequency_penalty": (0.5, 0.6),
    "presence_penalty": (0.5, 0.6),
    "extra_body": ({"a": 1}, {"a": 2}),
    "api": ("chat", "messages"),
    "api_key_env": ("A_KEY", "B_KEY"),
    "header": (["X-A: 1"], ["X-B: 2"]),
    "impossible": (0.2, 0.4),
    "impossible_kind": ("conflicting", "oneoff"),
    "sampling_preset": ("livecodebench", None),
}
NAMED = {"agent_command"}  # names a mode by itself
AGENT = {"external": {"agent_command": "agent"}}
OF_MODES = [key for key, each in SETTINGS.items() if each.heeded_by != "all" and key not in NAMED]
UNUSED = [(key, mode) for key in OF_MODES for mode in MODES if not uses(mode, key)]
FIRST_UNUSED = dict(reversed(UNUSED))
USED = [(key, mode) for key in OF_MODES for mode in MODES if uses(mode, key)]
OF_PROGRAMS = [key for key, setting in SETTINGS.items() if setting.needs != "anything"]


def values_of(key: str) -> tuple[Any, Any]:
    """Two values of a key."""
    if key in VALUES:
        return VALUES[key]
    kind = str(RunSpec.model_fields[key].annotation)
    if "bool" in kind:
        return (True, False)
    if "int" in kind or "float" in kind:
        return (3, 4)
    return (["x"], ["y"]) if "tuple" in kind else ("x", "y")


def from_flags(values: dict[str, Any], _: Path) -> object:
    return read_spec(None, values)


def from_command(values: dict[str, Any], _: Path) -> object:
    command = typer.main.get_command(app)
    return command.main(["run", "-m", "replay:nowhere", *words(values)], standalone_mode=False)


def from_yaml(values: dict[str, Any], folder: Path) -> object:
    path = folder / "s.yaml"
    path.write_text(yaml.safe_dump(values))
    return read_spec(path, {})


def from_cell(values: dict[str, Any], folder: Path) -> object:
    path = folder / "g.yaml"
    path.write_text(yaml.safe_dump({"model": "replay:bundled", "variants": [values]}))
    return read_grid(path, {}, {})


def from_python(values: dict[str, Any], _: Path) -> object:
    keys = {key: value for key, value in values.items() if value is not None}
    model = None if keys["mode"] in {"external", "mcp"} else "replay:bundled"
    return EvaluateArguments.of(None, None, None, "fixture", model, False, keys)  # type: ignore[arg-type]


ENTRIES: tuple[Callable[[dict[str, Any], Path], object], ...] = (
    from_flags,
    from_command,
    from_yaml,
    from_cell,
    from_python,
)


def words(values: dict[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if SETTINGS[key].key_only:
            yield from ("--set", f"{key}={value[0] if isinstance(value, list) else value}")
            continue
        yield flag_of(key, value)
        if key == "price":
            yield f"{value['input']},{value['output']}"
        elif not isinstance(value, bool):
            yield str(value[0] if isinstance(value, list) else value)


@for_each(("key", "mode"), UNUSED)
def test_a_setting_that_the_mode_does_not_use_is_refused(
    key: str, mode: str, tmp_path: Path
) -> None:
    """Every entry refuses each setting in one mode, and each mode's settings are refused."""
    values = {"mode": mode, **AGENT.get(mode, {}), key: values_of(key)[0]}
    for entry in ENTRIES if FIRST_UNUSED[key] == mode else ENTRIES[:1]:
        with pytest.raises(UsageError) as caught:
            entry(values, tmp_path)
        text = str(caught.value)
        assert "\n" not in text, entry
        assert key in text.replace("-", "_") or "`harness mcp` begins" in text, entry


@for_each(("key", "mode"), USED)
def test_a_setting_that_the_mode_uses_is_taken(key: str, mode: str, tmp_path: Path) -> None:
    values = {"mode": mode, **AGENT.get(mode, {}), key: values_of(key)[0]}
    assert isinstance(from_flags(values, tmp_path), RunSpec)
    if mode == users_of(key)[0]:
        assert isinstance(from_yaml(values, tmp_path), RunSpec)


LOOP: dict[str, Any] = {"mode": "agentic"}
EFFECT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "run_tests": ({"run_tests": False}, {}),
    "efficiency": ({"efficiency": True, "run_tests": False}, {"run_tests": True}),
    "timing": ({"timing": "mercury"}, {"efficiency": True}),
    "cpp_flags": ({"cpp_flags": "-O1"}, {"language": "cpp"}),
    "batch": ({"batch": True}, {}),
    "impossible_kind": (LOOP | {"impossible_kind": "conflicting"}, {"impossible": 0.5}),
    "impossible_exit": (LOOP | {"impossible_exit": True}, {"impossible": 0.5}),
}
"""Settings that need others to have an effect, and those others; the usual mode will do."""


@for_each("key", [key for key, each in SETTINGS.items() if each.otherwise])
def test_a_setting_without_effect_beside_the_others_is_refused(key: str) -> None:
    values, others = EFFECT[key]
    refuse_ineffective(RunSpec(**(values | others)))
    with pytest.raises(UsageError) as caught:
        refuse_ineffective(RunSpec(**(values if others else values | LOOP)))
    text = SETTINGS[key].otherwise.format(mode="agentic")
    assert str(caught.value) == text
    assert flag_of(key, values[key]) in text


@for_each("key", OF_MODES)
def test_a_value_that_is_the_default_is_refused_as_well_unless_it_says_no(key: str) -> None:
    mode = next((mode for mode in MODES if not uses(mode, key)), None)
    default = RunSpec.model_fields[key].get_default()
    if mode is None:
        return
    given = {"mode": mode, **AGENT.get(mode, {}), key: default}
    if not default:
        assert spec_of(given, "here")
        return
    with pytest.raises(UsageError, match=key):
        spec_of(given, "here")


@pytest.mark.thorough
@pytest.mark.parametrize("key", OF_MODES)
def test_a_grid_over_a_setting_has_each_distinct_cell_once(key: str, tmp_path: Path) -> None:
    modes = [mode for mode in MODES if mode not in {"external", "mcp"}]
    if key in {"price", "prices", "max_cost", "max_tokens_total", "api_key_env", "header"}:
        return  # no variant of its own
    path = tmp_path / "g.yaml"
    for first, second in itertools.permutations(modes, 2):
        values = {"model": "replay:bundled", "modes": [first, second]}
        path.write_text(yaml.safe_dump({**values, "vary": {key: list(values_of(key))}}))
        using = [mode for mode in (first, second) if uses(mode, key)]
        if not using:
            with pytest.raises(UsageError, match="no variant has that"):
                read_grid(path, {}, {})
            continue
        variants = read_grid(path, {}, {}).variants
        assert len(variants) == 2 * len(using) + (2 - len(using))


@for_each("key", ["best_of", "repair_rounds", "test_answers", "plans"])
def test_none_and_the_default_are_one_variant(key: str, tmp_path: Path) -> None:
    mode = users_of(key)[0]
    path = tmp_path / "g.yaml"
    both = {key: [None, SETTINGS[key].usual, 7]}
    path.write_text(yaml.safe_dump({"model": "replay:bundled", "mode": mode, "vary": both}))
    assert len(read_grid(path, {}, {}).variants) == 2


ANSWERS = {
    "id": "sample_1",
    "question_id": "9002",
    "contest_id": "biweekly-contest-90",
    "contest_date": "2023-07-08T00:00:00",
    "difficulty": "hard",
    "function_name": "twice",
    "code": "def twice(x):\n    return x + x\n",
    "problem_id": 12,
    "numsteps": 4,
    "input": "twice(x = 3)",
    "output": "6",
}


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "executions.jsonl"
    path.write_text(json.dumps(ANSWERS) + "\n")
    return f"livecodebench:{path}"


def graded(answers: str, keys: dict[str, Any], _: Path) -> object:
    return harness.grade(answers, {"sample_1": "6"}, **keys)


def scored(answers: str, keys: dict[str, Any], _: Path) -> object:
    with harness.Grader(answers, **keys) as grader:
        return grader.score(["sample_1"], ["6"])


def evaluated(answers: str, keys: dict[str, Any], _: Path) -> object:
    return harness.evaluate(lambda _: "6", benchmark=answers, **keys)


def run_by_command(answers: str, keys: dict[str, Any], folder: Path) -> object:
    flags = ["-b", answers, "-m", "replay:bundled", *words(keys), "--out", str(folder / "r")]
    return typer.main.get_command(app).main(["run", *flags], standalone_mode=False)


def graded_by_command(answers: str, keys: dict[str, Any], folder: Path) -> object:
    (folder / "s.jsonl").write_text('{"problem_id": "sample_1", "answer": "6"}\n')
    flags = ["--problems", answers, "--solutions", str(folder / "s.jsonl"), *words(keys)]
    return typer.main.get_command(app).main(["grade", *flags], standalone_mode=False)


OF_KINDS: tuple[Callable[[str, dict[str, Any], Path], object], ...] = (
    graded,
    scored,
    evaluated,
    run_by_command,
    graded_by_command,
)


@for_each("entry", OF_KINDS)
@for_each("key", OF_PROGRAMS)
def test_what_only_programs_need_is_refused_for_answers(
    key: str, entry: Callable[..., object], answers: str, tmp_path: Path
) -> None:
    keys: dict[str, Any] = {key: values_of(key)[0]}
    if key == "ray_address":
        keys["executor"] = "ray"
    if key == "timing":
        keys["efficiency"] = True
    if entry is scored and key in {"efficiency", "timing"}:
        return  # a Grader times nothing
    with pytest.raises(UsageError) as caught:
        entry(answers, keys, tmp_path)
    text = str(caught.value)
    assert "ask for an answer, which is compared and not run" in text
    assert any(each in text.replace("-", "_") for each in keys)


def test_value_questions_are_graded_without_settings_of_programs(
    answers: str, tmp_path: Path
) -> None:
    assert graded(answers, {}, tmp_path)
    assert scored(answers, {}, tmp_path) == [1.0]
    assert evaluated(answers, {"workers": None}, tmp_path)


def test_a_regrade_refuses_what_answers_do_not_need(answers: str, tmp_path: Path) -> None:
    harness.evaluate(lambda _: "6", benchmark=answers, out=tmp_path / "r")
    for key in ("rule", "memory", "workers"):
        command = ["grade", str(tmp_path / "r"), *words({key: values_of(key)[0]})]
        with pytest.raises(UsageError, match=f"--{key}: .*ask for an answer"):
            typer.main.get_command(app).main(command, standalone_mode=False)


def test_an_older_run_may_have_stored_what_its_mode_does_not_use() -> None:
    stored = RunSpec(model="replay:bundled").model_dump(mode="json")
    stored |= {"max_turns": 4, "tool_protocol": "text"}
    assert known_keys(stored) == {"model": "replay:bundled"}
    assert read_spec(None, known_keys(stored)).max_turns == 10


def test_a_setting_that_is_gone_matters_only_to_a_run_that_had_it() -> None:
    stored = RunSpec(model="replay:bundled").model_dump(mode="json")
    assert known_keys({**stored, "repair_from": None}) == {"model": "replay:bundled"}
    with pytest.raises(RunDirectoryError, match="'repair_from' that this version does not know"):
        known_keys({**stored, "repair_from": "runs/first"})


def test_the_lists_of_keys_are_those_declared() -> None:
    assert {"concurrency", "workers", "max_cost", "base_url"} <= RESUMABLE
    assert {"task", "sample_size", "samples_per_problem"} <= GROWING
    assert not RESUMABLE & GROWING
    assert {"max_tokens", "extract", "rule", "all_tests", "tool"} <= set(COMPARED)
    assert not {"concurrency", "task", "max_cost", "price"} & set(COMPARED)


def test_each_option_of_a_mode_is_a_setting_and_each_such_setting_is_of_a_mode() -> None:
    named = {key for mode in built_in_modes() for key in mode.options}
    options = {key for key, setting in SETTINGS.items() if setting.heeded_by == "option"}
    assert named == options
    assert all(isinstance(setting, Setting) for setting in SETTINGS.values())


def test_the_keys_of_python_calls_are_those_of_a_spec() -> None:
    own = {"benchmark", "model", "efficiency"}
    assert set(RunKeys.__annotations__) | own == set(RunSpec.model_fields)
    selection = GROWING - {"samples_per_problem"}
    assert set(SelectionKeys.__annotations__) == selection
    assert set(GradeKeys.__annotations__) - selection - {"timing", "cpp_flags"} == set(
        JudgingKeys.__annotations__
    )
    judging = {key for key, s in SETTINGS.items() if s.needs != "anything"} - {"efficiency"}
    sandbox = {"require_isolation", "unsafe_no_sandbox"}
    assert set(JudgingKeys.__annotations__) == judging - {"timing"} | sandbox
