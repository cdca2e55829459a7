import random
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.errors import NothingSelectedError, UsageError
from harness.problem import Problem, TestSuite
from harness.sources.selection import Selected, Selection, quotas, select, stratum


def make(problem_id: str, **fields: Any) -> Problem:
    level = fields.get("difficulty")
    return Problem(
        **{
            "id": problem_id,
            "source": problem_id.partition("/")[0],
            "title": "",
            "statement": "",
            "platform": "atcoder",
            "difficulty": None,
            "difficulty_word": level or "",
            "tests": TestSuite(public=()),
            "content_hash": "",
            **fields,
        }
    )


PROBLEMS = (
    make("lcb/abc1_a", difficulty="easy", release_date=date(2024, 1, 1), tags=("Math",)),
    make("lcb/abc1_b", difficulty="hard", release_date=date(2024, 1, 2), tags=("Math", "Tree")),
    make("lcb/7", platform="leetcode", difficulty="easy", aliases=("Two-Sum",)),
    make("apps/7", platform="codewars", difficulty="hard", difficulty_word="Competition"),
    make("apps/8", aliases=("apps_8",), release_date=date(2024, 1, 3), known_issues=("wrong",)),
)


def chosen(**parts: Any) -> list[str]:
    return [problem.id for problem in run(**parts).problems]


def run(**parts: Any) -> Selected:
    return select(PROBLEMS, Selection(**parts))


def test_without_filters_all_are_kept_in_order() -> None:
    assert run() == Selected(PROBLEMS, available=5, matched=5, undated=0)


@for_each(
    ("tasks", "ids"),
    [
        (("lcb/abc1_a",), ["lcb/abc1_a"]),
        (("LCB/ABC1_A",), ["lcb/abc1_a"]),
        (("abc1_B",), ["lcb/abc1_b"]),
        (("two-sum",), ["lcb/7"]),
        (("apps_8", "abc1_a", "lcb/abc1_a"), ["lcb/abc1_a", "apps/8"]),
        (("apps/7",), ["apps/7"]),
    ],
)
def test_a_task_goes_by_full_id_native_id_or_alias(tasks: tuple[str, ...], ids: list[str]) -> None:
    assert chosen(tasks=tasks) == ids


def test_a_task_that_several_problems_answer_to_names_them() -> None:
    with pytest.raises(UsageError, match="task '7' could be any of lcb/7, apps/7; give one"):
        run(tasks=("7",))


def test_an_id_in_its_own_case_is_never_ambiguous() -> None:
    problems = (make("x/A"), make("x/a"))
    assert select(problems, Selection(tasks=("x/a",))).problems == problems[1:]
    with pytest.raises(UsageError, match="could be any of x/A, x/a"):
        select(problems, Selection(tasks=("X/A",)))


def test_a_task_that_nothing_answers_to_names_near_ones() -> None:
    with pytest.raises(UsageError, match=r"no problem is called 'two-sun'; did you mean lcb/7\?$"):
        run(tasks=("two-sun",))
    with pytest.raises(UsageError, match=r"'qqqqqq'; there are lcb/abc1_a, .* and 2 more$"):
        run(tasks=("lcb/7", "qqqqqq"))


@for_each(
    ("parts", "ids"),
    [
        ({"difficulties": ("easy",)}, ["lcb/abc1_a", "lcb/7"]),
        ({"difficulties": ("HARD",)}, ["lcb/abc1_b", "apps/7"]),
        ({"difficulties": ("competition",)}, ["apps/7"]),
        ({"difficulties": ("easy", "competition")}, ["lcb/abc1_a", "lcb/7", "apps/7"]),
        ({"platforms": ("LeetCode", "codewars")}, ["lcb/7", "apps/7"]),
        ({"tags": ("math",)}, ["lcb/abc1_a", "lcb/abc1_b"]),
        ({"tags": ("math", "tree")}, ["lcb/abc1_b"]),
        ({"exclude_known_issues": True, "platforms": ("atcoder",)}, ["lcb/abc1_a", "lcb/abc1_b"]),
        ({"min_release_date": date(2024, 1, 2)}, ["lcb/abc1_b", "apps/8"]),
        ({"max_release_date": date(2024, 1, 2)}, ["lcb/abc1_a", "lcb/abc1_b"]),
        (
            {"min_release_date": date(2024, 1, 2), "max_release_date": date(2024, 1, 2)},
            ["lcb/abc1_b"],
        ),
        ({"tags": ("math",), "difficulties": ("easy",), "tasks": ("abc1_a",)}, ["lcb/abc1_a"]),
    ],
)
def test_each_filter_chooses_its_problems(parts: dict[str, Any], ids: list[str]) -> None:
    assert chosen(**parts) == ids


def test_problems_that_a_date_filter_cannot_judge_are_counted() -> None:
    result = run(min_release_date=date(2024, 1, 3))
    assert (result.matched, result.undated) == (1, 2)
    assert run().undated == 0
    result = run(min_release_date=date(2024, 1, 1), difficulties=("easy",))
    assert (result.matched, result.undated) == (1, 1)


@for_each(
    ("parts", "complaint"),
    [
        (
            {"platforms": ("leetcod",)},
            "platform 'leetcod': no problem here has it; did you mean 'leetcode'? there are atcod",
        ),
        (
            {"difficulties": ("medium",)},
            "difficulty 'medium': no problem here has it; there are competition, easy, hard",
        ),
        ({"tags": ("math", "graphs")}, "tag 'graphs': no problem here has it; there are math, tre"),
        (
            {"min_release_date": date(2024, 1, 2), "max_release_date": date(2024, 1, 1)},
            "the release dates end (2024-01-01) before they start (2024-01-02)",
        ),
    ],
)
def test_a_filter_that_nothing_could_pass_names_what_is_there(
    parts: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError) as error:
        run(**parts)
    assert str(error.value).startswith(complaint)


def test_a_filter_on_what_the_data_does_not_tell_says_so() -> None:
    with pytest.raises(UsageError, match="tag 'math': no problem here has a tag"):
        select(PROBLEMS[2:], Selection(tags=("math",)))


def test_a_long_list_of_values_is_cut() -> None:
    problems = [make("x/1", tags=tuple(f"t{n:04}" for n in range(3000)))]
    with pytest.raises(UsageError, match=r"t0019 and 2980 more$"):
        select(problems, Selection(tags=("zz",)))


def test_nothing_left_is_an_error_that_names_the_filters() -> None:
    with pytest.raises(NothingSelectedError) as error:
        run(platforms=("leetcode",), difficulties=("easy",), min_release_date=date(2025, 1, 1))
    assert str(error.value) == (
        "no problem matches: 5 loaded, none with difficulty easy; platform leetcode; "
        "released from 2025-01-01 (1 have no date)"
    )
    assert error.value.exit_code == 3


@for_each("parts", [{}, {"platforms": ("x",)}, {"min_release_date": "2024-01-01"}])
def test_no_problems_at_all_is_nothing_selected(parts: dict[str, Any]) -> None:
    with pytest.raises(NothingSelectedError, match="the data holds no problem"):
        select((), Selection(**parts))


@for_each("parts", [{"sample_size": 0}, {"sampling": "best"}, {"tag": ("x",)}])
def test_a_selection_that_makes_no_sense_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Selection(**parts)


def test_the_first_come_after_the_filters() -> None:
    result = run(difficulties=("hard",), sample_size=1)
    assert [problem.id for problem in result.problems] == ["lcb/abc1_b"]
    assert (result.available, result.matched) == (5, 2)


many = st.lists(
    st.tuples(
        st.integers(0, 10_000),
        st.sampled_from(["atcoder", "leetcode", "codeforces"]),
        st.sampled_from(["easy", "medium", "hard", None]),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[0],
).map(
    lambda rows: [
        make(f"x/{name}", platform=platform, difficulty=level) for name, platform, level in rows
    ]
)
sizes = st.integers(1, 70)
seeds = st.integers(-3, 2**70)
ways = st.sampled_from(["first", "random", "stratified"])


def sample(problems: Sequence[Problem], way: Any, size: int, seed: int) -> list[str]:
    selection = Selection(sample_size=size, sampling=way, seed=seed)
    return [problem.id for problem in select(problems, selection).problems]


@given(many, ways, sizes, seeds)
def test_a_sample_is_that_many_of_the_problems_in_their_order(
    problems: list[Problem], way: str, size: int, seed: int
) -> None:
    ids = sample(problems, way, size, seed)
    assert len(ids) == min(size, len(problems))
    picked = set(ids)
    assert ids == [problem.id for problem in problems if problem.id in picked]


@given(many, st.sampled_from(["random", "stratified"]), sizes, seeds, st.randoms())
def test_a_sample_does_not_depend_on_the_datas_order(
    problems: list[Problem], way: str, size: int, seed: int, shuffler: random.Random
) -> None:
    before = set(sample(problems, way, size, seed))
    shuffler.shuffle(problems)
    assert set(sample(problems, way, size, seed)) == before


@given(many, sizes, seeds)
def test_a_larger_random_sample_holds_the_smaller(
    problems: list[Problem], size: int, seed: int
) -> None:
    smaller = sample(problems, "random", size, seed)
    assert set(smaller) <= set(sample(problems, "random", size + 1, seed))


@given(many, sizes, seeds)
def test_a_stratified_sample_keeps_each_share_within_one(
    problems: list[Problem], size: int, seed: int
) -> None:
    size = min(size, len(problems))
    counts = Counter(map(stratum, problems))
    picked = set(sample(problems, "stratified", size, seed))
    taken = Counter(stratum(problem) for problem in problems if problem.id in picked)
    for name, count in counts.items():
        share = count * size / len(problems)
        assert abs(taken[name] - share) < 1


def test_the_largest_remainders_get_what_is_missing() -> None:
    counts = Counter({("a", "easy"): 47, ("b", "easy"): 16, ("c", "easy"): 37})
    # shares of 10: 4.7, 1.6, 3.7
    assert quotas(counts, 10, 0) == {("a", "easy"): 5, ("b", "easy"): 1, ("c", "easy"): 4}
    assert quotas(counts, 1000, 0) == counts


@for_each("way", ["random", "stratified"])
def test_another_seed_is_another_sample(way: str) -> None:
    problems = [make(f"x/{n}") for n in range(100)]
    samples = {tuple(sample(problems, way, 50, seed)) for seed in range(20)}
    assert len(samples) == 20


def test_random_samples_are_even() -> None:
    problems = [make(f"x/{n}") for n in range(20)]
    drawn = Counter(name for seed in range(2000) for name in sample(problems, "random", 5, seed))
    assert min(drawn.values()) > 400  # 500 expected, standard deviation 19
    assert max(drawn.values()) < 600


def test_a_seed_picks_the_same_for_ever() -> None:
    problems = [make(f"x/{n}") for n in range(10)]
    assert sample(problems, "random", 3, 7) == ["x/5", "x/7", "x/8"]
