"""Output validators in C++: their verdicts, their faults, and what they and solutions can see."""

from pathlib import Path

import pytest
from contest_packages import Package, only
from for_each import for_each

from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import TestResult, Verdict
from harness.kinds.cpp.language import compiler
from harness.kinds.packages import icpc
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

CUSTOM = "validation: custom\nvalidator_flags: strict\n"
STRICT = "output_validator_args: [strict]"
MAIN = """
#include "feedback.h"
#include <cstdlib>
#include <cstring>

int main(int count, char **arguments) {
    long n, one, other;
    char word[99];
    fscanf(fopen(arguments[1], "r"), "%ld", &n);
    if (fscanf(fopen(arguments[2], "r"), "%98s", word) != 1) return 5;
    if (count != 5 || strcmp(arguments[4], "strict")) return 6;
    scanf("%98s", word);
    if (!strcmp(word, "crash")) std::abort();
    if (!strcmp(word, "odd")) return 7;
    if (!strcmp(word, "loop")) for (;;) clearerr(stdin);
    one = atol(word);
    if (scanf("%ld", &other) == 1 && one + other == n) return 42;
    say(arguments[3], "the parts do not add up");
    return 43;
}
"""
HEADER = """
#include <cstdio>
void say(const char *folder, const char *text);
"""
SAY = """
#include "feedback.h"
void say(const char *folder, const char *text) {
    char path[9999];
    snprintf(path, sizeof path, "%sjudgemessage.txt", folder);
    fputs(text, fopen(path, "w"));
}
"""
FILES = {
    "output_validators/sum/main.cc": MAIN,
    "output_validators/sum/feedback.h": HEADER,
    "output_validators/sum/say.cpp": SAY,
    "output_validators/sum/main.cc.bin": "not a source",
}


@pytest.fixture
def validated(package: Package) -> Problem:
    """A problem whose validator is a program of two sources and a header."""
    return only(package(f"{CUSTOM}limits: {{validation_time: 0.3}}\n", FILES))


def _first(worker: Worker, problem: Problem, code: str, language: str = "python") -> TestResult:
    tests = problem.tests.public
    return judge(worker, Options().task(problem, code, tests, language)).tests[0]


def test_a_cpp_validator_accepts_and_rejects(validated: Problem, worker: Worker) -> None:
    right = Options().task(validated, "print(0, input())", validated.tests.all())
    assert judge(worker, right).solved
    result = _first(worker, validated, "print(1, input())")
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.difference is not None
    assert result.difference.where == "the parts do not add up"


@pytest.mark.parametrize("folder", ["output_validator/sum", "output_validator/sum/src"])
def test_a_validator_may_stand_in_a_folder_of_its_own(
    package: Package, worker: Worker, folder: str
) -> None:
    files = {f"{folder}/{Path(path).name}": text for path, text in FILES.items()}
    files |= {f"data/{name}/test_group.yaml": STRICT for name in ("sample", "secret")}
    asked = only(package("problem_format_version: 2025-09\nname: Sum\n", files))
    right = Options().task(asked, "print(0, input())", asked.tests.all())
    grade = judge(worker, right)
    assert grade.solved, grade.tests[0].error
    assert _first(worker, asked, "print(1, input())").verdict is Verdict.WRONG_ANSWER


@for_each(
    ("printed", "error"),
    [
        ("crash", "killed by signal 6"),
        ("odd", "exit code 7, not with 42 or 43"),
        ("loop", "cpu limit"),
    ],
)
def test_a_validator_at_fault_is_no_failure_of_the_solution(
    validated: Problem, worker: Worker, printed: str, error: str
) -> None:
    result = _first(worker, validated, f"print({printed!r})")
    assert result.verdict is Verdict.CHECKER_ERROR
    assert error in result.error


def test_a_solution_finds_nothing_of_it(validated: Problem, worker: Worker) -> None:
    code = """
        #include <dirent.h>
        #include <cstdio>
        int main() {
            long files = 0, n;
            DIR *here = opendir(".");
            while (auto *entry = readdir(here)) files += entry->d_name[0] != '.';
            scanf("%ld", &n);
            printf("%ld %ld\\n", files, n);
        }
    """
    assert _first(worker, validated, code, "cpp").verdict is Verdict.ACCEPTED
    code = "import os\nprint(len(os.listdir('.')), input())"
    assert _first(worker, validated, code).verdict is Verdict.ACCEPTED


def test_a_cpp_validator_that_cannot_be_compiled_is_at_fault(
    package: Package, worker: Worker
) -> None:
    files = {"output_validators/check.cpp": "int main() { return missing; }"}
    result = _first(worker, only(package("validation: custom\n", files)), "print(1)")
    assert result.verdict is Verdict.CHECKER_ERROR
    assert "cannot be compiled" in result.error
    assert "missing" in result.error


def test_another_validator_changes_the_content_hash(package: Package) -> None:
    one = only(package(CUSTOM, FILES))
    changed = FILES | {"output_validators/sum/feedback.h": f"{HEADER}\n#define STRICT"}
    assert one.content_hash != only(package(CUSTOM, changed, folder="two/parts")).content_hash


EVEN = """
import sys
words = sys.stdin.read().split()
if words[0] == "7":
    sys.exit(5)
sys.exit(42 if int(words[0]) % 2 == 0 else 43)
"""


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("print(0, input())", Verdict.ACCEPTED),
        ("print(1, int(input()) - 1)", Verdict.WRONG_ANSWER),  # the second says no
        ("print(2, input())", Verdict.WRONG_ANSWER),  # the first says no
        ("print(7, int(input()) - 7)", Verdict.CHECKER_ERROR),  # the second is at fault
    ],
)
def test_an_answer_is_right_if_all_validators_say_so(
    package: Package, worker: Worker, code: str, verdict: Verdict
) -> None:
    asked = only(package(CUSTOM, FILES | {"output_validators/z/even.py": EVEN}))
    assert judge(worker, Options().task(asked, code, asked.tests.all())).verdict is verdict


def test_each_of_several_validators_changes_the_content_hash(package: Package) -> None:
    files = FILES | {"output_validators/z/even.py": EVEN}
    hashes = {
        only(package(CUSTOM, given, folder=f"{number}/parts")).content_hash
        for number, given in enumerate(
            (FILES, files, {**files, "output_validators/z/even.py": f"{EVEN}#"})
        )
    }
    assert len(hashes) == 3


@pytest.mark.parametrize("kind", ["interactive", "multi-pass", "scoring"])
def test_several_validators_of_dialogues_or_points_are_refused(package: Package, kind: str) -> None:
    settings = f"problem_format_version: 2025-09\nname: {{en: Parts}}\ntype: {kind}\n"
    with pytest.raises(DataError, match="can have one here"):
        only(package(settings, FILES | {"output_validators/z/even.py": EVEN}))


NEEDS = {"output_validators/check.cpp": '#include "testlib.h"\nint main() { return RIGHT; }'}


def test_notes_beside_validators_are_passed_over(package: Package, worker: Worker) -> None:
    notes = {f"output_validators/{name}": "x" for name in ("v.ctd.template", "README", "a.md")}
    problem = only(package(CUSTOM, FILES | notes))
    assert _first(worker, problem, "print(1, 2)").verdict is Verdict.ACCEPTED
    assert _first(worker, problem, "print(1, 1)").verdict is Verdict.WRONG_ANSWER
    for name in ("v.ctd", "run", "v.java"):
        with pytest.raises(DataError):
            icpc.load(str(package(CUSTOM, FILES | {f"output_validators/{name}": "x"}, folder=name)))


class TestTestlib:
    def test_testlib_is_found_beside_the_validator(self, package: Package, worker: Worker) -> None:
        files = {
            "output_validators/check/check.cpp": NEEDS["output_validators/check.cpp"],
            "output_validators/check/testlib.h": "enum { RIGHT = 42 };",
        }
        problem = only(package("validation: custom\n", files))
        assert _first(worker, problem, "print(1)").verdict is Verdict.ACCEPTED

    def test_testlib_is_found_by_its_environment_variable(
        self,
        package: Package,
        worker: Worker,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "testlib.h").write_text("enum { RIGHT = 42 };")
        monkeypatch.setenv("TESTLIB", str(tmp_path / "own"))
        problem = only(package("validation: custom\n", NEEDS))
        assert _first(worker, problem, "print(1)").verdict is Verdict.ACCEPTED

    def test_a_package_without_testlib_is_refused(
        self, package: Package, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("TESTLIB", raising=False)
        monkeypatch.setattr("harness.kinds.cpp.testlib.FOLDERS", ())
        with pytest.raises(DataError, match=r"needs testlib\.h: put it among its files, or"):
            icpc.load(str(package("validation: custom\n", NEEDS)))
