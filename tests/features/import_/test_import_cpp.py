"""`harness import --language cpp`, and `export` of what it made."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_runs_made import messages
from program import Done, harness, results

from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"
WRONG = "int main() {}\n"
Import = Callable[..., Done]


def test_each_revision_in_cpp_is_compiled_and_judged(own: Path, take: Import) -> None:
    trajectories = [{"messages": messages(WRONG, RIGHT), "problem_id": "own/echo", "model": "m"}]
    done = take(trajectories, "--language", "cpp")
    assert done.returncode == 0, done.stderr
    (result,) = results(own / "r")
    assert (result["verdict"], result["code"]) == ("accepted", RIGHT)
    assert [step["solved"] for step in result["steps"]] == [False, True]
    manifest = json.loads((own / "r" / "run.json").read_text())
    assert manifest["spec"]["language"] == "cpp"
    shown = harness(own, "transcript", "r", "own/echo#0")
    assert "in cpp" in shown.stdout, shown.stderr


@pytest.mark.parametrize(
    "forms",
    [
        ("lcb", "csv"),
        pytest.param(("openai-messages", "atif", "junit"), marks=pytest.mark.thorough),
    ],
)
def test_a_run_in_cpp_is_exported(own: Path, take: Import, forms: tuple[str, ...]) -> None:
    row = {"problem_id": "echo", "code": RIGHT, "turn": 1}
    assert take([row], "--language", "cpp", "--model", "m").returncode == 0
    for form in forms:
        more = ("-b", "jsonl:own.jsonl") if form == "lcb" else ()
        done = harness(own, "export", "r", "--to", form, *more)
        assert done.returncode == 0, done.stderr
        assert "python" not in done.stdout.lower()
        if form != "junit":
            assert "getchar" in done.stdout


def test_what_was_exported_is_imported_again(own: Path, take: Import) -> None:
    trajectories = [{"messages": messages(RIGHT), "problem_id": "own/echo", "model": "m"}]
    assert take(trajectories, "--language", "cpp").returncode == 0
    made = harness(own, "export", "r", "--to", "atif", "-o", "t.jsonl")
    assert made.returncode == 0, made.stderr
    given = ("--problems", "jsonl:own.jsonl", "--out", "again", "--language", "cpp")
    done = harness(own, "import", "t.jsonl", *given)
    assert done.returncode == 0, done.stderr
    assert [each["verdict"] for each in results(own / "again")] == ["accepted"]
