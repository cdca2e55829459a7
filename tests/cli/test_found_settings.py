"""Settings that are found in files and the environment: their order, and what is passed over."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from program import Done, harness
from written import link_written

from harness.run.settings.found import found_settings
from harness.run.settings.spec import RunSpec

DRY = ("run", "-m", "gpt-5", "-b", "fixture", "-n", "1", "--dry-run")
EVERYWHERE = {
    "harness.yaml": "max-turns: 1\n",
    "pyproject.toml": "[tool.harness]\nmax_turns = 2\n",
    ".env": "HARNESS_MAX_TURNS=3\n",
    "spec.yaml": "max_turns: 5\n",
}


@pytest.fixture
def in_repository(tmp_path: Path) -> Path:
    """A working folder in a repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (
            folder / {"env": ".env", "toml": "pyproject.toml", "yaml": "harness.yaml"}[name]
        ).write_text(text)


def settings(done: Done) -> dict[str, Any]:
    """What a dry run says of the settings, by key: the value and its origin."""
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["settings"]
    return {
        key: (None if each["passed_over"] else each["value"], each["origin"])
        for key, each in found.items()
    }


def line(done: Done) -> str:
    assert done.returncode == 2, done.stderr
    (only,) = done.stderr.strip().splitlines()
    return only


def spec_in(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())["spec"]


@pytest.mark.parametrize(
    ("gone", "value", "origin"),
    [
        (0, 7, "--max-turns"),
        (1, 6, "--set max_turns"),
        (2, 5, "spec.yaml"),
        (3, 4, "HARNESS_MAX_TURNS"),
        (4, 3, ".env:1: HARNESS_MAX_TURNS"),
        (5, 1, "harness.yaml:1"),
        (6, 2, "pyproject.toml:2"),
    ],
)
def test_each_source_wins_over_those_before_it(
    gone: int, value: int, origin: str, in_repository: Path
) -> None:
    """The sources are taken away from the strongest on, and the next one counts."""
    for name, text in EVERYWHERE.items():
        (in_repository / name).write_text(text)
    flags = [("--max-turns", "7"), ("--set", "max_turns=6"), ("-c", "spec.yaml")][gone:]
    env = {"HARNESS_MAX_TURNS": "4"} if gone <= 3 else {}
    for name in [".env", "harness.yaml", "pyproject.toml"][: max(0, gone - 4)]:
        (in_repository / name).unlink()
    words = [word for flag in flags for word in flag]
    done = harness(in_repository, *DRY, "--agentic-mode", "--json", *words, **env)
    assert settings(done)["max_turns"] == (value, origin)


def test_the_nearest_file_counts_up_to_the_repository(in_repository: Path) -> None:
    outside = in_repository.parent.parent / "harness.yaml"
    outside.write_text("nosuch: 1\n")
    try:
        assert "concurrency" not in settings(harness(in_repository, *DRY, "--json"))
        write(in_repository.parent, yaml="concurrency: 3\n", env="HARNESS_WORKERS=2\n")
        write(in_repository, toml="[project]\nname = 'harness'\n")
        found = settings(harness(in_repository, *DRY, "--json"))
        assert found["concurrency"] == (3, "../harness.yaml:1")
        assert found["workers"] == (2, "../.env:1: HARNESS_WORKERS")
        write(in_repository, toml="[project]\nname = 'x'\n\n[tool.harness]\nconcurrency = 4\n")
        assert settings(harness(in_repository, *DRY, "--json"))["concurrency"] == (
            4,
            "pyproject.toml:5",
        )
    finally:
        outside.unlink()


def test_the_search_ends_at_the_home_folder(in_repository: Path) -> None:
    write(in_repository.parent, yaml="concurrency: 3\n")
    assert "concurrency" in settings(
        harness(in_repository, *DRY, "--json", HOME=str(in_repository.parent))
    )
    assert "concurrency" not in settings(
        harness(in_repository, *DRY, "--json", HOME=str(in_repository))
    )


def test_a_key_of_the_provider_may_stand_in_a_dotenv_above(in_repository: Path) -> None:
    write(in_repository.parent, env="\n\nOPENAI_API_KEY=sk-planted\n")
    done = harness(in_repository, "models", "gpt-5", "--json")
    assert json.loads(done.stdout)["key"] == {"variable": "OPENAI_API_KEY", "where": "../.env"}


def test_a_mode_passes_over_what_was_found_and_refuses_what_was_given(in_repository: Path) -> None:
    write(in_repository, yaml="max_turns: 5\nconcurrency: 3\nrun-tests: false\n")
    found = settings(harness(in_repository, *DRY, "--json"))
    assert found["max_turns"] == (None, "harness.yaml:1")
    assert found["concurrency"] == (3, "harness.yaml:2")
    assert found["run_tests"] == (False, "harness.yaml:3")
    found = settings(harness(in_repository, *DRY, "--json", "--agentic-mode"))
    assert found["max_turns"] == (5, "harness.yaml:1")
    assert found["run_tests"] == (None, "harness.yaml:3")
    (in_repository / "spec.yaml").write_text("max_turns: 5\n")
    for given in (["--max-turns", "5"], ["--set", "max_turns=5"], ["-c", "spec.yaml"]):
        assert "goes with --mode agentic, not single_shot" in line(
            harness(in_repository, *DRY, *given)
        )


def test_a_recording_passes_over_what_requests_would_ask(in_repository: Path) -> None:
    """The run that is left has none of it: it goes on without the file, and is compared without."""
    text = "temperature: 0.2\nbase_url: http://127.0.0.1:9/v1\nsampling_preset: livecodebench\n"
    write(
        in_repository, yaml=f"{text}batch: true\nmax_cost: 5\nimpossible_exit: true\nworkers: 1\n"
    )
    played = link_written(in_repository)
    done = harness(in_repository, "run", *played, "-n", "1", "-k", "1", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == ("settings from harness.yaml: workers")
    spec = spec_in(in_repository / "r")
    assert (spec["temperature"], spec["base_url"], spec["batch"]) == (None, None, False)
    assert (spec["workers"], spec["max_cost"], spec["top_p"]) == (1, None, None)
    write(in_repository, yaml="nosuch: 1\n")
    done = harness(in_repository, "run", "--resume", "r", HARNESS_WORKERS="none")
    assert done.returncode == 0, done.stderr
    assert "settings from" not in done.stderr


def test_the_address_that_keys_are_sent_to_is_told(in_repository: Path) -> None:
    write(in_repository, yaml="base_url: http://me:secret@127.0.0.1:9/v1\n")
    done = harness(in_repository, *DRY, HARNESS_CONCURRENCY="2", HARNESS_HEADER="X-Key: planted")
    first = done.stderr.splitlines()[0]
    assert first == (
        "settings from harness.yaml: base_url http://127.0.0.1:9/v1; "
        "from the environment: concurrency, header"
    )
    assert "http://127.0.0.1:9/v1 (harness.yaml:1)" in done.stdout
    assert "X-Key" in done.stdout
    for secret in ("planted", "secret"):
        assert secret not in done.stdout + done.stderr


def test_a_found_setting_is_named_where_a_run_cannot_be_prepared(in_repository: Path) -> None:
    write(in_repository, yaml="max_cost: 5\n")
    done = harness(
        in_repository, "run", "-m", "x", "--base-url", "http://127.0.0.1:9", "-b", "fixture"
    )
    assert done.returncode == 2
    first, second = done.stderr.strip().splitlines()
    assert first == "settings from harness.yaml: max_cost"
    assert "--max-cost cannot be kept" in second


def test_names_that_are_no_keys_are_passed_over(in_repository: Path) -> None:
    write(
        in_repository, env="HARNESS_NOSUCH=1\nHARNESS_TEST_DATA=x\nHARNESS_MODE=\nHARNESS_SEED=4\n"
    )
    env = {"HARNESS_SERVE_TOKEN": "x", "HARNESS_MAX_TURN": "x", "HARNESS_MODEL": " "}
    found = settings(harness(in_repository, *DRY, "--json", HARNESS_SEED="", **env))
    assert found.keys() == {"benchmark", "model", "sample_size"}


def test_the_task_of_an_agent_is_no_prompt_set() -> None:
    told = {"HARNESS_PROMPT": "Solve it.", "HARNESS_SEED": "1"}
    assert found_settings(told, RunSpec.model_fields)["prompt"] == "Solve it."
    told["HARNESS_MCP_CONFIG"] = "mcp.json"
    assert found_settings(told, RunSpec.model_fields) == {"seed": "1"}


def test_texts_of_the_environment_are_read_as_those_of_flags(in_repository: Path) -> None:
    env = {"HARNESS_FILTER_DIFFICULTY": "easy, hard", "HARNESS_PRICE": "1,2", "HARNESS_TASK": "x"}
    env |= {"HARNESS_EXCLUDE_KNOWN_ISSUES": "true", "HARNESS_EXTRA_BODY": '{"a": 1}'}
    found = found_settings(env, RunSpec.model_fields)
    assert found["filter_difficulty"] == ["easy", "hard"]
    assert found["price"] == {"input": 1.0, "output": 2.0, "cached_input": None}
    done = harness(in_repository, *DRY, HARNESS_PRICE="cheap")
    assert "HARNESS_PRICE 'cheap': give dollars" in line(done)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "yaml",
            "seed: 1\n\nmax_turn: 3\n",
            "harness.yaml:3: unknown key 'max_turn'; did you mean",
        ),
        ("yaml", "config: x.yaml\n", "harness.yaml:1: unknown key 'config'; it is a flag"),
        ("yaml", "seed: 1\nseed: 2\n", "harness.yaml: seed is given twice, in lines 1 and 2"),
        ("yaml", "seed: [\n", "harness.yaml: line 2: not valid YAML"),
        ("yaml", "- seed\n", "harness.yaml: keys and values are expected"),
        ("yaml", "# x\n'max-turns': few\n", "harness.yaml:2: max_turns: must be a whole number"),
        ("yaml", "price: {input: x, output: 1}\n", "harness.yaml:1: price.input: "),
        ("yaml", "model: ''\n", "harness.yaml:1: model is empty"),
        ("toml", "[tool.harness]\n\nmax-turn = 3\n", "pyproject.toml:3: unknown key 'max_turn'"),
        (
            "toml",
            "seed = 1\n[tool.harness.prices_]\nx = 1",
            "pyproject.toml:2: unknown key 'prices_'",
        ),
        ("toml", "[tool]\nharness = 3\n", "pyproject.toml: tool.harness: keys and values"),
        ("toml", "[tool.harness]\nseed 1\n", "pyproject.toml: not valid TOML: "),
        ("env", "A=1\n\nHARNESS_SEED=few\n", ".env:3: HARNESS_SEED: must be a whole number"),
        ("env", "\n\nHARNESS_SEED='1\n", ".env:3: HARNESS_SEED cannot be read"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_line(
    name: str, text: str, told: str, in_repository: Path
) -> None:
    write(in_repository, **{name: text})
    said = line(harness(in_repository, "run"))
    assert told in said
    assert name != "toml" or "TOML" not in said or "line 2" in said


def test_a_value_of_the_environment_is_named_by_its_variable(in_repository: Path) -> None:
    told = line(harness(in_repository, "run", HARNESS_CONCURRENCY="few"))
    assert "HARNESS_CONCURRENCY: must be a whole number" in told


def test_an_experiment_takes_found_settings_and_its_lists_win(in_repository: Path) -> None:
    write(
        in_repository,
        yaml="max_turns: 3\nmode: agentic\nmodel: x\ntemperature: 0.5\nrepair_rounds: 2\n",
    )
    flags = ("-m", "gpt-5", "-b", "fixture", "-n", "1", "--dry-run")
    done = harness(in_repository, "experiment", *flags, "--json")
    found = settings(done)
    assert [each["name"] for each in json.loads(done.stdout)["variants"]] == [
        "single_shot",
        "agentic",
    ]
    assert found == {
        "max_turns": (3, "harness.yaml:1"),
        "temperature": (0.5, "harness.yaml:4"),
        "mode": (None, "harness.yaml:2"),
        "model": (None, "harness.yaml:3"),
        "repair_rounds": (None, "harness.yaml:5"),
    }
    assert done.stderr.splitlines()[0] == "settings from harness.yaml: max_turns, temperature"
    (in_repository / "grid.yaml").write_text(
        "models: [gpt-5]\nbenchmark: fixture\nvary: {max_turns: [4, 5]}\n"
    )
    found = settings(harness(in_repository, "experiment", "-c", "grid.yaml", "--dry-run", "--json"))
    assert found["mode"] == ("agentic", "harness.yaml:2")
    assert found["max_turns"] == (None, "harness.yaml:1")
    varied = harness(in_repository, "experiment", *flags, "--vary", "best_of=2")
    assert "best_of goes with mode" in line(varied)


OWN = ("-b", "fixture", "-m", "python:mine:solve", "--mode", "single_shot")


@pytest.mark.parametrize("flags", [("--mode", "agentic"), (*OWN, "--mode", "best_of_k_public")])
def test_an_experiment_that_asks_nobody_goes_on_without_the_file(
    flags: tuple[str, ...], in_repository: Path
) -> None:
    (in_repository / "mine.py").write_text("def solve(problem):\n    return 'print(1)'\n")
    write(in_repository, yaml="temperature: 0.5\nmax_turns: 3\nworkers: 1\n")
    done = harness(in_repository, "experiment", *flags, "-n", "1", "--out", "e")
    assert done.returncode == 0, done.stderr
    stored = json.loads((in_repository / "e" / "experiment.json").read_text())["variants"]
    assert {each["temperature"] for each in stored.values()} == {None}
    assert {each["workers"] for each in stored.values()} == {1}
    write(in_repository, yaml="nosuch: 1\n")
    done = harness(in_repository, "experiment", "--resume", "e")
    assert done.returncode == 0, done.stderr


def test_a_run_goes_on_with_the_same_command_and_file(in_repository: Path) -> None:
    (in_repository / "mine.py").write_text("def solve(problem):\n    return 'print(1)'\n")
    write(in_repository, yaml="temperature: 0.5\nmax_turns: 3\nworkers: 1\n")
    for flags in (OWN, ("--mode", "agentic")):
        command = ("run", *flags, "-n", "1", "--out", flags[-1])
        for _ in range(2):
            done = harness(in_repository, *command)
            assert done.returncode == 0, done.stderr
    assert spec_in(in_repository / "agentic")["max_turns"] == 6  # the recording's


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a file to another user")
def test_a_file_of_another_user_counts_in_the_working_folder_only(
    in_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(in_repository.parent, yaml="seed: 1\n")
    monkeypatch.chdir(in_repository)
    assert found_settings({}, RunSpec.model_fields) == {"seed": 1}
    os.chown("../harness.yaml", 4242, 4242)
    assert found_settings({}, RunSpec.model_fields) == {}
    os.chown(in_repository, 4242, 4242)
    assert found_settings({}, RunSpec.model_fields) == {"seed": 1}
    os.chown(in_repository, 0, 0)
    monkeypatch.chdir(in_repository.parent)
    assert found_settings({}, RunSpec.model_fields) == {"seed": 1}


def test_a_search_that_finds_nothing_costs_nothing(
    in_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = in_repository.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    took: list[float] = []
    for _ in range(20):
        begun = time.process_time()
        assert found_settings({}, RunSpec.model_fields) == {}
        took.append(time.process_time() - begun)
    assert min(took) < 0.002
