"""Scoring packages: groups of tests, points, and what a full score is."""

from pathlib import Path

import pytest
from contest_packages import Package, only
from for_each import for_each

from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Grade, Score, Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.worker import Worker

OLDER = "type: scoring\nlimits: {time_limit: 1}\n"
QUICK = OLDER.replace("1}", "0.2}")
NEWEST = OLDER + "problem_format_version: 2025-09\n"
DOUBLE = "n = int(input())\nprint({})"
TESTS = {
    f"data/{name}.{ending}": f"{value}\n"
    for name, number in {
        "sample/1": 3,
        "secret/group/2": 5,
        "secret/group1/a": 1,
        "secret/group1/b": 7,
        "secret/group2/a": 10,
        "secret/group2/b": 20,
        "secret/group2/c": 30,
    }.items()
    for ending, value in {"in": number, "ans": 2 * number}.items()
}
LEGACY_GROUPS = TESTS | {
    "data/testdata.yaml": "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample\n",
    "data/sample/testdata.yaml": "accept_score: 0\ngrader_flags: first_error\n",
    "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
    "data/secret/group/testdata.yaml": "accept_score: 0\ngrader_flags: min\n",
    "data/secret/group1/testdata.yaml": "on_reject: break\naccept_score: 40\ngrader_flags: min\n",
    "data/secret/group2/testdata.yaml": "on_reject: break\naccept_score: 60\ngrader_flags: min\n",
}
NEWEST_GROUPS = TESTS | {
    "data/secret/group/test_group.yaml": "max_score: 10\n",
    "data/secret/group1/test_group.yaml": "max_score: 30\nscore_aggregation: min\n",
    "data/secret/group2/test_group.yaml": "max_score: 60\nscore_aggregation: sum\n",
}


def _pair(name: str) -> dict[str, str]:
    """Return a secret test whose input is 1000."""
    return {f"data/secret/{name}.in": "1000\n", f"data/secret/{name}.ans": "2000\n"}


SCORER = """
#include <cstdio>
#include <cstring>
int main(int, char **arguments) {
    char word[99], value[99] = "", path[9999];
    while (scanf("%98s", word) == 1) {
        if (!strcmp(word, "wrong")) return 43;
        scanf(" %98[^\\n]", value);
        const char *name = strcmp(word, "score") ? "score_multiplier.txt" : "score.txt";
        snprintf(path, sizeof path, "%s%s", arguments[3], name);
        fputs(value, fopen(path, "w"));
    }
    return 42;
}
"""
SCORER_IN_PYTHON = """
import sys
from pathlib import Path

folder = Path(sys.argv[3])
for line in sys.stdin:
    word, _, value = line.strip().partition(" ")
    if word == "wrong":
        sys.exit(43)
    if word:
        name = {"score": "score.txt", "share": "score_multiplier.txt"}[word]
        (folder / name).write_text(value)
sys.exit(42)
"""
SCORERS = {"v.cc": SCORER, "v.py": SCORER_IN_PYTHON}


def _judge(worker: Worker, problem: Problem, code: str) -> Grade:
    return judge(worker, Options().task(problem, code, problem.tests.all()))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("2 * n", (100, Verdict.ACCEPTED, 7)),
        ("2 * n if n < 10 else 0", (40, Verdict.WRONG_ANSWER, 5)),
        ("2 * n if n != 1 else 0", (60, Verdict.WRONG_ANSWER, 6)),
        ("2 * n if n != 30 else 0", (40, Verdict.WRONG_ANSWER, 7)),
        ("2 * n if n != 3 else 0", (100, Verdict.ACCEPTED, 7)),
        ("0", (0, Verdict.WRONG_ANSWER, 4)),
        ("2 * n if n < 10 else 1 // 0", (40, Verdict.RUNTIME_ERROR, 5)),
    ],
)
def test_legacy_groups_give_their_points_or_none(
    package: Package, worker: Worker, answer: str, expected: tuple[float, Verdict, int]
) -> None:
    points, verdict, run = expected
    problem = only(package(OLDER, LEGACY_GROUPS))
    grade = _judge(worker, problem, DOUBLE.format(answer))
    assert (grade.score, grade.verdict) == (Score(points=points, maximum=100), verdict)
    assert len(grade.tests) == run


@pytest.mark.parametrize(
    ("answer", "points", "verdict"),
    [
        ("2 * n", 100, Verdict.ACCEPTED),
        ("2 * n if n != 20 else 0", 80, Verdict.WRONG_ANSWER),
        ("2 * n if n != 7 else 0", 70, Verdict.WRONG_ANSWER),
        ("2 * n if n != 5 else 0", 90, Verdict.WRONG_ANSWER),
        ("0", 0, Verdict.WRONG_ANSWER),
    ],
)
def test_groups_of_the_newest_format_give_sum_minimum_or_all(
    package: Package, worker: Worker, answer: str, points: float, verdict: Verdict
) -> None:
    grade = _judge(worker, only(package(NEWEST, NEWEST_GROUPS)), DOUBLE.format(answer))
    assert (grade.score, grade.verdict) == (Score(points=points, maximum=100), verdict)


def test_a_group_that_needs_another_gives_nothing_without_it(
    package: Package, worker: Worker
) -> None:
    needs = {
        "data/secret/group1/test_group.yaml": "max_score: 30\nrequire_pass: sample\n",
        "data/secret/group2/test_group.yaml": "max_score: 60\nrequire_pass: [group, group1]\n",
    }
    problem = only(package(NEWEST, NEWEST_GROUPS | needs))
    for wrong, points in ((3, 10), (1, 10), (5, 30), (30, 40), (99, 100)):
        grade = _judge(worker, problem, DOUBLE.format(f"2 * n if n != {wrong} else 0"))
        assert grade.score == Score(points=points, maximum=100), wrong


def test_a_group_is_named_by_its_path_too_and_a_package_may_have_no_sample(
    package: Package, worker: Worker
) -> None:
    needs = {
        "data/secret/group1/test_group.yaml": "max_score: 30\nrequire_pass: sample\n",
        "data/secret/group2/test_group.yaml": "max_score: 60\nrequire_pass: secret/group1\n",
    }
    folder = package(NEWEST, NEWEST_GROUPS | needs)
    for path in (folder / "data/sample").iterdir():
        path.unlink()
    problem = only(folder)
    for wrong, points in ((99, 100), (1, 10), (30, 40)):
        grade = _judge(worker, problem, DOUBLE.format(f"2 * n if n != {wrong} else 0"))
        assert grade.score == Score(points=points, maximum=100), wrong


def test_folders_of_a_group_and_of_the_secret_data_only_sort_their_tests(
    package: Package, worker: Worker
) -> None:
    problem = only(package(NEWEST, NEWEST_GROUPS | _pair("group1/deep/er/z")))
    for wrong, points in ((99, 100), (1000, 70)):
        grade = _judge(worker, problem, DOUBLE.format(f"2 * n if n != {wrong} else 0"))
        assert grade.score == Score(points=points, maximum=100), wrong
    problem = only(package(NEWEST, TESTS, folder="plain"))
    for wrong, points in ((99, 100), (5, 100 - 100 / 6)):
        grade = _judge(worker, problem, DOUBLE.format(f"2 * n if n != {wrong} else 0"))
        assert grade.score is not None
        assert (round(grade.score.points, 6), grade.score.maximum) == (round(points, 6), 100)


def test_time_limits_in_one_group_leave_the_points_of_others(
    package: Package, worker: Worker
) -> None:
    problem = only(package(QUICK, LEGACY_GROUPS))
    code = "n = int(input())\nwhile n in (1, 7): pass\nprint(2 * n)"
    grade = _judge(worker, problem, code)
    assert (grade.score, grade.verdict) == (Score(points=60, maximum=100), Verdict.TIME_LIMIT)


def test_a_program_that_does_not_compile_has_no_points(package: Package, worker: Worker) -> None:
    grade = _judge(worker, only(package(OLDER, LEGACY_GROUPS)), "print(")
    assert (grade.score, grade.verdict) == (Score(points=0, maximum=100), Verdict.COMPILE_ERROR)
    assert len(grade.tests) == 1


def test_public_tests_alone_are_judged_without_points(package: Package, worker: Worker) -> None:
    problem = only(package(OLDER, LEGACY_GROUPS))
    grade = judge(worker, Options().task(problem, DOUBLE.format("6"), problem.tests.public))
    assert (grade.score, grade.verdict) == (None, Verdict.ACCEPTED)


def test_without_group_files_each_test_gives_a_point_until_one_fails(
    package: Package, worker: Worker
) -> None:
    problem = only(package(OLDER, TESTS))
    assert problem.scoring is not None
    assert problem.scoring.maximum == 7
    grade = _judge(worker, problem, DOUBLE.format("2 * n"))
    assert (grade.score, grade.solved) == (Score(points=7, maximum=7), True)
    grade = _judge(worker, problem, DOUBLE.format("2 * n if n != 10 else 0"))
    assert (grade.score, grade.solved) == (Score(points=0, maximum=7), False)


class TestOwnScores:
    """Points that an output validator writes."""

    @pytest.fixture(autouse=True)
    def _compiler(self) -> None:
        try:
            compiler()
        except MissingCompilerError as missing:
            pytest.skip(str(missing))

    @for_each(
        ("scorer", "answer", "expected"),
        [
            ("v.cc", "score 20", (60, Verdict.ACCEPTED)),
            ("v.cc", "score 12.5", (37.5, Verdict.WRONG_ANSWER)),
            ("v.cc", "wrong", (0, Verdict.WRONG_ANSWER)),
            ("v.py", "score 12.5", (37.5, Verdict.WRONG_ANSWER)),
        ],
    )
    def test_legacy_scores_are_added(
        self,
        package: Package,
        worker: Worker,
        scorer: str,
        answer: str,
        expected: tuple[float, Verdict],
    ) -> None:
        points, verdict = expected
        grade = _judge(worker, self._legacy(package, scorer), f"print({answer!r})")
        assert (grade.score, grade.verdict) == (Score(points=points, maximum=60), verdict)

    @for_each(
        ("scorer", "answer"),
        [
            *(("v.cc", each) for each in ("", "score 21", "score much", "score nan", "share 0.5")),
            ("v.py", "score much"),
        ],
    )
    def test_a_legacy_score_that_is_none_is_the_checkers_fault(
        self, package: Package, worker: Worker, scorer: str, answer: str
    ) -> None:
        grade = _judge(worker, self._legacy(package, scorer), f"print({answer!r})")
        assert (grade.score, grade.verdict) == (None, Verdict.CHECKER_ERROR)

    @for_each(
        ("scorer", "answer", "expected"),
        [
            ("v.cc", "", (100, Verdict.ACCEPTED)),
            ("v.cc", "share 1", (100, Verdict.ACCEPTED)),
            ("v.cc", "share 0.5", (50, Verdict.WRONG_ANSWER)),
            ("v.cc", "share 0", (0, Verdict.WRONG_ANSWER)),
            ("v.cc", "score 15", (60, Verdict.WRONG_ANSWER)),
            ("v.py", "share 0.5", (50, Verdict.WRONG_ANSWER)),
        ],
    )
    def test_a_share_is_of_the_tests_points(
        self,
        package: Package,
        worker: Worker,
        scorer: str,
        answer: str,
        expected: tuple[float, Verdict],
    ) -> None:
        points, verdict = expected
        grade = _judge(worker, self._newest(package, scorer), f"print({answer!r})")
        assert (grade.score, grade.verdict) == (Score(points=points, maximum=100), verdict)

    @for_each(
        ("scorer", "answer"),
        [
            *(("v.cc", each) for each in ("share 1.5", "share -1", "score 26", "score -1")),
            ("v.py", "score 26"),
        ],
    )
    def test_more_than_a_tests_points_are_the_checkers_fault(
        self, package: Package, worker: Worker, scorer: str, answer: str
    ) -> None:
        grade = _judge(worker, self._newest(package, scorer), f"print({answer!r})")
        assert (grade.score, grade.verdict) == (None, Verdict.CHECKER_ERROR)

    @for_each("scorer", SCORERS)
    def test_scores_in_a_group_of_all_or_nothing_are_the_checkers_fault(
        self, package: Package, worker: Worker, scorer: str
    ) -> None:
        more = {"data/secret/group/test_group.yaml": "max_score: 100\n"}
        files = {f"output_validator/{scorer}": SCORERS[scorer]} | more
        problem = only(package(NEWEST, files, folder=Path(scorer).suffix[1:]))
        assert _judge(worker, problem, "print()").verdict is Verdict.ACCEPTED
        assert _judge(worker, problem, "print('share 1')").verdict is Verdict.CHECKER_ERROR

    def _legacy(self, package: Package, scorer: str) -> Problem:
        files = {
            "data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\nrange: 0 60\n",
            "data/sample/testdata.yaml": "grader_flags: sum\n",
            "data/secret/testdata.yaml": "grader_flags: sum\n",
            "data/secret/group/testdata.yaml": "range: 0 20\n",
            "data/secret/other/testdata.yaml": "range: 0 20\n",
            "data/secret/third/testdata.yaml": "range: 0 20\n",
            f"output_validators/{scorer}": SCORERS[scorer],
        }
        for name in ("other", "third"):
            files |= {f"data/secret/{name}/1.{ending}": "1\n" for ending in ("in", "ans")}
        folder = Path(scorer).suffix[1:]
        return only(package(OLDER + "validation: custom score\n", files, folder=folder))

    def _newest(self, package: Package, scorer: str) -> Problem:
        files = {f"output_validator/{scorer}": SCORERS[scorer]}
        for name in ("group", "other"):
            text = "max_score: 50\nscore_aggregation: sum\n"
            files[f"data/secret/{name}/test_group.yaml"] = text
            for ending in ("in", "ans"):
                files[f"data/secret/{name}/1.{ending}"] = "1\n"
                files[f"data/secret/{name}/2.{ending}"] = "2\n"
        return only(package(NEWEST, files, folder=Path(scorer).suffix[1:]))


GRADER = """
import sys

rows = [line.split() for line in sys.stdin]
accepted = [float(points) for verdict, points in rows if verdict == "AC"]
kinds = {verdict for verdict, _ in rows} - {"AC"}
if "least" in sys.argv:
    print("AC" if accepted else "WA", len(accepted) * 10 - 5 * ("TLE" in kinds))
else:
    print("AC" if accepted else "WA", sum(accepted))
"""
GRADER_IN_CPP = """
#include <cstdio>
#include <cstring>
int main(int count, char **arguments) {
    bool least = count > 1 && !strcmp(arguments[1], "least"), late = false;
    double sum = 0, points;
    int accepted = 0;
    char verdict[99];
    for (; scanf("%98s %lf", verdict, &points) == 2; late |= !strcmp(verdict, "TLE"))
        if (!strcmp(verdict, "AC")) ++accepted, sum += points;
    printf("%s %g", accepted ? "AC" : "WA", least ? accepted * 10 - 5 * late : sum);
}
"""
GRADED = TESTS | {
    "data/testdata.yaml": "on_reject: continue\ngrading: custom\nrange: 0 60\n",
    "data/sample/testdata.yaml": "grading: default\naccept_score: 0\nrange: 0 0\n",
    "data/secret/group/testdata.yaml": "grader_flags: least\nrange: 0 10\n",
    "data/secret/group1/testdata.yaml": "grader_flags: least\nrange: 0 20\n",
    "data/secret/group2/testdata.yaml": "grader_flags: least\nrange: 0 30\n",
}


class TestGraders:
    """Programs of a package that give a group its verdict and points."""

    @pytest.mark.parametrize(
        ("answer", "points", "verdict"),
        [
            ("2 * n", 60, Verdict.ACCEPTED),
            ("2 * n if n != 7 else 0", 50, Verdict.WRONG_ANSWER),
            ("2 * n if n < 9 else 0", 30, Verdict.WRONG_ANSWER),
            ("2 * n if n != 30 else spin()", 45, Verdict.TIME_LIMIT),
            ("7", 0, Verdict.WRONG_ANSWER),
        ],
    )
    def test_a_grader_reads_verdicts_and_points(
        self, package: Package, worker: Worker, answer: str, points: float, verdict: Verdict
    ) -> None:
        problem = only(package(QUICK, GRADED | {"graders/g.py": GRADER}))
        spin = "def spin():\n    while True: pass\n"
        grade = _judge(worker, problem, spin + DOUBLE.format(answer))
        assert (grade.score, grade.verdict) == (Score(points=points, maximum=60), verdict)

    def test_a_grader_may_be_in_cpp(self, package: Package, worker: Worker) -> None:
        try:
            compiler()
        except MissingCompilerError as missing:
            pytest.skip(str(missing))
        problem = only(package(OLDER, GRADED | {"graders/g.cc": GRADER_IN_CPP}))
        for answer, points in (("2 * n", 60), ("2 * n if n < 9 else 0", 30)):
            grade = _judge(worker, problem, DOUBLE.format(answer))
            assert grade.score == Score(points=points, maximum=60)

    @pytest.mark.parametrize(
        ("grader", "why"),
        [
            ("print('JE 0')", "printed no verdict"),
            ("print('AC')", "printed no verdict"),
            ("", "printed no verdict"),
            ("1 / 0", "ZeroDivisionError"),
            ("print('AC 1')\nexit(1)", "exit"),
            ("print('AC 41')", "41 points in a group of at most"),
            ("while True: pass", "cpu limit"),
        ],
    )
    def test_a_grader_at_fault_is_no_failure_of_the_solution(
        self, package: Package, worker: Worker, grader: str, why: str
    ) -> None:
        limits = "limits: {time_limit: 1, validation_time: 0.5}\n"
        settings = OLDER.replace("limits: {time_limit: 1}\n", limits)
        problem = only(package(settings, GRADED | {"graders/g.py": grader}))
        grade = _judge(worker, problem, DOUBLE.format("2 * n"))
        assert (grade.score, grade.verdict) == (None, Verdict.CHECKER_ERROR)
        assert why in grade.tests[-1].error
        assert "grader is at fault" in grade.tests[-1].error

    @pytest.mark.parametrize("grader", ["print('AC 60')", "1 / 0"])
    def test_a_program_that_does_not_compile_is_shown_to_no_grader(
        self, package: Package, worker: Worker, grader: str
    ) -> None:
        problem = only(package(OLDER, GRADED | {"graders/g.py": grader}))
        grade = _judge(worker, problem, "print(")
        assert (grade.score, grade.verdict) == (
            Score(points=0, maximum=60),
            Verdict.COMPILE_ERROR,
        )

    def test_the_grader_changes_the_content_hash(self, package: Package) -> None:
        one = only(package(OLDER, GRADED | {"graders/g.py": GRADER}))
        other = only(package(OLDER, GRADED | {"graders/g.py": f"{GRADER}\n"}))
        assert one.content_hash != other.content_hash


@pytest.mark.parametrize(
    ("settings", "files", "message"),
    [
        (
            OLDER,
            {"data/testdata.yaml": "grading: custom\nrange: 0 9\n"},
            "must hold one program, and holds 0",
        ),
        (OLDER, {"data/secret/testdata.yaml": "grading: median\n"}, "neither default nor custom"),
        (
            OLDER,
            {"data/testdata.yaml": "grading: custom\n", "graders/g.py": "print('AC 1')"},
            "the most points are inf",
        ),
        (
            OLDER,
            {"data/testdata.yaml": "grading: custom\nrange: 0 9\n", "graders/g.java": "class G {}"},
            "neither Python nor C",
        ),
        (OLDER, {"data/testdata.yaml": "grader_flags: median\n"}, "no flag 'median'"),
        (OLDER, {"data/testdata.yaml": "accept_score: many\n"}, "not a number"),
        (OLDER, {"data/testdata.yaml": "range: 5\n"}, "two numbers"),
        (OLDER, {"data/testdata.yaml": "on_reject: stop\n"}, "on_reject"),
        (OLDER, {"data/testdata.yaml": "accept_score: 0\n"}, "no score is full"),
        (OLDER + "grading: {objective: min}\n", {}, "fewest points"),
        (OLDER + "problem_format_version: 2023-07\n", {}, "2023-07"),
        (NEWEST, {"data/secret/group/test_group.yaml": "full_feedback: true\n"}, "missing"),
        (
            NEWEST,
            NEWEST_GROUPS | {"data/secret/group1/in/test_group.yaml": "{}", **_pair("group1/in/z")},
            "may have none",
        ),
        (NEWEST, NEWEST_GROUPS | _pair("loose"), "both groups of tests"),
        (NEWEST, {"data/secret/group/test_group.yaml": "max_score: unbounded\n"}, "unbounded"),
        (
            NEWEST,
            {"data/secret/group/test_group.yaml": "max_score: 1\nscore_aggregation: max\n"},
            "score_aggregation",
        ),
        (
            NEWEST,
            {"data/secret/group/test_group.yaml": "max_score: 1\nrequire_pass: later\n"},
            "require_pass",
        ),
    ],
)
def test_what_gives_no_points_here_is_refused(
    package: Package, settings: str, files: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        only(package(settings, files))


def test_a_draft_with_the_legacy_keys_gives_points_as_legacy_does(
    package: Package, worker: Worker
) -> None:
    draft = OLDER + "problem_format_version: 2023-07-draft\n"
    problem = only(package(draft, LEGACY_GROUPS))
    for answer, points in (("2 * n", 100), ("2 * n if n != 30 else 0", 40)):
        assert _judge(worker, problem, DOUBLE.format(answer)).score == Score(
            points=points, maximum=100
        )
    with pytest.raises(DataError, match="legacy keys alone"):
        only(package(draft, LEGACY_GROUPS | {"data/secret/testdata.yaml": "max_score: 9\n"}))


def test_points_change_the_content_hash(package: Package) -> None:
    one = only(package(OLDER, LEGACY_GROUPS))
    more = {"data/secret/group1/testdata.yaml": "on_reject: break\naccept_score: 39\n"}
    assert one.content_hash != only(package(OLDER, LEGACY_GROUPS | more)).content_hash
