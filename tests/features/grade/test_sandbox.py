"""`harness.Sandbox`: one call judges a solution on the tests of a row."""

import gc
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from processes import PATIENCE_S, children, resting

import harness
from harness.sandbox.isolation import UNSAFE
from harness.sandbox.strongest import strongest

ADD = "class Solution:\n    def add(self, a, b): return a + b"
ENDLESS = "def add(a, b):\n    while True: pass"
CASES: list[dict[str, Any]] = [
    {"input": [1, 2], "expected": 3},
    {"input": [2, 2], "expected": 4},
    {"input": [-1, 1], "expected": 0},
]
CONVERT = """
def convert_offline(case):
    inputs, expected = case
    return tuple(set(each) for each in inputs), expected
"""
EVALUATE = """
def evaluate_offline(inputs, outputs, expected):
    return sorted(outputs) == expected
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[harness.Sandbox]:
    with harness.Sandbox(timeout=2) as sandbox:
        yield sandbox


class TestWithoutHooks:
    @for_each("as_text", [False, True])
    def test_a_right_solution_passes_with_run_times(
        self, as_text: bool, sandbox: harness.Sandbox
    ) -> None:
        cases = json.dumps(CASES[:2]) if as_text else CASES[:2]
        output = sandbox.run(solution_code=ADD, test_cases=cases, entry_point="add")
        assert (output["passed"], output["verdict"]) == (True, "accepted")
        assert len(output["results"]) == 2
        for result in output["results"]:
            interval = {"ci95_lo", "ci95_hi"}
            assert set(result) == {"passed", "verdict", "runtime_ms", "error", "got"} | interval
            assert 0 <= result["ci95_lo"] <= result["runtime_ms"] <= result["ci95_hi"]
            assert (result["passed"], result["error"], result["got"]) == (True, "", "")
            assert 0 <= result["runtime_ms"] < 1000

    def test_a_wrong_solution_is_run_on_every_test(self, sandbox: harness.Sandbox) -> None:
        code = "def add(a, b): return a * b"
        output = sandbox.run(code, CASES, "add")
        assert (output["passed"], output["verdict"]) == (False, "wrong_answer")
        assert [result["passed"] for result in output["results"]] == [False, True, False]
        assert [result["got"] for result in output["results"]] == ["2", "", "-1"]

    @pytest.mark.thorough
    def test_a_slow_solution_is_run_on_every_test(self) -> None:
        code = "def add(a, b):\n    while a == b: pass\n    return a + b"
        with harness.Sandbox(timeout=0.3) as sandbox:
            output = sandbox.run(code, CASES, "add")
        verdicts = [result["verdict"] for result in output["results"]]
        assert verdicts == ["accepted", "time_limit", "accepted"]
        assert 300 <= output["results"][1]["runtime_ms"] < 3000

    @for_each(
        ("code", "verdict", "error"),
        [
            ("def add(a, b): return a / 0", "runtime_error", "ZeroDivisionError"),
            ("def sub(a, b): return a", "runtime_error", "add"),
            ("def add(a, b)", "compile_error", "SyntaxError"),
            ("import socket\nsocket.socket()\n" + ADD, "runtime_error", "PermissionError"),
            ("exit(0)", "runtime_error", "before the function returned"),
            ("", "no_solution", ""),
        ],
    )
    def test_a_failure_is_described(
        self, code: str, verdict: str, error: str, sandbox: harness.Sandbox
    ) -> None:
        output = sandbox.run(code, CASES, "add")
        assert (output["passed"], output["verdict"]) == (False, verdict)
        assert all(error in result["error"] for result in output["results"])
        assert bool(output["results"]) == bool(code)

    def test_names_of_the_platform_are_there(self, sandbox: harness.Sandbox) -> None:
        code = (
            "class Solution:\n    def add(self, a: int, b: int) -> Optional[int]:\n"
            "        return sum(collections.Counter([a]).elements()) + floor(b) + len(deque())"
        )
        assert sandbox.run(code, CASES[:1], "add")["passed"]

    def test_results_are_compared_by_structure(self, sandbox: harness.Sandbox) -> None:
        cases = [{"input": [[3, 1]], "expected": [1, 3]}]
        for right in ("sorted(x)", "tuple(sorted(x))", "[1.0, 3]"):
            code = f"def f(x): return {right}"
            assert sandbox.run(code, cases, "f")["passed"], right
        for wrong in (
            "'[1, 3]'",
            "[1, 3, 3]",
            "['1', '3']",
            "None",
            "[3, 1]",
            "[1, float('nan')]",
            "(n for n in (1, 3))",
        ):
            code = f"def f(x): return {wrong}"
            assert not sandbox.run(code, cases, "f")["passed"], wrong

    def test_a_solution_without_tests_is_ungraded(self, sandbox: harness.Sandbox) -> None:
        output = sandbox.run(ADD, [], "add")
        assert output == {"passed": False, "verdict": "ungraded", "results": []}


class TestWithHooks:
    def test_arguments_are_made_and_results_judged_by_them(self, sandbox: harness.Sandbox) -> None:
        cases = [{"input": [[1, 1, 2], [2, 3]], "expected": [1, 2, 3]}]
        code = "class Solution:\n    def union(self, a, b): return list(a | b)[::-1]"
        output = sandbox.run(code, cases, "union", CONVERT, EVALUATE)
        assert (output["passed"], output["verdict"]) == (True, "accepted")
        wrong = sandbox.run(code.replace("|", "&"), cases, "union", CONVERT, EVALUATE)
        assert (wrong["passed"], wrong["verdict"]) == (False, "wrong_answer")
        without = sandbox.run(code, cases, "union")
        assert without["verdict"] == "runtime_error"

    def test_hooks_that_fail_are_not_the_solution_s_fault(self, sandbox: harness.Sandbox) -> None:
        cases = [{"input": [[1], [2]], "expected": [1, 2]}]
        code = "def union(a, b): return a | b"
        broken = "def evaluate_offline(inputs, outputs, expected): raise RuntimeError('mine')"
        output = sandbox.run(code, cases, "union", CONVERT, broken)
        assert output["verdict"] == "checker_error"
        assert not output["passed"]
        assert "mine" in output["results"][0]["error"]
        output = sandbox.run(code, cases, "union", "def convert_offline(", EVALUATE)
        assert (output["passed"], output["verdict"]) == (False, "checker_error")

    @for_each("hook", ["convert_offline", "evaluate_offline"])
    def test_a_single_hook_is_an_error(self, hook: str, sandbox: harness.Sandbox) -> None:
        with pytest.raises(harness.UsageError, match="both"):
            sandbox.run(ADD, CASES, "add", **{hook: CONVERT})

    @pytest.mark.thorough
    def test_hooks_of_a_real_mercury_row_judge_its_solutions(
        self, test_data: Path, sandbox: harness.Sandbox
    ) -> None:
        path = test_data / "mercury_partial_row" / "add-two-numbers.json"
        file = json.loads(path.read_text())
        row = file["row"]
        hooks = {
            "entry_point": row["entry_point"],
            "convert_offline": row["convert_offline"],
            "evaluate_offline": row["evaluate_offline"],
        }
        for cases in (row["test_cases"], json.loads(row["test_cases"])):
            for solution in row["solutions"]:
                output = sandbox.run(solution_code=solution["solution"], test_cases=cases, **hooks)
                assert output["passed"], output
                assert len(output["results"]) == 4
        for bad in file["known_bad"]:
            output = sandbox.run(solution_code=bad, test_cases=row["test_cases"], **hooks)
            assert (output["passed"], output["verdict"]) == (False, "wrong_answer")
            verdicts = [result["passed"] for result in output["results"]]
            assert verdicts == [False, True, False, False]


BAD = {
    "no text of JSON": "[{",
    "a case without its input": [{"expected": 1}],
    "a case without what is expected": [CASES[0], {"input": [1, 2]}],
    "a case that is none": [1],
    "a case that is a list": [[1, 2]],
    "no list": 5,
    "JSON that is not a list": "5",
    "an object": {"input": [1], "expected": 1},
    "an input that is not a list": [{"input": 5, "expected": 5}],
    "an input that is text": [{"input": "ab", "expected": "ab"}],
    "an input that is an object": [{"input": {"a": 1, "b": 2}, "expected": 3}],
    "an input that is not data": [{"input": [object()], "expected": 5}],
    "a key that is no text": [{"input": [{1: 2}], "expected": 2}],
    "a key within that is no text": [{"input": [1], "expected": [({"a": {1: 1}},)]}],
    "an expectation that is not data": [{"input": [1], "expected": {1, 2}}],
    "nothing": None,
}


def test_tests_that_are_none_are_a_data_error(sandbox: harness.Sandbox) -> None:
    words = r"^test_cases: (give a list|test \d: |not JSON: )"
    for cases in BAD.values():
        with pytest.raises(harness.DataError, match=words):
            sandbox.run(ADD, cases, "add")
    assert sandbox.run(ADD, CASES[:1], "add")["passed"]


@for_each(
    ("settings", "message"),
    [
        ({"timeout": -1}, "timeout -1: give CPU seconds, more than 0"),
        ({"timeout": 0}, "timeout 0: give CPU seconds"),
        ({"timeout": "a"}, "timeout 'a': give CPU seconds"),
        ({"timeout": None}, "timeout None: give CPU seconds"),
        ({"timeout": float("inf")}, "timeout inf: give CPU seconds"),
        ({"isolation": "strong"}, "isolation 'strong': give one of none, seccomp, landlock, name"),
        ({"isolation": 3}, "isolation 3: give one of none"),
    ],
)
def test_settings_that_are_none_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(harness.UsageError, match=re.escape(f"Sandbox(): {message}")):
        harness.Sandbox(**settings)


@for_each(
    ("changes", "message"),
    [
        ({"solution_code": None}, "solution_code is a NoneType: give the program as text"),
        ({"entry_point": None}, "entry_point None: give the name"),
        ({"entry_point": "a b"}, "entry_point 'a b': give the name"),
        ({"convert_offline": 3, "evaluate_offline": 4}, "as text"),
    ],
)
def test_arguments_that_are_none_are_refused(
    changes: dict[str, Any], message: str, sandbox: harness.Sandbox
) -> None:
    row = {"solution_code": ADD, "test_cases": CASES, "entry_point": "add"}
    with pytest.raises(harness.UsageError, match=rf"Sandbox.run\(\): .*{re.escape(message)}"):
        sandbox.run(**(row | changes))


def test_a_level_may_be_given_as_a_word() -> None:
    with harness.Sandbox(isolation=str(strongest().isolation.level)) as sandbox:
        assert sandbox.run(ADD, CASES[:1], "add")["passed"]
        assert sandbox._worker.isolation == strongest().isolation


@pytest.mark.thorough
def test_threads_share_a_sandbox(sandbox: harness.Sandbox) -> None:
    def work(number: int) -> list[bool]:
        code = f"def f(x): return x + {number}"
        cases = [[{"input": [1], "expected": 1 + number + wrong}] for wrong in (0, 1, 0, 1)]
        return [sandbox.run(code, case, "f")["passed"] for case in cases]

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == [[True, False, True, False]] * 6


def _server(sandbox: harness.Sandbox) -> int:
    """Return the fork server of a sandbox, while it runs nothing."""
    sandbox.run(ADD, CASES, "add")
    process = sandbox._worker.process_id
    assert process is not None
    return resting(process)


def _begun(server: int) -> None:
    """Wait until a fork server runs something."""
    end = time.monotonic() + PATIENCE_S
    while not children(server):
        assert time.monotonic() < end


class TestLife:
    def test_a_closed_sandbox_refuses_calls(self) -> None:
        sandbox = harness.Sandbox()
        sandbox.close()
        for cases in (CASES, []):
            with pytest.raises(harness.UsageError, match="the sandbox is closed"):
                sandbox.run(ADD, cases, "add")

    @pytest.mark.thorough
    def test_a_sandbox_closed_by_another_thread_refuses_a_call_under_way(self) -> None:
        sandbox = harness.Sandbox()
        server = _server(sandbox)
        with ThreadPoolExecutor(2) as threads:
            calls = [threads.submit(sandbox.run, ENDLESS, CASES, "add") for _ in range(2)]
            _begun(server)
            sandbox.close()
            for call in calls:
                with pytest.raises(harness.UsageError, match="the sandbox is closed"):
                    call.result(60)

    @pytest.mark.thorough
    def test_a_sandbox_judges_calls_after_an_interrupt(self) -> None:
        with harness.Sandbox(timeout=1) as sandbox:
            server = _server(sandbox)

            def interrupt() -> None:
                _begun(server)
                os.kill(os.getpid(), signal.SIGINT)

            with ThreadPoolExecutor(1) as thread:
                thread.submit(interrupt)
                with pytest.raises(KeyboardInterrupt):
                    sandbox.run(ENDLESS, CASES[:1], "add")
            assert [sandbox.run(ADD, CASES, "add")["passed"] for _ in range(3)] == [True] * 3

    def test_a_forked_process_is_told_to_make_its_own(self) -> None:
        with harness.Sandbox() as sandbox:
            sandbox._process += 1
            with pytest.raises(harness.UsageError, match="make one in each process"):
                sandbox.run(ADD, CASES, "add")

    @pytest.mark.thorough
    def test_a_sandbox_keeps_its_worker_between_calls(self, sandbox: harness.Sandbox) -> None:
        sandbox.run(ADD, CASES, "add")
        first = sandbox._worker.process_id
        for _ in range(5):
            sandbox.run(ADD, CASES, "add")
        assert first is not None
        assert sandbox._worker.process_id == first

    @pytest.mark.thorough
    def test_the_fork_server_ends_with_the_sandbox_s_block(self) -> None:
        with harness.Sandbox() as sandbox:
            sandbox.run(ADD, CASES, "add")
            process = sandbox._worker.process_id
            assert Path(f"/proc/{process}").exists()
        assert not Path(f"/proc/{process}").exists()

    @pytest.mark.thorough
    def test_closing_a_sandbox_twice_ends_its_process(self) -> None:
        sandbox = harness.Sandbox()
        sandbox.run(ADD, CASES, "add")
        process = sandbox._worker.process_id
        sandbox.close()
        sandbox.close()
        assert not Path(f"/proc/{process}").exists()

    @pytest.mark.thorough
    def test_a_sandbox_without_references_ends_its_process(self) -> None:
        sandbox = harness.Sandbox()
        sandbox.run(ADD, CASES, "add")
        process = sandbox._worker.process_id
        del sandbox
        gc.collect()
        assert not Path(f"/proc/{process}").exists()

    @pytest.mark.thorough
    def test_the_isolation_level_is_told(self) -> None:
        code = "import os\ndef add(a, b):\n    os.getpid()\n    return a + b"
        with harness.Sandbox(isolation=UNSAFE) as sandbox:
            assert sandbox.run(code, CASES, "add")["passed"]
            assert sandbox._worker.isolation == UNSAFE
