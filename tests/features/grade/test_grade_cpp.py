"""`harness grade` on solutions in C++."""

import json
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from program import harness

from harness.agent.extraction.fences import extract_fenced
from harness.kinds.cpp.language import LANGUAGE, compiler
from harness.languages.language import MissingCompilerError

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"


def _write(folder: Path, *rows: dict[str, Any]) -> None:
    text = json_lines(rows)
    (folder / "solutions.jsonl").write_text(text)


def _arguments(name: str) -> tuple[str, ...]:
    return ("grade", "--problems", "jsonl:own.jsonl", "--solutions", name, "--json")


def _results(folder: Path, name: str = "solutions.jsonl") -> list[dict[str, Any]]:
    done = harness(folder, *_arguments(name))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def _refusal(folder: Path, name: str = "solutions.jsonl", code: int = 2, **env: str) -> str:
    done = harness(folder, *_arguments(name), **env)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.thorough
def test_a_language_column_says_that_a_solution_is_cpp(two_problems: Path) -> None:
    _write(
        two_problems,
        {"problem_id": "echo", "code": RIGHT, "language": "C++"},
        {"problem_id": "echo", "output": f"Here:\n```cpp\n{RIGHT}```\n", "language": "cpp"},
        {"problem_id": "echo", "code": "int main() { return x; }", "language": "cpp"},
        {"problem_id": "echo", "code": "int main() { return 1; }", "language": "cpp"},
        {"problem_id": "echo", "code": "print(input())"},
    )
    results = _results(two_problems)
    verdicts = ["accepted", "accepted", "compile_error", "runtime_error", "accepted"]
    assert [each["verdict"] for each in results] == verdicts
    assert [each["language"] for each in results] == [*["cpp"] * 4, "python"]
    assert LANGUAGE.flags in results[0]["compiler"]
    assert results[-1]["compiler"] == ""


def test_a_file_named_like_its_problem_is_its_solution(two_problems: Path) -> None:
    (two_problems / "echo.cpp").write_text(RIGHT)
    (result,) = _results(two_problems, "echo.cpp")
    assert (result["verdict"], result["language"]) == ("accepted", "cpp")


def test_cpp_solutions_are_refused_without_a_compiler(two_problems: Path) -> None:
    (two_problems / "echo.cpp").write_text(RIGHT)
    assert "no C++ compiler" in _refusal(two_problems, "echo.cpp", PATH="/nowhere")


def test_a_function_without_types_in_cpp_is_refused(two_problems: Path) -> None:
    _write(two_problems, {"problem_id": "double", "code": RIGHT, "language": "cpp"})
    assert "no starter code with types" in _refusal(two_problems, code=3)


def test_an_unknown_language_is_refused(two_problems: Path) -> None:
    _write(two_problems, {"problem_id": "echo", "code": "x", "language": "rust"})
    assert "'rust' is not one of python, cpp" in _refusal(two_problems)


def test_the_last_cpp_block_with_a_program_is_the_solution() -> None:
    text = f"```cpp\n{RIGHT}```\nAnd:\n```c++\nx += 1;\n```\n```python\nprint(1)\n```"
    assert extract_fenced(text, language=LANGUAGE).code.strip() == RIGHT.strip()
