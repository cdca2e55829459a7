"""`harness.verify` of contest packages: submissions in C++, and those that the jury rejects."""

from pathlib import Path

import pytest
from contest_packages import write_package

import harness
from harness.features.verify.library import VerifiedBenchmark
from harness.grading.verdict import Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

HALVES = """
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) == 1) printf("%d %d\\n", n / 2, n - n / 2);
}
"""
SUBMISSIONS = {
    "submissions/accepted/half.cc": HALVES,
    "submissions/wrong_answer/one.py": "print(1, 2)",
    "submissions/wrong_answer/none.cc": "int main() {}",
    "submissions/wrong_answer/tagged.py": "# @EXPECTED_RESULTS@: RUN-ERROR\n1 / 0",
    "submissions/time_limit_exceeded/loop.py": "while True: pass",
    "submissions/runtime_error/raises.py": "1 / 0",
    "submissions/rejected/large.py": "# @EXPECTED_RESULTS@: TIMELIMIT, RUN-ERROR\na = [0] * 10**9",
    "submissions/brute_force/gives_up.py": "1 / 0",
    "submissions/brute_force/guesses.py": "print(1, 2)",
    "submissions/run_time_error/fine.py": "n = int(input())\nprint(n // 2, n - n // 2)",
}


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VerifiedBenchmark:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    settings = "name: Parts\nlimits: {time_resolution: 0.3}\n"
    write_package(tmp_path / "parts", settings, SUBMISSIONS)
    return harness.verify(f"icpc:{tmp_path / 'parts'}")


def test_submissions_are_judged_against_the_verdicts_of_their_folders(
    found: VerifiedBenchmark,
) -> None:
    (problem,) = found.problems
    assert [(each.name, each.language, each.verdict) for each in problem.references] == [
        ("accepted/half.py", "python", Verdict.ACCEPTED),
        ("accepted/half.cc", "cpp", Verdict.ACCEPTED),
    ]
    assert {each.name: (each.verdict, each.as_expected) for each in problem.rejected} == {
        "wrong_answer/one.py": (Verdict.WRONG_ANSWER, True),
        "wrong_answer/none.cc": (Verdict.WRONG_ANSWER, True),
        "wrong_answer/tagged.py": (Verdict.RUNTIME_ERROR, True),
        "time_limit_exceeded/loop.py": (Verdict.TIME_LIMIT, True),
        "runtime_error/raises.py": (Verdict.RUNTIME_ERROR, True),
        "rejected/large.py": (Verdict.MEMORY_LIMIT, True),
        "brute_force/gives_up.py": (Verdict.RUNTIME_ERROR, True),
        "brute_force/guesses.py": (Verdict.WRONG_ANSWER, False),
        "run_time_error/fine.py": (Verdict.ACCEPTED, False),
    }
    total = found.summary
    assert (total.references, total.accepted, total.infrastructure) == (2, 2, 0)
    assert (total.rejected, total.rejected_as_expected, total.wrongly_accepted) == (9, 7, 1)
    assert problem.rejected_limit_s == 0.3  # one step, as its rule is multiples of little


@pytest.mark.thorough
def test_a_time_factor_is_for_python_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    burn = "import time\nwhile time.process_time() < 1.6: pass\n"
    halves = "n = int(input())\nprint(n // 2, n - n // 2)"
    slow = HALVES.replace("int n;", "int n;\n    while (clock() < 2 * CLOCKS_PER_SEC) {}")
    files = {
        "submissions/accepted/half.py": burn + halves,
        "submissions/accepted/half.cc": f"#include <ctime>\n{slow}",
    }
    folder = write_package(tmp_path / "parts", "limits: {time_limit: 1}\n", files)
    (problem,) = harness.verify(f"icpc:{folder}", time_factor=4).problems
    assert {each.language: each.verdict for each in problem.references} == {
        "python": Verdict.ACCEPTED,
        "cpp": Verdict.TIME_LIMIT,
    }
    assert problem.limit_s == 4
