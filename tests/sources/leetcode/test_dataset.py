import json
from collections import Counter
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
from harness.problem import Codec, Problem, Signature, TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import load as load_spec
from harness.sources.files.lines import JsonLines
from harness.sources.leetcode.dataset import _columns, _Tests, load
from harness.sources.selection import Selection, select
from harness.sources.statement_examples import examples

Row = dict[str, Any]
Read = Callable[[Row], Problem]

STATEMENT = """\
Add up the numbers that are less than k.

Example 1:

Input: nums = [1,5], k = 3
Output: 1
Explanation: 5 is not less than 3.

Example 2:

Input: nums = [], k = 0
Output: 0
"""
STARTER = "class Solution:\n    def sumBelow(self, nums: List[int], k: int) -> int:\n        "
REFERENCE = """\
class Solution:
    def sumBelow(self, nums: List[int], k: int) -> int:
        return sum(number for number in nums if number < k)
"""
CHECK = """\
def check(candidate):
    assert candidate(nums = [1, 2],k = 3) == 3
    assert candidate(k = 0, nums = []) == 0
    assert candidate([9] * 3, 10) == 27
    assert candidate(nums = [1, 5],k = 3) == 1
    assert candidate(nums = [1, 5],k = 6) == 6
"""


def new_row(**columns: object) -> Row:
    row: Row = {
        "task_id": "sum-below-ii",
        "question_id": 9001,
        "difficulty": "Hard",
        "tags": ["Array", "Math"],
        "problem_description": STATEMENT,
        "starter_code": STARTER,
        "estimated_date": "2024-08-04",
        "prompt": "from typing import *\n",
        "completion": REFERENCE,
        "entry_point": "Solution().sumBelow",
        "test": CHECK,
        "input_output": [{"input": "nums = [1], k = 0", "output": "Error: timed out"}],
        "query": "",
        "response": "",
    }
    return {name: value for name, value in (row | columns).items() if value is not ...}


def old_row(**meta: object) -> Row:
    row = new_row()
    row["meta"] = {
        "question_id": row.pop("question_id"),
        "difficulty": row.pop("difficulty"),
        "question_title": row.pop("problem_description"),
        "lang_code": row.pop("starter_code").rstrip(),
    } | meta
    row["meta"] = {name: value for name, value in row["meta"].items() if value is not ...}
    for name in ("tags", "estimated_date"):
        del row[name]
    return row


def check(*assertions: str) -> str:
    return "def check(candidate):\n" + "".join(f"    assert {each}\n" for each in assertions)


@pytest.fixture
def read(write_rows: Callable[..., Path]) -> Read:
    def read_one(row: Row) -> Problem:
        (problem,) = load(str(write_rows(row))).problems
        return problem

    return read_one


def test_a_row_is_read(read: Read) -> None:
    problem = read(new_row())
    assert problem.id == "leetcodedataset/sum-below-ii"
    assert (problem.source, problem.platform) == ("leetcodedataset", "leetcode")
    assert problem.title == "Sum Below II"
    assert problem.aliases == ("9001", "leetcode_9001")
    assert problem.statement == STATEMENT
    assert problem.starter_code == STARTER
    assert (problem.difficulty, problem.difficulty_word) == ("hard", "Hard")
    assert problem.tags == ("Array", "Math")
    assert problem.release_date == date(2024, 8, 4)
    assert problem.programs() == (REFERENCE,)
    assert problem.entry_point == "sumBelow"
    assert problem.signature == Signature(arguments=(Codec.JSON, Codec.JSON))
    assert problem.rule == "equality"


def test_a_row_of_the_older_schema_is_read(read: Read) -> None:
    old = read(old_row(difficulty="Meidum"))
    old_tests = old.tests.all()
    new = read(new_row())
    assert old.id == new.id
    assert old.aliases == new.aliases
    assert old.statement == STATEMENT
    assert old.starter_code == STARTER.rstrip()
    assert (old.difficulty, old.difficulty_word) == ("medium", "Meidum")
    assert (old.tags, old.release_date) == ((), None)
    assert old_tests == new.tests.all()


def test_the_tests_that_the_statement_shows_are_public(read: Read) -> None:
    problem = read(new_row())
    assert problem.public_rule == "statement"
    assert problem.tests.public == (
        TestCase(input="[]\n0", output="0", public=True),
        TestCase(input="[1, 5]\n3", output="1", public=True),
    )
    assert problem.tests.load_hidden() == (
        TestCase(input="[1, 2]\n3", output="3", public=False),
        TestCase(input="[9, 9, 9]\n10", output="27", public=False),
        TestCase(input="[1, 5]\n6", output="6", public=False),
    )


def test_the_first_tests_are_public_if_the_statement_shows_none(read: Read) -> None:
    problem = read(new_row(problem_description=STATEMENT.replace("Output", "Result")))
    assert problem.public_rule == "first"
    assert [test.output for test in problem.tests.public] == ["3", "0"]
    assert [test.output for test in problem.tests.load_hidden()] == ["27", "1", "6"]


def test_a_shown_test_may_be_spelled_another_way(read: Read) -> None:
    statement = 'Input: x = 2.00000, s = "a b", root = [1,null,2]\nOutput: 0.33333\n'
    test = check(
        "candidate(1.0, 'a', None) == 0.1",
        "candidate(s = 'a b', x = 2.0, root = tree_node([1, None, 2])) == 1 / 3".replace(
            "1 / 3", repr(1 / 3)
        ),
    )
    starter = "class Solution:\n    def sumBelow(self, x, s, root):\n        "
    problem = read(new_row(problem_description=statement, test=test, starter_code=starter))
    assert problem.public_rule == "statement"
    assert [test.input for test in problem.tests.public] == ['2.0\n"a b"\n[1, null, 2]']
    assert problem.signature.arguments == (Codec.JSON, Codec.JSON, Codec.TREE)


def test_nodes_are_found_wherever_the_assertions_have_them(read: Read) -> None:
    starter = "class Solution:\n    def sumBelow(self, nums, k):\n        "
    tests = [f"candidate(nums = [], k = None) == {n}" for n in range(9)]
    tests.append("candidate(nums = list_node([1, 2]), k = tree_node([3])) == 4")
    problem = read(new_row(test=check(*tests), starter_code=starter))
    assert problem.signature.arguments == (Codec.LINKED_LIST, Codec.TREE)
    hidden = problem.tests.load_hidden()
    assert hidden[-1].input == "[1, 2]\n[3]"
    assert hidden[0].input == "[]\n[]"


def test_compared_nodes_make_the_result_one(read: Read) -> None:
    test = check("is_same_tree(candidate(nums = [1], k = 1), tree_node([1, None]))")
    problem = read(new_row(test=test))
    assert problem.signature.result is Codec.TREE
    assert problem.tests.all()[0].output == "[1]"


def test_the_reference_says_the_order_where_the_starter_code_has_other_names(read: Read) -> None:
    starter = STARTER.replace("nums", "numbers").replace("k:", "bound:")
    assert read(new_row(starter_code=starter)).tests.all() == read(new_row()).tests.all()
    assert read(new_row(starter_code="")).tests.all() == read(new_row()).tests.all()


def test_infinity_is_a_result(read: Read) -> None:
    problem = read(new_row(test=check("candidate(nums = [], k = 1) == -inf")))
    assert problem.tests.all()[0].output == "-Infinity"


def test_a_problem_without_assertions_has_no_tests(read: Read) -> None:
    assert read(new_row(test="def check(candidate):\n    pass\n")).tests.all() == ()


@pytest.mark.parametrize(
    ("assertion", "complaint"),
    [
        ("candidate(nums = [1]) == 3", "no argument for 'k'"),
        ("candidate(nums = [1], k = 2, m = 3) == 3", "'m' is not a parameter, or is given twice"),
        ("candidate(nums = range(3), k = 2) == 3", "has a Call, which is not a literal"),
        ("candidate(nums = list_node([1]), k = 2) == 3", None),
        ("set(candidate(nums = [1], k = 2)) == {3}", "not of the form candidate(…) == value"),
        ("candidate(nums = [1], k = {1: 2}) == 3", "has a dict whose keys are not all strings"),
    ],
)
def test_an_assertion_that_cannot_be_translated_is_named(
    read: Read, assertion: str, complaint: str | None, tmp_path: Path
) -> None:
    row = new_row(test=check(*["candidate(nums = [7], k = 0) == 0"] * 8, assertion))
    with pytest.raises(DataError) as error:
        read(row).tests.load_hidden()
    assert error.value.field == "test"
    assert error.value.where == f"{tmp_path}/rows.jsonl:1"
    assert error.value.what.startswith("assertion ")
    if complaint:
        assert error.value.what == f"assertion 9: {complaint}"
    else:  # it decides that the argument is a list, which the others then are not
        assert "linked_list" in error.value.what


@for_each(
    ("columns", "field", "complaint"),
    [
        ({"task_id": " "}, "task_id", "empty"),
        ({"task_id": ...}, "task_id", "missing"),
        ({"test": 3}, "test", "must be text, not 3"),
        ({"test": "def test():\n    pass"}, "test", "not a function check(candidate)"),
        ({"question_id": 1.5}, "question_id", "must be a whole number, not 1.5"),
        ({"entry_point": "main()"}, "entry_point", "'main()' is not Solution().name"),
        ({"estimated_date": "soon"}, "estimated_date", "'soon' is not an ISO date"),
        ({"tags": "Array"}, "tags", "must be a list, not 'Array'"),
    ],
)
def test_a_bad_column_is_named(
    read: Read, columns: dict[str, object], field: str, complaint: str
) -> None:
    with pytest.raises(DataError) as error:
        read(new_row(**columns))
    assert (error.value.field, error.value.what) == (field, complaint)


def test_a_bad_column_of_the_older_schema_is_named_as_it_is_there(read: Read) -> None:
    with pytest.raises(DataError) as error:
        read(old_row(question_title=...))
    assert error.value.field == "meta.question_title"


@for_each(
    ("column", "hashed"),
    [
        ("problem_description", True),
        ("starter_code", True),
        ("completion", True),
        ("test", True),
        ("input_output", False),
        ("response", False),
        ("difficulty", False),
    ],
)
def test_the_content_hash_covers_what_can_change_a_verdict(
    read: Read, column: str, hashed: bool
) -> None:
    row = new_row()
    changed = read(row | {column: f"{row[column]}\n"})
    assert (changed.content_hash != read(row).content_hash) == hashed


def test_a_row_that_changed_since_is_not_graded_with(
    read: Read, write_rows: Callable[..., Path]
) -> None:
    problem = read(new_row())
    write_rows(new_row(test=CHECK.replace("27", "28")))
    with pytest.raises(DataError, match="no longer the row"):
        problem.tests.load_hidden()


def test_problems_of_one_number_are_told_apart_by_their_slugs(
    write_rows: Callable[..., Path],
) -> None:
    path = write_rows(new_row(), new_row(task_id="sum-above"))
    problems = load_spec(f"leetcodedataset:{path}").problems
    (problem,) = select(problems, Selection(tasks=("sum-above",))).problems
    assert problem.native_id == "sum-above"
    with pytest.raises(UsageError, match="could be any of"):
        select(problems, Selection(tasks=("leetcode_9001",)))


def test_leetcodedataset_without_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="give --benchmark leetcodedataset:PATH"):
        load(None)


def test_a_view_reaches_no_hidden_test(read: Read) -> None:
    view = read(new_row()).view().model_dump_json()
    assert "[9, 9, 9]" not in view
    assert REFERENCE not in json.loads(view).values()


def judged(worker: Worker, problem: Problem, code: str) -> Verdict:
    program = Program(code, problem.preamble, problem.entry_point, problem.signature)
    return judge(worker, Task(program, problem.tests.all(), Limits(cpu_s=5))).verdict


def test_the_reference_is_accepted_and_a_wrong_solution_is_not(worker: Worker, read: Read) -> None:
    problem = read(new_row())
    assert judged(worker, problem, REFERENCE) == Verdict.ACCEPTED
    assert judged(worker, problem, REFERENCE.replace("<", ">")) == Verdict.WRONG_ANSWER


def test_sorted_lists_may_be_taken_for_granted_where_the_prompt_imports_them(
    worker: Worker, read: Read
) -> None:
    code = REFERENCE.replace("in nums", "in SortedList(nums)")
    prompt = "from sortedcontainers import SortedList\nfrom typing import *\n"
    assert judged(worker, read(new_row(prompt=prompt)), code) == Verdict.ACCEPTED
    assert judged(worker, read(new_row()), code) == Verdict.RUNTIME_ERROR


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "rows", "tests", "rules"),
    [
        ("v0.3.1-test", 228, 23_234, {"statement": 226, "first": 2}),
        ("v0.2.0-test", 200, 492, {"statement": 198, "first": 2}),
        ("v0.2.0-train", 1_890, 4_752, {"statement": 1_886, "first": 4}),
    ],
)
def test_all_real_rows_load_with_every_assertion(
    test_data: Path, name: str, rows: int, tests: int, rules: dict[str, int]
) -> None:
    problems = load_spec(
        f"leetcodedataset:{test_data}/leetcodedataset/LeetCodeDataset-{name}.jsonl.gz"
    ).problems
    assert len(problems) == rows
    assert Counter(problem.public_rule for problem in problems) == rules
    assert None not in {problem.difficulty for problem in problems}
    suites = [problem.tests.all() for problem in problems]
    assert sum(map(len, suites)) == tests
    for problem, suite in zip(problems, suites, strict=True):
        public = problem.tests.public
        assert suite[: len(public)] == public
        assert all(test.public == (place < len(public)) for place, test in enumerate(suite))
        arguments = len(problem.signature.arguments)
        assert all(test.input.count("\n") + 1 == arguments for test in suite)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["v0.3.1-test", "v0.2.0-test", "v0.2.0-train"])
def test_the_quick_search_for_shown_tests_finds_them_all(test_data: Path, name: str) -> None:
    """In a third of the rows."""
    path = test_data / "leetcodedataset" / f"LeetCodeDataset-{name}.jsonl.gz"
    for line in [*JsonLines(path)][::3]:
        row = _columns(line)
        tests = _Tests(row, line.where)
        shown = examples(row.problem_description)
        everywhere = range(len(tests._assertions))
        assert tests._shown == [any(tests._is(i, each) for each in shown) for i in everywhere]
