"""Packages whose solutions are one file of several: `include/cpp`."""

import json
from pathlib import Path

import pytest
from chat_server import ChatServer, Json, Reply, completion, tool_call
from contest_packages import Package, only
from program import run

from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.run.plan.languages import refusal
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

GRADER = """
#include "parts.h"
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    int one = first_part(n);
    printf("%d %d\\n", one, n - one);
}
"""
FILES = {
    "include/cpp/grader.cpp": GRADER,
    "include/cpp/parts.h": "int first_part(int n);\n",
    "include/default/notes.txt": "for all",
    "include/python3/grader.py": "import parts",
    "submissions/accepted/whole/parts.cpp": "int first_part(int n) { return n / 2; }",
    "submissions/accepted/whole/parts.h": "int old;",
    "submissions/accepted/whole/grader.cpp": "int main() {}",
    "submissions/wrong_answer/other.cc": '#include "parts.h"\nint first_part(int n) { return n; }',
    "submissions/wrong_answer/with_header/a.cc": '#include "own.h"',
    "submissions/wrong_answer/with_header/own.h": "",
}


RIGHT = '#include "parts.h"\nint first_part(int n) { return n / 2; }'


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ('#include "parts.h"\nint first_part(int n) { return n / 2; }', Verdict.ACCEPTED),
        ('#include "parts.h"\nint first_part(int n) { return 1; }', Verdict.WRONG_ANSWER),
        ('#include "parts.h"\nint first_part(int n) { return n / (n-3); }', Verdict.RUNTIME_ERROR),
        ('#include "parts.h"\nint first_part(long n) { return n / 2; }', Verdict.COMPILE_ERROR),
        ('#include <cstdio>\nint main() { puts("1 2"); }', Verdict.COMPILE_ERROR),
    ],
)  # fmt: skip
def test_a_solution_is_compiled_with_the_packages_files(
    package: Package, worker: Worker, code: str, verdict: Verdict
) -> None:
    problem = only(package(more=FILES))
    for asked in (problem, problem.view()):
        assert dict(asked.included).keys() == {"grader.cpp", "notes.txt", "parts.h"}
    grade = judge(worker, Options().task(problem, code, problem.tests.all(), "cpp"))
    assert grade.verdict is verdict


def test_submissions_are_read_without_their_copies_of_these_files(package: Package) -> None:
    problem = only(package(more=FILES))
    assert {each.name: each.code for each in problem.known_solutions()} == {
        "accepted/half.cc": "int main() {}",
        "accepted/whole": FILES["submissions/accepted/whole/parts.cpp"],
        "wrong_answer/other.cc": FILES["submissions/wrong_answer/other.cc"],
    }


def test_the_statement_shows_the_headers_and_names_the_rest(package: Package) -> None:
    problem = only(package(more=FILES))
    assert "`grader.cpp`, `notes.txt`, `parts.h`" in problem.statement
    assert "```cpp\nint first_part(int n);\n```" in problem.statement
    assert "scanf" not in problem.statement
    assert "Your solution is one C++ file" not in only(package(folder="plain")).statement


@pytest.mark.parametrize("mode", ["single_shot", "agentic"])
async def test_the_model_is_asked_for_the_one_file(
    package: Package, mode: str, tmp_path: Path
) -> None:
    def answer(body: Json, number: int) -> Reply:
        del body
        if mode == "single_shot":
            return completion(f"```cpp\n{RIGHT}\n```")
        calls = [("write_solution", {"code": RIGHT}), ("run_tests", {})]
        return completion(None, [tool_call(*call, f"{call[0]}{number}") for call in calls])

    folder = package(more=FILES)
    async with ChatServer(answer) as server:
        flags = ["-m", "served", "--base-url", server.base_url, "-b", f"icpc:{folder}"]
        flags += ["--language", "cpp", "--mode", mode, "--out", "r", "--json"]
        code, out, err = await run(tmp_path, "run", *flags)
    assert code == 0, err
    assert json.loads(out)["pass_at_1"]["value"] == 1
    asked = json.dumps(server.requests[0].body)
    assert "Write the one C++ file that is asked for. With the files" in asked
    assert "complete C++ program that reads" not in asked
    assert "complete program that reads" not in asked


def test_such_a_problem_takes_no_python(package: Package) -> None:
    problem = only(package(more=FILES))
    assert problem.languages == ("cpp",)
    assert not refusal(problem, "cpp")
    assert refusal(problem, "python")
    settings = "name: Parts\nlanguages: python3\n"
    files = {name: text for name, text in FILES.items() if name.startswith("include/cpp")}
    python = only(package(settings, files, folder="python"))
    assert (python.languages, python.included) == (("python",), ())
    with pytest.raises(DataError, match="added to every solution"):
        only(package(settings, FILES, folder="both"))


def test_a_file_in_another_folder_is_another_problem(package: Package) -> None:
    hashes = {
        only(package(more={f"include/cpp/{name}": "int n;"}, folder=f"{number}/parts")).content_hash
        for number, name in enumerate(["x.h", "cpp/x.h", "a/u/x.h", "b/u/x.h"])
    }
    assert len(hashes) == 4


def test_a_change_of_these_files_is_another_problem(package: Package) -> None:
    one = only(package(more=FILES))
    other = only(package(more=FILES | {"include/cpp/grader.cpp": f"{GRADER} "}, folder="b/parts"))
    assert one.content_hash != other.content_hash


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["solution.cpp"], "solution is compiled under this name"),
        (["solution.cpp/a.h"], "a file and a folder"),
        (["a", "a/b.h"], "a file and a folder"),
        (["@a.cpp"], "the format allows letters"),
        (["-oevil.cpp"], "the format allows letters"),
        (["a b.h"], "the format allows letters"),
        (["a\nb.h"], "the format allows letters"),
        ([f"{number}.h" for number in range(101)], "more than 100 files"),
    ],
)
def test_files_that_cannot_lie_beside_a_solution_are_refused(
    package: Package, files: list[str], words: str
) -> None:
    more = {f"include/{'default' if name == 'a' else 'cpp'}/{name}": "int n;" for name in files}
    with pytest.raises(DataError, match=words):
        only(package(more=more))


def test_sources_of_every_ending_are_compiled(package: Package, worker: Worker) -> None:
    files = {**FILES, "include/cpp/lib/grader.C": GRADER.replace("parts.h", "../parts.h")}
    del files["include/cpp/grader.cpp"]
    problem = only(package(more=files))
    grade = judge(worker, Options().task(problem, RIGHT, problem.tests.all(), "cpp"))
    assert grade.verdict is Verdict.ACCEPTED


def test_a_statement_has_the_headers_whatever_else_there_is(package: Package) -> None:
    files = {
        "include/cpp/a.cpp": "//" * 20_000,
        "include/cpp/b.h": "//" * 20_000,
        "include/cpp/c.h": "// ```` not the end",
        **{f"include/cpp/d{number}.cpp": "" for number in range(40)},
    }
    statement = only(package(more=files)).statement
    assert "`c.h`:\n\n`````cpp\n// ```` not the end\n`````" in statement
    assert "23 more." in statement
    assert len(statement) < 2_000
