"""The judge and the episode without SDKs, MCP, charts or a web server, in a bare environment."""

import json
import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = (
    *("pydantic", "pydantic-core", "annotated-types", "typing-extensions", "typing-inspection"),
    *("jinja2", "markupsafe", "rich", "tenacity"),
)
"""What `docs/training.md` says that the judge and the episode need."""

JUDGE = """
import sys
import harness
with harness.Episodes("fixture", workers=1) as episodes:
    episode = harness.Episode(episodes)
    problem = episodes.problems[0]
    episode.reset(problem)
    episode.write_solution(problem.load_references()[0].code)
    assert episode.run_tests().startswith("All "), episode.run_tests()
    print(episode.reward().value)
with harness.Grader("fixture", workers=1) as grader:
    print(grader(problem, "print(1)"))
print(harness.grade("jsonl:rows.jsonl", ["print(input())"]).pass_at_1)
print(sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""
HEAVY = (
    *("openai", "anthropic", "mcp", "altair", "starlette", "uvicorn", "datasets", "numpy"),
    *("pyarrow", "pandas", "huggingface_hub", "httpx2", "typer", "yaml", "pygments"),
)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has harness, and of other packages only those named."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "venv", symlinks=True)
    (site,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (site / "harness").symlink_to(ROOT / "harness")
    for name in NEEDED:
        package = distribution(name)
        for top in {file.parts[0] for file in package.files or () if file.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(package.locate_file(top))))
    row = {"id": "echo", "statement": "Echo.", "tests": [{"input": "1\n", "output": "1\n"}]}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    python = folder / "venv" / "bin" / "python"
    environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [python, *words], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def test_the_judge_and_the_episode_work(bare: Path) -> None:
    done = run(bare, "-c", JUDGE, *HEAVY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["1.0", "0.0", "1.0", "[]"]


def test_a_command_without_its_package_says_so_in_one_line(bare: Path) -> None:
    done = run(bare, "-m", "harness", "--help")
    message = "harness: this needs the package typer, which is not installed: pip install typer\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_a_public_name_without_its_package_says_so(bare: Path) -> None:
    code = "import sys; sys.modules['jinja2'] = None; from harness import Episode"
    done = run(bare, "-c", code)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: harness.Episode: this needs the package jinja2, which is not "
        "installed: pip install jinja2"
    )


def test_training_classes_import_no_heavy_package() -> None:
    code = (
        "import sys; from harness import Episode, Episodes, Grader\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
