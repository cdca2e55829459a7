"""The readers against LiveCodeBench's real rows."""

from collections import Counter
from pathlib import Path

import pytest

from harness.sources.benchmarks import load
from harness.sources.selection import Selection, select


@pytest.mark.thorough
def test_all_full_rows_load_with_every_test(test_data: Path) -> None:
    loaded = load(f"livecodebench:{test_data}/lcb_codegen_full184/test_*")
    assert len(loaded.problems) == 184
    assert len(loaded.files) == 3
    assert loaded.skipped == ()
    assert sum(problem.entry_point is not None for problem in loaded.problems) == 168
    suites = [problem.tests.all() for problem in loaded.problems]
    assert sum(map(len, suites)) == 2859
    for problem, tests in zip(loaded.problems, suites, strict=True):
        shown = {(test.input, test.output) for test in problem.tests.public}
        assert [test.public for test in tests] == [
            (test.input, test.output) in shown for test in tests
        ]
        if problem.entry_point is not None:
            arguments = len(problem.signature.arguments)
            assert all(test.input.count("\n") + 1 == arguments for test in tests)


@pytest.mark.thorough
def test_all_rows_of_release_6_load(test_data: Path) -> None:
    spec = f"livecodebench:{test_data}/lcb_codegen_public1055/test_public_only.jsonl.gz"
    problems = load(spec).problems
    assert len(problems) == 1055
    assert all(problem.tests.load_hidden() == () for problem in problems)
    assert Counter(problem.platform for problem in problems) == {
        "atcoder": 602,
        "leetcode": 444,
        "codeforces": 9,
    }
    issues = Counter(reason for problem in problems for reason in problem.known_issues)
    assert issues == {"many_answers": 2, "interactive": 2, "wrong_tests": 8}


@pytest.mark.thorough
def test_real_rows_are_selected_from(test_data: Path) -> None:
    spec = f"livecodebench:{test_data}/lcb_codegen_public1055/test_public_only.jsonl.gz"
    problems = load(spec).problems
    by_slug = select(problems, Selection(tasks=("Sum-In-A-Matrix", "abc320_C")))
    assert [problem.native_id for problem in by_slug.problems] == ["2728", "abc320_c"]
    sampled = select(problems, Selection(sample_size=100, sampling="stratified"))
    platforms = Counter(problem.platform for problem in sampled.problems)
    assert abs(platforms["atcoder"] - 57) <= 3
    assert abs(platforms["leetcode"] - 42) <= 3
