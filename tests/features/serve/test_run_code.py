"""`POST /run_code`: SandboxFusion's request, answer and words."""

import base64
from typing import Any

from for_each import for_each
from judge_server import JudgeServer

KEYS = {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class TestEndings:
    def test_a_program_that_ends_well(self, judge: JudgeServer) -> None:
        answer = judge.run_code("print(input()[::-1])", stdin="äbc")
        result = answer.pop("run_result")
        assert answer == {
            "status": "Success",
            "message": "",
            "compile_result": None,
            "executor_pod_name": None,
            "files": {},
        }
        assert (result["status"], result["return_code"], result["stdout"], result["stderr"]) == (
            ("Finished", 0, "cbä\n", "")
        )
        assert 0 < result["cpu_time"] <= result["execution_time"] + 0.01

    @for_each(
        ("code", "return_code", "stderr"),
        [
            ("raise ValueError('no')", 1, "ValueError: no"),
            ("import sys; print('x', file=sys.stderr); 1 / 0", 1, "x\nTraceback"),
            ("print(", 1, "SyntaxError"),
            ("import sys; sys.exit(3)", 3, ""),
            ("import sys; sys.exit(-1)", 255, ""),
            ("import sys; sys.exit('bad')", 1, "bad\n"),
            ("import os; os._exit(7)", 7, ""),
            ("import os; os.abort()", -6, ""),
            ("x = bytearray(1 << 31)", 1, "MemoryError"),
        ],
    )
    def test_run_code_reports_a_failing_program(
        self, judge: JudgeServer, code: str, return_code: int, stderr: str
    ) -> None:
        self._fails(judge, code, return_code, stderr, {})

    @for_each(
        ("code", "return_code", "stderr"),
        [
            ("raise ValueError('no')", 1, "ValueError: no"),
            ("print(", 1, "SyntaxError"),
            ("import sys; sys.exit(3)", 3, ""),
            ("import os; os._exit(7)", 7, ""),
        ],
    )
    def test_run_code_reports_a_failing_program_with_files(
        self, judge: JudgeServer, code: str, return_code: int, stderr: str
    ) -> None:
        self._fails(judge, code, return_code, stderr, {"h.py": encoded("x = 1")})

    def _fails(
        self, judge: JudgeServer, code: str, return_code: int, stderr: str, files: dict[str, str]
    ) -> None:
        answer = judge.run_code(code, memory_limit_MB=256, files=files)
        assert set(answer) == KEYS
        assert answer["status"] == "Failed"
        result = answer["run_result"]
        assert (result["status"], result["return_code"]) == ("Finished", return_code)
        assert stderr in result["stderr"]
        assert bool(result["stderr"]) == bool(stderr)

    @for_each("code", ["while True: pass", "import time; time.sleep(9)"])
    def test_run_code_reports_a_time_limit(self, judge: JudgeServer, code: str) -> None:
        answer = judge.run_code(code, run_timeout=0.2)
        assert answer["status"] == "Failed"
        result = answer["run_result"]
        assert (result["status"], result["return_code"]) == ("TimeLimitExceeded", None)

    def test_output_that_is_no_utf_8(self, judge: JudgeServer) -> None:
        answer = judge.run_code(r"import sys; sys.stdout.buffer.write(b'a\xff')")
        assert answer["run_result"]["stdout"] == "a\ufffd"

    def test_too_much_output_is_a_failure(self, judge: JudgeServer) -> None:
        answer = judge.run_code("while True: print('x' * 1_000_000)")
        assert answer["status"] == "Failed"
        assert "64 MiB" in answer["run_result"]["stderr"]
        assert len(answer["run_result"]["stdout"]) < 1 << 20


class TestFiles:
    def test_files_are_there_and_can_be_imported(self, judge: JudgeServer) -> None:
        code = "import helper, sys; print(helper.x, open('data/in.txt').read(), len(sys.argv))"
        wrapped = base64.encodebytes(b"x = 41" + b" " * 99).decode()  # in several lines
        files = {"helper.py": wrapped, "data/in.txt": encoded("é"), "none": None}
        answer = judge.run_code(code, files=files)
        assert answer["run_result"]["stdout"] == "41 é 1\n"

    def test_files_are_fetched_whatever_the_program_printed(self, judge: JudgeServer) -> None:
        code = "open('o', 'wb').write(b'\\xff\\x00'); print('said'); raise SystemExit(2)"
        answer = judge.run_code(code, fetch_files=["o", "missing"])
        assert answer["files"] == {"o": base64.b64encode(b"\xff\x00").decode()}
        assert (answer["run_result"]["stdout"], answer["run_result"]["return_code"]) == (
            "said\n",
            2,
        )

    def test_files_of_a_request_are_not_there_in_the_next(self, judge: JudgeServer) -> None:
        look = "import os; print(os.listdir('.'))"
        for _ in range(3):
            judge.run_code("open('left', 'w').write('x')", files={"h.py": encoded("x = 1")})
            assert judge.run_code(look)["run_result"]["stdout"] == "[]\n"

    def test_the_program_s_own_lines_stand_in_its_traceback(self, judge: JudgeServer) -> None:
        answer = judge.run_code("def f():\n    return 1 / 0\nf()", files={"h": encoded("x")})
        trace = answer["run_result"]["stderr"]
        assert "line 3, in <module>\n    f()\n" in trace
        assert "_harness" not in trace

    @for_each("path", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
    def test_outside_the_working_directory_are_refused(self, judge: JudgeServer, path: str) -> None:
        body = {"code": "", "language": "python"}
        for more in ({"files": {path: ""}}, {"fetch_files": [path]}):
            status, detail = judge.refused("/run_code", body | more)
            assert (status, "working directory" in detail) == (422, True)


class TestBadRequests:
    @for_each(
        ("body", "excerpt"),
        [
            ({"language": "python"}, "code"),
            ({"code": "", "language": "java"}, "python and cpp"),
            ({"code": ""}, "language"),
            ({"code": "", "language": "python", "run_timeout": 0}, "run_timeout"),
            ({"code": "", "language": "python", "files": {"a": "abc"}}, "base64"),
            ({"code": "", "language": "python", "files": {"a": "plain text!!"}}, "base64"),
            ([], "must be keys with values"),
        ],
    )
    def test_bad_run_code_requests_say_what_is_wrong(
        self, judge: JudgeServer, body: Any, excerpt: str
    ) -> None:
        status, detail = judge.refused("/run_code", body)
        assert status == 422
        assert excerpt in detail

    def test_run_code_refuses_what_is_no_json(self, judge: JudgeServer) -> None:
        answer = judge.client.post("/run_code", content=b"{")
        assert answer.status_code == 422
        assert "JSON" in answer.json()["detail"]

    def test_half_a_surrogate_pair_is_read(self, judge: JudgeServer) -> None:
        content = b'{"code": "print(ascii(input()))", "stdin": "\\ud83d", "language": "python"}'
        answer = judge.client.post("/run_code", content=content)
        assert answer.json()["run_result"]["stdout"].startswith("'\\ud")

    def test_keys_that_nobody_knows_are_passed_over(self, judge: JudgeServer) -> None:
        assert judge.run_code("print(1)", some_new_key=1)["status"] == "Success"
