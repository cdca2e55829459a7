"""Files and `--json` output of a fixed set of commands, compared with stored copies.

A change of structure must leave them as they are. A change of behaviour rewrites them:

    HARNESS_WRITE_GOLDEN=1 pytest tests/test_golden.py

Figures that a machine or a clock decides are replaced by the name of their type.
"""

import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from program import harness
from written import FIRST

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
MEASURED = re.compile(
    r"(_s|_bytes|_ms|_at|time|created|finished|started|seconds|hash|revision|age|size|path|folder|"
    r"harness|machine|sandbox|cpu|wall|duration|modified|isolation|retimed|judged_again|rechecked|"
    r"confirmed|workers|cores|ready|layers|checks|levels|packages|versions)$"
)
LIVELY = {"running", "elapsed", "eta"}
SOMETIMES = {"peak_bytes", "judged_again"}
"""Keys that are there only where a measurement succeeded, or where a test was run again."""
SECONDS = re.compile(r"\b\d+(\.\d+)? (s|ms|CPU s|seconds)\b")

COMMANDS = {
    "run-dry": ("run", *FIRST, "--agentic-mode", "--dry-run", "--json", "-m", "gpt-5-mini"),
    "compare": ("compare", "single", "agentic", "--json"),
    "show": ("show", "agentic", "--json"),
    "show-unsolved": ("show", "agentic", "--only", "unsolved", "--json"),
    "ls": ("ls", ".", "--json"),
    "grade": ("grade", "--problems", "fixture", "--solutions", "solutions.jsonl", "--json"),
    "regrade": ("grade", "agentic", "--out", "regraded", "--json"),
    "verify": ("verify", "fixture", "-n", "5", "--json"),
    "prompts": ("prompts", "list", "--json"),
    "schema": ("schema", "comparison"),
}


def _still(value: Any, key: str = "") -> Any:
    """The value without what a clock or a machine decides."""
    if key in LIVELY or (key and MEASURED.search(key)):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {k: _still(v, k) for k, v in sorted(value.items()) if k not in SOMETIMES}
    if isinstance(value, list):
        return _sorted([_still(item) for item in value])
    if isinstance(value, str):
        return SECONDS.sub("<seconds>", value)
    return value


def _sorted(items: list[Any]) -> list[Any]:
    """Names and samples in a fixed order: samples end in any."""
    if all(isinstance(item, str) for item in items):
        return sorted(items)
    names = [item.get("sample") or item.get("problem_id") for item in items if type(item) is dict]
    if names and len(names) == len(items) and all(names):
        return sorted(items, key=lambda item: item.get("sample") or item["problem_id"])
    return items


def _check(name: str, content: Any) -> None:
    path = GOLDEN / f"{name}.json"
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("HARNESS_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert json.loads(text) == json.loads(path.read_text()), name


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


RUNS = ("agentic", "single")


@pytest.fixture(scope="module")
def outputs(written_runs: Callable[..., Path]) -> Path:
    """Where the commands have run, in their order; what each printed is beside them."""
    place = written_runs(*RUNS)
    for name in RUNS:
        (place / f"{name}.json").rename(place / f"run-{name}.out")
    for name, command in COMMANDS.items():
        if name == "grade":
            solved = sorted(_lines(place / "agentic" / "results.jsonl"), key=lambda r: r["sample"])
            rows = [{"problem_id": r["problem_id"], "code": r["code"] or ""} for r in solved[::3]]
            text = json_lines(rows)
            (place / "solutions.jsonl").write_text(text)
        done = harness(place, *command, OPENAI_API_KEY="sk-none")
        (place / f"{name}.out").write_text(done.stdout or done.stderr)
    return place


@for_each("name", [*(f"run-{name}" for name in RUNS), *COMMANDS])
def test_a_command_prints_what_it_printed(outputs: Path, name: str) -> None:
    text = (outputs / f"{name}.out").read_text()
    try:
        output = json.loads(text)
    except ValueError:
        output = [json.loads(line) for line in text.splitlines()]
    _check(name, _still(output))


@pytest.mark.parametrize("run", RUNS)
def test_a_run_leaves_the_files_that_it_left(outputs: Path, run: str) -> None:
    place = outputs / run
    results = sorted(_lines(place / "results.jsonl"), key=lambda row: row["sample"])
    _check(f"{run}-results", _still(results))
    manifest = json.loads((place / "run.json").read_text())
    if not (ROOT / ".git").exists():  # such as an unpacked archive
        assert manifest["git_revision"] is None
        manifest["git_revision"] = ""
    _check(f"{run}-manifest", _still(manifest))
    _check(f"{run}-summary", _still(json.loads((place / "summary.json").read_text())))
    transcripts = {path.name: _lines(path) for path in (place / "transcripts").iterdir()}
    few = {name: transcripts[name] for name in sorted(transcripts)[::6]}
    for line in itertools.chain.from_iterable(few.values()):
        if line["event"] == "tool_result":  # which may take less than half a millisecond
            line.setdefault("seconds", 0.0)
    _check(f"{run}-transcripts", _still(few))
