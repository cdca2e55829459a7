"""`harness run --set KEY=VALUE`: below flags, above the file, and checked like both."""

import json
from pathlib import Path
from typing import Any

import pytest
from program import Done, harness
from written import link_written

from harness.cli.settings_flags import complete_set, with_set
from harness.errors import UsageError
from harness.run.settings.spec import RunSpec, read_spec, stored


def line(done: Done) -> str:
    assert done.returncode == 2, done.stderr
    (only,) = done.stderr.strip().splitlines()
    return only


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text("samples_per_problem: 2\nconcurrency: 3\nworkers: 1\n")
    return tmp_path


def spec_in(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())["spec"]


def test_flags_win_over_set_and_set_over_the_file(folder: Path) -> None:
    played = link_written(folder)
    sets = ("--set", "concurrency=4", "--set", "samples-per-problem=3")
    done = harness(
        *(folder, "run", *played, "-n", "1", "-c", "spec.yaml", *sets, "-k", "1", "--out", "r")
    )
    assert done.returncode == 0, done.stderr
    spec = spec_in(folder / "r")
    assert [spec[key] for key in ("samples_per_problem", "concurrency", "workers")] == [1, 4, 1]


def test_the_mode_may_be_set_and_the_flag_for_it_wins(folder: Path) -> None:
    sets = ("--set", "mode=agentic", "--set", "max_turns=3")
    done = harness(folder, "run", *sets, "-n", "1", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert (spec_in(folder / "r")["mode"], spec_in(folder / "r")["max_turns"]) == ("agentic", 3)
    done = harness(folder, "run", "--set", "mode=self_repair", "--agentic-mode", "--dry-run")
    assert (done.returncode, "agentic: " in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["max_turn=3"], "--set: unknown key 'max_turn'; did you mean 'max_turns'?"),
        (["resume=r"], "--set: unknown key 'resume'; it is a flag of `harness run`, and no key"),
        (["max_turns"], "--set max_turns: give KEY=VALUE, as max_turns=5"),
        (["max_turns="], "--set max_turns=: give KEY=VALUE, as max_turns=5"),
        (["max_turns=3", "max-turns=4"], "--set max_turns is given twice"),
        (["max_turns=3"], "--set max_turns goes with --mode agentic, not single_shot"),
        (["stop_on_pass=no"], "--set stop_on_pass goes with --mode agentic, not single_shot"),
        (["samples_per_problem=x"], "--set samples_per_problem: must be a whole number"),
        (["price=cheap"], "--price 'cheap': give dollars per million tokens, as 2.5,10"),
    ],
)
def test_what_a_flag_would_refuse_is_refused(given: list[str], told: str, folder: Path) -> None:
    words = [word for each in given for word in ("--set", each)]
    assert told in line(harness(folder, "run", *words))


def test_a_resumed_run_takes_what_may_change_and_names_what_may_not(folder: Path) -> None:
    assert harness(folder, "run", "-n", "1", "--out", "r").returncode == 0
    done = harness(folder, "run", "--resume", "r", "--set", "language=cpp")
    assert "--set language cannot be changed on --resume" in line(done)
    done = harness(folder, "run", "--resume", "r", "--set", "concurrency=2")
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


def test_keys_and_their_values_are_completed() -> None:
    assert complete_set("max_tur") == ["max_turns="]
    assert len(complete_set("")) == len(RunSpec.model_fields)
    assert complete_set("mode=a") == ["mode=agentic"]
    assert complete_set("rule=t") == ["rule=tokens"]
    assert complete_set("language=") == ["language=python", "language=cpp"]
    assert complete_set("batch=t") == ["batch=true"]
    assert complete_set("nosuch=t") == []
