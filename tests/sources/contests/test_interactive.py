"""Interactive and multi-pass packages: who is to blame for which end of a dialogue."""

import pytest
from contest_packages import Package, only

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.languages.cpp import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

INTERACTOR = """
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

int main(int, char **arguments) {
    std::ifstream given(arguments[1]);
    int secret, asked = 0;
    given >> secret;
    std::string word;
    while (std::cin >> word) {
        if (word == "crash") std::abort();
        int guess = atoi(word.c_str());
        if (guess < 1 || ++asked > 10) break;
        std::cout << (guess < secret ? "more" : guess > secret ? "less" : "right") << std::endl;
        if (guess == secret) return 42;
    }
    std::ofstream(std::string(arguments[3]) + "judgemessage.txt") << "no guess after " << asked;
    return 43;
}
"""
SEARCH = """
low, high = 1, 100
while True:
    middle = (low + high) // 2
    print(middle{flush})
    answer = {read}
    if answer == "right":
        break
    if answer == "more":
        low = middle + 1
    else:
        high = middle - 1
"""
SEARCH_CPP = """
#include <iostream>
#include <string>
int main() {
    int low = 1, high = 100;
    for (std::string answer; answer != "right";) {
        int middle = (low + high) / 2;
        std::cout << middle << std::endl;
        if (!(std::cin >> answer)) return 0;
        (answer == "more" ? low : high) = answer == "more" ? middle + 1 : middle - 1;
    }
}
"""
FILES = {
    "data/sample/1.in": "30\n",
    "data/secret/group/2.in": "77\n",
    "data/sample/1.interaction": ">50\n<less\n",
    "output_validators/talk.cc": INTERACTOR,
}


@pytest.fixture
def problem(package: Package) -> Problem:
    return only(package("validation: custom interactive\nlimits: {time_limit: 1}\n", FILES))


def _judge(worker: Worker, problem: Problem, code: str, language: str = "python") -> Grade:
    return judge(worker, Options().task(problem, code, problem.tests.all(), language))


def _first(worker: Worker, problem: Problem, code: str) -> TestResult:
    return judge(worker, Options().task(problem, code, problem.tests.public)).tests[0]


@pytest.mark.parametrize(
    ("code", "language"),
    [
        (SEARCH.format(read="input()", flush=""), "python"),
        (
            "import sys" + SEARCH.format(read="sys.stdin.readline().strip()", flush=", flush=True"),
            "python",
        ),
        (SEARCH_CPP, "cpp"),
    ],
)
def test_a_dialogue_is_accepted(problem: Problem, worker: Worker, code: str, language: str) -> None:
    grade = _judge(worker, problem, code, language)
    assert grade.verdict is Verdict.ACCEPTED, grade.tests
    assert len(grade.tests) == 2


@pytest.mark.parametrize(
    ("code", "verdict", "said"),
    [
        ("print(-1)", Verdict.WRONG_ANSWER, "no guess after 0"),
        ("print(5)", Verdict.WRONG_ANSWER, "no guess after 1"),
        ("print('what?')", Verdict.WRONG_ANSWER, "no guess after 0"),
        ("", Verdict.NO_SOLUTION, ""),
        ("pass", Verdict.WRONG_ANSWER, "no guess after 0"),
        ("print(-1)\ninput()\ninput()", Verdict.WRONG_ANSWER, "no guess after 0"),
        ("print(30)\ninput()\ninput()", Verdict.RUNTIME_ERROR, "EOFError"),
        ("print(9)\ninput()\n1 / 0", Verdict.RUNTIME_ERROR, "ZeroDivisionError"),
        ("print(30)\ninput()\nexit(0)", Verdict.ACCEPTED, ""),
        ("print(30)\ninput()\nexit(1)", Verdict.RUNTIME_ERROR, "exit code 1"),
        pytest.param(
            *("input()", Verdict.TIME_LIMIT, "the limit of wall time"),
            marks=pytest.mark.thorough,
        ),
        ("while True: pass", Verdict.TIME_LIMIT, ""),
        ("print('crash')", Verdict.CHECKER_ERROR, "killed by signal 6"),
        ("print(", Verdict.COMPILE_ERROR, "SyntaxError"),
    ],
)
def test_how_a_dialogue_can_end(
    problem: Problem, worker: Worker, code: str, verdict: Verdict, said: str
) -> None:
    grade = judge(worker, Options(wall_s=1.5).task(problem, code, problem.tests.public))
    assert grade.verdict is verdict, grade.tests
    for result in grade.tests:
        where = result.difference.where if result.difference else ""
        assert said in result.error + where


def test_a_solution_that_never_stops_talking_is_ended(package: Package, worker: Worker) -> None:
    limits = "limits: {time_limit: 2, output: 1}\n"
    source = "#include <cstdio>\nint main() { while (getchar() >= 0); return 43; }"
    patient = {"output_validators/talk.cc": source}
    problem = only(package(f"validation: custom interactive\n{limits}", FILES | patient))
    result = _first(worker, problem, "while True: print('1' * 1000)")
    assert result.verdict is Verdict.OUTPUT_LIMIT


def test_the_dialogue_is_kept_for_public_tests_alone(problem: Problem, worker: Worker) -> None:
    code = "print(50, flush=True)\ninput()\nprint(0, flush=True)\ninput()"
    grade = judge(worker, Options(stop=Stop.NEVER).task(problem, code, problem.tests.all()))
    public, hidden = grade.tests
    assert public.got == ">50\n<less\n>0"
    assert hidden.got == ""


def test_a_later_test_is_not_disturbed_by_a_dialogue_that_failed(
    problem: Problem, worker: Worker
) -> None:
    _first(worker, problem, "import os\nos.close(1)\nos.close(0)")
    assert _judge(worker, problem, SEARCH.format(read="input()", flush="")).solved


PASSES = "problem_format_version: 2025-09\nname: a\ntype: [pass-fail, multi-pass]\n"
VALIDATOR = """
        #include <fstream>
        #include <iostream>
        #include <string>
        int main(int, char **arguments) {
            std::string folder = arguments[3], given, answer, before;
            std::ifstream(arguments[1]) >> given;
            std::ifstream(folder + "memory") >> before;
            if (!(std::cin >> answer)) return 43;
            if (given == "decode") return answer == before.substr(1) ? 42 : 43;
            std::ofstream(folder + "memory") << 'x' << given;
            std::ofstream(folder + "nextpass.in") << "decode\\n" << answer << "\\n";
            return 42;
        }
    """
SOLUTION = "word = input()\nprint(input()[::-1] if word == 'decode' else word[::-1])"


class TestPasses:
    @pytest.fixture
    def passes(self, package: Package) -> Problem:
        files = {
            "data/sample/1.in": "abc\n",
            "output_validator/check.cpp": VALIDATOR,
        }
        return only(package(PASSES, files))

    def test_a_solution_runs_again_on_what_the_validator_wrote(
        self, passes: Problem, worker: Worker
    ) -> None:
        assert _judge(worker, passes, SOLUTION).verdict is Verdict.ACCEPTED

    def test_every_pass_has_to_be_accepted(self, passes: Problem, worker: Worker) -> None:
        wrong = SOLUTION.replace("input()[::-1] if", "input() if")
        assert _judge(worker, passes, wrong).verdict is Verdict.WRONG_ANSWER
        crash = "if input() == 'decode': 1 / 0\nprint(1)"
        assert _judge(worker, passes, crash).verdict is Verdict.RUNTIME_ERROR
        exiting = SOLUTION + "\nexit(1)"
        assert _judge(worker, passes, exiting).verdict is Verdict.RUNTIME_ERROR

    def test_more_passes_than_the_package_allows_are_the_validators_fault(
        self, package: Package, worker: Worker
    ) -> None:
        files = {"output_validator/check.cpp": VALIDATOR}
        problem = only(package(f"{PASSES}limits: {{validation_passes: 1}}\n", files))
        result = _first(worker, problem, SOLUTION)
        assert result.verdict is Verdict.CHECKER_ERROR
        assert "more than 1 pass" in result.error
