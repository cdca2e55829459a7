"""Checkers of rows that are programs: what they may be, and whom they accept."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from for_each import for_each

from harness import Episode, Episodes
from harness.agent.written_tests import runner_of
from harness.errors import DataError
from harness.features.efficiency.turns import Expected
from harness.grading.answer_comparison import CheckerError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Grade, Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.jsonl import load

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

TESTLIB = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#ifndef PC_BASE_EXIT_CODE
#define PC_BASE_EXIT_CODE 0
#endif
inline int part(int percent) {
    fprintf(stderr, "partially correct (%d)\\n", percent);
    return PC_BASE_EXIT_CODE + percent;
}
inline int points(const char *text) {
    fprintf(stderr, "points %s of the checker\\n", text);
    return 7;
}
"""
CHECKER = """
#include "testlib.h"
int main(int count, char **arguments) {
    if (count != 4) return 3;
    long n = 0, one = 0, other = 0;
    char first[99] = "", wanted[99] = "";
    FILE *answer = fopen(arguments[2], "r");
    fscanf(fopen(arguments[1], "r"), "%ld", &n);
    fscanf(fopen(arguments[3], "r"), "%98s", wanted);
    fscanf(answer, "%98s", first);
    if (!strcmp(first, "part")) { fscanf(answer, "%ld", &one); return part(one); }
    if (!strcmp(first, "points")) { fscanf(answer, "%98s", first); return points(first); }
    if (!strcmp(first, "crash")) abort();
    one = atol(first);
    if (fscanf(answer, "%ld", &other) == 1 && one + other == n && !strcmp(wanted, "any")) return 0;
    fputs("wrong answer the parts do not add up", stderr);
    return 1;
}
"""
FILES = {"testlib.h": TESTLIB}
ROW: dict[str, Any] = {
    "id": "parts",
    "statement": "Print two numbers with this sum.",
    "tests": [
        {"input": "5\n", "output": "any\n", "public": True},
        {"input": "9\n", "output": "any\n", "public": False},
        {"input": "-3\n", "output": "any\n", "public": False},
    ],
    "checker": {"code": CHECKER, "files": FILES},
}
RIGHT = "n = int(input())\nprint(n // 2, n - n // 2)"
WRONG = "n = int(input())\nprint(n // 2, n // 2)"
INTERACTOR = """
#include "testlib.h"
int main(int count, char **arguments) {
    int secret, guess, asked = 0;
    FILE *output = fopen(arguments[2], "w");
    fscanf(fopen(arguments[1], "r"), "%d", &secret);
    if (count != 4 || !output || fputs("secret", output) < 0) return 3;
    while (scanf("%d", &guess) == 1 && ++asked <= 7) {
        puts(guess < secret ? "more" : guess > secret ? "less" : "right");
        fflush(stdout);
        if (guess == secret) return 0;
    }
    fprintf(stderr, "wrong answer no guess after %d", asked);
    return 1;
}
"""
GUESS = """
low, high, answer = 1, 100, ""
while answer != "right":
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    low, high = (middle + 1, high) if answer == "more" else (low, middle - 1)
"""
TALK: dict[str, Any] = {
    "id": "guess",
    "statement": "Guess a number from 1 to 100 in seven attempts.",
    "tests": [{"input": "70\n", "public": True}, {"input": "1\n", "public": False}],
    "checker": {"code": INTERACTOR, "files": FILES, "interactive": True},
}


def _with(**keys: Any) -> dict[str, Any]:
    return ROW | {"checker": ROW["checker"] | keys}


@pytest.fixture
def checked(write_rows: Callable[..., Path]) -> Callable[..., Problem]:
    """Reads a row."""
    return lambda row: load(str(write_rows(row))).problems[0]


def _grade(worker: Worker, problem: Problem, code: str, language: str = "python") -> Grade:
    return judge(worker, Options().task(problem, code, problem.tests.all(), language))


class TestTestlib:
    """A checker with testlib's arguments and exit codes."""

    def test_any_right_answer_is_accepted(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        assert _grade(worker, checked(ROW), RIGHT).verdict is Verdict.ACCEPTED
        other = '#include <cstdio>\nint main() { long n; scanf("%ld", &n); printf("%ld 0", n); }'
        assert _grade(worker, checked(ROW), other, "cpp").verdict is Verdict.ACCEPTED

    @for_each(
        "code",
        [WRONG, "print('any')", "pass", "print('part 0')", "print('part 99')", "print('points 1')"],
    )
    def test_a_wrong_answer_and_a_right_part_are_not(
        self, worker: Worker, checked: Callable[..., Problem], code: str
    ) -> None:
        grade = _grade(worker, checked(ROW), code)
        assert grade.verdict is Verdict.WRONG_ANSWER
        assert grade.score is None

    def test_its_message_is_the_reason(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        (*_, failed) = _grade(worker, checked(ROW), WRONG).tests
        assert failed.difference is not None
        assert failed.difference.where == "wrong answer the parts do not add up"

    def test_all_of_a_hundred_per_cent_is_a_whole_answer(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        assert _grade(worker, checked(ROW), "print('part 100')").verdict is Verdict.ACCEPTED

    def test_a_crash_is_its_own(self, worker: Worker, checked: Callable[..., Problem]) -> None:
        assert _grade(worker, checked(ROW), "print('crash')").verdict is Verdict.CHECKER_ERROR

    def test_a_solution_that_ends_with_an_exit_code_is_not_judged(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        grade = _grade(worker, checked(ROW), f"{RIGHT}\nraise SystemExit(1)")
        assert grade.verdict is Verdict.RUNTIME_ERROR

    def test_testlib_is_found_in_the_folder_that_the_user_names(
        self,
        worker: Worker,
        checked: Callable[..., Problem],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "testlib.h").write_text(TESTLIB)
        monkeypatch.setenv("TESTLIB", str(tmp_path))
        read = checked(_with(files={}))
        assert _grade(worker, read, RIGHT).verdict is Verdict.ACCEPTED
        assert _grade(worker, read, WRONG).verdict is Verdict.WRONG_ANSWER

    def test_without_testlib_the_row_is_refused(
        self, checked: Callable[..., Problem], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("TESTLIB", raising=False)
        monkeypatch.setattr("harness.kinds.cpp.testlib.FOLDERS", ())
        with pytest.raises(DataError, match=r"'checker': it needs testlib\.h"):
            checked(_with(files={}))

    def test_a_checker_in_python_has_the_same_exit_codes(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        code = (
            "import sys\nfrom rules import right\n"
            "given, answer, _ = (open(name).read().split() for name in sys.argv[1:])\n"
            "sys.exit(0 if right(int(given[0]), [*map(int, answer)]) else 1)\n"
        )
        rules = "def right(n, parts): return len(parts) == 2 and sum(parts) == n\n"
        read = checked(_with(code=code, language="python", files={"rules.py": rules}))
        assert _grade(worker, read, RIGHT).verdict is Verdict.ACCEPTED
        assert _grade(worker, read, WRONG).verdict is Verdict.WRONG_ANSWER

    @for_each("printed", ["b'x'", "b'\\xff'"])
    def test_a_checker_in_python_that_raises_on_an_answer_finds_it_wrong(
        self, worker: Worker, checked: Callable[..., Problem], printed: str
    ) -> None:
        code = (
            "import sys\nanswer = int(open(sys.argv[2]).read())\n"
            "sys.exit(answer != int(open(sys.argv[1]).read()))\n"
        )
        tests = [{"input": "5\n", "output": "5\n"}, {"input": "7\n", "output": "any\n"}]
        read = checked(_with(code=code, language="python", files={}) | {"tests": tests})
        grade = _grade(worker, read, f"import sys\nsys.stdout.buffer.write({printed})")
        assert [test.verdict for test in grade.tests] == [
            Verdict.WRONG_ANSWER,
            Verdict.CHECKER_ERROR,  # nothing says that it has a verdict on any answer
        ]
        assert "it raises: ValueError: invalid literal" in grade.tests[1].error
        assert "int(open" not in grade.tests[1].error
        assert _grade(worker, read, "print(input())").verdict is Verdict.ACCEPTED


@for_each("slow", ["far", "expected"])
def test_an_answer_that_takes_a_checker_in_python_too_long_is_wrong(
    slow: str, worker: Worker, checked: Callable[..., Problem]
) -> None:
    """Unless the expected output takes as long: then the checker is at fault."""
    code = f"""
import sys
answer = open(sys.argv[2]).read().strip()
while answer == "far" or {slow == "expected"}:
    pass
sys.exit(answer != open(sys.argv[3]).read().strip())
"""
    own = checked(_with(code=code, language="python", files={}))
    assert own.checker is not None
    assert own.checker.program is not None
    program = own.checker.program.model_copy(update={"cpu_s": 0.2})
    checker = own.checker.model_copy(update={"program": program})
    own = own.model_copy(update={"checker": checker})
    verdict = _grade(worker, own, "print('far')").verdict
    assert verdict is (Verdict.WRONG_ANSWER if slow == "far" else Verdict.CHECKER_ERROR)
    if slow == "far":
        assert _grade(worker, own, "print('any')").verdict is Verdict.ACCEPTED


def test_a_rule_does_not_replace_a_program(worker: Worker, checked: Callable[..., Problem]) -> None:
    for row in (ROW, TALK):
        read = checked(row)
        task = Options(rule="tokens").task(read, "pass", read.tests.all())
        assert judge(worker, task).verdict is Verdict.WRONG_ANSWER


def test_an_error_of_the_linker_is_named(worker: Worker, checked: Callable[..., Problem]) -> None:
    read = checked(_with(code="void right(); int main() { right(); }", files={}))
    (result, *_) = _grade(worker, read, RIGHT).tests
    assert "undefined reference to `right()'" in result.error


def test_a_validator_of_kattis_accepts_with_42_and_rejects_with_43(
    worker: Worker, checked: Callable[..., Problem]
) -> None:
    code = (
        "#include <cstdio>\nint main(int, char **a) {\n"
        'long n, one, other; fscanf(fopen(a[1], "r"), "%ld", &n);\n'
        'return scanf("%ld %ld", &one, &other) == 2 && one + other == n ? 42 : 43; }\n'
    )
    read = checked(_with(code=code, protocol="kattis", files={}))
    assert _grade(worker, read, RIGHT).verdict is Verdict.ACCEPTED
    assert _grade(worker, read, WRONG).verdict is Verdict.WRONG_ANSWER
    accepts = checked(_with(code="int main() { return 0; }", protocol="kattis", files={}))
    assert _grade(worker, accepts, RIGHT).verdict is Verdict.CHECKER_ERROR


class TestPoints:
    """A checker that may give a part of a test's points."""

    @for_each(
        ("code", "points"),
        [
            (RIGHT, 20),
            (WRONG, 0),
            ("print('part 50')", 10),
            ("print('part 0')", 0),
            ("print('points 2.5')", 5),
            ("n = int(input())\nprint(*('part', 30) if n < 0 else (n, 0))", 13),
            ("n = int(input())\nprint(*('part', 30) if n == 5 else (n, 0))", 20),
        ],
    )
    def test_hidden_tests_give_points_up_to_as_many_each(
        self, worker: Worker, checked: Callable[..., Problem], code: str, points: float
    ) -> None:
        grade = _grade(worker, checked(_with(points=10)), code)
        assert grade.score is not None
        assert (grade.score.points, grade.score.maximum) == (points, 20)
        assert (grade.verdict is Verdict.ACCEPTED) is (points == 20)

    @for_each("printed", ["part 100", "points 10", "points 9.9999999"])
    def test_all_points_are_a_whole_answer(
        self, worker: Worker, checked: Callable[..., Problem], printed: str
    ) -> None:
        read = checked(_with(points=10))
        task = Options().task(read, f"print({printed!r})", read.tests.public)
        assert judge(worker, task).verdict is Verdict.ACCEPTED
        grade = _grade(worker, read, f"print({printed!r})")
        assert grade.verdict is Verdict.ACCEPTED
        assert grade.score is not None
        assert grade.score.points == 20

    def test_of_several_lines_with_points_the_least_counts(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        code = (
            '#include "testlib.h"\nint main(int, char **a) { char line[99];\n'
            'fputs(fgets(line, 99, fopen(a[2], "r")), stderr); return points("2"); }\n'
        )
        read = checked(_with(code=code, points=10))
        for printed, points in (("points 10", 4), ("points 1", 2), ("5", 4)):
            score = _grade(worker, read, f"print({printed!r})").score
            assert score is not None
            assert score.points == points
        without = checked(_with(code=code.replace('"2"', '"info"'), points=10))
        assert _grade(worker, without, "print('points 10')").verdict is Verdict.CHECKER_ERROR

    @for_each("printed", ["part 99", "points 9", "part 0", "points 0"])
    def test_public_tests_alone_are_passed_by_whole_answers_only(
        self, worker: Worker, checked: Callable[..., Problem], printed: str
    ) -> None:
        read = checked(_with(points=10))
        task = Options().task(read, f"print({printed!r})", read.tests.public)
        grade = judge(worker, task)
        assert (grade.verdict, grade.score) == (Verdict.WRONG_ANSWER, None)
        task = Options().task(read, RIGHT, read.tests.public)
        assert judge(worker, task).verdict is Verdict.ACCEPTED

    @for_each("printed", ["part 0", "points 0", "points 0.0"])
    def test_no_points_are_no_right_answer(
        self, worker: Worker, checked: Callable[..., Problem], printed: str
    ) -> None:
        grade = _grade(worker, checked(_with(points=10)), f"print({printed!r})")
        assert not any(test.passed for test in grade.tests)

    @for_each("given", ["11", "-1", "nan", "info"])
    def test_points_that_a_test_does_not_have_are_the_checkers_fault(
        self, worker: Worker, checked: Callable[..., Problem], given: str
    ) -> None:
        grade = _grade(worker, checked(_with(points=10)), f"print('points', {given!r})")
        assert grade.verdict is Verdict.CHECKER_ERROR
        assert grade.score is None

    def test_a_validator_of_kattis_writes_them(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        code = (
            "#include <cstdio>\n#include <cstring>\nvoid keep(char *folder, const char *name, "
            'const char *text) { fputs(text, fopen(strcat(folder, name), "w")); }\n'
            "int main(int, char **a) {\n"
            'long n, one, other; fscanf(fopen(a[1], "r"), "%ld", &n);\n'
            'if (scanf("%ld %ld", &one, &other) != 2 || one + other != n) return 43;\n'
            'if (one == 0) keep(a[3], "score.txt", "4");\n'
            'if (one == 99) keep(a[3], "score_multiplier.txt", "0.25");\nreturn 42; }\n'
        )
        read = checked(_with(code=code, protocol="kattis", files={}, points=10))
        multiplied = "print(99, int(input()) - 99)"
        parts = {"print(0, input())": 8, multiplied: 5}
        for solution, expected in ({RIGHT: 20, WRONG: 0} | parts).items():
            score = _grade(worker, read, solution).score
            assert score is not None
            assert (score.points, score.maximum) == (expected, 20)
        without = checked(_with(code=code, protocol="kattis", files={}))
        for part in parts:
            task = Options().task(read, part, read.tests.public)
            assert judge(worker, task).verdict is Verdict.WRONG_ANSWER
            assert _grade(worker, without, part).verdict is Verdict.WRONG_ANSWER
        assert _grade(worker, without, RIGHT).verdict is Verdict.ACCEPTED

    def test_where_no_test_is_hidden_the_public_ones_give_points(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        tests = [test | {"public": True} for test in ROW["tests"]]
        grade = _grade(worker, checked(_with(points=10) | {"tests": tests}), "print('part 40')")
        assert grade.score is not None
        assert (grade.score.points, grade.score.maximum) == (12, 30)

    def test_a_part_of_the_points_of_public_tests_alone_is_no_overfit(
        self, write_rows: Callable[..., Path]
    ) -> None:
        tests = [test | {"public": True} for test in ROW["tests"]]
        path = write_rows(_with(points=10) | {"tests": tests})
        with Episodes(f"jsonl:{path}", workers=1) as episodes, Episode(episodes) as episode:
            episode.reset("jsonl/parts")
            episode.write_solution("print('part 40')")
            reward = episode.reward()
        assert (reward.public_passed, reward.solved, reward.overfit) == (3, False, False)


class TestInteractive:
    """A checker that talks with the solution."""

    def test_its_verdict_counts(self, worker: Worker, checked: Callable[..., Problem]) -> None:
        assert _grade(worker, checked(TALK), GUESS).verdict is Verdict.ACCEPTED

    @for_each("code", ["print(5)", "pass", "for n in range(1, 101): print(n)"])
    def test_a_solution_that_never_guesses_is_wrong(
        self, worker: Worker, checked: Callable[..., Problem], code: str
    ) -> None:
        assert _grade(worker, checked(TALK), code).verdict is Verdict.WRONG_ANSWER

    @pytest.mark.thorough  # the wall limit has to pass
    def test_an_interactor_that_sleeps_is_at_fault_and_is_not_waited_for(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        sleeps = "#include <unistd.h>\nint main() { sleep(3000); }"
        read = checked(TALK | {"checker": {"code": sleeps, "interactive": True}})
        task = Options(cpu_s=0.1).task(read, "input()", read.tests.public)
        start = time.monotonic()
        assert judge(worker, task).verdict is Verdict.CHECKER_ERROR
        assert time.monotonic() - start < 4 * task.limits.wall_s + 30
        assert _grade(worker, checked(TALK), GUESS).verdict is Verdict.ACCEPTED

    def test_a_crash_of_the_solution_is_a_runtime_error(
        self, worker: Worker, checked: Callable[..., Problem]
    ) -> None:
        grade = _grade(worker, checked(TALK), "print(5, flush=True)\n1 / 0")
        assert grade.verdict is Verdict.RUNTIME_ERROR


@for_each(
    ("keys", "field", "complaint"),
    [
        ({"protokol": "kattis"}, "checker.protokol", "unknown key; did you mean 'protocol'?"),
        ({"zzz": 1}, "checker.zzz", "known: code, language, protocol"),
        ({"code": 5}, "checker.code", "must be text, not 5"),
        ({"points": 0}, "checker.points", "must be at least 0.001"),
        ({"points": 1e7}, "checker.points", "must be at most 1000000"),
        ({"code": " \n"}, "checker.code", "empty"),
        (
            {"language": "python", "code": "def check(i, e, a): return True"},
            "checker.code",
            "it never calls exit",
        ),
        (
            {"language": "python", "code": "exit(1)", "files": {"a.py": "x ="}},
            "checker.files.a.py",
            "not valid Python",
        ),
        ({"language": "java"}, "checker.language", "must be 'python' or 'cpp'"),
        ({"files": {"a.h": 5}}, "checker.files.a.h", "must be text"),
        ({"files": {"../a.h": ""}}, "checker.files", "'../a.h': a name has up to 100 letters"),
        ({"files": {"test.ans": ""}}, "checker.files", "and none of test.in, test.out"),
        ({"language": "python"}, "checker.code", "not valid Python"),
    ],
)
def test_a_fault_is_named_with_its_place(
    checked: Callable[..., Problem], keys: dict[str, Any], field: str, complaint: str
) -> None:
    with pytest.raises(DataError) as caught:
        checked(_with(**keys))
    assert f"field '{field}'" in str(caught.value)
    assert complaint in str(caught.value)


def test_a_byte_order_mark_before_testlib_is_no_harm(
    checked: Callable[..., Problem], worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "testlib.h").write_text(TESTLIB)
    monkeypatch.setenv("TESTLIB", str(tmp_path))
    code = CHECKER.lstrip().replace('"testlib.h"', '"./testlib.h"')
    read = checked(_with(code=f"\ufeff{code}", files={}))
    assert _grade(worker, read, RIGHT).verdict is Verdict.ACCEPTED
    assert _grade(worker, read, WRONG).verdict is Verdict.WRONG_ANSWER


def test_its_problem_is_not_timed(worker: Worker, checked: Callable[..., Problem]) -> None:
    read = checked(ROW)
    task = Options().task(read, RIGHT, read.tests.all())
    with pytest.raises(CheckerError, match="whose checker is a program are not timed"):
        Expected.of(worker, task)


def test_tests_that_a_model_writes_are_judged_without_points(
    worker: Worker, checked: Callable[..., Problem]
) -> None:
    read = checked(_with(points=10))
    runner = runner_of(read, Options(), cast("Any", None))
    task = runner.task._replace(program=Program("print('part 50')"), tests=read.tests.all())
    grade = judge(worker, task)
    assert (grade.verdict, grade.score) == (Verdict.WRONG_ANSWER, None)


def test_a_program_judges_no_functions(checked: Callable[..., Problem]) -> None:
    with pytest.raises(DataError, match="for a function give Python"):
        checked(ROW | {"entry_point": "f", "tests": [{"input": "1", "output": "1"}]})


def test_without_a_compiler_the_row_is_refused(
    write_rows: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    compiler.cache_clear()
    try:
        with pytest.raises(DataError, match=r"'checker': it is C\+\+, and there is no C\+\+ comp"):
            load(str(write_rows(ROW)))
    finally:
        compiler.cache_clear()


@for_each(
    "keys",
    [
        {"code": f"{CHECKER}//"},
        {"files": FILES | {"more.h": ""}},
        {"protocol": "kattis"},
        {"interactive": True},
        {"points": 1},
        {"points": 2},
    ],
)
def test_the_content_hash_covers_the_program(
    checked: Callable[..., Problem], keys: dict[str, Any]
) -> None:
    assert checked(_with(**keys)).content_hash != checked(ROW).content_hash
