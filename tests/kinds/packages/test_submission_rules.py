"""`submissions.yaml`: what is expected of each submission of a package."""

import time
from pathlib import Path

import pytest
from contest_packages import Package, only
from for_each import for_each

from harness.errors import DataError
from harness.kinds.packages.reader.path_pattern import PathPattern, PatternError
from harness.problem import Reference

NEWER = "problem_format_version: 2025-09\nname: {en: Parts}\n"
FILE = "submissions/submissions.yaml"
RTE = ("runtime_error", "memory_limit", "output_limit")
TESTS = ("data/secret/2-easy", "data/secret/3-hard")


def submissions(
    package: Package, rules: str, *names: str, settings: str = NEWER
) -> dict[str, Reference]:
    """Return what is read of submissions, by name, under these rules."""
    more = {f"submissions/{name}": "print(1)" for name in names}
    for test in TESTS:
        more |= {f"{test}.in": "5\n", f"{test}.ans": "2 3\n"}
    folder = package(settings, {**more, FILE: rules})
    return {each.name: each for each in only(folder).known_solutions()}


@pytest.mark.parametrize(
    ("rules", "verdicts"),
    [
        ("wrong_answer: {}", ("wrong_answer",)),
        ("wrong_answer: {permitted: [AC, WA, TLE]}", ("wrong_answer", "time_limit")),
        ("wrong_answer/*: {permitted: [AC, WA, TLE]}", ("wrong_answer",)),
        ("wrong_answer: {permitted: [RTE], required: RTE}", RTE),
        ("wrong_answer: {permitted: [AC], required: [AC]}", ()),
        ("'*/b.{py,cpp}': {permitted: [WA]}", ("wrong_answer",)),
        ("b.py: {permitted: [RTE]}", ("wrong_answer",)),
        ("wrong_answer/b.py: {secret/group: {permitted: [AC]}}", ("wrong_answer",)),
        (
            "wrong_answer: {permitted: [AC, WA, TLE], secret/*-hard: {permitted: [AC, TLE]}}",
            ("wrong_answer", "time_limit"),
        ),
        (
            "wrong_answer: {permitted: [AC, WA, TLE], required: [AC, WA, TLE],"
            " '{sample,secret/{group,2-easy}}': {permitted: [AC]},"
            " secret/*-hard: {permitted: [AC, TLE], required: [TLE]}}",
            ("time_limit",),
        ),
        (
            "wrong_answer: {permitted: [AC, TLE], required: [TLE, AC], use_for_time_limit: upper}",
            ("time_limit",),
        ),
        ("wrong_answer: {permitted: [WA], required: [AC, WA]}", ("wrong_answer",)),
        ("wrong_answer: {permitted: [TLE, WA], use_for_time_limit: lower}", ("wrong_answer",)),
    ],
)  # fmt: skip
def test_rules_say_which_verdicts_a_submission_may_get(
    package: Package, rules: str, verdicts: tuple[str, ...]
) -> None:
    references = submissions(package, rules, "wrong_answer/b.py")
    assert references["wrong_answer/b.py"].verdicts == verdicts
    assert references["accepted/half.py"].verdicts == ()


def test_folders_of_any_name_are_read_where_a_rule_expects_something(package: Package) -> None:
    rules = "slow: {permitted: [AC, TLE], required: [TLE]}\neither: {permitted: [AC, WA]}\n"
    references = submissions(package, rules, "slow/a.py", "either/a.py", "other/a.py")
    assert references["slow/a.py"].verdicts == ("time_limit",)
    assert references.keys() == {"accepted/half.py", "accepted/half.cc", "slow/a.py"}
    either = "wrong_answer: {permitted: [AC, TLE], required: [TLE, AC]}"
    assert "wrong_answer/b.py" not in submissions(package, either, "wrong_answer/b.py")


@pytest.mark.parametrize(
    ("rules", "sets_limit"),
    [
        ("accepted/half.cc: {}", True),
        ("accepted/half.py: {use_for_time_limit: false}", True),  # the folder's own rule is another
        ("accepted: {use_for_time_limit: false}", False),
        ("accepted: {use_for_time_limit: false}\n'accepted/*': {use_for_time_limit: lower}", True),
        ("accepted: {permitted: [AC, TLE], required: [AC]}", None),  # nothing is expected of it
        ("accepted: {permitted: [AC], sample: {use_for_time_limit: false}}", True),
    ],
)
def test_the_time_limit_follows_from_what_no_rule_keeps_out(
    package: Package, rules: str, sets_limit: bool | None
) -> None:
    read = submissions(package, rules).get("accepted/half.py")
    assert (read and read.sets_limit) == sets_limit


def test_points_may_be_all_that_is_expected(package: Package) -> None:
    files = {
        FILE: "'*': {score: [0, 40]}\npart: {score: 30}\n",
        "data/secret/group/test_group.yaml": "max_score: 100\n",
        "submissions/part/a.py": "print(1)",
    }
    scoring = only(package(f"{NEWER}type: scoring\n", files))
    read = {each.name: each for each in scoring.known_solutions()}
    assert read["accepted/half.cc"].points == (0, 40)
    assert read["part/a.py"].points == (30, 30)
    assert {"accepted", "wrong_answer", "time_limit", "runtime_error"} <= {
        *read["part/a.py"].verdicts
    }


def test_points_are_refused_where_a_problem_gives_none(package: Package) -> None:
    with pytest.raises(DataError, match="the problem's type is not scoring"):
        submissions(package, "accepted: {score: 30}")


@pytest.mark.parametrize("tag", ["CORRECT", "TIMELIMIT"])
def test_the_rules_count_and_no_tag_of_the_source(package: Package, tag: str) -> None:
    folder = package(
        NEWER,
        {
            FILE: "hacks: {permitted: [AC, WA], required: [WA]}",
            "submissions/hacks/h.py": f"# @EXPECTED_RESULTS@: {tag}",
        },
    )
    read = {each.name: each.verdicts for each in only(folder).known_solutions()}
    assert read["hacks/h.py"] == ("wrong_answer",)


def test_many_patterns_with_many_tests_are_read_in_no_time(package: Package) -> None:
    rules = "".join(f"'a{n}': {{'secret/{{*{n},x}}': {{permitted: [AC]}}}}\n" for n in range(150))
    files = {f"data/secret/{n:03}.{end}": "3\n" for n in range(400) for end in ("in", "ans")}
    folder = package(NEWER, files | {FILE: rules})
    start = time.process_time()
    only(folder)
    assert time.process_time() - start < 2


def test_the_language_that_a_rule_says_counts(package: Package) -> None:
    references = submissions(
        package, "accepted/half.cc: {language: python3}\n'*/half.py': {language: go}"
    )
    assert {name: each.language for name, each in references.items()} == {
        "accepted/half.cc": "python2"
    }


@pytest.mark.parametrize("version", ["legacy", "2023-07"])
def test_older_formats_have_no_such_file(package: Package, version: str) -> None:
    settings = NEWER.replace("2025-09", version)
    references = submissions(package, "accepted: wrong", "wrong_answer/b.py", settings=settings)
    assert references["wrong_answer/b.py"].verdicts == ("wrong_answer",)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("accepted: {permitted: [AC, CE]}", ["accepted: permitted", "CE", "known: AC, WA"]),
        ("accepted: {permited: [AC]}", ["accepted: permited", "known:", "permitted"]),
        ("accepted: {permitted: []}", ["accepted: permitted", "no list of verdicts"]),
        ("accepted: wrong", ["accepted", "not a map"]),
        ("accepted: {secret: {language: cpp}}", ["secret: language", "not known here"]),
        ("accepted: {secret: [AC]}", ["accepted: secret", "not a map"]),
        ("accepted: {score: [4, 3]}", ["accepted: score", "smaller one first"]),
        (f"accepted: {{score: 1{'0' * 400}}}", ["integer of more than 200"]),
        (f"accepted: {{permitted: 0x{'f' * 6000}}}", ["integer of more than 200"]),
        ("accepted: {language: [cpp, python3]}", ["accepted: language", "not the code"]),
        ("accepted: {}\naccepted/: {}", ["accepted", "given twice"]),
        ("accepted: {secret: {permitted: [AC], required: [TLE]}}", ["must get TLE, and no"]),
        ("".join(f"'{n}{{a,b}}': {{}}\n" for n in range(260)), ["more than 500 patterns"]),
        ("accepted: {score: .nan}", ["accepted: score", "neither a number"]),
        ("accepted: {score: true}", ["accepted: score", "neither a number"]),
        ("accepted: {use_for_time_limit: both}", ["use_for_time_limit", "lower, upper"]),
        ("'**/a.py': {}", ["**", "not in the format's patterns"]),
        ("'accepted/[ab].py': {}", ["not in the format's patterns"]),
        ("'accepted/{a.py': {}", ["a brace without its partner"]),
        (f"'{'{a,b}' * 7}': {{}}", ["more than 100 patterns"]),
        (f"'{'a' * 1001}': {{}}", ["longer than 1,000"]),
        ("'*/half.py': {permitted: [WA]}", ["accepted/half.py", "permit no verdict on test"]),
        ("'*': {required: [WA]}", ["accepted/half.", "a test must get WA, and no test may"]),
        ("accepted: {score: 3}\n'*': {score: 4}", ["accepted/half.", "allow no number of points"]),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_named(package: Package, rules: str, words: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        submissions(package, rules)
    assert [each for each in (FILE, *words) if each not in str(caught.value)] == []


@for_each(
    ("pattern", "paths", "others"),
    [
        ("accepted", ["accepted", "accepted/a.py"], ["accepted2", "x/accepted"]),
        ("*/a*", ["accepted/a.py", "x/a/b"], ["a", "x/b", "x/y/a"]),
        ("{a,b}.{py,cpp}", ["a.py", "b.cpp"], ["a.c", "c.py", "{a,b}.py"]),
        ("x{,y{1,2}}", ["x", "xy1", "xy2/z"], ["xy", "x1"]),
        ("a?.py", ["a?.py"], ["ab.py"]),
        ("a/", ["a", "a/b"], ["b"]),
    ],
)
def test_patterns_match_within_names_and_what_lies_below(
    pattern: str, paths: list[str], others: list[str]
) -> None:
    path_pattern = PathPattern(pattern)
    assert [each for each in paths if not path_pattern.matches(each)] == []
    assert [each for each in others if path_pattern.matches(each)] == []


def test_a_pattern_that_would_take_long_takes_no_time() -> None:
    assert not PathPattern("*a" * 400).matches("a" * 5_000 + "b")
    with pytest.raises(PatternError):
        PathPattern("{" * 500 + "}" * 500 + "{a,b}" * 8)


def test_the_packages_rules_are_inside_of_it(package: Package, tmp_path: Path) -> None:
    folder = package(NEWER)
    outside = tmp_path / "rules.yaml"
    outside.write_text("{}")
    (folder / FILE).symlink_to(outside)
    with pytest.raises(DataError, match=r"submissions\.yaml"):
        only(folder)
