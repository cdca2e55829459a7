"""The schemas are those of real output, are strict, and only ever grow."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from for_each import for_each
from program import harness
from schemas import schema_errors as _errors

from harness.cli.app import app
from harness.errors import UsageError
from harness.features.info.schema import OF_FILES, schema_of
from harness.features.observers.observer_events import RunStarted, SampleEnded
from harness.registry import COMMANDS, SCHEMA_NAMES
from harness.run.store.results import read_results

DOCS = Path(__file__).parents[3] / "docs"
Json = dict[str, Any]
ELSEWHERE = {"files": "info/test_fetch", "tuning": "tune", "tuning-estimate": "tune"}
"""Schemas whose outputs need a server: the tests that hold them against these."""
HERE = [name for name in SCHEMA_NAMES if name not in ELSEWHERE]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Json]]:
    """Real output of each kind."""
    folder = tmp_path_factory.mktemp("outputs")

    def told(*flags: str) -> Json:
        done = harness(folder, *flags, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    agentic = told("run", "--agentic-mode", "-n", "2", "--out", "a")
    single = told("run", "-n", "2", "--out", "b")
    nobody = ("-m", "x", "--base-url", "http://127.0.0.1:9/v1", "--price", "1,2")
    one = ("-b", "fixture", "--task", "dry-beds")
    echoed = {"task_id": "fixture/dry-beds", "solution": "print(input())"}
    (folder / "s.jsonl").write_text(json.dumps(echoed))
    experiment = ("experiment", "-n", "1", "--out", "c")
    run = folder / "a"
    results = list(read_results(run / "results.jsonl"))
    begun = RunStarted(
        run="a", model="m", mode="agentic", prompt="default", problems=2, samples=2, left=2
    )
    ended = [SampleEnded(run="a", sample=each.sample, result=each) for each in results]
    return {
        "summary": [agentic, single, json.loads((run / "summary.json").read_text())],
        "result": _lines(run / "results.jsonl"),
        "transcript": [line for path in run.glob("transcripts/*") for line in _lines(path)],
        "spec": [json.loads((run / "run.json").read_text())["spec"], {}],
        "comparison": [told("compare", "a", "b")],
        "estimate": [
            told("run", "-b", "fixture", *nobody, "--dry-run"),
            told("run", "-n", "1", "--dry-run"),
        ],
        "ranking": [told(*experiment)],
        "experiment-estimate": [told("experiment", "-n", "1", "--dry-run")],
        "runs": [told("ls", "."), told("ls", ".", "--trend")],
        "samples": [told("show", "a"), told("show", "b", "--by", "month", "--only", "solved")],
        "problems": [told("problems", "-n", "2"), told("problems", "dry-beds")],
        "machine": [told("doctor")],
        "providers": [told("models")],
        "model": [told("models", name) for name in ("gpt-5", "replay:b")],
        "prompts": [told("prompts", "list")],
        "grades": [told("grade", "-b", "fixture", "--solutions", "s.jsonl")],
        "verification": [told("verify", *one)],
        "times": [told("verify", "--time", *one)],
        "event": [json.loads(each.model_dump_json()) for each in (begun, *ended)],
    }


def _lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@for_each("name", HERE)
def test_real_output_is_valid(outputs: dict[str, list[Json]], name: str) -> None:
    assert outputs[name]
    assert [_errors(name, each) for each in outputs[name]] == [[] for _ in outputs[name]]


@for_each("name", sorted({*HERE} - {"spec", "transcript"}))
def test_every_output_says_its_version_and_another_one_is_not_valid(
    outputs: dict[str, list[Json]], name: str
) -> None:
    for each in outputs[name]:
        assert each["schema_version"] == (2 if name == "ranking" else 1)
        assert _errors(name, {**each, "schema_version": 3})
        assert _errors(name, {key: value for key, value in each.items() if key[:6] != "schema"})


def test_a_transcript_s_first_line_says_its_version(outputs: dict[str, list[Json]]) -> None:
    starts = [each for each in outputs["transcript"] if each["event"] == "sample_start"]
    assert len(starts) == 2
    assert all(each["schema"] == 3 for each in starts)
    assert _errors("transcript", {**starts[0], "schema": 9})


def _spoilt(thing: Json) -> Iterator[Json]:
    """It with one thing of another type: a text in the place of a number, and so on."""
    for key, value in thing.items():
        if isinstance(value, bool | int | float | str):
            yield {**thing, key: [] if isinstance(value, str) else "text"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HERE)
def test_what_has_another_type_is_not_valid(outputs: dict[str, list[Json]], name: str) -> None:
    spoilt = list(_spoilt(outputs[name][0]))
    assert spoilt
    # A limit of time is a number or a text; lists take one word.
    assert [each for each in spoilt if not _errors(name, each)] == []


def test_unknown_keys_are_valid_but_not_in_a_spec(outputs: dict[str, list[Json]]) -> None:
    for name in HERE:
        errors = _errors(name, {**outputs[name][0], "later": 1})
        assert bool(errors) == (name == "spec")


SPECS: list[tuple[Json, bool]] = [
    ({"mode": "agentic", "max_turns": 12, "filter_difficulty": ["medium", "hard"]}, True),
    ({"task": "dry-beds", "test_timeout": "reference*4"}, True),
    ({"test_timeout": 3.5, "rule": "tokens", "min_release_date": "2025-01-01"}, True),
    ({"max_turn": 12}, False),
    ({"max_turns": 0}, False),
    ({"sampling": "last"}, False),
]


@for_each(("spec", "valid"), SPECS)
def test_a_spec_is_what_a_yaml_file_may_say(spec: Json, valid: bool) -> None:
    assert (not _errors("spec", spec)) == valid


def test_the_documented_spec_is_one() -> None:
    blocks = (DOCS / "configuration.md").read_text().split("```yaml\n")[1:]
    (spec,) = [block.split("```")[0] for block in blocks if block.startswith("# harness.yaml")]
    assert not _errors("spec", yaml.safe_load(spec))


def test_an_unknown_schema_is_told_what_there_is() -> None:
    known = "known are result, transcript, spec, summary, estimate, comparison"
    with pytest.raises(UsageError, match=known):
        schema_of("results")


def test_the_command_prints_one(tmp_path: Path) -> None:
    done = harness(tmp_path, "schema", "result")
    assert json.loads(done.stdout) == schema_of("result")
    done = harness(tmp_path, "schema", "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no schema 'nothing'" in done.stderr


# What others may rely on: within version 1 a name here never goes, and what is required stays so.
PINNED = {
    "result": (
        "schema_version sample problem_id index title problem_hash platform difficulty tags "
        "release_date known_issues verdict public_passed public_total hidden_passed hidden_total "
        "tests code chosen_by extraction stop_reason model_calls tool_calls malformed_tool_calls "
        "nudges written usage cost seconds"
    ),
    "summary": (
        "schema_version problems planned graded ungraded pending pass_at_1 with_hidden "
        "without_known_issues mean_fraction passed_public overfit no_hidden by_difficulty "
        "by_platform verdicts isolation stop_reasons usage usage_unknown cost model_calls "
        "tool_calls malformed_tool_calls salvaged judged_again"
    ),
    "comparison": "schema_version baseline runs versus",
    "estimate": "schema_version requests least most cost prices_as_of",
}


@for_each("name", PINNED)
def test_what_others_rely_on_stays(name: str) -> None:
    schema = schema_of(name)
    names = set(PINNED[name].split())
    assert names <= schema["properties"].keys()
    assert names <= {*schema["required"]}


def test_events_of_observers_and_transcripts_stay() -> None:
    def kinds(name: str) -> set[str]:
        models = [each.get("properties", {}) for each in schema_of(name)["$defs"].values()]
        return {each["event"]["const"] for each in models if "event" in each}

    assert kinds("event") >= {
        *("run_started", "run_ended", "run_failed", "sample_started", "sample_ended"),
        *("sample_failed", "sample_put_off"),
    }
    assert kinds("transcript") >= {
        *("sample_start", "request", "response", "retry", "tool_result", "grade", "sample_end"),
    }


OUTPUTS = {
    "run": {"summary", "estimate"},
    "experiment": {"ranking", "experiment-estimate"},
    "experiment show": {"ranking"},
    "tune": {"tuning", "tuning-estimate"},
    "tune show": {"tuning"},
    "models": {"providers", "model"},
    "prompts list": {"prompts"},
    "compare": {"comparison"},
    "show": {"samples"},
    "ls": {"runs"},
    "problems": {"problems"},
    "fetch": {"files"},
    "verify": {"verification", "times"},
    "grade": {"grades", "summary"},
    "import": {"summary"},
    "doctor": {"machine"},
    "merge": {"summary"},
}
"""Commands with `--json`, and the schemas of what they print."""


def _with_json(command: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """The commands that take `--json`."""
    if any("--json" in each.opts for each in command.params):
        yield " ".join(words)
    inner = getattr(command, "commands", {})
    names = inner if words else [each.name for each in COMMANDS]
    for name in names:
        found = inner[name] if words else command.get_command(typer.Context(command), name)
        yield from _with_json(found, (*words, name))


def test_every_command_that_prints_json_has_a_schema_of_it() -> None:
    assert set(_with_json(typer.main.get_command(app))) == {*OUTPUTS}
    assert set().union(*OUTPUTS.values()) == {*SCHEMA_NAMES} - OF_FILES
