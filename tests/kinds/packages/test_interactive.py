"""Interactive and multi-pass packages: who is to blame for which end of a dialogue."""

import pytest
from contest_packages import Package, only
from for_each import for_each

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

INTERACTOR = """
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char **arguments) {
    int secret, asked = 0;
    char word[99], path[9999];
    fscanf(fopen(arguments[1], "r"), "%d", &secret);
    while (scanf("%98s", word) == 1) {
        if (!strcmp(word, "crash")) std::abort();
        int guess = atoi(word);
        if (guess < 1 || ++asked > 10) break;
        puts(guess < secret ? "more" : guess > secret ? "less" : "right");
        fflush(stdout);
        if (guess == secret) return 42;
    }
    snprintf(path, sizeof path, "%sjudgemessage.txt", arguments[3]);
    fprintf(fopen(path, "w"), "no guess after %d", asked);
    return 43;
}
"""
INTERACTOR_IN_PYTHON = """
import os
import sys
from pathlib import Path

from bounds import MOST


def talk(secret):
    asked = 0
    for line in sys.stdin:
        for word in line.split():
            if word == "crash":
                os.abort()
            guess = int(word) if word.lstrip("-").isdigit() else 0
            asked += guess >= 1
            if guess < 1 or asked > MOST:
                return asked
            print("more" if guess < secret else "less" if guess > secret else "right", flush=True)
            if guess == secret:
                sys.exit(42)
    return asked


asked = talk(int(Path(sys.argv[1]).read_text()))
(Path(sys.argv[3]) / "judgemessage.txt").write_text(f"no guess after {asked}")
sys.exit(43)
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
#include <cstdio>
#include <cstring>
int main() {
    int low = 1, high = 100;
    for (char answer[99] = ""; strcmp(answer, "right");) {
        int middle = (low + high) / 2;
        printf("%d\\n", middle);
        fflush(stdout);
        if (scanf("%98s", answer) != 1) return 0;
        bool more = !strcmp(answer, "more");
        (more ? low : high) = more ? middle + 1 : middle - 1;
    }
}
"""
FILES = {
    "data/sample/1.in": "30\n",
    "data/secret/group/2.in": "77\n",
    "data/sample/1.interaction": ">50\n<less\n",
}
INTERACTORS = {
    "cpp": {"output_validators/talk.cc": INTERACTOR},
    "python": {
        "output_validators/talk/main.py": INTERACTOR_IN_PYTHON,
        "output_validators/talk/bounds.py": "MOST = 10\n",
    },
}
SETTINGS = "validation: custom interactive\nlimits: {time_limit: 1}\n"


@pytest.fixture(params=["cpp", pytest.param("python", marks=pytest.mark.thorough)])
def interactive(package: Package, request: pytest.FixtureRequest) -> Problem:
    return only(package(SETTINGS, FILES | INTERACTORS[request.param]))


def test_the_statement_shows_sample_dialogues(interactive: Problem) -> None:
    assert interactive.judge == "dialogue"
    assert interactive.view().judge == "dialogue"
    assert interactive.statement.endswith("## Sample dialogue 1\n\n```\n>50\n<less\n```")
    assert "A line that begins with `<` is read by your program" in interactive.statement


def test_sample_dialogues_are_few_and_short_and_of_the_samples(package: Package) -> None:
    many = {f"data/sample/{number}.interaction": f">```{'x' * 5_000}\n" for number in range(2, 12)}
    many |= {"data/sample/2.interaction": "\n", "data/sample/10.interaction": ">tenth\n"}
    secret = {"data/secret/group/2.interaction": ">77\n"}
    statement = only(package(SETTINGS, FILES | INTERACTORS["cpp"] | many | secret)).statement
    assert statement.count("## Sample dialogue") == 5
    assert len(statement) < 5 * 4_500
    assert ">77" not in statement
    assert ">tenth" not in statement
    assert statement.count("\n````\n>```x") == statement.count("x\n````") == 4


def _judge(worker: Worker, problem: Problem, code: str, language: str = "python") -> Grade:
    return judge(worker, Options().task(problem, code, problem.tests.all(), language))


def _first(worker: Worker, problem: Problem, code: str) -> TestResult:
    return judge(worker, Options().task(problem, code, problem.tests.public)).tests[0]


@for_each(
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
def test_a_dialogue_is_accepted(
    interactive: Problem, worker: Worker, code: str, language: str
) -> None:
    grade = _judge(worker, interactive, code, language)
    assert grade.verdict is Verdict.ACCEPTED, grade.tests
    assert len(grade.tests) == 2


@pytest.mark.parametrize(
    ("code", "verdict", "message"),
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
    interactive: Problem, worker: Worker, code: str, verdict: Verdict, message: str
) -> None:
    grade = judge(
        worker, Options(cpu_s=0.4, wall_s=1.5).task(interactive, code, interactive.tests.public)
    )
    assert grade.verdict is verdict, grade.tests
    for result in grade.tests:
        where = result.difference.where if result.difference else ""
        assert message in result.error + where


def test_a_solution_that_never_stops_talking_is_ended(package: Package, worker: Worker) -> None:
    limits = "limits: {time_limit: 2, output: 1}\n"
    source = "#include <cstdio>\nint main() { while (getchar() >= 0); return 43; }"
    patient = {"output_validators/talk.cc": source}
    problem = only(package(f"validation: custom interactive\n{limits}", FILES | patient))
    result = _first(worker, problem, "while True: print('1' * 1000)")
    assert result.verdict is Verdict.OUTPUT_LIMIT


def test_the_dialogue_is_kept_for_public_tests_alone(interactive: Problem, worker: Worker) -> None:
    code = "print(50, flush=True)\ninput()\nprint(0, flush=True)\ninput()"
    grade = judge(worker, Options(stop=Stop.NEVER).task(interactive, code, interactive.tests.all()))
    public, hidden = grade.tests
    assert public.got == ">50\n<less\n>0"
    assert hidden.got == ""


def test_a_later_test_is_not_disturbed_by_a_dialogue_that_failed(
    interactive: Problem, worker: Worker
) -> None:
    _first(worker, interactive, "import os\nos.close(1)\nos.close(0)")
    assert _judge(worker, interactive, SEARCH.format(read="input()", flush="")).solved


CLOSING = {
    "cpp": {
        "output_validators/talk.cc": """
            #include <iostream>
            #include <string>
            #include <unistd.h>
            int main() {
                std::string word;
                std::cout << "1\\n2\\n" << std::flush;
                close(1);
                return std::cin >> word && word == "3" && !(std::cin >> word) ? 42 : 43;
            }
        """
    },
    "python": {
        "output_validators/talk.py": """
import os
import sys
print("1\\n2", flush=True)
os.close(1)
sys.exit(42 if sys.stdin.read() == "3\\n" else 43)
"""
    },
}
SUM = {
    "python": "import sys\nprint(sum(map(int, sys.stdin.read().split())){more})",
    "cpp": "#include <cstdio>\nint main() {{ int n, sum = {more}0; "
    'while (scanf("%d", &n) == 1) sum += n; printf("%d\\n", sum); }}',
}


@pytest.mark.parametrize(
    ("interactor", "language"),
    [
        ("python", "python"),
        pytest.param("cpp", "cpp", marks=pytest.mark.thorough),
        pytest.param("cpp", "python", marks=pytest.mark.thorough),
        pytest.param("python", "cpp", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.thorough
def test_an_interactor_that_closes_its_output_ends_the_solutions_input(
    package: Package, worker: Worker, interactor: str, language: str
) -> None:
    problem = only(package(SETTINGS, FILES | CLOSING[interactor]))
    code = SUM[language].format(more="")
    assert _judge(worker, problem, code, language).verdict is Verdict.ACCEPTED
    wrong = SUM[language].format(more=", 4" if language == "python" else "4 + ")
    assert _judge(worker, problem, wrong, language).verdict is Verdict.WRONG_ANSWER


def test_what_a_solution_writes_to_stderr_is_kept(interactive: Problem, worker: Worker) -> None:
    code = "import sys\nprint('help', file=sys.stderr)\nprint(-1)"
    result = _first(worker, interactive, code)
    assert (result.verdict, result.stderr.strip()) == (Verdict.WRONG_ANSWER, "help")


@pytest.mark.thorough
def test_a_solution_that_closes_its_output_ends_the_interactors_input(
    package: Package, worker: Worker
) -> None:
    interactor = "import sys\ngiven = sys.stdin.read()\nprint(given)\nsys.exit(42)\n"
    problem = only(package(SETTINGS, FILES | {"output_validators/talk.py": interactor}))
    code = "import os\nprint(5, flush=True)\nos.close(1)\nassert input() == {!r}"
    assert _judge(worker, problem, code.format("5")).verdict is Verdict.ACCEPTED
    assert _judge(worker, problem, code.format("6")).verdict is Verdict.RUNTIME_ERROR


PASSES = "problem_format_version: 2025-09\nname: a\ntype: [pass-fail, multi-pass]\n"
VALIDATOR = """
        #include <cstdio>
        #include <cstring>
        int main(int, char **arguments) {
            char memory[9999], next[9999], given[999], answer[999], before[999] = "x";
            snprintf(memory, sizeof memory, "%smemory", arguments[3]);
            snprintf(next, sizeof next, "%snextpass.in", arguments[3]);
            fscanf(fopen(arguments[1], "r"), "%998s", given);
            if (FILE *kept = fopen(memory, "r")) fscanf(kept, "%998s", before);
            if (scanf("%998s", answer) != 1) return 43;
            if (!strcmp(given, "decode")) return strcmp(answer, before + 1) ? 43 : 42;
            fprintf(fopen(memory, "w"), "x%s", given);
            fprintf(fopen(next, "w"), "decode\\n%s\\n", answer);
            return 42;
        }
    """
SAME = """
import sys
from pathlib import Path
folder, answer = Path(sys.argv[3]), input()
first = folder / "first"
if first.exists():
    sys.exit(42 if answer == first.read_text() else 43)
first.write_text(answer)
(folder / "nextpass.in").write_text("again\\n")
sys.exit(42)
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

    @pytest.mark.parametrize(
        ("code", "verdict"),
        [
            ("print(0.5)", Verdict.ACCEPTED),
            ("import random\nprint(random.random())", Verdict.WRONG_ANSWER),
            ("from random import *\nprint(random())", Verdict.WRONG_ANSWER),
            ("import numpy\nprint(numpy.random.rand())", Verdict.WRONG_ANSWER),
        ],
    )
    def test_a_validator_in_python_compares_two_runs_whose_random_numbers_differ(
        self, package: Package, worker: Worker, code: str, verdict: Verdict
    ) -> None:
        problem = only(package(PASSES, {"output_validator/same.py": SAME}))
        assert _judge(worker, problem, code).verdict is verdict

    def test_more_passes_than_the_package_allows_are_the_validators_fault(
        self, package: Package, worker: Worker
    ) -> None:
        files = {"output_validator/check.cpp": VALIDATOR}
        problem = only(package(f"{PASSES}limits: {{validation_passes: 1}}\n", files))
        result = _first(worker, problem, SOLUTION)
        assert result.verdict is Verdict.CHECKER_ERROR
        assert "more than 1 pass" in result.error
