"""The workflow of docs/ci.md: it is one, and what it runs does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from jsonschema import Draft202012Validator
from own_models import answering
from program import environment

from harness.features.info.schema import schema_of
from harness.run.settings.given import given_settings
from harness.run.settings.spec import read_spec
from harness.sources.benchmarks import parse_spec

PAGE = Path(__file__).parents[3] / "docs" / "ci.md"
PLACEHOLDER = re.compile(r"\$\{\{ .*? \}\}")
Step = dict[str, Any]


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    blocks = PAGE.read_text().split("```yaml\n")[1:]
    (text,) = [block for block in blocks if block.startswith("# .github/workflows/")]
    return yaml.safe_load(text.split("```")[0])


@pytest.fixture(scope="module")
def steps(workflow: dict[Any, Any]) -> list[Step]:
    return workflow["jobs"]["benchmark"]["steps"]


def test_the_documented_workflow_has_the_shape_of_one(
    workflow: dict[Any, Any], steps: list[Step]
) -> None:
    assert workflow.keys() == {"name", True, "jobs"}, "YAML 1.1 reads `on` as true"
    assert set(workflow[True]) == {"push", "pull_request"}
    for step in steps:
        assert len({"uses", "run"} & step.keys()) == 1
        assert step.keys() <= {"name", "uses", "run", "with", "if"}
        assert re.fullmatch(r"actions/[\w/-]+@v\d+", step.get("uses", "actions/any@v1"))
    used = {step["uses"].split("@")[0] for step in steps if "uses" in step}
    assert {"actions/cache", "actions/upload-artifact", "actions/cache/save"} <= used


def test_keys_come_from_secrets_alone(workflow: dict[Any, Any]) -> None:
    env = workflow["jobs"]["benchmark"]["env"]
    for name in ("OPENAI_API_KEY", "HARNESS_NOTIFY"):
        assert re.fullmatch(r"\$\{\{ secrets\.\w+ \}\}", env[name])


def test_flags_in_the_workflow_exist(workflow: dict[Any, Any]) -> None:
    """All but the data are here: what it asks of the command line is understood."""
    arguments = workflow["jobs"]["benchmark"]["env"]["FLAGS"].split()
    named = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert named.keys() == {"-m", "-b", "-n", "--max-cost"}
    spec = read_spec(
        None,
        given_settings(
            {
                "model": named["-m"],
                "benchmark": named["-b"],
                "sample_size": int(named["-n"]),
                "max_cost": 5.0,
            }
        ),
    )
    assert parse_spec(spec.benchmark or "") == ("livecodebench", "v6")


def _run(folder: Path, step: Step, **env: str) -> int:
    """A step's commands as GitHub has them run: by bash -e."""
    assert not PLACEHOLDER.search(step["run"])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    summary = str(folder / "step_summary.md")
    surroundings = {**environment(**env), "PATH": path, "GITHUB_STEP_SUMMARY": summary}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode


def _job(folder: Path, steps: list[Step], **env: str) -> dict[str, int]:
    """The exit codes of the steps that run something here, as if on the main branch."""
    codes: dict[str, int] = {}
    for step in steps:
        if "run" not in step or step["run"].startswith("pip "):
            continue
        wanted = re.findall(r"hashFiles\('([^']+)'\) != ''", step.get("if", ""))
        always = "always()" in step.get("if", "")
        if all((folder / name).exists() for name in wanted) and (always or not any(codes.values())):
            codes[step["name"].split(";")[0]] = _run(folder, step, **env)
    return codes


MEASURE, COMPARE = "Measure", "Compare with the main branch"
JUNIT, KEEP = "Write one test case per sample", "Keep it as the run to beat"


@pytest.mark.thorough
def test_the_workflow_measures_compares_and_fails_where_a_run_is_worse(
    tmp_path: Path, steps: list[Step]
) -> None:
    (tmp_path / "mine.py").write_text(
        answering(right="```python\nprint(int(input()))\n```", wrong="```python\npass\n```")
    )
    row = '{"id": "%d", "statement": "Echo.", "tests": [{"input": "1", "output": "1"}]}\n'
    (tmp_path / "echo.jsonl").write_text("".join(row % number for number in range(8)))
    flags = "-b jsonl:echo.jsonl -m python:mine:"
    first = _job(tmp_path, steps, FLAGS=f"{flags}right")
    assert first == {MEASURE: 0, JUNIT: 0, KEEP: 0}, "there is nothing to compare with yet"
    summary = yaml.safe_load((tmp_path / "summary.json").read_text())
    assert not list(Draft202012Validator(schema_of("summary")).iter_errors(summary))
    cases = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert len(list(cases)) == 8

    (tmp_path / "runs" / "now").rename(tmp_path / "runs" / "before")
    again = _job(tmp_path, steps, FLAGS=f"{flags}right")
    assert again == {MEASURE: 0, COMPARE: 0, JUNIT: 0, KEEP: 0}
    assert "| pass@1 |" in (tmp_path / "step_summary.md").read_text()

    (tmp_path / "runs" / "now").rename(tmp_path / "runs" / "again")
    worse = _job(tmp_path, steps, FLAGS=f"{flags}wrong")
    assert worse == {MEASURE: 1, COMPARE: 1, JUNIT: 0}, "and it is not kept"


def test_the_workflow_s_commands_run_on_the_bundled_job(tmp_path: Path, steps: list[Step]) -> None:
    named = "-t fixture/long-words -t fixture/shelf-gap -t fixture/bell-and-gong"
    codes = _job(tmp_path, steps, FLAGS=named, HARNESS_NOTIFY="")
    assert codes == {MEASURE: 0, JUNIT: 0, KEEP: 0}
