"""`harness grade` on solutions in C++."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.agent.extraction.fences import extract_fenced
from harness.cli import app
from harness.languages.cpp import LANGUAGE, compiler
from harness.languages.language import MissingCompilerError

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }\n"
PROBLEM = {
    "id": "double",
    "statement": "Double a number.",
    "tests": [{"input": "1\n", "output": "2\n"}, {"input": "20\n", "output": "40\n"}],
}


@pytest.fixture
def problems(tmp_path: Path) -> str:
    """A file with one problem that reads stdin."""
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(PROBLEM))
    return f"jsonl:{path}"


def _grade(problems: str, path: Path) -> dict[str, object]:
    done = CliRunner().invoke(
        app, ["grade", "--problems", problems, "--solutions", str(path), "--json"]
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_language_column_says_that_a_solution_is_cpp(problems: str, tmp_path: Path) -> None:
    solutions = tmp_path / "solutions.jsonl"
    rows = [
        {"problem_id": "double", "code": RIGHT, "language": "C++"},
        {"problem_id": "double", "output": f"Here:\n```cpp\n{RIGHT}```\n", "language": "cpp"},
        {"problem_id": "double", "code": "int main() { return x; }", "language": "cpp"},
        {"problem_id": "double", "code": "print(2 * int(input()))"},
    ]
    solutions.write_text("\n".join(map(json.dumps, rows)))
    results = _grade(problems, solutions)["results"]
    assert isinstance(results, list)
    verdicts = [each["verdict"] for each in results]
    assert verdicts == ["accepted", "accepted", "compile_error", "accepted"]
    assert [each["language"] for each in results] == ["cpp", "cpp", "cpp", "python"]
    assert LANGUAGE.flags in results[0]["compiler"]
    assert results[3]["compiler"] == ""


def test_a_file_named_like_its_problem_is_its_solution(problems: str, tmp_path: Path) -> None:
    program = tmp_path / "double.cpp"
    program.write_text(RIGHT)
    (result,) = _grade(problems, program)["results"]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert result["verdict"] == "accepted"


@pytest.mark.parametrize("path", ["", "/nowhere"])
def test_without_a_compiler_nothing_is_judged(
    problems: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    program = tmp_path / "double.cpp"
    program.write_text(RIGHT)
    monkeypatch.setenv("PATH", path)
    compiler.cache_clear()
    done = CliRunner().invoke(app, ["grade", "--problems", problems, "--solutions", str(program)])
    compiler.cache_clear()
    assert done.exit_code == 2
    assert "no C++ compiler" in done.output + str(done.exception)


def test_an_unknown_language_is_refused(problems: str, tmp_path: Path) -> None:
    solutions = tmp_path / "solutions.jsonl"
    solutions.write_text(json.dumps({"problem_id": "double", "code": "x", "language": "rust"}))
    done = CliRunner().invoke(app, ["grade", "--problems", problems, "--solutions", str(solutions)])
    assert done.exit_code == 2
    assert "rust" in done.output + str(done.exception)


def test_the_last_cpp_block_with_a_program_is_the_solution() -> None:
    text = f"```cpp\n{RIGHT}```\nAnd:\n```c++\nx += 1;\n```\n```python\nprint(1)\n```"
    assert extract_fenced(text, LANGUAGE).code == RIGHT.rstrip("\n")
