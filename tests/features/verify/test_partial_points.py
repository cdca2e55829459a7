"""`harness.verify` of legacy scoring packages: the grader's verdict, whatever the points."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from contest_packages import write_package
from rich.console import Console

import harness
from harness.features.verify import library
from harness.features.verify.library import VerifiedBenchmark
from harness.grading import jobs
from harness.grading.verdict import Verdict
from harness.sandbox.limits import Limits, limits_of

pytestmark = pytest.mark.usefixtures("kept_sandbox")

SCORING = "type: scoring\n"
HALVES = "n = int(input())\nprint(n // 2, n - n // 2)"
SMALL = "n = int(input())\nprint(n // 2, n - n // 2 if n < 9 else 0)"
WRONG = "print(1, 7)"
SLOW = f"import time\n{HALVES}\nwhile n == 3 and time.process_time() < "  # on one test
FILES = {
    "data/testdata.yaml": "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample\n",
    "data/sample/testdata.yaml": "accept_score: 0\ngrader_flags: first_error\n",
    "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
    "data/secret/group/testdata.yaml": "accept_score: 40\ngrader_flags: min\n",
    "data/secret/large/testdata.yaml": "accept_score: 60\ngrader_flags: min\n",
    "data/secret/large/1.in": "11\n",
    "data/secret/large/1.ans": "5 6\n",
    "submissions/accepted/small.py": SMALL,
    "submissions/partially_accepted/small.py": SMALL,
    "submissions/partially_accepted/whole.py": HALVES,
    "submissions/partially_accepted/wrong.py": WRONG,
    "submissions/wrong_answer/small.py": SMALL,
    "submissions/wrong_answer/wrong.py": WRONG,
}
CALLED_ACCEPTED = {"submissions/accepted/wrong.py": WRONG}


def verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], settings: str = SCORING
) -> VerifiedBenchmark:
    monkeypatch.setenv("HF_HOME", str(folder / "home"))
    package = write_package(folder / "parts", settings, files)
    (package / "submissions" / "accepted" / "half.cc").unlink()
    found = harness.verify(f"icpc:{package}")
    again = harness.verify(f"icpc:{package}")  # from the verdicts that were kept
    assert again.problems == found.problems
    return found


def test_the_folder_of_a_submission_is_compared_with_the_grader_s_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verified(tmp_path, monkeypatch, FILES | CALLED_ACCEPTED)
    (problem,) = found.problems
    submissions = {each.name: each for each in (*problem.references, *problem.rejected)}
    wrong = Verdict.WRONG_ANSWER
    assert {
        name: (each.verdict, each.points, each.as_expected) for name, each in submissions.items()
    } == {
        "accepted/half.py": (Verdict.ACCEPTED, 100, True),
        "accepted/small.py": (wrong, 40, True),
        "accepted/wrong.py": (wrong, 0, False),
        "partially_accepted/small.py": (wrong, 40, True),
        "partially_accepted/whole.py": (Verdict.ACCEPTED, 100, False),
        "partially_accepted/wrong.py": (wrong, 0, False),
        "wrong_answer/small.py": (wrong, 40, False),
        "wrong_answer/wrong.py": (wrong, 0, True),
    }
    total = found.summary
    assert (total.references, total.accepted, total.partial) == (3, 2, 1)
    assert (total.judged, total.contradicted) == (8, 4)
    console = Console(width=200)
    with console.capture() as shown:
        console.print(found.view())
    assert "1 of 3 pass every test; the grader accepts 1 with a part of the points" in shown.get()
    assert "expected: partially accepted. 0 points." in shown.get()
    assert "accepted/wrong.py" in shown.get()
    assert " accepted/small.py" not in shown.get()


@pytest.mark.parametrize(("code", "unsound"), [(SMALL, False), (WRONG, True)])
def test_a_package_is_sound_if_its_grader_accepts_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, unsound: bool
) -> None:
    tests = {name: text for name, text in FILES.items() if name.startswith("data/")}
    found = verified(tmp_path, monkeypatch, tests | {"submissions/accepted/half.py": code})
    (problem,) = found.problems
    assert [each.name for each in problem.references] == ["accepted/half.py"]
    assert problem.unsound is unsound


@pytest.mark.thorough
def test_a_package_in_the_newest_format_needs_every_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = "problem_format_version: 2025-09\nname: {en: Parts}\ntype: scoring\n"
    files = {
        "data/secret/group/test_group.yaml": "max_score: 40\n",
        "data/secret/large/test_group.yaml": "max_score: 60\n",
        "data/secret/large/1.in": "11\n",
        "data/secret/large/1.ans": "5 6\n",
        "submissions/accepted/small.py": SMALL,
    }
    (problem,) = verified(tmp_path, monkeypatch, files, settings).problems
    small = next(each for each in problem.references if each.name == "accepted/small.py")
    assert (small.points, small.as_expected) == (40, False)


def limits_of_all(general_s: float, source: str, **own: Any) -> Limits:
    """Return the limits of a source's tests, with another general limit."""
    return limits_of(source, **own | {"cpu_s": own["cpu_s"] or general_s})


class TestTheLimitThatFollowsFromAcceptedSubmissions:
    @pytest.mark.thorough
    def test_is_derived_under_a_ceiling_above_the_general_limit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jobs, "limits_of", partial(limits_of_all, 1.0))
        files = {
            "submissions/accepted/half.py": f"{SLOW}1.4: pass",
            "submissions/time_limit_exceeded/half.py": f"{SLOW}30: pass",
            "submissions/wrong_answer/wrong.py": WRONG,
        }
        settings = "limits: {time_multiplier: 1.1}\n"
        (problem,) = verified(tmp_path, monkeypatch, files, settings).problems
        (reference,) = problem.references
        assert (reference.verdict, reference.as_expected) == (Verdict.ACCEPTED, True)
        assert 2 <= problem.limit_s < 5
        assert problem.rejected_limit_s == problem.limit_s
        assert {each.name: each.verdict for each in problem.rejected} == {
            "time_limit_exceeded/half.py": Verdict.TIME_LIMIT,
            "wrong_answer/wrong.py": Verdict.WRONG_ANSWER,
        }

    @pytest.mark.thorough
    def test_holds_for_a_submission_that_failed_by_time_under_the_ceiling(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(library, "CEILING_S", 2.0)
        files = {"submissions/accepted/loop.py": "while True: pass"}
        (problem,) = verified(tmp_path, monkeypatch, files, "name: Parts\n").problems
        verdicts = {each.name: (each.verdict, each.slowest_s < 2) for each in problem.references}
        assert verdicts == {
            "accepted/half.py": (Verdict.ACCEPTED, True),
            "accepted/loop.py": (Verdict.TIME_LIMIT, True),  # under the limit of one second
        }
        assert problem.limit_s == 1
