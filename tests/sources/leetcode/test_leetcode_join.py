"""greengerong/leetcode's problems with the tests of LeetCodeDataset."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.files.rows import open_rows
from harness.sources.leetcode import dataset
from harness.sources.leetcode.leetcode import load, read_rows

Row = dict[str, Any]
Write = Callable[..., Path]

STATEMENT = "Add up.\n\n**Input:** nums = \\[1,5\\], k = 3\n**Output:** 1\n"
OTHER_STATEMENT = "Add up, and return them in any order.\n\nInput: nums = [1,5], k = 3\nOutput: 1\n"
OWN = "def sumBelow(nums, k):\n    return sum(n for n in nums if n < k)\n"
OTHER = "class Solution:\n    def sumBelow(self, nums, k):\n        return sum(nums)\n"
CHECK = """\
def check(candidate):
    assert candidate(nums = [1, 5],k = 3) == 1
    assert candidate(nums = [1, 2],k = 3) == 3
"""


def row(slug: str = "sum-below", **columns: object) -> Row:
    return {
        "id": 9001,
        "slug": slug,
        "title": "Sum Below!",
        "difficulty": "Easy",
        "content": STATEMENT,
        "java": "```java\nint f() {}\n```",
        "c++": "",
        "python": f"```python\n{OWN}```",
        "javascript": "",
    } | columns


def dataset_row(slug: str = "sum-below", **columns: object) -> Row:
    return {
        "task_id": slug,
        "question_id": 7,
        "difficulty": "Hard",
        "tags": ["Array", "Math"],
        "problem_description": OTHER_STATEMENT,
        "starter_code": "class Solution:\n    def sumBelow(self, nums: List[int], k: int):\n ",
        "estimated_date": "2024-08-04",
        "prompt": "from sortedcontainers import SortedList\n",
        "completion": OTHER,
        "entry_point": "Solution().sumBelow",
        "test": CHECK,
        "input_output": [],
        "query": "",
        "response": "",
    } | columns


@pytest.fixture
def read(write_rows: Write) -> Callable[..., dict[str, Problem]]:
    def read_them(*rows: Row) -> dict[str, Problem]:
        problems = read_rows(map(open_rows, [write_rows(*rows)])).problems
        return {problem.id: problem for problem in problems}

    return read_them


Read = Callable[..., dict[str, Problem]]


def test_a_slug_that_both_have_gets_the_tests_and_what_belongs_to_them(
    read: Read, write_rows: Write
) -> None:
    (problem,) = read(row(), dataset_row()).values()
    (tested,) = dataset.load(str(write_rows(dataset_row(), name="other.jsonl"))).problems
    assert [test.output for test in problem.tests.public] == ["1"]
    assert [test.output for test in problem.tests.load_hidden()] == ["3"]
    assert problem.tests.all() == tested.tests.all()
    for name in ("signature", "starter_code", "entry_point", "preamble", "rule", "public_rule"):
        assert getattr(problem, name) == getattr(tested, name), name
    assert problem.tags == ("Array", "Math")
    assert problem.release_date == date(2024, 8, 4)
    assert problem.known_issues == ("many_answers",)
    assert "SortedList" in problem.preamble


def test_what_it_is_stays_its_own(read: Read) -> None:
    (problem,) = read(dataset_row(), row()).values()
    assert (problem.id, problem.source) == ("leetcode/sum-below", "leetcode")
    assert (problem.title, problem.statement) == ("Sum Below!", STATEMENT)
    assert (problem.difficulty, problem.aliases) == ("easy", ("9001", "leetcode_9001"))


def test_the_references_are_those_of_both(read: Read) -> None:
    (problem,) = read(row(), dataset_row()).values()
    assert [(each.language, each.code) for each in problem.load_references()] == [
        ("python", OWN),
        ("java", "int f() {}\n"),
        ("python", OTHER),
    ]


def test_problems_keep_their_order_and_others_are_not_theirs(read: Read) -> None:
    problems = read(
        dataset_row("b"), row("c"), dataset_row("x"), row("b"), row("a"), dataset_row("a")
    )
    assert list(problems) == ["leetcode/c", "leetcode/b", "leetcode/a"]
    tested = [bool(problem.tests.all()) for problem in problems.values()]
    assert tested == [False, True, True]


def test_a_problem_that_leetcodedataset_lacks_has_no_tests(read: Read) -> None:
    problem = read(row("alone"), dataset_row())["leetcode/alone"]
    assert problem.tests.all() == ()
    assert (problem.entry_point, problem.starter_code) == (None, "")


@pytest.mark.parametrize("names", [["a.jsonl", "b.jsonl.gz"], ["b.jsonl.gz", "a.jsonl"]])
def test_the_rows_may_be_in_files_of_any_order(
    write_rows: Write, tmp_path: Path, names: list[str]
) -> None:
    write_rows(row(), name="a.jsonl")
    write_rows(dataset_row(), name="b.jsonl.gz")
    loaded = read_rows(map(open_rows, [tmp_path / name for name in names]))
    assert [Path(file.path).name for file in loaded.files] == names
    (problem,) = loaded.problems
    assert len(problem.tests.all()) == 2
    assert load(f"{tmp_path}/*.jsonl*").problems[0].content_hash == problem.content_hash


@for_each(
    ("own", "other"),
    [
        ({"content": "?"}, {}),
        ({"python": "?"}, {}),
        ({}, {"test": CHECK.replace("3\n", "4\n")}),
        ({}, {"completion": "?"}),
    ],
)
def test_the_content_hash_covers_both_rows(read: Read, own: Row, other: Row) -> None:
    (before,) = read(row(), dataset_row()).values()
    (after,) = read(row(**own), dataset_row(**other)).values()
    (alone,) = read(row()).values()
    assert len({before.content_hash, after.content_hash, alone.content_hash}) == 3


def test_rows_of_the_other_data_set_alone_are_refused(write_rows: Write) -> None:
    path = write_rows(dataset_row())
    with pytest.raises(UsageError, match=f"use leetcodedataset:{path}"):
        read_rows(map(open_rows, [path]))


@for_each("make", [row, dataset_row])
def test_a_slug_that_is_twice_in_one_data_set_is_an_error(
    write_rows: Write, make: Callable[..., Row]
) -> None:
    path = write_rows(row("a"), make("b"), make("b"))
    with pytest.raises(DataError, match=r"rows.jsonl:3: '\w+/b' was already at .*rows.jsonl:2"):
        read_rows(map(open_rows, [path]))
    assert len(read_rows(map(open_rows, [path]), skip_bad_rows=True).skipped) == 1


@for_each("column", ["task_id", "entry_point", "test"])
def test_a_bad_row_of_the_other_data_set_is_an_error_though_no_problem_needs_it(
    read: Read, column: str
) -> None:
    bad = {name: value for name, value in dataset_row("x").items() if name != column}
    with pytest.raises(DataError) as error:
        read(row(), bad)
    assert error.value.field == column


def test_hidden_tests_of_a_row_that_was_changed_meanwhile_are_refused(write_rows: Write) -> None:
    path = write_rows(row(), dataset_row())
    (problem,) = read_rows(map(open_rows, [path])).problems
    path.write_text(path.read_text().replace("[1, 2]", "[2, 2]"))
    with pytest.raises(DataError, match="no longer the row of 'leetcodedataset/sum-below'"):
        problem.tests.load_hidden()


@pytest.mark.thorough
def test_real_rows_are_joined_and_the_references_of_both_are_accepted(
    worker: Worker, test_data: Path
) -> None:
    data = [
        test_data / "leetcodedataset" / f"LeetCodeDataset-{name}.jsonl.gz"
        for name in ("v0.2.0-train", "v0.2.0-test")
    ]
    own_rows = test_data / "greengerong_leetcode" / "leetcode-train.first2.jsonl"
    loaded = read_rows(map(open_rows, [*data, own_rows]))
    tested = {
        problem.native_id: problem for problem in dataset.read_rows(map(open_rows, data)).problems
    }
    assert [problem.native_id for problem in loaded.problems] == ["two-sum", "add-two-numbers"]
    assert len(loaded.files) == 3
    for problem, line in zip(loaded.problems, own_rows.read_text().splitlines(), strict=True):
        other = tested[problem.native_id]
        assert problem.statement == json.loads(line)["content"] != other.statement
        assert problem.tests.all() == other.tests.all() != ()
        assert problem.starter_code == other.starter_code
        languages = [each.language for each in problem.load_references()]
        assert languages == ["python", "java", "c++", "javascript", "python"]
        assert problem.programs()[1:] == other.programs()
        assert [judged(worker, problem, code) for code in problem.programs()] == [
            Verdict.ACCEPTED
        ] * 2


def judged(worker: Worker, problem: Problem, code: str) -> Verdict:
    tests = problem.tests.all()
    return judge(worker, Task(Program.of(problem, code), tests, Limits(cpu_s=5))).verdict
