"""A feature can be taken out: without its folder, everything else works."""

from pathlib import Path

import pytest
from program import harness_after

from harness import features
from harness.registry import COMMANDS, installed

HERE = Path(features.__path__[0])
FEATURES = sorted(path.parent.name for path in HERE.glob("*/__init__.py"))
NEEDED_BY_RUN = {"evaluate", "observers"}
NEEDS = {
    "efficiency": {"grade", "import_", "report", "training", "verify", "viewer"},
    "impossible": {"merge", "regrade", "viewer"},
    "compare": {"report", "experiment", "tune", "viewer"},
    "experiment": {"report", "viewer"},
    "report": {"viewer"},
    "grade": {"import_", "training"},
    "episode": {"training"},
    "show": {"export", "import_", "merge", "regrade"},
}
"""A feature, and those that import it: they go before it."""

TAKE_OUT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("harness.features.") and name.split(".")[2] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
for name in [name for name in sys.modules if name.startswith("harness")]:
    del sys.modules[name]
"""
HELPS_FIRST = """
from harness.cli import main
given = sys.argv[1:]
for arguments in (["--help"], [{command!r}, "--help"]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as end:
        assert end.code == 0, arguments
    else:
        raise AssertionError(arguments)
sys.argv[1:] = given
"""


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in FEATURES if name not in NEEDED_BY_RUN])
def test_all_else_works_without(name: str, tmp_path: Path) -> None:
    command = next(
        each
        for each in COMMANDS
        if each.name in {"problems", "show"} and f".{name}." not in each.target
    )
    first = TAKE_OUT.format(names={name, *NEEDS.get(name, ())})
    first += HELPS_FIRST.format(command=command.name)
    done = harness_after(first, tmp_path, "run", "-n", "1", "--agentic-mode", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == 2
    assert (tmp_path / "r" / "summary.json").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("batch", ["run", "-m", "gpt-5", "-b", "fixture", "--batch"]),
        ("external", ["run", "--agent-command", "true {mcp_config}", "-b", "fixture"]),
        ("efficiency", ["run", "--efficiency"]),
        ("impossible", ["run", "--agentic-mode", "--set", "impossible=0.5"]),
        ("report", ["report", "r"]),
    ],
)
def test_what_asks_for_it_is_refused_in_one_line(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    done = harness_after(TAKE_OUT.format(names={name}), tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "is not part of this installation" in done.stderr


def test_only_what_belongs_to_a_feature_may_be_missing() -> None:
    assert installed("harness.features.none_such.module:check") is None
    with pytest.raises(ModuleNotFoundError, match="none_such"):
        installed("harness.run.plan.none_such:check")
