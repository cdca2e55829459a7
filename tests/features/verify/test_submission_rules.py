"""`harness.verify` of packages with rules for their submissions: points, and the time limit."""

import pytest
from contest_packages import write_package
from rich.console import Console

import harness
from harness.features.verify.verification import VerifiedProblem
from harness.grading.verdict import Verdict

SETTINGS = """problem_format_version: 2025-09
name: {en: Parts}
type: scoring
limits: {time_resolution: 0.2}
"""
HALVES = "n = int(input())\nprint(n // 2, n - n // 2)"
BURN = "while n == 5 and time.process_time() < 0.5: pass"
SLOW = f"import time\nn = int(input())\n{BURN}\nprint(n // 2, n - n // 2)"
WRONG = "print(1, 2)"
RULES = """
accepted: {score: 100, use_for_time_limit: false}
'accepted/{half,part}.py': {use_for_time_limit: lower}
some: {score: [0, 40]}
some/none.py: {score: [30, 50]}
"""
FILES = {
    "data/secret/group1/1.in": "3\n",
    "data/secret/group1/1.ans": "1 2\n",
    "data/secret/group1/test_group.yaml": "max_score: 40\n",
    "data/secret/group2/1.in": "5\n",
    "data/secret/group2/1.ans": "2 3\n",
    "data/secret/group2/test_group.yaml": "max_score: 60\n",
    "data/secret/group/test_group.yaml": "max_score: 0\n",
    "submissions/submissions.yaml": RULES,
    "submissions/accepted/slow.py": SLOW,
    "submissions/some/part.py": WRONG,
    "submissions/some/none.py": "print(7)",
    "submissions/accepted/part.py": WRONG,
}


@pytest.fixture(scope="module")
def with_rules(tmp_path_factory: pytest.TempPathFactory) -> VerifiedProblem:
    home = tmp_path_factory.mktemp("home")
    folder = write_package(home / "parts", SETTINGS, FILES)
    (folder / "submissions" / "accepted" / "half.cc").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HOME", str(home))
        verification = harness.verify(f"icpc:{folder}")
        again = harness.verify(f"icpc:{folder}")  # from the verdicts that were kept
    assert again.problems == verification.problems
    console = Console(width=200)
    with console.capture() as shown:
        console.print(verification.view())
    assert "some/none.py" in shown.get()
    assert "expected: 30 to 40 points. 0 points. test 1:" in shown.get()
    assert "some/part.py" not in shown.get()
    return verification.problems[0]


def test_points_are_compared_with_those_of_the_rules(with_rules: VerifiedProblem) -> None:
    submissions = {each.name: each for each in (*with_rules.references, *with_rules.rejected)}
    assert {
        name: (each.verdict, each.points, each.as_expected) for name, each in submissions.items()
    } == {
        "accepted/half.py": (Verdict.ACCEPTED, 100, True),
        "accepted/slow.py": (Verdict.TIME_LIMIT, 40, False),  # under the limit of the others
        "accepted/part.py": (Verdict.WRONG_ANSWER, 40, False),
        "some/part.py": (Verdict.WRONG_ANSWER, 40, True),
        "some/none.py": (Verdict.WRONG_ANSWER, 0, False),
    }


@pytest.mark.thorough
def test_a_slow_submission_that_is_kept_out_of_the_time_limit_sets_none(
    with_rules: VerifiedProblem,
) -> None:
    slow = next(each for each in with_rules.references if each.name == "accepted/slow.py")
    assert slow.slowest_s > 0.2
    assert with_rules.rejected_limit_s == 0.2
