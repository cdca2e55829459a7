from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError, UsageError
from harness.grading.judge import Task, judge
from harness.grading.verdict import Verdict
from harness.problem import Codec, Problem, Signature, TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
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
    assert problem.entry_point == "sumBelow"
    assert problem.starter_code == (
        "class Solution:\n    def sumBelow(self, head: Optional[ListNode], k):\n        "
    )
    assert problem.signature == Signature(arguments=(Codec.LINKED_LIST, Codec.JSON))


def test_the_examples_that_can_be_read_are_the_tests(read: Read) -> None:
    problem = read()
    assert problem.public_rule == "statement"
    assert problem.tests.public == (
        TestCase(input="[1, 5]\n3", output="1", public=True),
        TestCase(input="[]\n0", output="0", public=True),
    )
    assert problem.tests.load_hidden() == ()


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ("head = \\[1\\]", "1"),
        ("head = \\[1\\], pos = 1, k = 2", "1"),
        ("head = 3, k = 1", "1"),
        ("head = \\[1\\], k = 1", "an answer"),
    ],
)
def test_an_example_that_does_not_fit_is_left_out(read: Read, given: str, output: str) -> None:
    content = f"**Input:** {given}\n**Output:** {output}\n"
    problem = read(content=content)
    assert problem.entry_point == "sumBelow"
    assert problem.tests.all() == ()


def test_a_node_that_the_example_shows_as_a_number_is_no_test(read: Read) -> None:
    code = "```python\ndef find(root):\n    return root.left\n```"
    content = "**Input:** root = \\[1,2\\]\n**Output:** %s\n"
    assert read(python=code, content=content % 2).tests.all() == ()
    problem = read(python=code, content=content % "\\[2\\]")
    assert [test.output for test in problem.tests.all()] == ["[2]"]
    assert problem.signature.result is Codec.TREE


def test_a_node_whose_value_is_a_list_is_no_test(read: Read) -> None:
    content = "**Input:** head = \\[\\[7,null\\]\\], k = 1\n**Output:** 1\n"
    assert read(content=content).tests.all() == ()


def test_the_calls_of_a_class_are_no_test(read: Read) -> None:
    code = "```python\ndef f(a, b):\n    return a\n```"
    content = '**Input**\n\\["LRUCache", "put"\\]\n\\[%s\\]\n**Output**\n\\[null\\]\n'
    assert read(python=code, content=content % "[2], [1, 1]").tests.all() == ()
    assert len(read(python=code, content=content % "2, 1").tests.all()) == 1


def test_a_tree_changed_in_place_is_shown_without_empty_places(read: Read) -> None:
    code = "```python\ndef flatten(root):\n    root.left = None\n```"
    content = "**Input:** root = \\[1,2\\]\n**Output:** %s\n"
    problem = read(python=code, content=content % "\\[1,null,null\\]")
    assert [test.output for test in problem.tests.all()] == ["[1]"]
    assert read(python=code, content=content % "1").tests.all() == ()


SPLIT = """\
def split(head, k):
    parts = [None] * k
    for i in range(k):
        parts[i] = head
        if head:
            head.next, head = None, head.next
    return parts
"""
MERGE = """\
from heapq import heapify, heappop, heappush
def merge(lists, limit=100):
    heap = [(node.val, i, node) for i, node in enumerate(lists) if node]
    heapify(heap)
    first = last = ListNode()
    while heap:
        _, i, node = heappop(heap)
        last.next = last = node
        if node.next:
            heappush(heap, (node.next.val, i, node.next))
    return first.next
"""


@pytest.mark.parametrize(
    ("code", "content"),
    [
        (SPLIT, "**Input:** head = [1,2], k = 2\n**Output:** [[1],[2]]\n"),
        (MERGE, "**Input:** lists = [[1,4],[2]]\n**Output:** [1,2,4]\n"),
        (
            "def f(root, s):\n    def go(a, b):\n        if not a:\n            return b == s\n"
            "        return go(a.left, b + a.val)\n    return go(root, 0)\n",
            "**Input:** root = [5,4], s = 9\n**Output:** true\n",
        ),
        (
            "def f(nums, kk):\n    return nums[kk]\n",
            "**Input:** kk = 1, x = [1,2]\n**Output:** 2\n",
        ),
    ],
)
def test_a_reference_passes_the_tests_that_are_read_for_it(
    read: Read, code: str, content: str
) -> None:
    problem = read(python=f"```python\n{code}```\n", content=content)
    assert len(problem.tests.all()) == 1
    assert judged(problem, code) == Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("python", "entry_point"),
    [
        ("no code", None),
        ("", None),
        ("```python\ndef f(:\n```", None),
        ("```python\nclass LRUCache:\n    def get(self, key):\n        return key\n```", None),
        ("```java\nint f() {}\n```\n```python\ndef f(a):\n    return a\n```", "f"),
        ("```\ndef f(a):\n    return a\n```", "f"),
        ("```python\ndef f(a):\n    return a\n", "f"),
        ("```Python3\nclass Solution:\n    def f(self, a):\n        return a\n```", "f"),
    ],
)
def test_the_reference_is_looked_for_in_fenced_code(
    read: Read, python: str, entry_point: str | None
) -> None:
    problem = read(python=python)
    assert problem.entry_point == entry_point
    if entry_point is None:
        assert problem.tests.all() == ()
        assert problem.starter_code == ""


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


@pytest.mark.parametrize("column", OTHER_LANGUAGES)
@pytest.mark.parametrize("value", [..., None, "", "no code", "```\n \n```"])
def test_a_solution_that_is_not_there_is_no_reference_and_no_error(
    read: Read, column: str, value: object
) -> None:
    there = dict.fromkeys(OTHER_LANGUAGES, "```\ncode\n```")
    references = read(**(there | {column: value})).load_references()
    languages = [each.language for each in references]
    assert languages == ["python", *(name for name in OTHER_LANGUAGES if name != column)]


@pytest.mark.parametrize("column", OTHER_LANGUAGES)
def test_a_solution_that_is_no_text_is_named(read: Read, column: str) -> None:
    with pytest.raises(DataError) as error:
        read(**{column: ["x"]})
    assert error.value.field == column


def test_a_block_in_another_language_is_no_reference(read: Read) -> None:
    problem = read(**{"c++": "```java\nclass A {}\n```", "python": "```cpp\nint a;\n```"})
    assert problem.load_references() == ()
    assert problem.tests.all() == ()


@pytest.mark.parametrize("column", ["id", *COLUMNS])
@pytest.mark.parametrize("value", [..., None, ["x"], 1.5])
def test_a_bad_column_is_named(read: Read, column: str, value: object) -> None:
    with pytest.raises(DataError) as error:
        read(**{column: value})
    assert error.value.field == column


def test_an_empty_slug_is_no_id(read: Read) -> None:
    with pytest.raises(DataError, match="field 'slug': empty"):
        read(slug=" ")


@pytest.mark.parametrize(
    ("column", "hashed"), [("content", True), ("python", True), ("java", False)]
)
def test_the_content_hash_covers_what_can_change_a_verdict(
    read: Read, column: str, hashed: bool
) -> None:
    assert (read(**{column: "other"}).content_hash != read().content_hash) == hashed


def test_without_a_file_the_user_is_told_to_give_one() -> None:
    with pytest.raises(UsageError, match="give --benchmark leetcode:PATH"):
        load(None)


def judged(problem: Problem, code: str) -> Verdict:
    program = Program(code, problem.preamble, problem.entry_point, problem.signature)
    worker = Worker()
    try:
        return judge(worker, Task(program, problem.tests.all(), Limits(cpu_s=5))).verdict
    finally:
        worker.stop()


def test_a_function_and_a_method_of_the_starter_code_are_judged_alike(read: Read) -> None:
    problem = read()
    assert judged(problem, CODE) == Verdict.ACCEPTED
    body = problem.starter_code + "return 1\n"
    assert judged(problem, body) == Verdict.WRONG_ANSWER
    method = problem.starter_code + "return sum(x for x in values(head) if x < k)\n"
    method += (
        "def values(head):\n    while head:\n        yield head.val\n        head = head.next\n"
    )
    assert judged(problem, method) == Verdict.ACCEPTED


def test_real_rows_load_and_their_references_are_accepted(test_data: Path) -> None:
    spec = f"leetcode:{test_data}/greengerong_leetcode/leetcode-train.first2.jsonl"
    problems = load_spec(spec).problems
    assert [problem.entry_point for problem in problems] == ["twoSum", "addTwoNumbers"]
    assert [len(problem.tests.public) for problem in problems] == [3, 3]
    for problem in problems:
        assert judged(problem, problem.programs()[0]) == Verdict.ACCEPTED
    (found,) = select(problems, Selection(tasks=("leetcode_2",))).problems
    assert found.id == "leetcode/add-two-numbers"
