"""The report of `run_tests`: what happened, within bounds, and nothing that is hidden."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from for_each import for_each
from judged_tests_made import judged_test

from harness.agent.templates.prompt_set import load_prompt
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Difference, Grade, Score, TestResult, Verdict
from harness.problem import Codec, ProblemView, Signature, TestCase
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import NoArguments, ToolError
from harness.tools.workspace import LONGEST_REPORT, Workspace

LIMITS = Limits(cpu_s=0.5, memory_bytes=512 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
PLAIN = Signature()
Report = Callable[..., str]
TEXTS = load_prompt("default", "agentic")
NEXT = (
    "Say in two or three sentences what is wrong. If the algorithm itself is at fault, choose "
    "another. Then hand in the whole corrected program and run the tests."
)


def public(*pairs: tuple[str, str]) -> tuple[TestCase, ...]:
    return tuple(TestCase(input=given, output=wanted, public=True) for given, wanted in pairs)


DOUBLE = public(("1\n", "2\n"), ("21\n", "42\n"), ("-4\n", "-8\n"))


def view(tests: tuple[TestCase, ...], **changes: Any) -> ProblemView:
    plain = ProblemView(
        id="made/one",
        source="made",
        title="One",
        statement="",
        platform="",
        difficulty=None,
        public_tests=tests,
    )
    return plain.model_copy(update=changes)


def report(grade: Grade, tests: tuple[TestCase, ...], full: int = 1, **changes: Any) -> str:
    """What the model is told of a grade."""

    async def run_public_tests(_code: str) -> Grade:
        return grade

    workspace = Workspace(
        view(tests, **changes),
        TEXTS,
        run_public_tests,
        LIMITS.cpu_s,
        LIMITS.memory_bytes,
        report_tests=full,
    )
    workspace.write("x")
    return asyncio.run(workspace.test()).text


@pytest.fixture
def report_on(worker: Worker) -> Report:
    """Judges code for real, and reports."""

    def report_on(
        code: str,
        tests: tuple[TestCase, ...] = DOUBLE,
        entry_point: str | None = None,
        signature: Signature = PLAIN,
        full: int = 1,
    ) -> str:
        program = Program(code, entry_point=entry_point, signature=signature)
        grade = judge(worker, Task(program, tests, LIMITS))
        return report(grade, tests, full, entry_point=entry_point)

    return report_on


class TestVerdicts:
    def test_the_report_of_passed_tests_is_one_line(self, report_on: Report) -> None:
        assert report_on("print(2 * int(input()))") == "All 3 public tests passed."

    def test_a_wrong_answer_shows_what_was_wanted_and_where_it_differs(
        self, report_on: Report
    ) -> None:
        text = report_on("print(2 * abs(int(input())))")
        assert text.startswith("2 of 3 public tests passed.")
        assert "Test 3: wrong answer.\n" in text
        assert "Input:\n-4\n" in text
        assert "Expected:\n-8\n" in text
        assert "Got:\n8\n" in text
        assert "First difference, line 1, column 1: expected '-8', got '8'" in text

    def test_a_failed_dialogue_shows_what_the_judge_was_given_and_said(self) -> None:
        tests = public(("70\n", ""))
        where = Difference(where="no guess after 7", expected="", got=">5\n<more")
        failed = judged_test(got=">5\n<more", difference=where)
        grade = Grade(verdict=Verdict.WRONG_ANSWER, tests=(failed,), public_total=1)
        text = report(grade, tests, judge="dialogue")
        assert "Given to the judge:\n70\n" in text
        assert "Dialogue (> is your program, < the judge):\n>5\n<more\n" in text
        assert "The judge says: no guess after 7" in text
        assert not {"Input:", "Expected:", "First difference"} & set(
            re.findall(r"\w[\w ]*:?", text)
        )
        text = report(grade, tests, judge="checker")
        assert "Input:\n70\n" in text
        assert "Got:\n>5" in text
        assert "The checker says: no guess after 7" in text
        assert "Expected:" not in text
        assert "Expected:\n(nothing)\n" in report(grade, tests)

    def test_a_checker_s_own_words_on_its_failure_are_not_for_the_model(self) -> None:
        words = "the problem's checker is at fault: it raises: KeyError: 'secret'"
        fault = Verdict.CHECKER_ERROR
        failed = judged_test(fault, error=words)
        text = report(Grade(verdict=fault, tests=(failed,), public_total=1), public(("1\n", "2")))
        assert text.count("Error") == text.count("Error: the problem's checker is at fault") == 1
        assert "secret" not in text

    def test_passed_tests_that_give_a_part_of_the_points_say_so(self) -> None:
        passed = judged_test(Verdict.ACCEPTED)
        grade = Grade(
            verdict=Verdict.WRONG_ANSWER,
            tests=(passed,),
            public_total=1,
            score=Score(points=5, maximum=10),
        )
        text = report(grade, public(("1\n", "2")))
        assert "1 of 1 public tests passed.\n\nThey give 5 of 10 points" in text

    def test_the_first_difference_is_found_far_into_an_output(self, report_on: Report) -> None:
        lines = [str(number) for number in range(5_000)]
        tests = public(("5000\n", "\n".join([*lines[:4_321], "43x1", *lines[4_322:]]) + "\n"))
        text = report_on("print(*range(int(input())), sep='\\n')", tests)
        assert "First difference, line 4322, column 3: expected '43x1', got '4321'" in text

    def test_the_report_says_that_nothing_was_printed(self, report_on: Report) -> None:
        text = report_on("input()")
        assert "Got:\n(nothing)" in text
        assert "0 of 3 public tests passed." in text

    def test_a_runtime_error_shows_the_end_of_its_traceback(self, report_on: Report) -> None:
        text = report_on("n = int(input())\nprint(2 * n)\nif n < 0:\n    raise KeyError('why')\n")
        assert "Test 3: runtime error.\n" in text
        assert "KeyError: 'why'" in text
        assert "line 4" in text
        assert "Got:\n-8" in text

    def test_an_exit_code_is_named(self, report_on: Report) -> None:
        assert "exit code" in report_on("import sys\nsys.exit(3)")

    def test_what_was_written_to_stderr_is_shown(self, report_on: Report) -> None:
        text = report_on("import sys\nprint('seen', file=sys.stderr)\nprint(1 / 0)")
        assert "Printed to stderr:\n" in text
        assert "seen" in text

    def test_code_that_does_not_compile_is_shown_once(self, report_on: Report) -> None:
        text = report_on("print(2 *")
        assert text.startswith("The program does not compile; no test was run.\n\n")
        assert "SyntaxError" in text
        assert "Test 1" not in text

    @pytest.mark.thorough
    def test_the_report_of_a_time_limit_says_which_tests_were_not_run(
        self, report_on: Report
    ) -> None:
        text = report_on("while True: pass")
        assert re.search(
            r"Test 1: time limit exceeded after 0\.\d+ s of CPU time; the limit is 0\.5 s\.", text
        )
        assert "Tests 2 to 3 were not run after that." in text

    @pytest.mark.thorough
    def test_the_report_names_a_single_test_that_was_not_run(self, report_on: Report) -> None:
        program = "if int(input()) < 5: print(1 / 0)\nwhile True: pass"
        assert "Test 3 was not run after that." in report_on(program)

    def test_what_is_left_out_of_an_output_is_counted_whole(self, report_on: Report) -> None:
        text = report_on("print('x' * 30_000)", public(("1\n", "2\n")))
        (note,) = re.findall(r"(\d+) characters left out", text)
        got = text.partition("Got:\n")[2].partition("\nFirst difference")[0]
        assert got.count("x") + int(note) in {30_000, 30_001}

    @pytest.mark.parametrize("full", [1, 2, 3])
    def test_as_many_failures_as_set_are_told_in_full_and_the_others_in_a_line(
        self, report_on: Report, full: int
    ) -> None:
        text = report_on("raise ValueError(input())", full=full)
        assert text.count("ValueError: ") == full
        assert text.startswith("0 of 3 public tests passed.\n\nTest 1: runtime error.\nInput:\n1\n")
        if full == 1:
            assert text.endswith("\n\nTest 2: runtime error.\nTest 3: runtime error.")

    def test_the_report_of_a_memory_limit(self, report_on: Report) -> None:
        text = report_on("x = bytearray(1 << 40)")
        assert "Test 1: memory limit exceeded; the limit is 512 MiB." in text

    def test_the_report_of_an_output_limit_is_bounded(self, report_on: Report) -> None:
        text = report_on("while True: print('spam' * 1000)")
        assert "Test 1: output limit exceeded.\n" in text
        assert "spam" in text
        assert len(text) <= LONGEST_REPORT


class TestFunctions:
    TESTS = public(("[1,2]\n1", "[2,3]"))

    def test_a_value_is_compared_item_by_item(self, report_on: Report) -> None:
        text = report_on("def add(xs, n):\n    return [n + 1, 4]", self.TESTS, "add")
        assert "Call:\nadd([1, 2], 1)\n" in text
        assert "Input:" not in text
        assert "Got:\n[2, 4]" in text
        assert "First difference, [1]: expected '3', got '4'" in text

    def test_a_bare_value_has_no_place_within(self, report_on: Report) -> None:
        text = report_on("def add(xs, n):\n    return None", self.TESTS, "add")
        assert "First difference, the value: expected '[2, 3]', got 'null'" in text

    def test_a_length_is_told(self, report_on: Report) -> None:
        text = report_on("def add(xs, n):\n    return [2]", self.TESTS, "add")
        assert "First difference, length: expected '2', got '1'" in text

    def test_prints_are_shown_apart_from_the_result(self, report_on: Report) -> None:
        text = report_on("def add(xs, n):\n    print('hm')\n    return []", self.TESTS, "add")
        assert "Got:\n[]" in text
        assert "Printed to stdout:\nhm" in text

    def test_a_missing_function_is_an_error_one_can_act_on(self, report_on: Report) -> None:
        assert "add" in report_on("def sub(xs, n): pass", self.TESTS, "add").partition("Error:")[2]

    def test_the_report_of_an_in_place_function_shows_its_argument(self, report_on: Report) -> None:
        text = report_on(
            "def add(xs, n):\n    xs.append(n)",
            self.TESTS,
            "add",
            Signature(result=Codec.FIRST_ARGUMENT),
        )
        assert "Got:\n[1, 2, 1]" in text


def failing(index: int, got: str = "0") -> TestResult:
    return TestResult(
        index=index,
        public=True,
        verdict=Verdict.WRONG_ANSWER,
        cpu_s=0.01,
        wall_s=0.01,
        got=got,
        error=got,
        stderr=got,
        stdout=got,
        difference=Difference(where="line 1, column 1", expected="1", got="0"),
    )


def passing(index: int) -> TestResult:
    return TestResult(index=index, public=True, verdict=Verdict.ACCEPTED, cpu_s=0.01, wall_s=0.01)


def graded(*results: TestResult, total: int | None = None) -> Grade:
    failed = next((result.verdict for result in results if not result.passed), Verdict.ACCEPTED)
    return Grade(verdict=failed, tests=results, public_total=total or len(results))


class TestBounds:
    def test_a_hundred_failures_with_ten_megabytes_each(self) -> None:
        huge = "HEAD" + "x" * 10_000_000 + "TAIL"
        tests = public(*[(huge, huge)] * 100)
        text = report(graded(*[failing(number, huge) for number in range(100)]), tests, 100)
        assert len(text) <= LONGEST_REPORT == 8_000
        assert text.startswith("0 of 100 public tests passed.")
        assert "Test 100: wrong answer" in text

    @pytest.mark.thorough
    def test_a_real_output_of_megabytes(self, report_on: Report) -> None:
        code = "print('HEAD' + 'x' * 3_000_000 + 'TAIL')"
        text = report_on(code, public(("1\n" * 1_000_000, "HEAD" + "x" * 3_000_000 + "GOAL")) * 9)
        assert len(text) <= LONGEST_REPORT
        assert "Got:\nHEADxx" in text
        assert "xxTAIL" in text
        assert "xxGOAL" in text
        assert "First difference, line 1, column 3000005" in text

    def test_the_first_failures_are_told_in_full(self) -> None:
        tests = public(*[(f"in-{number}", f"out-{number}") for number in range(6)])
        text = report(graded(*[failing(number) for number in range(6)]), tests, 3)
        for number in range(6):
            assert f"Test {number + 1}: wrong answer" in text
            assert (f"in-{number}" in text) == (f"out-{number}" in text) == (number < 3)

    def test_many_passed_tests_do_not_push_out_the_first_failure(self) -> None:
        tests = public(*[(f"in-{number}", "1") for number in range(1_000)])
        failed = range(700, 703)
        results = [failing(n, "x" * 900) if n in failed else passing(n) for n in range(1_000)]
        text = report(graded(*results), tests, 3)
        assert len(text) <= LONGEST_REPORT
        assert "Test 701: wrong answer" in text
        assert "in-700" in text
        assert "First difference, line 1, column 1" in text

    def test_what_passed_is_named(self) -> None:
        results = [passing(0), failing(1), passing(2)]
        text = report(graded(*results), public(*[("1", "2")] * 3))
        assert text.endswith("\n\nPassed: tests 1, 3.")
        alone = report(graded(*results[:2]), public(*[("1", "2")] * 2))
        assert alone.endswith("\n\nPassed: test 1.")

    def test_the_end_of_a_long_error_is_kept(self) -> None:
        result = failing(0).model_copy(update={"error": "x" * 5_000 + "ValueError: why"})
        assert "ValueError: why" in report(graded(result), public(("1", "2")))


def test_tests_after_a_limit_are_counted_as_not_run() -> None:
    stopped = failing(1).model_copy(update={"verdict": Verdict.TIME_LIMIT})
    text = report(graded(passing(0), stopped, total=5), public(*[("1", "2")] * 5))
    assert text.startswith("1 of 5 public tests passed.")
    assert text.endswith("Tests 3 to 5 were not run after that.")


ONE = view(public(("1", "1")))


class TestCall:
    async def outcome(self, *revisions: str, problem: ProblemView = ONE) -> str:
        async def run_public_tests(code: str) -> Grade:
            return graded(passing(0) if code == "right" else failing(0))

        self.workspace = Workspace(problem, TEXTS, run_public_tests, 1.0)
        for code in revisions:
            self.workspace.write(code)
        return await RunTests().call(self.workspace, NoArguments())

    async def test_the_newest_revision_is_run_and_keeps_its_report(self) -> None:
        assert "passed" in await self.outcome("wrong", "right")
        assert [revision.passed for revision in self.workspace.revisions] == [False, True]
        assert self.workspace.revisions[0].report is None

    async def test_failed_tests_are_a_result_of_the_call(self) -> None:
        text = await self.outcome("right", "wrong")
        assert text.startswith("0 of 1 public tests passed")
        assert self.workspace.revisions[1].report is not None

    async def test_after_a_failure_the_next_step_is_said_once(self) -> None:
        text = await self.outcome("wrong")
        (revision,) = self.workspace.revisions
        assert revision.report is not None
        assert text == f"{revision.report.text}\n\n{NEXT}"
        again = await RunTests().call(self.workspace, NoArguments())
        assert again == "Nothing has changed since the last run: 0 of 1 public tests passed."
        self.workspace.revisions.clear()
        self.workspace.write("wrong")
        self.workspace.recorded = revision.report  # of a resumed sample
        assert await RunTests().call(self.workspace, NoArguments()) == text
        assert NEXT not in await self.outcome("right")

    @for_each(
        "body",
        ['"""Add."""', "pass", "...", '"""Add."""\n    raise NotImplementedError("later")'],
    )
    async def test_a_function_without_a_body_is_said_to_have_none(self, body: str) -> None:
        functional = ONE.model_copy(update={"entry_point": "add"})
        code = f"import math\n\ndef add(a, b):\n    {body}\n"
        text = await self.outcome(code, problem=functional)
        assert "`add` has no body yet" in text
        assert NEXT not in text
        report = self.workspace.revisions[0].report
        assert report is not None
        assert "no body" not in report.text
        in_class = f"class Solution:\n    def add(self, a):\n        {body.partition(chr(10))[0]}\n"
        assert "`add` has no body yet" in await self.outcome(in_class, problem=functional)
        for written in (f"{code}    return a\n", "def add(a, b):\n    print(a)\n", "add = max\n"):
            assert "no body" not in await self.outcome(written, problem=functional)
        assert "no body" not in await self.outcome(code)

    async def test_run_tests_without_a_solution_is_refused(self) -> None:
        with pytest.raises(ToolError, match="write_solution first"):
            await self.outcome()

    async def test_run_tests_without_public_tests_is_refused(self) -> None:
        bare = ONE.model_copy(update={"public_tests": ()})
        with pytest.raises(ToolError, match="no public tests"):
            await self.outcome("right", problem=bare)
