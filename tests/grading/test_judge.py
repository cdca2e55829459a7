"""From programs to verdicts."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from for_each import for_each

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.problem import TestCase
from harness.sandbox.execution import Execution, SandboxError
from harness.sandbox.isolation import UNSAFE
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

GradeIt = Callable[..., Grade]
DOUBLES = [("1", "2"), ("2", "4"), ("3", "6")]
DOUBLE = "print(int(input()) * 2)"
LATE: Any = {"stop": Stop.LATE, "limits": Limits(cpu_s=0.1)}
SHORT = Limits(cpu_s=0.3, memory_bytes=512 << 20, output_bytes=1 << 20)


KEEPS = {
    "an attribute of a module": ("import math", "math.seen = 1", "hasattr(math, 'seen')"),
    "an attribute set by a loop": (
        "import math",
        "for math.seen in [1]: pass",
        "hasattr(math, 'seen')",
    ),
    "an attribute in other letters": ("import math", "\uff4dath.seen = 1", "hasattr(math, 'seen')"),
    "an attribute of a class": (
        "from collections import Counter",
        "Counter.seen = 1",
        "hasattr(Counter, 'seen')",
    ),
    "an attribute of a class in a list": (
        "from collections import Counter",
        "for each in [Counter]: each.seen = 1",
        "hasattr(Counter, 'seen')",
    ),
    "an attribute of a function": (
        "import copy\ncopied = copy.deepcopy",
        "copied.seen = 1",
        "hasattr(copied, 'seen')",
    ),
    "a dict inside a module": (
        "import json",
        "json.encoder.ESCAPE_DCT['seen'] = 1",
        "'seen' in json.encoder.ESCAPE_DCT",
    ),
    "a module": ("import sys", "sys.modules['seen'] = sys", "'seen' in sys.modules"),
    "a file": ("import os", "open('seen', 'w').close()", "os.path.exists('seen')"),
    "the environment": ("import os", "os.environ['SEEN'] = '1'", "'SEEN' in os.environ"),
    "a registered class": (
        "from collections.abc import Sequence",
        "Sequence.register(int)",
        "isinstance(1, Sequence)",
    ),
    "the decimal context": (
        "from decimal import getcontext",
        "getcontext().prec = 50",
        "getcontext().prec == 50",
    ),
}
"""What outlives a test: what comes first, what keeps it, what tells that it was kept."""
KEEPS_NOTHING = (
    "from functools import cache\n@cache\ndef f(n): return n",
    "seen = []\ndef f(n, kept=[]): global seen; kept.append(n); seen.append(n)\nf(1)\nf.seen = 1",
    "class Node:\n    all = []\n    def __init__(self): self.next = None; Node.last = self\nNode()",
    "import sys\nsys.setrecursionlimit(9999)\ninput = sys.stdin.readline",
    "import heapq, math\nfrom collections import *\nheapq.heappush([], math.inf)\nCounter('a')",
    "import threading\nthreading.stack_size(1 << 26)\nthreading.Thread(target=int).start()",
    "import random\nrandom.shuffle([1, 2, 3])",
)


def vector(grade: Grade) -> list[Verdict]:
    return [test.verdict for test in grade.tests]


class TestVerdicts:
    def test_a_right_program_is_accepted(self, grade: GradeIt) -> None:
        result = grade(DOUBLE, DOUBLES, public=1)
        assert result.solved
        assert (result.public_passed, result.public_total) == (1, 1)
        assert (result.hidden_passed, result.hidden_total) == (2, 2)
        assert [test.index for test in result.tests] == [0, 1, 2]
        assert [test.public for test in result.tests] == [True, False, False]
        assert all(test.error == test.got == test.stderr == "" for test in result.tests)
        assert (result.judged_again.confirmed, result.judged_again.rechecked) == ((0, 0), (1, 0))

    def test_a_right_function_is_accepted(self, grade: GradeIt) -> None:
        code = "class Solution:\n    def double(self, n): return (n * 2,)"
        tests = [("1", "[2]"), ("-3", "[-6]")]
        assert grade(code, tests, entry_point="double").solved

    def test_a_program_that_is_wrong_at_times(self, grade: GradeIt) -> None:
        result = grade("n = int(input())\nprint(n * 2 if n != 2 else 5)", DOUBLES)
        assert result.verdict is Verdict.WRONG_ANSWER
        assert vector(result) == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.ACCEPTED]
        wrong = result.tests[1]
        assert wrong.difference is not None
        assert (wrong.difference.expected, wrong.difference.got) == ("4", "5")
        assert wrong.got == "5\n"
        assert (result.public_passed, result.hidden_passed) == (1, 1)
        assert result.judged_again.confirmed == (1, 0)

    @for_each(
        ("act", "verdict"),
        [
            ("1 / 0", Verdict.RUNTIME_ERROR),
            ("exit(3)", Verdict.RUNTIME_ERROR),
            ("import os; os._exit(1)", Verdict.RUNTIME_ERROR),
            ("import os; os.kill(os.getpid(), 11)", Verdict.RUNTIME_ERROR),
            ("print(0)", Verdict.WRONG_ANSWER),
            ("exit()", Verdict.WRONG_ANSWER),
        ],
    )
    def test_the_tests_after_a_failure_are_run(
        self, act: str, verdict: Verdict, grade: GradeIt
    ) -> None:
        result = grade(f"n = int(input())\nif n == 2:\n    {act}\nprint(n * 2)", DOUBLES)
        assert result.verdict is verdict
        assert vector(result) == [Verdict.ACCEPTED, verdict, Verdict.ACCEPTED]

    @for_each(
        ("act", "verdict"),
        [
            ("while True: pass", Verdict.TIME_LIMIT),
            ("x = bytearray(3 << 30)", Verdict.MEMORY_LIMIT),
            ("print('x' * (2 << 20))", Verdict.OUTPUT_LIMIT),
        ],
    )
    def test_the_tests_after_a_limit_are_not(
        self, act: str, verdict: Verdict, grade: GradeIt
    ) -> None:
        code = f"n = int(input())\nif n == 2:\n    {act}\nprint(n * 2)"
        result = grade(code, DOUBLES, limits=SHORT)
        assert result.verdict is verdict
        assert vector(result) == [Verdict.ACCEPTED, verdict]
        assert (result.hidden_passed, result.hidden_total) == (0, 2)

    def test_the_verdict_is_that_of_the_first_failure(self, grade: GradeIt) -> None:
        result = grade("n = int(input())\nprint(1 // (3 - n))", DOUBLES)
        assert vector(result) == [Verdict.WRONG_ANSWER] * 2 + [Verdict.RUNTIME_ERROR]
        assert result.verdict is Verdict.WRONG_ANSWER

    def test_a_program_that_does_not_compile(self, grade: GradeIt) -> None:
        result = grade("print(", DOUBLES)
        assert vector(result) == [Verdict.COMPILE_ERROR]
        assert "SyntaxError" in result.tests[0].error
        assert (result.verdict, result.public_passed) == (Verdict.COMPILE_ERROR, 0)
        assert result.judged_again.confirmed == (0, 0)

    @for_each("code", ["", "  \n\t\n"])
    def test_an_empty_program_is_no_solution(self, code: str, grade: GradeIt) -> None:
        result = grade(code, DOUBLES, public=2)
        assert (result.verdict, result.tests) == (Verdict.NO_SOLUTION, ())
        assert (result.public_total, result.hidden_total) == (2, 1)

    @for_each("code", ["", DOUBLE])
    def test_a_problem_without_tests_is_ungraded(self, code: str, grade: GradeIt) -> None:
        result = grade(code, [])
        assert (result.verdict, result.tests) == (Verdict.UNGRADED, ())
        assert not result.solved

    def test_output_before_a_failure_does_not_count(self, grade: GradeIt) -> None:
        result = grade("print(int(input()) * 2)\n1 / 0", DOUBLES)
        assert vector(result) == [Verdict.RUNTIME_ERROR] * 3

    def test_a_function_judged_by_its_result_not_by_what_it_prints(self, grade: GradeIt) -> None:
        result = grade("def f(n):\n    print(n * 2)\n    return 0", DOUBLES, entry_point="f")
        assert result.verdict is Verdict.WRONG_ANSWER
        assert result.tests[0].stdout == "2\n"
        assert result.tests[0].got == "0"

    def test_a_tree_without_end_is_a_wrong_answer(self, grade: GradeIt) -> None:
        code = """
class TreeNode:
    val, right = 1, None
def f(n):
    root = TreeNode()
    root.left = root
    return root"""
        result = grade(code, [("1", "[1]")], entry_point="f")
        assert vector(result) == [Verdict.WRONG_ANSWER]
        assert result.tests[0].got == "<cyclic tree object>"

    def test_a_function_that_is_not_there(self, grade: GradeIt) -> None:
        result = grade("def g(n): ...", DOUBLES, entry_point="f")
        assert result.verdict is Verdict.RUNTIME_ERROR
        assert "defines no function" in result.tests[0].error

    def test_what_a_program_waited_for_is_told(self, grade: GradeIt) -> None:
        class Impatient(Limits):
            @property
            def wall_s(self) -> float:
                return 0.3

        result = grade("import time\ntime.sleep(100)", DOUBLES, limits=Impatient())
        assert result.verdict is Verdict.TIME_LIMIT
        assert result.tests[0].error.startswith("the limit of wall time was reached after")

    def test_an_exit_code_is_not_judged_where_the_output_is_right(self, grade: GradeIt) -> None:
        for act in ("exit(3)", "exit('a word')", "raise SystemExit(255)"):
            result = grade(f"print(int(input()) * 2, flush=True)\n{act}", DOUBLES)
            assert vector(result) == [Verdict.ACCEPTED] * 3
            assert result.tests[0].error == ""

    def test_a_process_that_ends_with_a_code_has_crashed(self, grade: GradeIt) -> None:
        code = "import os\nprint(int(input()) * 2, flush=True)\nos._exit(7)"
        result = grade(code, DOUBLES)
        assert vector(result) == [Verdict.RUNTIME_ERROR] * 3
        assert result.tests[0].error == "its process ended with exit code 7"

    def test_an_exit_code_with_a_wrong_output_is_an_error(self, grade: GradeIt) -> None:
        result = grade("print(7)\nexit(3)", DOUBLES[:1])
        assert vector(result) == [Verdict.RUNTIME_ERROR]
        assert result.tests[0].difference is not None

    def test_a_function_that_exits_returns_nothing(self, grade: GradeIt) -> None:
        result = grade("def f(n): print(n * 2), exit(1)", DOUBLES[:1], entry_point="f")
        assert vector(result) == [Verdict.RUNTIME_ERROR]

    @for_each(
        "code",
        ["yield 1\nreturn", "nonlocal x\nx = 1\nreturn", "return 1 +", "def f(): pass\nawait f()"],
    )
    def test_syntax_errors_are_compile_errors(self, code: str, grade: GradeIt) -> None:
        assert grade(code, DOUBLES[:1]).verdict is Verdict.COMPILE_ERROR

    def test_a_return_outside_of_functions_is_an_error_beside_one(self, grade: GradeIt) -> None:
        result = grade("def f(n): return n * 2\nreturn", DOUBLES[:1], entry_point="f")
        assert result.verdict is Verdict.COMPILE_ERROR
        assert "'return' outside function" in result.tests[0].error

    def test_an_error_after_a_return_is_shown_as_a_script_s(self, grade: GradeIt) -> None:
        result = grade("n = int(input())\nif n > 99: return\n1 / 0", DOUBLES[:1])
        assert "line 3, in <module>" in result.tests[0].error

    def test_exit_codes_and_signals_are_told(self, grade: GradeIt) -> None:
        assert grade("exit(3)", DOUBLES[:1]).tests[0].error == "exit code 3"
        killed = grade("import os\nos.kill(os.getpid(), 9)", DOUBLES[:1])
        assert killed.tests[0].error == "killed by signal 9"

    def test_shown_values_are_bounded_and_can_be_written(self, grade: GradeIt) -> None:
        code = (
            "import sys\nsys.stdout.buffer.write(b'\\xff\\0' * 10 ** 5)\n"
            "print('\\udcff' * 10 ** 5, file=sys.stderr)\n"
        )
        for result in (
            grade(code, DOUBLES),
            grade(code + "raise ValueError('\\ud800' * 10 ** 5)", DOUBLES),
            grade("def f(n): return '\\ud800' * 10 ** 5", DOUBLES, entry_point="f"),
            grade("def f(n): return {'\\ud800': {1: n}}", DOUBLES, entry_point="f"),
        ):
            assert not result.solved
            assert len(result.model_dump_json()) < 100_000

    def test_expected_outputs_may_hold_anything(self, grade: GradeIt) -> None:
        tests = [("1", "\ud800"), ("2", "[" * 10**6), ("3", "")]
        assert grade(DOUBLE, tests).verdict is Verdict.WRONG_ANSWER
        assert grade("def f(n): return n", tests, entry_point="f").verdict is Verdict.WRONG_ANSWER


class TestBatches:
    """State that leaks between the tests of a batch neither costs nor wins a verdict."""

    @pytest.fixture
    def unseen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A program hides from the look at its text that it keeps something."""

        def nothing(_code: str) -> bool:
            return False

        monkeypatch.setattr("harness.grading.judge.may_need_a_look", nothing)

    @pytest.mark.usefixtures("unseen")
    def test_a_failure_that_others_caused_is_confirmed_away(self, grade: GradeIt) -> None:
        code = """
        import math
        seen = getattr(math, 'seen', 0)
        math.seen = seen + 1
        print(int(input()) * 2 + seen)
        """
        result = grade(code, DOUBLES)
        assert result.solved
        assert vector(result) == [Verdict.ACCEPTED] * 3
        assert result.judged_again.confirmed == (2, 2)
        assert result.judged_again.rechecked == (1, 0)

    def test_a_limit_that_others_used_up_is_confirmed_away(self, grade: GradeIt) -> None:
        code = """
        import math
        math.kept = getattr(math, 'kept', []) + [bytearray(200 << 20)]
        print(int(input()) * 2)
        """
        result = grade(code, DOUBLES, limits=SHORT)
        assert result.solved
        assert all(test.peak_bytes for test in result.tests)  # the batch took too much for one
        assert 200 << 20 < result.peak_bytes < SHORT.memory_bytes

    def test_time_in_the_kernel_is_tried_once_more(self, grade: GradeIt) -> None:
        """New memory costs a virtual machine several times as much as memory in use."""
        code = "import os\nwhile True: os.urandom(1 << 20)"
        limits = replace(SHORT, cpu_s=0.15)
        kernel = grade(code, DOUBLES[:1], limits=limits)
        assert kernel.verdict is Verdict.TIME_LIMIT
        assert kernel.judged_again.retimed == (1, 0)
        own = grade("while True: pass", DOUBLES[:1], limits=limits)
        assert own.judged_again.retimed == (0, 0)

    @pytest.mark.usefixtures("unseen")
    def test_a_pass_that_others_caused_is_found_out(self, grade: GradeIt) -> None:
        """Any test but the first fails alone; the one picked for these is not the first."""
        code = """
        import math
        n = int(input())
        if n == 0 or hasattr(math, 'seen'):
            print(n * 2)
        math.seen = True
        """
        tests = [(str(n), str(n * 2)) for n in range(40)]
        result = grade(code, tests)
        assert result.verdict is Verdict.WRONG_ANSWER
        assert result.judged_again.rechecked == (1, 1)
        assert vector(result) == [Verdict.ACCEPTED] + [Verdict.WRONG_ANSWER] * 39

    @for_each("keeps", KEEPS)
    @for_each("function", [False, True])
    def test_what_keeps_something_is_accepted_only_if_each_test_passes_alone(
        self, keeps: str, function: bool, grade: GradeIt
    ) -> None:
        """Test 2 fails alone, and teaches nothing: it was picked once in six problems."""
        first, keep, kept = KEEPS[keeps]
        body = f"right = n != 2 or bool({kept})\n{keep}\n"
        code = f"{first}\nn = int(input())\n{body}print(n * 2 if right else -1)"
        if function:
            code = f"{first}\ndef f(n):\n{indent(body, '    ')}    return n * 2 if right else -1"
        entry_point = "f" if function else None
        for shift in range(3):
            tests = [(str(n), str(n * 2)) for n in range(5 + shift)]
            result = grade(code, tests, entry_point=entry_point, stop=Stop.NEVER)
            assert [test.index for test in result.tests if not test.passed] == [2]
            assert all(test.peak_bytes for test in result.tests)  # each had a process of its own

    @for_each("code", KEEPS_NOTHING)
    def test_what_keeps_nothing_needs_one_process(self, code: str, grade: GradeIt) -> None:
        result = grade(f"{code}\nprint(int(input()) * 2)", DOUBLES)
        assert result.solved
        assert not any(test.peak_bytes for test in result.tests)

    def test_random_numbers_are_the_same_in_each_test(self, grade: GradeIt) -> None:
        code = "import random\nrandom.seed(random.random())\nprint(random.random())"
        first = grade(code, [("", "")]).tests[0].got
        assert grade(code, [("", first)] * 3).solved

    def test_a_right_solution_needs_one_process(self) -> None:
        """The test that is picked runs first in it, and so has nobody to thank for its passing."""
        runs: list[int] = []

        class Counted(Worker):
            def try_out(self, *arguments: Any, **options: Any) -> list[Execution]:
                executions = super().try_out(*arguments, **options)
                runs.append(len(executions))
                return executions

        counted = Counted()
        tests = [TestCase(input=str(n), output=str(n * 2), public=True) for n in range(40)]
        try:
            result = judge(counted, Task(Program(DOUBLE), tests, SHORT))
        finally:
            counted.stop()
        assert result.solved
        assert [test.index for test in result.tests] == list(range(40))
        assert runs == [40]
        assert result.judged_again.rechecked == (1, 0)

    @for_each(
        ("failing", "stop", "requests"),
        [
            (5, Stop.AUTO, [30, 5]),
            (20, Stop.AUTO, [30, 16, 4]),
            (20, Stop.FAILURE, [30, 1]),
        ],
    )
    def test_failures_are_confirmed_at_few_requests(
        self, failing: int, stop: Stop, requests: list[int]
    ) -> None:
        """Each alone, in a process of its own; where judging stops at a failure, only that one."""
        sent: list[int] = []

        class Counted(Worker):
            def try_out(self, trial: Trial, indexes: Any, **options: Any) -> list[Execution]:
                sent.append(len(indexes))
                return super().try_out(trial, indexes, **options)

            def try_each(self, trial: Trial, indexes: Any, *, last: bool) -> list[Execution]:
                sent.append(len(indexes))
                return super().try_each(trial, indexes, last=last)

        code = f"n = int(input())\nprint(n * 2 + (n < {failing}))"
        counted = Counted()
        tests = [TestCase(input=str(n), output=str(n * 2), public=True) for n in range(30)]
        try:
            result = judge(counted, Task(Program(code), tests, SHORT, stop=stop))
        finally:
            counted.stop()
        assert sent == requests
        confirmed = 1 if stop is Stop.FAILURE else failing
        assert [test.index for test in result.tests if not test.passed] == list(range(confirmed))
        assert all(test.peak_bytes for test in result.tests if not test.passed)
        assert result.judged_again.confirmed == (confirmed, 0)

    def test_a_sandbox_that_fails_with_several_confirms_one_by_one(self) -> None:
        class Failing(Worker):
            def try_each(self, *_: Any, **__: Any) -> list[Execution]:
                self.kill()
                raise SandboxError("gone")

        failing = Failing()
        tests = [TestCase(input=str(n), output="none", public=True) for n in range(5)]
        try:
            result = judge(failing, Task(Program("print(1)"), tests, SHORT))
        finally:
            failing.stop()
        assert vector(result) == [Verdict.WRONG_ANSWER] * 5
        assert (result.judged_again.confirmed, result.judged_again.retried) == ((5, 0), 1)

    @pytest.mark.usefixtures("unseen")
    def test_the_test_picked_is_the_same_every_time(self, grade: GradeIt) -> None:
        """A program that fails the one run again says which that was."""
        code = """
        import math
        n = int(input())
        print(n * 2 if n == 0 or hasattr(math, 'seen') else -n)
        math.seen = True
        """
        tests = [(str(n), str(n * 2)) for n in range(8)]
        assert vector(grade(code, tests)) == vector(grade(code, tests))

    def test_a_single_test_is_not_confirmed_again(self, grade: GradeIt) -> None:
        result = grade(DOUBLE, DOUBLES[:1])
        assert result.solved
        assert (result.judged_again.confirmed, result.judged_again.rechecked) == ((0, 0), (0, 0))
        assert result.tests[0].peak_bytes is not None

    def test_a_failure_alone_is_not_confirmed(self, grade: GradeIt) -> None:
        result = grade("print(0)", DOUBLES[:1])
        assert (result.verdict, result.judged_again.confirmed) == (Verdict.WRONG_ANSWER, (0, 0))

    def test_a_process_for_each_test_when_asked_for(self, grade: GradeIt) -> None:
        code = """
        import math
        print(int(input()) * 2 + hasattr(math, 'seen'))
        math.seen = True
        """
        result = grade(code, DOUBLES, isolate=True)
        assert result.solved
        assert (result.judged_again.confirmed, result.judged_again.rechecked) == ((0, 0), (0, 0))
        assert all(test.peak_bytes for test in result.tests)

    def test_a_process_for_each_test_ends_as_a_batch_does(self, grade: GradeIt) -> None:
        spin = "n = int(input())\nwhile n == 2: pass\nprint(n)"
        result = grade(spin, DOUBLES, isolate=True, limits=SHORT)
        assert vector(result) == [Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT]
        assert vector(grade("print(", DOUBLES, isolate=True)) == [Verdict.COMPILE_ERROR]
        assert vector(grade("1 / 0", DOUBLES, isolate=True)) == [Verdict.RUNTIME_ERROR] * 3

    def test_many_tests_are_judged_in_order(self, grade: GradeIt) -> None:
        tests = [(str(n), str(n * 2)) for n in range(300)]
        code = "n = int(input())\nprint(n * 2 + (n % 100 == 99))"
        result = grade(code, tests, stop=Stop.NEVER)
        failed = [test.index for test in result.tests if not test.passed]
        assert failed == [99, 199, 299]
        assert len(result.tests) == 300

    def test_a_solution_that_never_ends_is_tested_three_times_for_a_reward(
        self, grade: GradeIt
    ) -> None:
        """Each test would cost its whole limit."""
        tests = [(str(n), str(n * 2)) for n in range(12)]
        result = grade("n = int(input())\nwhile n > 1: pass\nprint(n * 2)", tests, **LATE)
        assert vector(result) == [Verdict.ACCEPTED] * 2 + [Verdict.TIME_LIMIT] * 3
        assert result.tests[-1].error == (
            "3 tests hit the time limit; the other 7 were not run and count as failed"
        )
        assert (result.public_passed + result.hidden_passed, result.hidden_total) == (2, 11)
        assert not any("not run" in test.error for test in result.tests[:-1])

    def test_the_tests_after_two_time_limits_are_run_for_a_reward(self, grade: GradeIt) -> None:
        tests = [(str(n), str(n * 2)) for n in range(6)]
        code = "n = int(input())\nwhile n in (1, 5): pass\nprint(n * 2)"
        result = grade(code, tests, **LATE)
        assert [test.index for test in result.tests if not test.passed] == [1, 5]
        assert len(result.tests) == 6
        assert len(grade(code.replace("5", "4, 5"), tests, **LATE).tests) == 6

    def test_a_process_that_ends_at_every_test(self, grade: GradeIt) -> None:
        code = "import os\nprint(int(input()) * 2, flush=True)\nos._exit(0)"
        result = grade(code, DOUBLES)
        assert result.solved
        assert vector(result) == [Verdict.ACCEPTED] * 3


class TestBlame:
    """Without the layers, a program can kill the fork server; past Python, which would not."""

    KILL = "import ctypes, os\ndef kill(n): ctypes.CDLL(None).kill(os.getppid(), n)\n"
    KILLER = KILL + "print(int(input()) * 2, flush=True)\nkill(9)\nwhile 1: pass"

    def test_killing_the_sandbox_is_the_program_s_own_error(self, grade_unguarded: GradeIt) -> None:
        result = grade_unguarded(self.KILLER, DOUBLES[:1])
        assert vector(result) == [Verdict.RUNTIME_ERROR]
        assert "does not survive this program" in result.tests[0].error
        assert result.judged_again.blamed == 1
        assert result.judged_again.retried >= 2

    def test_tests_before_it_count_and_the_rest_are_not_run(self, grade_unguarded: GradeIt) -> None:
        code = self.KILL + "n = int(input())\nif n == 2: kill(9)\nprint(n * 2)"
        result = grade_unguarded(code, DOUBLES)
        assert vector(result) == [Verdict.ACCEPTED, Verdict.RUNTIME_ERROR]
        assert "timed out" not in result.tests[1].error
        assert (result.public_total + result.hidden_total) == 3

    @pytest.mark.thorough
    def test_a_fork_server_that_is_stopped_is_not_waited_for(
        self, grade_unguarded: GradeIt
    ) -> None:
        code = self.KILL + "kill(19)\nimport time\ntime.sleep(100)"
        start = time.monotonic()
        result = grade_unguarded(code, DOUBLES, limits=Limits(cpu_s=20))
        assert vector(result) == [Verdict.RUNTIME_ERROR]
        assert time.monotonic() - start < 20

    def test_a_solution_that_kills_the_fork_server_does_not_affect_others(
        self, grade_unguarded: GradeIt
    ) -> None:
        assert not grade_unguarded(self.KILLER, DOUBLES[:1]).solved
        result = grade_unguarded(DOUBLE, DOUBLES)
        assert result.solved
        assert result.judged_again.confirmed == (0, 0)

    def test_a_sandbox_that_does_not_work_is_nobody_s_error(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr("harness.sandbox.launch.INSIDE", tmp_path)
        worker = Worker(UNSAFE)
        tests = [TestCase(input="1", output="2", public=True)]
        with pytest.raises(SandboxError):
            judge(worker, Task(Program(DOUBLE), tests, Limits()))
        worker.stop()

    def test_a_sandbox_that_fails_once_is_tried_again(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The first fork server is one that leaves at once."""
        (tmp_path / "enter.py").touch()
        worker = Worker(UNSAFE)
        with monkeypatch.context() as patch:
            patch.setattr("harness.sandbox.launch.INSIDE", tmp_path)
            with pytest.raises(SandboxError):
                worker.run(Program(""), [b""], Limits())
        tests = [TestCase(input="1", output="2", public=True)]
        assert judge(worker, Task(Program(DOUBLE), tests, Limits())).solved
        worker.stop()
