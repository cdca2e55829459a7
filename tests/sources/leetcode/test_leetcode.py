from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.problem import Problem
from harness.sources import preambles
from harness.sources.benchmarks import load as load_spec
from harness.sources.leetcode.leetcode import COLUMNS, OTHER_LANGUAGES, load
from harness.sources.selection import Selection, select

Row = dict[str, Any]
Read = Callable[..., Problem]

CONTENT = r"""Add up the numbers of the linked list that are less than `k`.

**Example 1:**

**Input:** head = \[1,5\], k = 3
**Output:** 1
**Explanation:** 5 is not less than 3.

**Example 2:**

**Input:** head = \[\], k = 0
**Output:** 0

**Example 3:**

**Input:** k = 3, head = it is up to you
**Output:** 0

**Constraints:**

*   `0 <= k`
"""
CODE = """\
def sumBelow(head, k):
    total = 0
    while head:
        if head.val < k:
            total += head.val
        head = head.next
    return total
"""
PYTHON = f"\n    ```python\n{CODE}```\n    \n    The algorithm walks along the list.\n    "


@pytest.fixture
def read(write_rows: Callable[..., Path]) -> Read:
    def read_one(**columns: object) -> Problem:
        row: Row = {
            "id": 9001,
            "slug": "sum-below",
            "title": "Sum Below",
            "difficulty": "Easy",
            "content": CONTENT,
            "java": "",
            "c++": "",
            "python": PYTHON,
            "javascript": "",
        }
        row = {name: value for name, value in (row | columns).items() if value is not ...}
        (problem,) = load(str(write_rows(row))).problems
        return problem

    return read_one


def test_a_row_is_read(read: Read) -> None:
    problem = read()
    assert problem.id == "leetcode/sum-below"
    assert (problem.source, problem.platform) == ("leetcode", "leetcode")
    assert problem.aliases == ("9001", "leetcode_9001")
    assert problem.title == "Sum Below"
    assert (problem.difficulty, problem.difficulty_word) == ("easy", "Easy")
    assert problem.statement == CONTENT
    assert problem.programs() == (CODE,)
    assert problem.preamble == preambles.LEETCODE
    assert problem.tests.all() == ()


@for_each(
    ("python", "programs"),
    [
        ("no code", 0),
        ("", 0),
        ("```java\nint f() {}\n```\n```python\ndef f(a):\n    return a\n```", 1),
        ("```\ndef f(a):\n    return a\n```", 1),
        ("```python\ndef f(a):\n    return a\n", 1),
        ("```Python3\nclass Solution:\n    def f(self, a):\n        return a\n```", 1),
    ],
)
def test_the_reference_is_looked_for_in_fenced_code(read: Read, python: str, programs: int) -> None:
    assert len(read(python=python).programs()) == programs


def test_the_solutions_in_all_four_languages_are_references(read: Read) -> None:
    problem = read(
        **{
            "java": "```java\nclass A {}\n```\n```java\nclass B {}\n```\n",
            "c++": "prose\n```bash\ng++ a.cc\n```\n```c++\nint a;\n```",
            "javascript": "```js\nlet a\n```",
        }
    )
    assert [(each.language, each.code) for each in problem.load_references()] == [
        ("python", CODE),
        ("java", "class A {}\n"),
        ("c++", "int a;\n"),
        ("javascript", "let a\n"),
    ]
    assert problem.programs() == (CODE,)


@for_each("column", OTHER_LANGUAGES)
@for_each("value", [..., None, "", "no code", "```\n \n```"])
def test_a_solution_that_is_not_there_is_no_reference_and_no_error(
    read: Read, column: str, value: object
) -> None:
    there = dict.fromkeys(OTHER_LANGUAGES, "```\ncode\n```")
    references = read(**(there | {column: value})).load_references()
    languages = [each.language for each in references]
    assert languages == ["python", *(name for name in OTHER_LANGUAGES if name != column)]


@for_each("column", OTHER_LANGUAGES)
def test_a_solution_that_is_no_text_is_named(read: Read, column: str) -> None:
    with pytest.raises(DataError) as error:
        read(**{column: ["x"]})
    assert error.value.field == column


def test_a_block_in_another_language_is_no_reference(read: Read) -> None:
    problem = read(**{"c++": "```java\nclass A {}\n```", "python": "```cpp\nint a;\n```"})
    assert problem.load_references() == ()


@for_each("column", ["id", *COLUMNS])
@for_each("value", [..., None, ["x"], 1.5])
def test_a_bad_column_is_named(read: Read, column: str, value: object) -> None:
    with pytest.raises(DataError) as error:
        read(**{column: value})
    assert error.value.field == column


def test_an_empty_slug_is_no_id(read: Read) -> None:
    with pytest.raises(DataError, match="field 'slug': empty"):
        read(slug=" ")


@for_each(("column", "hashed"), [("content", True), ("python", True), ("java", False)])
def test_the_content_hash_covers_what_can_change_a_verdict(
    read: Read, column: str, hashed: bool
) -> None:
    assert (read(**{column: "other"}).content_hash != read().content_hash) == hashed


def test_leetcode_without_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="give --benchmark leetcode:PATH"):
        load(None)


def test_real_leetcode_rows_load(test_data: Path) -> None:
    spec = f"leetcode:{test_data}/greengerong_leetcode/leetcode-train.first2.jsonl"
    problems = load_spec(spec).problems
    assert [len(problem.programs()) for problem in problems] == [1, 1]
    (selected_problem,) = select(problems, Selection(tasks=("leetcode_2",))).problems
    assert selected_problem.id == "leetcode/add-two-numbers"
