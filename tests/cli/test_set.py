"""`harness run --set KEY=VALUE`: below flags, above the file, and checked like both."""

import json
from pathlib import Path
from typing import Any

import pytest
from program import Done, harness
from typer.testing import CliRunner
from written import link_written

from harness.cli.app import app
from harness.cli.settings_flags import JUDGING, REQUESTS, complete_set, with_set
from harness.errors import UsageError
from harness.features.tune.command import KEYS as KEYS_OF_TUNE
from harness.run.settings.spec import SETTINGS, RunSpec, default_of, read_spec, stored, uses

KEY_ONLY = [key for key, setting in SETTINGS.items() if setting.key_only]
MODES = ("single_shot", "agentic", "self_repair", "codet", "map_coder")


def line(done: Done) -> str:
    assert done.returncode == 2, done.stderr
    (only,) = done.stderr.strip().splitlines()
    return only


@pytest.fixture
def with_spec(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text("samples_per_problem: 2\nconcurrency: 3\nworkers: 1\n")
    return tmp_path


def spec_in(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())["spec"]


def test_flags_win_over_set_and_set_over_the_file(with_spec: Path) -> None:
    played = link_written(with_spec)
    sets = ("--set", "concurrency=4", "--set", "samples-per-problem=3")
    done = harness(
        *(with_spec, "run", *played, "-n", "1", "-c", "spec.yaml", *sets, "-k", "1", "--out", "r")
    )
    assert done.returncode == 0, done.stderr
    spec = spec_in(with_spec / "r")
    assert [spec[key] for key in ("samples_per_problem", "concurrency", "workers")] == [1, 4, 1]


def test_the_mode_may_be_set_and_the_flag_for_it_wins(with_spec: Path) -> None:
    sets = ("--set", "mode=agentic", "--set", "max_turns=3")
    done = harness(with_spec, "run", *sets, "-n", "1", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert (spec_in(with_spec / "r")["mode"], spec_in(with_spec / "r")["max_turns"]) == (
        "agentic",
        3,
    )
    done = harness(with_spec, "run", "--set", "mode=self_repair", "--agentic-mode", "--dry-run")
    assert (done.returncode, "agentic: " in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["max_turn=3"], "--set: unknown key 'max_turn'; did you mean 'max_turns'?"),
        (["resume=r"], "--set: unknown key 'resume'; it is a flag of `harness run`, and no key"),
        (["=3"], "--set =3: give KEY=VALUE, as max_turns=5"),
        (["max_turns"], "--set max_turns: give max_turns=VALUE. Most model requests per sample."),
        (["shard="], "--set shard=: give shard=I/N. Run only the I-th of N equal parts"),
        (["max_turns=3", "max-turns=4"], "--set max_turns is given twice"),
        (["max_turns=3"], "--set max_turns goes with --mode agentic, not single_shot"),
        (["stop_on_pass=no"], "--set stop_on_pass goes with --mode agentic, not single_shot"),
        (["samples_per_problem=x"], "--set samples_per_problem: must be a whole number"),
        (["price=cheap"], "--set price 'cheap': give dollars per million tokens, as 2.5,10"),
    ],
)
def test_what_a_flag_would_refuse_is_refused(given: list[str], told: str, with_spec: Path) -> None:
    words = [word for each in given for word in ("--set", each)]
    assert told in line(harness(with_spec, "run", *words))


def test_a_resumed_run_takes_what_may_change_and_names_what_may_not(with_spec: Path) -> None:
    assert harness(with_spec, "run", "-n", "1", "--out", "r").returncode == 0
    done = harness(with_spec, "run", "--resume", "r", "--set", "language=cpp")
    assert "--set language cannot be changed on --resume" in line(done)
    done = harness(with_spec, "run", "--resume", "r", "--set", "concurrency=2")
    assert done.returncode == 0, done.stderr


def test_any_value_that_a_spec_has_can_be_set() -> None:
    texts = ["filter_difficulty=easy, hard", "filter_tags=dp", "filter_tags=greedy", "memory=512"]
    texts += ["price=1,2", "skip_bad_rows=true", "temperature=0.5", 'extra_body={"a": "b=c"}']
    spec = stored(read_spec(None, with_set({}, texts)))
    assert spec["filter_difficulty"] == ["easy", "hard"]
    assert spec["filter_tags"] == ["dp", "greedy"]
    assert (spec["memory"], spec["temperature"], spec["skip_bad_rows"]) == (512, 0.5, True)
    assert (spec["price"]["input"], spec["extra_body"]) == (1.0, {"a": "b=c"})
    with pytest.raises(UsageError, match="unknown key"):
        with_set({}, ["nosuch=3"])


COMMANDS = {  # those with settings that have no flag
    "run": KEY_ONLY,
    "tune": [key for key in KEY_ONLY if key in KEYS_OF_TUNE],
    "experiment": KEY_ONLY,
    "models": [key for key in KEY_ONLY if key in REQUESTS],
    "grade": [key for key in KEY_ONLY if key in {*JUDGING, "cpp_flags", "timing", "skip_bad_rows"}],
    "verify": [key for key in KEY_ONLY if key in {*JUDGING, "timing", "skip_bad_rows"}],
    "serve": [key for key in KEY_ONLY if key in {*JUDGING, "cpp_flags", "skip_bad_rows"}],
    "import": [key for key in KEY_ONLY if key in {*JUDGING, "cpp_flags", "skip_bad_rows"}],
    "problems": ["skip_bad_rows"],
    "mcp": ["run_code_tool", "max_tool_calls", "sample_wall_timeout"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_flag_that_became_a_key_names_the_key(command: str) -> None:
    for key in COMMANDS[command]:
        plain = isinstance(default_of(key), bool)
        flag = f"--{'no-' if default_of(key) is True else ''}{key.replace('_', '-')}"
        value = str(not default_of(key)).lower() if plain else "..."
        asked = CliRunner().invoke(app, [command, flag, *([] if plain else ["x"])])
        assert isinstance(asked.exception, UsageError), key
        assert str(asked.exception) == f"{flag} is a key now: --set {key}={value}"


def test_a_flag_that_became_a_key_ends_the_program_with_one_line(with_spec: Path) -> None:
    told = line(harness(with_spec, "run", "--ray-address", "auto"))
    assert told == "harness: --ray-address is a key now: --set ray_address=..."


VALUES = {
    "sampling_preset": ("livecodebench", None),
    "prices": ("bundled", "bundled"),
    "service_tier": ("flex", "flex"),
    "stop": ("END", ["END"]),
    "extract": ("lcb", "lcb"),
    "impossible": ("0.5", 0.5),
    "impossible_kind": ("conflicting", "conflicting"),
    "cpp_flags": ("-O2", "-O2"),
    "executor": ("ray", "ray"),
    "ray_address": ("auto", "auto"),
    "timing": ("mercury", "mercury"),
    "min_p": ("0.5", 0.5),
    "shard": ("1/2", "1/2"),
}
"""Texts, and what they are in a spec, where neither a yes nor 3 is a value."""
BESIDE = {
    "cpp_flags": {"language": "cpp"},
    "ray_address": {"executor": "ray"},
    "timing": {"efficiency": True},
}
"""Settings that a key goes with."""


@pytest.mark.parametrize("key", KEY_ONLY)
def test_each_key_without_a_flag_is_set(key: str) -> None:
    plain = isinstance(default_of(key), bool)
    text, value = VALUES.get(key, ("no" if default_of(key) else "yes", not default_of(key)))
    text, value = (text, value) if plain or key in VALUES else ("3", 3)
    if key in {"frequency_penalty", "presence_penalty"}:
        text, value = "1", 1
    if key == "agent_memory":
        text, value = "512", 512
    mode = next((mode for mode in MODES if uses(mode, key)), "external")
    settings = {"mode": mode, **BESIDE.get(key, {})}
    if mode == "external":
        settings["agent_command"] = "agent"
    spec = stored(read_spec(None, with_set(settings, [f"{key}={text}"])))
    assert spec[key] == value
    if key == "sampling_preset":
        assert (spec["temperature"], spec["samples_per_problem"]) == (0.2, 10)


def test_a_command_refuses_a_key_that_it_does_not_heed(with_spec: Path) -> None:
    done = harness(with_spec, "problems", "--set", "max_turns=3")
    told = line(done)
    assert "--set max_turns: this command has no such key; it may have the flag --max-turns" in told
    done = harness(with_spec, "grade", "r", "--set", "timing=mercury")
    assert "--set timing goes with a file of solutions, not with a run" in line(done)
    done = harness(with_spec, "models", "--set", "top_k=3")
    assert "--set top_k is about one model; name it: harness models NAME --set top_k" in line(done)


def test_keys_and_their_values_are_completed() -> None:
    assert complete_set("max_tur") == ["max_turns="]
    assert len(complete_set("")) == len(RunSpec.model_fields)
    assert complete_set("mode=a") == ["mode=agentic"]
    assert complete_set("rule=t") == ["rule=tokens"]
    assert complete_set("language=") == ["language=python", "language=cpp"]
    assert complete_set("batch=t") == ["batch=true"]
    assert complete_set("nosuch=t") == []
    assert complete_set("", ["plans", "repeats"]) == ["plans=", "repeats="]
