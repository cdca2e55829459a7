"""`harness serve` in C++: `/run_code` with SandboxFusion's words, and `/grade`."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from judge_server import JudgeServer
from own_problems import ECHO

from harness.errors import UsageError
from harness.features.serve.server import ServerSettings, serve
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.run.plan.problem_loader import load_problems
from harness.run.settings.spec import read_spec

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

REVERSE = """
#include <cstdio>
#include <cstring>
int main() {
    char word[9];
    if (scanf("%8s", word) != 1) return 1;
    for (int n = strlen(word); n--;) putchar(word[n]);
    putchar('\\n');
}
"""
RIGHT = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"
WRONG = "#include <cstdio>\nint main() { putchar('1'); }"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def run_cpp(judge: JudgeServer, code: str, **more: Any) -> Any:
    return judge.run_code(code, language="cpp", **more)


class TestRunCode:
    def test_a_program_is_compiled_and_run(self, judge: JudgeServer) -> None:
        answer = run_cpp(judge, REVERSE, stdin="abc", compile_timeout=20)
        compiled, run = answer["compile_result"], answer["run_result"]
        assert answer["status"] == "Success"
        assert (compiled["status"], compiled["return_code"], compiled["stderr"]) == (
            ("Finished", 0, "")
        )
        assert (run["status"], run["return_code"], run["stdout"]) == ("Finished", 0, "cba\n")
        assert compiled["execution_time"] > 0

    @for_each(
        ("code", "return_code"),
        [
            ("int main() { return 3; }", 3),
            ("#include <cstdlib>\nint main() { std::abort(); }", -6),
            ("int main() { int *volatile p = nullptr; return *p; }", -11),
        ],
    )
    def test_a_failing_program_has_its_code(
        self, judge: JudgeServer, code: str, return_code: int
    ) -> None:
        answer = run_cpp(judge, code)
        assert answer["status"] == "Failed"
        assert answer["compile_result"]["return_code"] == 0
        assert answer["run_result"]["return_code"] == return_code

    def test_a_source_that_does_not_compile_has_no_run(self, judge: JudgeServer) -> None:
        answer = run_cpp(judge, "int main() { return x; }")
        compiled = answer["compile_result"]
        assert (answer["status"], answer["run_result"]) == ("Failed", None)
        assert (compiled["status"], compiled["return_code"]) == ("Finished", 1)
        assert "was not declared" in compiled["stderr"]

    def test_compile_timeout_bounds_the_compiler(self, judge: JudgeServer) -> None:
        code = (
            "template <int D, long I> struct T {"
            " static constexpr long v = T<D - 1, 2 * I>::v + T<D - 1, 2 * I + 1>::v; };"
            "template <long I> struct T<0, I> { static constexpr long v = I; };"
            "int main() { return T<26, 1>::v; }"
        )
        answer = run_cpp(judge, code, compile_timeout=0.2)
        compiled = answer["compile_result"]
        assert (answer["status"], answer["run_result"]) == ("Failed", None)
        assert (compiled["status"], compiled["return_code"]) == ("TimeLimitExceeded", None)
        assert "0.2 s" in compiled["stderr"]

    def test_a_time_limit_of_the_run_is_one(self, judge: JudgeServer) -> None:
        code = "int main() { volatile int n = 0; while (true) ++n; }"
        run = run_cpp(judge, code, run_timeout=0.3)["run_result"]
        assert (run["status"], run["return_code"]) == ("TimeLimitExceeded", None)

    def test_files_are_there_for_compiler_and_program(self, judge: JudgeServer) -> None:
        code = (
            '#include <cstdio>\n#include "more/h.h"\n#include "f.cpp"\n'
            'int main() { char s[9]; if (!fgets(s, 9, fopen("more/in.txt", "r"))) return 1;'
            'printf("%s%d%d", s, one(), two()); fputs(s, fopen("out.txt", "w")); return 2; }'
        )
        files = {
            "more/h.h": encoded("inline int one() { return 1; }"),
            "f.cpp": encoded("int two() { return 2; }"),
            "more/in.txt": encoded("é"),
            "binary": base64.b64encode(b"\xff\x00").decode(),
            "none": None,
        }
        answer = run_cpp(judge, code, files=files, fetch_files=["out.txt", "binary", "missing"])
        assert answer["run_result"]["stdout"] == "é12"
        assert answer["run_result"]["return_code"] == 2
        assert answer["files"] == {"out.txt": encoded("é"), "binary": files["binary"]}

    def test_files_of_one_request_are_not_there_in_the_next(self, judge: JudgeServer) -> None:
        look = (
            "#include <cstdio>\n#include <dirent.h>\nint main() { int n = -2; "
            'for (DIR *folder = opendir("."); readdir(folder);) ++n; printf("%d", n); }'
        )
        for _ in range(2):
            assert run_cpp(judge, look)["run_result"]["stdout"] == "0"
            answer = run_cpp(judge, look, files={"a": encoded("x")}, fetch_files=["a"])
            assert (answer["run_result"]["stdout"], answer["files"]) == ("1", {"a": encoded("x")})

    def test_a_link_that_a_program_leaves_is_not_fetched(self, judge: JudgeServer) -> None:
        code = (
            "#include <unistd.h>\n#include <sys/stat.h>\n"
            'int main() { symlink("/etc/hostname", "l"); mkfifo("f", 0600); mkdir("d", 0700); }'
        )
        assert run_cpp(judge, code, fetch_files=["l", "f", "d"])["files"] == {}

    @for_each(
        ("more", "message"),
        [
            ({"fetch_files": ["a/b"]}, "working directory itself"),
            ({"files": {"a": "", "a/b": ""}}, "'a' cannot be a file"),
            ({"files": {"a": "", "./a": ""}}, "twice"),
            ({"files": {"solution.cpp": ""}}, "'solution.cpp' cannot be a file"),
            ({"files": {"solution": ""}}, "'solution' cannot be a file"),
            ({"files": {"a" * 300: ""}}, "too long"),
            ({"files": {"a": encoded("x" * (16 << 20) + "y")}}, "at most 16 MiB"),
            ({"compile_timeout": 0}, "greater than 0"),
        ],
    )
    def test_what_cannot_be_done_is_refused(
        self, judge: JudgeServer, more: dict[str, Any], message: str
    ) -> None:
        body = {"code": "int main() {}", "language": "cpp", **more}
        status, detail = judge.refused("/run_code", body)
        assert status == 422
        assert message in detail


class TestGrade:
    @for_each(
        ("code", "verdict", "reward"),
        [
            (RIGHT, "accepted", 1.0),
            (WRONG, "wrong_answer", 0.0),
            ("int main() {", "compile_error", 0.0),
            ("int main() { return 1; }", "runtime_error", 0.0),
            ("", "no_solution", 0.0),
        ],
    )
    def test_solutions_in_cpp_have_their_verdicts(
        self, judge: JudgeServer, code: str, verdict: str, reward: float
    ) -> None:
        answer = judge.grade(problem="echo", code=code, language="cpp")
        assert (answer["verdict"], answer["reward"]) == (verdict, reward)
        assert answer["language"] == "cpp"
        assert "-std=gnu++20" in answer["compiler"]

    def test_the_block_of_the_language_is_taken_from_a_text(self, judge: JudgeServer) -> None:
        text = f"In Python:\n```python\nprint(2)\n```\nIn C++:\n```cpp\n{RIGHT}\n```\n"
        answer = judge.grade(problem="echo", text=text, language="cpp")
        assert (answer["reward"], answer["extraction"]) == (1.0, "cpp block")
        assert judge.grade(problem="echo", text=text)["reward"] == 0.0

    def test_a_batch_mixes_languages(self, judge: JudgeServer) -> None:
        items = [
            {"problem": "echo", "code": RIGHT},
            {"problem": "echo", "code": "print(input())", "language": "python"},
            {"tests": [{"input": "a", "output": "a"}], "code": RIGHT},
        ]
        answer = judge.client.post("/grade", json={"items": items, "language": "cpp"})
        lines = sorted(map(json.loads, answer.text.splitlines()), key=lambda line: line["index"])
        assert [line["verdict"] for line in lines] == ["accepted"] * 3
        assert ["compiler" in line for line in lines] == [True, False, True]

    def test_a_function_without_types_is_refused(self, judge: JudgeServer) -> None:
        body = {"problem": "double", "code": "x", "language": "cpp"}
        status, detail = judge.refused("/grade", body)
        assert status == 422
        assert "takes no C++ solution" in detail

    def test_python_is_refused_where_a_problem_takes_cpp_only(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(json_lines([ECHO | {"languages": ["cpp"]}]))
        (problem,) = load_problems(f"jsonl:{tmp_path / 'rows.jsonl'}")
        with JudgeServer([problem], workers=1) as judge:
            status, detail = judge.refused("/grade", {"problem": "echo", "code": "print(input())"})
            assert judge.grade(problem="echo", code=RIGHT, language="cpp")["reward"] == 1.0
        assert (status, "only C++ may be used" in detail) == (422, True)

    def test_another_language_is_refused(self, judge: JudgeServer) -> None:
        body = {"problem": "echo", "code": "x", "language": "java"}
        status, detail = judge.refused("/grade", body)
        assert (status, "'python' or 'cpp'" in detail) == (422, True)


def test_flags_that_the_compiler_refuses_end_the_server_before_it_listens() -> None:
    spec = read_spec(None, {"cpp_flags": "-std=none"})
    with pytest.raises(UsageError, match="-std=none"):
        serve(ServerSettings(spec, port=0), print)
