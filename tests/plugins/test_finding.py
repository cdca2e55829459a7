import sys
from pathlib import Path

import pytest
from packages_made import made_package
from program import harness

from harness import plugins, registry
from harness.agent.strategies.agent_loop import agentic
from harness.agent.strategies.modes import built_in_modes
from harness.agent.strategies.strategies import find_strategy
from harness.errors import UsageError
from harness.features.observers.attach import find_observer
from harness.models.environment import Environment
from harness.models.servers import Plugged, Routed
from harness.plugins import MODELS, OBSERVERS, RULES, SOURCES, known_rule
from harness.plugins import STRATEGIES as STRATEGY_GROUP
from harness.run.plan.target import server_of
from harness.run.settings.spec import RunSpec, read_spec
from harness.sources.benchmarks import is_source, load, parse_spec

ALL = {group: {"mine": "thing"} for group in plugins.GROUPS}
NOTHING = Environment({})


@pytest.fixture
def own_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def _ask(group: str, name: str) -> object:
    """What a command does with a name of a group."""
    match group:
        case plugins.SOURCES:
            return load(name)
        case plugins.MODELS:
            return server_of(name, RunSpec(), NOTHING).open()
        case plugins.STRATEGIES:
            return find_strategy(name)
        case plugins.RULES:
            from harness.grading.rules import find_rule

            return find_rule(name)
        case _:
            return find_observer(name)


def test_nothing_is_imported_before_its_name_is_asked_for(own_site: Path) -> None:
    module = made_package(own_site, "mine-a", ALL, "raise ImportError('too early')")
    assert is_source("mine")
    assert parse_spec("mine:there") == ("mine", "there")
    assert known_rule("mine") == "mine"
    assert isinstance(server_of("mine:large", RunSpec(), NOTHING), Plugged)
    assert read_spec(None, {"rule": "mine"}).rule == "mine"
    assert find_strategy("agentic") is agentic
    assert load("fixture").problems
    assert module not in sys.modules


@pytest.mark.parametrize("group", plugins.GROUPS)
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import nothing_of_the_kind",
            "ModuleNotFoundError: No module named 'nothing_of_the_kind'",
        ),
        ("raise SystemExit(7)", "SystemExit: 7"),
        ("other = 1", "AttributeError"),
        ("raise ValueError('two\\nlines' + 'x' * 10_000)", "ValueError: two lines"),
    ],
)
def test_a_plug_in_that_does_not_load_is_one_line_with_package_and_entry_point(
    own_site: Path, group: str, code: str, reason: str
) -> None:
    made_package(own_site, "mine-broken", ALL, code)
    with pytest.raises(UsageError) as caught:
        _ask(group, "mine")
    line = str(caught.value)
    assert f"'mine' of package mine-broken (entry point 'mine_broken:thing' of {group})" in line
    assert f"does not load: {reason}" in line
    assert len(line) < 600
    assert "\n" not in line
    sys.modules.pop("mine_broken", None)


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_a_plug_in_of_another_kind_is_refused(own_site: Path, group: str) -> None:
    made_package(own_site, "mine-else", ALL, "thing = 3")
    with pytest.raises(UsageError, match="mine-else"):
        _ask(group, "mine")
    sys.modules.pop("mine_else", None)


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_two_of_one_name_are_refused_by_the_names_of_their_packages(
    own_site: Path, group: str
) -> None:
    for name in ("mine-one", "mine-two"):
        made_package(own_site, name, ALL, "thing = print")
    with pytest.raises(UsageError, match="offered by the packages mine-one and mine-two"):
        _ask(group, "mine")


def test_an_unknown_name_is_told_what_there_is(own_site: Path) -> None:
    made_package(own_site, "mine-known", ALL)
    for group in plugins.GROUPS:
        with pytest.raises(UsageError, match=r"mine \(of mine-known\)"):
            _ask(group, "nobody-s")


@pytest.mark.parametrize("name", ["../up", "a b", "", "-flag", "a:b", "a/b", "x" * 101])
def test_a_name_that_no_file_could_have_is_nobody_s(own_site: Path, name: str) -> None:
    made_package(own_site, "mine-odd", {SOURCES: {name: "thing"}} if name else {})
    assert plugins.find(SOURCES, name) is None


@pytest.mark.thorough
def test_our_own_names_win_and_it_is_said_once(own_site: Path) -> None:
    ours = {SOURCES: "fixture", STRATEGY_GROUP: "agentic", RULES: "lcb"}
    entries = {group: {name: "thing"} for group, name in ours.items()}
    made_package(own_site, "mine-shadow", entries, "raise ImportError('never')")
    flags = ["-b", "fixture", "-n", "1", "--agentic-mode", "-m", "replay:bundled", "--out", "r"]
    done = harness(own_site.parent, "run", *flags, PYTHONPATH=str(own_site))
    assert done.returncode == 0, done.stderr
    for group, name in ours.items():
        (line,) = [each for each in done.stderr.splitlines() if f"of {group})" in each]
        assert line.endswith(f"is not used: harness has {name!r} itself")
        assert "package mine-shadow" in line


@pytest.mark.parametrize("name", ["gpt-5-mini", "org/mine", "openai/mine"])
def test_a_model_s_name_that_is_a_provider_s_is_not_a_plug_in_s(own_site: Path, name: str) -> None:
    made_package(own_site, "mine-model", {MODELS: {"gpt-5-mini": "thing"}})
    assert isinstance(server_of(name, RunSpec(), NOTHING), Routed)


def test_an_endpoint_takes_every_name(own_site: Path) -> None:
    made_package(own_site, "mine-behind", {MODELS: {"mine": "thing"}})
    url = "http://127.0.0.1:9/v1"
    assert isinstance(server_of("mine", RunSpec(base_url=url), NOTHING), Routed)
    asked = Environment({"OPENAI_BASE_URL": url})
    assert isinstance(server_of("mine", RunSpec(), asked), Routed)
    assert isinstance(server_of("mine", RunSpec(), NOTHING), Plugged)


def test_a_package_without_metadata_breaks_nothing(own_site: Path) -> None:
    made_package(own_site, "mine-bare", {OBSERVERS: {"mine": "thing"}})
    (own_site / "mine_bare-1.0.dist-info" / "METADATA").unlink()
    assert [each.package for each in plugins.installed(OBSERVERS) if each.name == "mine"] == ["?"]


def test_a_built_in_mode_has_the_strategy_of_its_name() -> None:
    names = [mode.name for mode in built_in_modes(asking=True)]
    assert [getattr(find_strategy(name), "__name__", None) for name in names] == names
    assert [mode.name for mode in built_in_modes()] == list(registry.MODES)
