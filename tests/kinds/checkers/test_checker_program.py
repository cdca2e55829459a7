"""Compiled checkers that keep to testlib's exit codes."""

import pytest
from for_each import for_each

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import TestResult, Verdict
from harness.judged_by import Checker, CheckerProgram
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SOURCE = """
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char **arguments) {
    char text[3][99], *end;
    for (int n = 0; n < 3; ++n) fscanf(fopen(arguments[n + 1], "r"), "%98s", text[n]);
    const char *answer = text[1], *wanted = text[2];
    fprintf(stderr, "compared %s with %s\\n", answer, wanted);
    if (!strcmp(answer, wanted) && !strcmp(strcat(text[0], "!"), wanted)) return 0;
    int code = strtol(answer, &end, 10);
    if (end == answer) abort();
    return code;
}
"""
CHECKER = Checker(kind="program", program=CheckerProgram(protocol="testlib", source=SOURCE))


def _result(worker: Worker, printed: str) -> TestResult:
    tests = [TestCase(input="a\n", output="a!\n", public=True)]
    task = Task(Program(f"print({printed!r})"), tests, Limits(), checker=CHECKER)
    return judge(worker, task).tests[0]


def test_an_exit_code_of_0_and_all_of_a_hundred_per_cent_accept(worker: Worker) -> None:
    assert _result(worker, "a!").verdict is Verdict.ACCEPTED
    assert _result(worker, "150").verdict is Verdict.ACCEPTED


@for_each("code", [1, 2, 4, 8, 7, 50, 51, 149])
def test_wrong_answers_and_partial_points_are_not_accepted(worker: Worker, code: int) -> None:
    result = _result(worker, str(code))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.difference is not None
    assert result.difference.where == f"compared {code} with a!"


@for_each("code", [3, 5, 13, 16, 49, 151, 250])
def test_a_failure_of_the_checker_is_its_own(worker: Worker, code: int) -> None:
    result = _result(worker, str(code))
    assert result.verdict is Verdict.CHECKER_ERROR
    assert f"exit code {code}: compared {code} with a!" in result.error
