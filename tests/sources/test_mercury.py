"""Mercury's rows, and their hooks at work in a real sandbox."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.problem import Codec, Problem
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources import preambles
from harness.sources.mercury import load

SAME = "def convert_offline(case):\n    inputs, expected = case\n    return inputs, expected"
EQUAL = "def evaluate_offline(inputs, outputs, expected):\n    return outputs == expected"
ROW: dict[str, Any] = {
    "slug_name": "sum-it-up",
    "entry_point": "sumItUp",
    "convert_offline": SAME,
    "evaluate_offline": EQUAL,
    "test_cases": json.dumps(
        [{"input": [[1, 2], 3], "expected": 6}, {"input": [[], 0], "expected": 0}] * 2
    ),
}
FULL: dict[str, Any] = ROW | {
    "id": 1234,
    "difficulty": "Medium",
    "meta_info": {
        "data": {
            "question": {
                "categoryTitle": "Algorithms",
                "content": "<p>Sum it up.</p>",
                "difficulty": "Medium",
                "questionFrontendId": "1234",
                "questionId": "1300",
                "questionTitle": "Sum It Up!",
                "questionTitleSlug": "sum-it-up",
                "similarQuestions": "[]",
                "stats": "{}",
                "topicTags": [
                    {"name": "Array", "slug": "array"},
                    {"name": "Prefix Sum", "slug": "prefix-sum"},
                ],
            }
        }
    },
    "pretty_content": ["Sum it up.\n\nExample 1:\n\nInput: nums = [], n = 0\nOutput: 0\n"],
    "prompt": "class Solution(object):\n    def sumItUp(self, nums, n):\n        ''' Adds. '''\n",
    "solutions": [
        {
            "hash": -5,
            "runtime": "44ms",
            "solution": (
                "class Solution:\n    def sumItUp(self, nums: List[int], n: int) -> int:\n"
                "        return sum(nums) + n"
            ),
        }
    ],
    "generator_code": "def generate_test_case(): raise SystemExit",
    "convert_online": "def convert_online(case): raise SystemExit",
}


@pytest.fixture
def grade(worker: Worker) -> Callable[..., Grade]:
    def grade(problem: Problem, code: str, *, isolate: bool = False) -> Grade:
        program = Program(code, problem.preamble, problem.entry_point, problem.signature)
        tests = problem.tests.all()
        task = Task(program, tests, Limits(), checker=problem.checker, isolate=isolate)
        return judge(worker, task)

    return grade


class TestReading:
    """What a row becomes."""

    def test_the_columns_that_grading_needs_are_enough(
        self, problem_of: Callable[..., Problem]
    ) -> None:
        read = problem_of(ROW)
        assert (read.id, read.title, read.statement) == ("mercury/sum-it-up", "Sum it up", "")
        assert (read.difficulty, read.tags, read.programs()) == (None, (), ())
        assert read.tests.all()[0].input == "[1, 2]\n3"
        assert read.checker is not None
        assert read.checker.kind == "hooks"

    def test_every_column_that_is_of_use_is_read(self, problem_of: Callable[..., Problem]) -> None:
        read = problem_of(FULL)
        assert (read.id, read.source, read.platform) == (
            "mercury/sum-it-up",
            "mercury",
            "leetcode",
        )
        assert (read.title, read.aliases) == ("Sum It Up!", ("mercury_1234",))
        assert (read.difficulty, read.difficulty_word) == ("medium", "Medium")
        assert read.tags == ("Array", "Prefix Sum")
        assert read.statement == FULL["pretty_content"][0]
        assert read.starter_code == FULL["prompt"]
        assert read.entry_point == "sumItUp"
        assert read.programs() == (FULL["solutions"][0]["solution"],)
        assert read.preamble == preambles.MERCURY

    def test_a_statement_may_be_html_alone(self, problem_of: Callable[..., Problem]) -> None:
        read = problem_of(FULL | {"pretty_content": []})
        assert read.statement == "<p>Sum it up.</p>"
        assert problem_of(FULL | {"pretty_content": "Plain."}).statement == "Plain."

    @for_each("column", ["id", "difficulty", "prompt", "pretty_content", "meta_info", "solutions"])
    def test_what_only_describes_may_be_null(
        self, column: str, problem_of: Callable[..., Problem]
    ) -> None:
        assert problem_of(FULL | {column: None}).id == "mercury/sum-it-up"

    def test_what_leetcode_does_not_tell_is_null(self, problem_of: Callable[..., Problem]) -> None:
        question = {"content": None, "questionTitle": None, "topicTags": None}
        read = problem_of(FULL | {"meta_info": {"data": {"question": question}}})
        assert (read.title, read.tags) == ("Sum it up", ())

    def test_tests_may_be_json_or_a_list(self, problem_of: Callable[..., Problem]) -> None:
        cases = json.loads(ROW["test_cases"])
        listed = problem_of(ROW | {"test_cases": cases})
        assert [json.loads(t.output) for t in listed.tests.all()] == [6, 0, 6, 0]

    def test_long_and_unusual_numbers_pass_through(
        self, problem_of: Callable[..., Problem]
    ) -> None:
        cases = '[{"input": [' + "7" * 5000 + ', NaN], "expected": -Infinity}]'
        (test,) = problem_of(ROW | {"test_cases": cases}).tests.all()
        assert (test.input, test.output) == ("7" * 5000 + "\nNaN", "-Infinity")

    def test_line_ends_within_a_value_do_not_part_it(
        self, problem_of: Callable[..., Problem]
    ) -> None:
        cases = '[{"input": [[1,\n2], "a\\nb"],\n "expected": [\r\n]}]'
        (test,) = problem_of(ROW | {"test_cases": cases}).tests.all()
        assert test.input.split("\n") == ["[1, 2]", '"a\\nb"']
        assert "\n" not in test.output

    def test_the_tests_that_the_statement_shows_are_public(
        self, problem_of: Callable[..., Problem]
    ) -> None:
        read = problem_of(FULL)
        assert read.public_rule == "statement"
        assert [test.input for test in read.tests.public] == ["[]\n0"] * 2
        assert [test.input for test in read.tests.load_hidden()] == ["[1, 2]\n3"] * 2
        assert [test.public for test in read.tests.all()] == [True, True, False, False]

    def test_where_it_shows_none_the_first_are(self, problem_of: Callable[..., Problem]) -> None:
        read = problem_of(ROW)
        assert read.public_rule == "first"
        assert [test.input for test in read.tests.public] == ["[1, 2]\n3", "[]\n0"]
        assert len(read.tests.load_hidden()) == 2

    def test_hidden_tests_are_of_the_row_that_was_loaded(
        self, write_rows: Callable[..., Path]
    ) -> None:
        path = write_rows(ROW)
        (read,) = load(str(path)).problems
        assert len(read.tests.load_hidden()) == 2
        write_rows(ROW | {"evaluate_offline": "def evaluate_offline(*_): return True"})
        with pytest.raises(DataError, match=r"rows.jsonl:1: no longer the row of 'mercury/sum"):
            read.tests.load_hidden()

    @for_each("column", ["convert_offline", "evaluate_offline", "test_cases"])
    def test_the_content_hash_covers_what_judges(
        self, column: str, problem_of: Callable[..., Problem]
    ) -> None:
        changed = ROW | {column: ROW[column] + " "}
        assert problem_of(changed).content_hash != problem_of(ROW).content_hash

    def test_nothing_of_the_judge_is_in_the_view(self, problem_of: Callable[..., Problem]) -> None:
        view = problem_of(FULL).view().model_dump_json()
        assert "_offline" not in view.replace(json.dumps(preambles.MERCURY)[1:-1], "")
        assert "sum(nums)" not in view

    def test_nodes_of_the_signature_come_from_a_reference_where_there_is_no_prompt(
        self, problem_of: Callable[..., Problem]
    ) -> None:
        code = "class Solution:\n    def sumItUp(self, head: Optional[ListNode]): ..."
        read = problem_of(ROW | {"solutions": [{"solution": code}]})
        assert read.signature.arguments == (Codec.LINKED_LIST,)


@for_each(
    ("change", "field", "complaint"),
    [
        ({"slug_name": None}, "slug_name", "missing"),
        ({"evaluate_offline": ...}, "evaluate_offline", "missing"),
        ({"convert_offline": 5}, "convert_offline", "must be text, not 5"),
        ({"slug_name": "  "}, "slug_name", "empty"),
        ({"entry_point": "a b"}, "entry_point", "'a b' is not a Python name"),
        ({"test_cases": "{}"}, "test_cases", "not a list"),
        ({"test_cases": ""}, "test_cases", "not a list"),
        ({"test_cases": "[1]"}, "test_cases", "test 1: not an object"),
        ({"test_cases": '[{"input": [1]}]'}, "test_cases", "test 1: no 'expected'"),
        ({"test_cases": '[{"expected": 1}]'}, "test_cases", "test 1: no 'input'"),
        (
            {"test_cases": '[{"input": [], "expected": 1}, {"input": 1, "expected": 1}]'},
            "test_cases",
            "test 2: not a list",
        ),
        ({"test_cases": '[{"input": [1,], "expected": 1}]'}, "test_cases", "not JSON"),
        ({"solutions": [{"hash": 1}]}, "solutions.0.solution", "missing"),
        ({"meta_info": "{}"}, "meta_info", "must be "),
    ],
)
def test_a_bad_row_is_named_in_a_line(
    problem_of: Callable[..., Problem], change: dict[str, Any], field: str, complaint: str
) -> None:
    row = {name: value for name, value in (FULL | change).items() if value is not ...}
    with pytest.raises(DataError) as error:
        problem_of(row)
    assert error.value.where.endswith("rows.jsonl:1")
    assert (error.value.field, error.value.what[: len(complaint)]) == (field, complaint)
    assert "\n" not in str(error.value)


def test_a_problem_without_tests_is_read(problem_of: Callable[..., Problem]) -> None:
    assert problem_of(ROW | {"test_cases": "[]"}).tests.all() == ()


def test_bad_rows_can_be_skipped(write_rows: Callable[..., Path]) -> None:
    loaded = load(str(write_rows({"slug_name": 1}, ROW, ROW)), skip_bad_rows=True)
    assert [problem.id for problem in loaded.problems] == ["mercury/sum-it-up"]
    assert len(loaded.skipped) == 2


def test_without_a_file_the_user_is_told_to_give_one() -> None:
    with pytest.raises(UsageError, match="give --benchmark mercury:PATH"):
        load(None)


class TestGrading:
    """From a row to a verdict."""

    @for_each("isolate", [False, True])
    def test_references_pass_and_others_do_not(
        self, isolate: bool, problem_of: Callable[..., Problem], grade: Callable[..., Grade]
    ) -> None:
        read = problem_of(FULL)
        assert grade(read, read.programs()[0], isolate=isolate).solved
        wrong = "class Solution:\n    def sumItUp(self, nums, n): return 6"
        assert grade(read, wrong, isolate=isolate).verdict is Verdict.WRONG_ANSWER

    def test_a_hook_may_build_a_tree(
        self, problem_of: Callable[..., Problem], grade: Callable[..., Grade]
    ) -> None:
        convert = (
            "def convert_offline(case):\n    import lctk\n    inputs, expected = case\n"
            "    return (lctk.binaryTree(inputs[0]),), expected"
        )
        cases = [{"input": [[3, 9, 20, None, None, 15, 7]], "expected": 3}]
        row = ROW | {"convert_offline": convert, "test_cases": json.dumps(cases)}
        code = (
            "class Solution:\n    def sumItUp(self, root: Optional[TreeNode]) -> int:\n"
            "        return 1 + max(map(self.sumItUp, (root.left, root.right))) if root else 0"
        )
        assert grade(problem_of(row), code).solved
        assert not grade(problem_of(row), code.replace("1 +", "2 +")).solved

    def test_a_change_in_place_is_graded(
        self, problem_of: Callable[..., Problem], grade: Callable[..., Grade]
    ) -> None:
        evaluate = "def evaluate_offline(inputs, outputs, expected): return inputs[0] == expected"
        cases = [{"input": [[2, 1]], "expected": [1, 2]}]
        row = ROW | {"evaluate_offline": evaluate, "test_cases": json.dumps(cases)}
        code = "class Solution:\n    def sumItUp(self, nums) -> None: nums.sort()"
        assert grade(problem_of(row), code).solved
        assert not grade(problem_of(row), code.replace("nums.sort()", "sorted(nums)")).solved

    @for_each("isolate", [False, True])
    def test_a_real_row(
        self,
        isolate: bool,
        test_data: Path,
        problem_of: Callable[..., Problem],
        grade: Callable[..., Grade],
    ) -> None:
        file = test_data / "mercury_partial_row" / "add-two-numbers.json"
        data = json.loads(file.read_text())
        read = problem_of(data["row"])
        assert len(read.programs()) == 2
        for code in read.programs():
            assert grade(read, code, isolate=isolate).solved
        for code in data["known_bad"]:
            assert grade(read, code, isolate=isolate).verdict is Verdict.WRONG_ANSWER
