"""What a shell offers for an unfinished word."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each
from packages_made import made_package
from program import PROGRAM, environment, harness
from runs_made import manifest

from harness.agent.strategies.modes import built_in_modes
from harness.agent.templates.prompt_set import bundled_names
from harness.cli import completion
from harness.cli.completion_script import with_shell
from harness.plugins import GROUPS
from harness.registry import LOADERS, SCHEMA_NAMES
from harness.sources.hub_datasets import HOMES


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs, a file, and names that no shell should be offered."""
    for run in ("runs/one", "runs/two", "mine", "deep/er/three"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "run.json").write_text(json.dumps(manifest(["a/b"])))
    (tmp_path / "rows.jsonl").touch()
    for name in ("$(touch stolen)", "a b", "`x`", "x;y", "*", "new\nline", "'q'"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_completion_offers_sources_and_their_parts(place: Path) -> None:
    assert set(completion.benchmarks("")) == {*LOADERS}
    assert completion.benchmarks("live") == ["livecodebench"]
    suggestions = completion.benchmarks("livecodebench:")
    assert suggestions == sorted(f"livecodebench:{word}" for word in HOMES["livecodebench"])
    assert completion.benchmarks("jsonl:ro") == ["jsonl:rows.jsonl"]
    assert completion.benchmarks("apps:deep/") == ["apps:deep/er/"]
    assert completion.benchmarks("jsonl:nowhere/x") == []
    assert completion.benchmarks("nobody") == []
    assert place


def test_completion_offers_models_by_prefix_price_list_and_replay(place: Path) -> None:
    assert {"python:", "replay:", "anthropic/", "ollama/"} <= set(completion.models(""))
    assert "gpt-5-mini" in completion.models("gpt-5")
    assert not [name for name in completion.models("") if "*" in name]
    replayed = ["replay:bundled", "replay:mine", "replay:runs/", "replay:runs/one"]
    assert set(replayed) <= set(completion.models("replay:"))
    assert completion.models("replay:runs/t") == ["replay:runs/two"]
    assert place


def test_completion_offers_run_directories_and_their_parents(place: Path) -> None:
    assert completion.runs("") == ["deep/", "mine", "runs/", "runs/one", "runs/two"]
    assert completion.runs("m") == ["mine"]
    assert completion.runs("deep/") == ["deep/er/"]
    assert completion.runs("deep/er/") == ["deep/er/three"]
    absolute = completion.runs(f"{place}/runs/")
    assert absolute == [f"{place}/runs/one", f"{place}/runs/two"]


def test_completion_offers_built_in_names() -> None:
    assert completion.strategies("") == sorted(mode.name for mode in built_in_modes(asking=True))
    assert set(bundled_names("agentic")) <= set(completion.prompts(""))
    assert completion.rules("") == ["apps_legacy", "equality", "lcb", "tokens"]
    assert completion.schemas("") == sorted(SCHEMA_NAMES)
    assert completion.observers("") == []


OFFERS = (
    *(completion.benchmarks, completion.models, completion.strategies, completion.rules),
    completion.observers,
)


@pytest.mark.parametrize("offer", OFFERS)
def test_completion_offers_plug_ins_without_loading_them(
    offer: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {group: {"zebra": "thing"} for group in GROUPS}
    made_package(tmp_path, "mine-complete", entries, "raise ImportError")
    monkeypatch.syspath_prepend(tmp_path)
    assert offer("zeb") == ["zebra"]


def test_nothing_is_offered_that_a_shell_could_run(place: Path) -> None:
    offered = {*completion.runs(""), *completion.models("replay:"), *completion.prompts("")}
    assert not [each for each in offered if set(each) & set("$`;*' \n()")]
    assert not (place / "stolen").exists()


BASH = """
eval "$("$PROGRAM" --show-completion bash)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_harness_completion "$PROGRAM"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _bash(folder: Path, *words: str) -> list[str]:
    """What bash itself has to offer for the last of some words."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    command = [bash, "--norc", "-c", BASH, "bash", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(PROGRAM=PROGRAM),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["run", "--mode", "a"], ["agentic"]),
        (["run", "-b", "livecodebench", ":", "v5"], ["v5", "v5_v6"]),
        (["run", "-m", "replay", ":", "runs/"], ["runs/one", "runs/two"]),
        (
            ["run", "-m", "replay", ":"],
            ["bundled", "deep/", "mine", "runs/", "runs/one", "runs/two"],
        ),
        (["compare", "mine", "runs/t"], ["runs/two"]),
        (["grade", "runs/", "--rule", "t"], ["tokens"]),
        (["run", "--set", "max_tur"], ["max_turns="]),
        (["run", "--set", "mode", "=", "a"], ["agentic"]),
        (["run", "--set", "benchmark", "=", "livecodebench", ":", "v5"], ["v5", "v5_v6"]),
    ],
)
def test_bash_completes_words(place: Path, words: list[str], offered: list[str]) -> None:
    assert _bash(place, "harness", *words) == offered


@for_each("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_ask(tmp_path: Path, shell: str) -> None:
    done = harness(tmp_path, "--show-completion", shell)
    assert "_HARNESS_COMPLETE" in done.stdout


def from_sh(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What `sh` prints for a command, as in a Dockerfile: no terminal, no other shell around it."""
    return subprocess.run(
        ["setsid", "--wait", "sh", "-c", '"$@"; exit $?', "sh", PROGRAM, *words],
        cwd=folder,
        env=environment(HOME=str(folder)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_shell_that_is_named_is_not_looked_for(tmp_path: Path) -> None:
    done = from_sh(tmp_path, "--show-completion", "zsh")
    assert (done.returncode, done.stderr) == (0, "")
    assert "complete_zsh" in done.stdout


def test_a_shell_that_is_named_gets_its_script_installed(tmp_path: Path) -> None:
    done = from_sh(tmp_path, "--install-completion", "bash")
    assert (done.returncode, done.stderr) == (0, "")
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert str(script) in (tmp_path / ".bashrc").read_text()
    assert "complete_bash" in script.read_text()


@for_each("flag", ["--show-completion", "--install-completion"])
def test_a_shell_that_completes_nothing_is_told_which_do(tmp_path: Path, flag: str) -> None:
    done = from_sh(tmp_path, flag, "tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    fault = "'tcsh' completes no words; name one"
    assert done.stderr == f"harness: {flag}: {fault}, e.g. {flag} bash (bash, zsh, fish)\n"


@pytest.mark.parametrize(
    ("started", "login", "shell"),
    [(("zsh", "/bin/zsh"), "/bin/bash", "zsh"), (("sh", "/bin/sh"), "/usr/bin/fish", "fish")],
)
def test_a_shell_that_is_not_named_is_the_one_around_or_the_users(
    monkeypatch: pytest.MonkeyPatch, started: tuple[str, str], login: str, shell: str
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: started)
    monkeypatch.setenv("SHELL", login)
    assert with_shell(["--show-completion"]) == [f"--show-completion={shell}"]
    assert with_shell(["run", "--show-completion"]) == ["run", "--show-completion"]


@for_each(
    ("shell", "suggestion"),
    [("zsh", '"v5"'), ("fish", "livecodebench:v5_v6")],
)
def test_shells_that_leave_words_whole_are_offered_whole_words(
    tmp_path: Path, shell: str, suggestion: str
) -> None:
    typed = "harness run -b livecodebench:v5"
    done = harness(
        tmp_path,
        _HARNESS_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS=typed,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert suggestion.strip('"') in done.stdout.replace("\\\\", "")
