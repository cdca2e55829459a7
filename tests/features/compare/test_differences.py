"""What a comparison says of two runs: everything that differs and can change a result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from for_each import for_each

from harness.cli.app import app
from harness.errors import UsageError
from harness.features.compare.comparison import compare_runs
from harness.features.compare.markdown import comparison_markdown
from harness.features.compare.view import comparison_view
from harness.run.settings.spec import COMPARED, SETTINGS, RunSpec, users_of, uses

WriteRun = Callable[..., Path]
Shown = Callable[..., str]

OTHER: dict[str, Any] = {
    "tool_protocol": "text",
    "executor": "ray",
    "rule": "tokens",
    "base_url": "http://127.0.0.1:9/v1",
    "agent_memory": 512,
    "impossible": 0.5,
    "impossible_kind": "conflicting",
    "top_p": 0.5,
    "min_p": 0.5,
    "frequency_penalty": 0.5,
    "presence_penalty": 0.5,
    "extra_body": {"a": 1},
    "api": "messages",
    "language": "cpp",
    "cpp_flags": "-O3",
    "context": "grow",
    "header": ("X-A: 1",),
}


def other_value(key: str) -> Any:
    """A value that is not the default."""
    if key in OTHER:
        return OTHER[key]
    field = RunSpec.model_fields[key]
    kind = str(field.annotation)
    if "bool" in kind:
        return not field.get_default()
    if "int" in kind or "float" in kind:
        return 7
    return ("x",) if "tuple" in kind else "x"


@pytest.fixture
def pair(make_result: Any, write_run: WriteRun) -> Callable[..., list[Path]]:
    """Two runs of two problems, the second with other settings or another manifest."""

    def write(mode: str, manifest: Any = None, first: Any = None, **spec: Any) -> list[Path]:
        results = [make_result("p", solved=True), make_result("q")]
        return [
            write_run("a", results, first, mode=mode),
            write_run("b", results, manifest, mode=mode, **spec),
        ]

    return write


def mode_of(key: str) -> str:
    return "agentic" if SETTINGS[key].heeded_by == "all" else users_of(key)[0]


@pytest.mark.parametrize(
    "key", [key for key in COMPARED if not SETTINGS[key].factor and key != "base_url"]
)
def test_each_setting_that_can_change_a_result_is_told(
    key: str, pair: Callable[..., list[Path]], shown: Shown
) -> None:
    runs = pair(mode_of(key), **{key: other_value(key)})
    comparison = compare_runs(runs)
    (versus,) = comparison.versus
    differences = (*versus.differs, *versus.unlike)
    assert len(differences) == 1
    assert key in differences[0]
    assert differences[0] in " ".join(shown(comparison_view(comparison), 200).split())
    assert differences[0] in comparison_markdown(comparison)
    with pytest.raises(UsageError, match=f"b is not comparable with a: .*{key}"):
        strictly(runs)


def test_a_run_does_not_differ_from_itself(pair: Callable[..., list[Path]]) -> None:
    assert compare_runs(pair("agentic")[:1] * 2).versus[0].differs == ()


def strictly(runs: list[Path]) -> None:
    command = typer.main.get_command(app)
    command.main(["compare", *map(str, runs), "--strict"], standalone_mode=False)


@for_each("key", sorted(set(RunSpec.model_fields) - set(COMPARED)))
def test_what_changes_no_result_is_not(key: str) -> None:
    setting = SETTINGS[key]
    assert setting.may_grow or not setting.compared


def version(harness: str, python: str = "3.12.1", revision: str | None = None) -> dict[str, Any]:
    return {"harness": harness, "git_revision": revision, "python": python}


TOOLS = {"name": "read_problem, run_tests", "hash": "t"}


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        (
            {"versions": [version("1.0")]},
            {"versions": [version("1.0"), version("1.1")]},
            "the harness version differs: 1.0 and 1.0, 1.1",
        ),
        (
            {"harness": "1.0", "machine": {"python": "3.12.1"}},
            {"versions": [version("1.0", "3.13.2")]},
            "the Python version differs: 3.12.1 and 3.13.2",
        ),
        (
            {"versions": [version("1.0", revision="a" * 40)]},
            {"versions": [version("1.0", revision="b" * 40)]},
            "the harness revision differs: aaaaaaaaaaaa and bbbbbbbbbbbb",
        ),
        (
            {},
            {"prompt": {"name": "default", "hash": "another"}},
            "the prompt set default differs in content",
        ),
        (
            {"tools": TOOLS},
            {"tools": {**TOOLS, "hash": "u"}},
            "the set of tools read_problem, run_tests differs in content",
        ),
        (
            {"endpoint": "api.one.example"},
            {"endpoint": "api.two.example"},
            "the endpoint differs: api.one.example and api.two.example",
        ),
        (
            {"plugins": []},
            {"plugins": [{"name": "toy", "version": "2"}]},
            "the plug-ins differ: none and toy 2",
        ),
    ],
)
def test_versions_and_content_are_told(
    one: Any, other: Any, difference: str, pair: Callable[..., list[Path]]
) -> None:
    runs = pair("agentic", other, one)
    assert compare_runs(runs).versus[0].differs == (difference,)
    with pytest.raises(UsageError, match=difference):
        strictly(runs)


def test_what_the_other_mode_does_not_use_is_no_difference(
    make_result: Any, write_run: WriteRun
) -> None:
    results = [make_result("p", solved=True)]
    one = write_run("a", results, mode="single_shot")
    other = write_run("b", results, mode="agentic", max_turns=3, submit_tool=True)
    assert compare_runs([one, other]).versus[0].differs == ()
    strictly([one, other])
    assert not uses("single_shot", "max_turns")


def test_the_usual_value_and_none_are_the_same(pair: Callable[..., list[Path]]) -> None:
    runs = pair("self_repair", repair_rounds=SETTINGS["repair_rounds"].usual)
    assert compare_runs(runs).versus[0].differs == ()
