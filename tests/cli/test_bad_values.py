"""One clear line for a bad value, at every entry point alike."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from for_each import for_each

import harness
from harness.cli.app import app
from harness.errors import HarnessError
from harness.features.experiment.grid import read_grid
from harness.run.settings.spec import RunSpec, flag_of, read_spec
from harness.run.settings.yaml_file import read_yaml

Entry = Callable[[dict[str, Any], Path], object]


def command(name: str, *before: str) -> Entry:
    """A command that is given the values as flags."""

    def call(values: dict[str, Any], _: Path) -> object:
        given = [f"{flag_of(key)}={value}" for key, value in values.items()]
        flags = [
            word
            for each in given
            for word in (each.split(" ", 1) if each.startswith("--set ") else [each])
        ]
        return typer.main.get_command(app).main([name, *before, *flags], standalone_mode=False)

    return call


def from_yaml(values: dict[str, Any], folder: Path) -> object:
    (folder / "s.yaml").write_text(yaml.safe_dump(values))
    return read_spec(folder / "s.yaml", {})


def from_grid(values: dict[str, Any], folder: Path) -> object:
    (folder / "g.yaml").write_text(yaml.safe_dump({"model": "replay:bundled", **values}))
    return read_grid(folder / "g.yaml", {}, {})


def evaluated(values: dict[str, Any], _: Path) -> object:
    given: dict[str, Any] = {"benchmark": "fixture", **values}
    return harness.evaluate(lambda _: "", **given)


def loaded(values: dict[str, Any], _: Path) -> object:
    return harness.load_problems("fixture", **values)


def graded(values: dict[str, Any], _: Path) -> object:
    return harness.grade("fixture", {"two-sum": ""}, **values)


RUNS: dict[str, Entry] = {
    "run": command("run"),
    "yaml": from_yaml,
    "experiment": from_grid,
    "evaluate": evaluated,
}
SELECTS: dict[str, Entry] = {
    **RUNS,
    "problems": command("problems"),
    "verify": command("verify", "fixture"),
    "verify --time": command("verify", "fixture", "--time"),
    "load_problems": loaded,
    "grade()": graded,
}
JUDGES: dict[str, Entry] = {
    **RUNS,
    "grade": command("grade", "--problems=fixture", "--solutions=s.jsonl"),
    "verify": command("verify", "fixture"),
    "regrade": command("grade", "nowhere"),
    "grade()": graded,
}
TIMES: dict[str, Entry] = {**JUDGES, "verify --time": command("verify", "fixture", "--time")}
AT_LEAST_1 = "at least 1 (given: -1)"
CASES: list[tuple[dict[str, Entry], str, Any, str]] = [
    (SELECTS, "sample_size", -1, AT_LEAST_1),
    (SELECTS, "sample_size", 0, "at least 1 (given: 0)"),
    (RUNS, "samples_per_problem", -1, AT_LEAST_1),
    (RUNS, "samples_per_problem", 10**12, "at most 500000"),
    (RUNS, "concurrency", -1, AT_LEAST_1),
    (RUNS, "concurrency", 10**12, "at most 1000"),
    (JUDGES, "workers", 10**12, "at most 1000"),
    (TIMES, "memory", 10**12, "at most 1048576"),
    (TIMES, "test_timeout", 10**12, "give CPU seconds, more than 0, at most 604800"),
    (JUDGES, "workers", -1, AT_LEAST_1),
    (TIMES, "memory", 1, "at least 64 (given: 1)"),
    (TIMES, "test_timeout", 0, "give CPU seconds, more than 0, at most 604800"),
    (TIMES, "test_timeout", -1, "give CPU seconds, more than 0, at most 604800"),
    (JUDGES, "wall_timeout", -1, "more than 0 (given: -1"),
    (RUNS, "max_cost", -1, "more than 0 (given: -1"),
    (SELECTS, "task", "", "is empty; give a value, or leave it out"),
    (SELECTS, "filter_difficulty", "", "is empty; give a value, or leave it out"),
    (SELECTS, "filter_platform", " ", "is empty; give a value, or leave it out"),
    (SELECTS, "filter_tags", "", "is empty; give a value, or leave it out"),
    (RUNS, "prompt", "", "is empty; give a value, or leave it out"),
    (RUNS, "mode", "", "is empty; give a value, or leave it out"),
    (RUNS, "extract", " ", "is empty; give a value, or leave it out"),
    (TIMES, "rule", "", "is empty; give a value, or leave it out"),
    (RUNS, "benchmark", "fixture@main", "fixture is not a data set of the hub"),
    (RUNS, "benchmark", "livecodebench@v1", "revision follows the colon; give livecodebench:@v1"),
    (RUNS, "benchmark", "livecodebench:v1@", "ends at the @"),
    (RUNS, "benchmark", "mercury:eval@", "mercury:eval@ ends at the @"),
]
TABLE = [
    (entry, key, value, words)
    for entries, key, value, words in CASES
    for name, entry in entries.items()
    if not (key == "benchmark" and name in {"yaml", "experiment"})  # which load nothing
]


@for_each(("entry", "key", "value", "words"), TABLE)
def test_a_bad_value_is_refused_in_one_line(  # noqa: PLR0917 - a row of the table
    entry: Entry,
    key: str,
    value: Any,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODEL_ID", "replay:bundled")
    with pytest.raises(HarnessError) as caught:
        entry({key: value}, tmp_path)
    text = str(caught.value)
    assert words in text
    assert "\n" not in text
    assert caught.value.exit_code == 2


def test_seconds_are_asked_for_where_a_reference_cannot_be_given(tmp_path: Path) -> None:
    for flags in ((), ("--time",)):
        with pytest.raises(HarnessError) as caught:
            command("verify", "fixture", *flags)({"test_timeout": "0"}, tmp_path)
        assert "reference" not in str(caught.value)


@for_each(
    ("text", "words"),
    [
        ("seed: 1\nmode: agentic\nseed: 2\n", "seed is given twice, in lines 1 and 3"),
        ("max-turns: 1\nmax_turns: 2\n", "max_turns is given twice, in lines 1 and 2"),
        ("price: {input: 1, output: 2, input: 3}\n", "input is given twice, in lines 1 and 1"),
        ("variants:\n- mode: agentic\n- mode: a\n  mode: b\n", "mode is given twice, in lines 3"),
    ],
)
def test_a_key_that_is_given_twice_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    for read in (read_yaml, lambda path: read_spec(path, {}), lambda path: read_grid(path, {}, {})):
        with pytest.raises(HarnessError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert words in str(caught.value)


def test_a_yaml_alias_is_not_a_repeated_key(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("variants:\n- &one {mode: agentic}\n- {<<: *one, prompt: terse}\n- *one\n")
    assert len(read_yaml(path)["variants"]) == 3


TEXTS = [
    key
    for key, field in RunSpec.model_fields.items()
    if "str" in str(field.annotation) or "Literal" in str(field.annotation)
]


@for_each(
    ("key", "value"),
    [each for each in product(TEXTS, ["", " "]) if each != ("stop", " ")],  # an answer may end so
)
def test_an_empty_text_in_a_spec_is_refused(key: str, value: str) -> None:
    with pytest.raises(HarnessError) as caught:
        read_spec(None, {key: value})
    assert str(caught.value).startswith(flag_of(key))
    assert "is empty; give a value, or leave it out" in str(caught.value)
