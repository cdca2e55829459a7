"""Fixtures for all tests: small runs on disk, terminal output, bundled problems."""

import io
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from chat_server import Solver
from made_once import made_once
from program import harness
from results_made import made_result
from rich.console import Console, RenderableType
from written import link_written

from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult

MakeResult = Callable[..., SampleResult]


@pytest.fixture(scope="session")
def make_result() -> MakeResult:
    """Make a sample of a problem with one public and one hidden test."""

    return made_result


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run directory with these results; `manifest` changes `run.json`."""

    def write(
        name: str,
        results: Iterable[SampleResult],
        manifest: dict[str, Any] | None = None,
        **spec: Any,
    ) -> Path:
        done = list(results)
        default_manifest = {
            "prompt": {"name": "default", "hash": "h"},
            "spec": RunSpec(**({"model": "made-model"} | spec)).model_dump(mode="json"),
            "problems": {result.problem_id: result.problem_hash for result in done},
            "test_limits": {"made": {"cpu_s": 6.0}},
            "sandbox": {"level": "namespaces"},
        }
        directory = RunDirectory.create(tmp_path / name, default_manifest | (manifest or {}))
        for result in done:
            directory.results.append(result)
        directory.close()
        return directory.path

    return write


@pytest.fixture
def shown() -> Callable[..., str]:
    """Return the output on a terminal of a given width."""

    def show(view: RenderableType, width: int = 120) -> str:
        console = Console(
            file=io.StringIO(),
            width=width,
            force_terminal=True,
            color_system=None,
            markup=False,
            highlight=False,
            emoji=False,
        )
        with console.capture() as capture:
            console.print(view)
        return capture.get()

    return show


@pytest.fixture(scope="session")
def bundled_rows() -> list[dict[str, Any]]:
    """Rows of the file of bundled problems."""
    path = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="session")
def solver(bundled_rows: list[dict[str, Any]]) -> Solver:
    """A model that first writes nonsense, then the reference of a bundled problem."""
    return Solver({row["title"]: ["print(0)", row["references"][0]] for row in bundled_rows})


WrittenRuns = Callable[..., Path]
RUNS = {"agentic": ["--agentic-mode"], "single": []}


@pytest.fixture
def played(tmp_path: Path) -> tuple[str, ...]:
    """Flags that play the hand-written recordings in the test's folder."""
    return link_written(tmp_path)


@pytest.fixture(scope="session")
def written_runs(tmp_path_factory: pytest.TempPathFactory) -> WrittenRuns:
    """Copy runs of the hand-written recordings, `agentic` and `single`, to the caller's folder.

    What each printed is beside it, such as `single.json`.
    Every process of a test session takes them from the one that needed them first.
    """

    def make(draft: Path) -> None:
        flags = link_written(draft)
        for name, mode in RUNS.items():
            done = harness(draft, "run", *flags, *mode, "--out", name, "--json")
            assert done.returncode == 0, done.stderr
            (draft / f"{name}.json").write_text(done.stdout)

    def copy(*names: str) -> Path:
        made = made_once(tmp_path_factory, "written-runs", make)
        folder = tmp_path_factory.mktemp("written")
        link_written(folder)
        for name in names:
            shutil.copytree(made / name, folder / name)
            shutil.copy(made / f"{name}.json", folder)
        return folder

    return copy
