"""Rows of `jsonl:PATH` whose tests are code or are made code, and the sources of such rows."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.packages import codeforces
from harness.problem import Problem
from harness.run.plan.languages import refusal
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import loader
from harness.sources.jsonl import load

ROW: dict[str, Any] = {"id": "mine", "statement": "Do it.", "entry_point": "f"}
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n"
CALL = [{"input": "1", "output": "2", "public": True}]
RIGHT = "def f(x): return x + 1"
DATA = os.environ.get("HARNESS_TEST_DATA")
real = pytest.mark.skipif(DATA is None, reason="HARNESS_TEST_DATA names no real rows")


@pytest.fixture
def read(write_rows: Callable[..., Path]) -> Callable[..., Problem]:
    def read(row: dict[str, Any]) -> Problem:
        (problem,) = load(str(write_rows(row))).problems
        return problem

    return read


def solved(worker: Worker, problem: Problem, code: str) -> Verdict:
    return judge(worker, Options().task(problem, code, problem.tests.all())).verdict


def test_a_check_is_split_in_public_and_hidden(
    read: Callable[..., Problem], worker: Worker
) -> None:
    problem = read(ROW | {"test": CHECK})
    assert [(test.input, test.output) for test in problem.tests.public] == [("f(1)", "2")]
    assert [(test.input, test.output) for test in problem.tests.load_hidden()] == [("f(2)", "3")]
    assert problem.public_rule == "first"
    assert solved(worker, problem, RIGHT) is Verdict.ACCEPTED
    assert solved(worker, problem, "def f(x): return 2") is Verdict.WRONG_ANSWER
    given = read(ROW | {"test": CHECK, "public_test": "assert f(5) == 6"})
    assert [test.input for test in given.tests.public] == ["f(5)"]
    assert len(given.tests.load_hidden()) == 2


def test_limits_and_preamble_of_a_row(read: Callable[..., Problem], worker: Worker) -> None:
    row = ROW | {"test": CHECK, "time_limit": 0.2, "memory_limit": 300, "preamble_code": "ONE = 1"}
    problem = read(row)
    limits = Options().limits(problem)
    assert (limits.cpu_s, limits.memory_bytes) == (0.2, 300 << 20)
    assert Options(memory_bytes=1 << 20).limits(problem).memory_bytes == 1 << 20
    assert solved(worker, problem, "def f(x): return x + ONE") is Verdict.ACCEPTED
    assert solved(worker, problem, "def f(x):\n    while True: pass") is Verdict.TIME_LIMIT


@for_each(
    ("row", "field", "message"),
    [
        ({"test": "x = 1"}, "test", "no test is in it"),
        ({"test": CHECK, "tests": [{"input": "1", "output": "2"}]}, "test", "not both"),
        ({"test": CHECK, "rule": "tokens"}, "rule", "they judge themselves"),
        ({"test": CHECK, "entry_point": None}, "entry_point", "need the function's name"),
        ({"test": CHECK, "entry_point": "ff", "starter_code": "def fff(x):"}, "entry_point", "fff"),
        ({"test": ["assert add(1) == 2"], "entry_point": "ad"}, "entry_point", "mean 'add'"),
        ({"public_test": CHECK, "tests": CALL}, "public_test", "needs 'test' as well"),
        ({"tests": [{"input": "1"}]}, "tests", "test 1 has no 'output'"),
        ({"tests": [{"input": "1", "output": "2", "raises": "ValueError"}]}, "tests", "which one"),
        ({"test": CHECK, "test_setup": "def ("}, "test_setup", "not valid Python"),
        ({"test": CHECK, "preamble_code": "def ("}, "preamble_code", "not valid Python"),
        ({"tests": [{"input": "1", "raises": "ValueEror"}]}, "raises", "mean 'ValueError'"),
        ({"tests": [{"input": "1", "raises": "print"}]}, "raises", "not an exception"),
        ({"tests": [{"input": "1", "output": "2", "argument": 1}]}, "argument", "no argument 1"),
        ({"tests": [{"input": "1", "output": "2", "tolerence": 1}]}, "tolerence", "'tolerance'"),
        ({"values": "python", "tests": [{"input": "(1", "output": "2"}]}, "input", "a call"),
        (
            {"values": "python", "tests": [{"input": "x", "output": "2"}]},
            "input",
            "'x' is not a value",
        ),
        ({"values": "python", "tests": [{"input": "1", "output": "sett()"}]}, "output", "'set'"),
        ({"values": "pyton", "tests": []}, "values", "python"),
        ({"time_limit": 0, "tests": []}, "time_limit", "must be more than 0"),
        ({"values": "python", "rule": "tokens", "tests": CALL}, "rule", "cannot judge"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    write_rows: Callable[..., Path], row: dict[str, Any], field: str, message: str
) -> None:
    path = write_rows(ROW | row)
    with pytest.raises(DataError, match=message) as error:
        load(str(path))
    assert f"{path.name}:1" in str(error.value)
    assert field in str(error.value)


def test_old_rows_keep_their_hash(read: Callable[..., Problem]) -> None:
    row = ROW | {"tests": [{"input": "1", "output": "2"}]}
    same = row | {"values": "json", "test_setup": ""}
    assert read(row).content_hash == read(same).content_hash
    other = ROW | {"tests": [{"input": "1", "output": "2", "tolerance": 0.1}]}
    assert read(row).content_hash != read(other).content_hash


@for_each(
    "row",
    [
        {
            "task_id": "Mine/0",
            "prompt": "import math\n\ndef f(x):\n    '''Add one.'''\n",
            "entry_point": "f",
            "canonical_solution": "    return x + 1\n",
            "test": CHECK,
            "unknown": 1,
        },
        {
            "task_id": 7,
            "text": "Add one.",
            "code": RIGHT,
            "test_list": ["assert f(1) == 2", "assert f(2) == 3"],
            "test_setup_code": "",
        },
        {
            "task_id": "add-one",
            "problem_description": "Add one.",
            "starter_code": "class Solution:\n    def f(self, x: int) -> int:\n        ",
            "prompt": "import math\nfrom typing import *\n",
            "entry_point": "Solution().f",
            "completion": "class Solution:\n    def f(self, x): return x + 1",
            "test": CHECK,
        },
    ],
    ids=["HumanEval", "MBPP", "LeetCodeDataset"],
)
def test_rows_of_others_are_read_by_their_columns(
    read: Callable[..., Problem], worker: Worker, row: dict[str, Any]
) -> None:
    problem = read(row)
    assert problem.entry_point == "f"
    (code,) = problem.programs()
    assert solved(worker, problem, code) is Verdict.ACCEPTED


def test_the_docstrings_examples_of_humaneval_are_public(
    write_rows: Callable[..., Path], worker: Worker
) -> None:
    docstring = "'''Add.\n    f(1) ➞ 2\n    f(5) = 6 (five)\n    '''"
    prompt = f"def g(x):\n    return x\n\ndef f(x):\n    {docstring}\n"
    row = {
        "task_id": "HumanEval/3",
        "prompt": prompt,
        "entry_point": "f",
        "canonical_solution": "    return x + 1\n",
        "test": "def check(candidate):\n    assert candidate(g(3)) == g(4)\n",
    }
    (problem,) = loader("humaneval")(str(write_rows(row))).problems
    assert [(t.input, t.output) for t in problem.tests.public] == [("f(1)", "2"), ("f(5)", "6")]
    assert solved(worker, problem, problem.programs()[0]) is Verdict.ACCEPTED
    hostile = "def g(x): return 0\ndef f(x): return x + 1 if x in (1, 5) else 0"
    assert solved(worker, problem, hostile) is Verdict.WRONG_ANSWER  # `g` is the prompt's own
    row |= {"plus_input": [], "test": None}
    with pytest.raises(DataError, match="EvalPlus' own file"):
        loader("humaneval")(str(write_rows(row)))


def test_only_the_first_assertion_of_mbpp_is_public(write_rows: Callable[..., Path]) -> None:
    row = {
        "task_id": 11,
        "text": "Add one.",
        "code": RIGHT,
        "test_list": ["assert f(1) == 2", "assert f(2) == 3"],
        "challenge_test_list": ["assert f(9) == 10"],
        "test_setup_code": "",
    }
    (problem,) = loader("mbpp")(str(write_rows(row))).problems
    assert (problem.id, problem.starter_code) == ("mbpp/11", "def f(x):\n")
    assert [test.input for test in problem.tests.public] == ["f(1)"]
    assert [test.input for test in problem.tests.load_hidden()] == ["f(2)"]


CODEFORCES: dict[str, Any] = {
    "id": "1/A",
    "title": "Half",
    "description": "Split it.",
    "input_format": "A number.",
    "output_format": "Two parts.",
    "interaction_format": None,
    "examples": [{"input": "3\n", "output": "1 2\n"}],
    "official_tests": [{"input": "3\n", "output": "1 2"}, {"input": "9\n", "output": "4 5\n"}],
    "official_tests_complete": True,
    "input_mode": "stdio",
    "time_limit": 2.0,
    "memory_limit": 256.0,
    "rating": 1500,
    "tags": ["math"],
    "contest_start": 1700000000,
    "generated_checker": (
        "import sys\n"
        "n = int(open(sys.argv[1]).read())\n"
        "with open(sys.argv[3]) as file:\n"
        "    parts = list(map(int, file.read().split()))\n"
        "print(1 if sum(parts) == n else 0)\n"
    ),
}


def test_codeforces_rows_have_a_checker_and_limits(
    write_rows: Callable[..., Path], worker: Worker
) -> None:
    (problem,) = codeforces.load(str(write_rows(CODEFORCES))).problems
    assert (problem.id, problem.difficulty, str(problem.release_date)) == (
        "codeforces/1/A",
        "medium",
        "2023-11-14",
    )
    assert len(problem.tests.all()) == 2
    assert Options().limits(problem).memory_bytes == 256 << 20
    assert solved(worker, problem, "print(0, input())") is Verdict.ACCEPTED
    assert solved(worker, problem, "print(1, input())") is Verdict.WRONG_ANSWER
    exiting = "print(0, input())\nexit(1)"
    assert solved(worker, problem, exiting) is Verdict.RUNTIME_ERROR
    plain = CODEFORCES | {"generated_checker": None, "official_tests_complete": False}
    (problem,) = codeforces.load(str(write_rows(plain))).problems
    assert problem.known_issues == ("tests_incomplete",)
    assert solved(worker, problem, "print(0, input())") is Verdict.WRONG_ANSWER


@for_each(
    ("change", "message"),
    [
        ({"interaction_format": "Ask."}, "interactive"),
        ({"input_mode": "file"}, "reads a file"),
        ({"examples": [], "official_tests": []}, "has no test"),
    ],
)
def test_codeforces_rows_that_cannot_be_judged(
    write_rows: Callable[..., Path], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        codeforces.load(str(write_rows(CODEFORCES | change)))


@pytest.mark.thorough
@real
def test_all_of_humaneval_and_mbpp_can_be_expressed() -> None:
    assert DATA is not None
    he = loader("humaneval")(f"{DATA}/humaneval/HumanEval.jsonl.gz").problems
    assert len(he) == 164
    assert all(problem.tests.load_hidden() for problem in he)
    assert len(loader("mbpp")(f"{DATA}/mbpp/mbpp.jsonl.gz").problems) == 974


@pytest.mark.thorough
@real
@pytest.mark.parametrize("number", ["32", "38", "53", "127", "148"])
def test_references_of_humaneval_pass(worker: Worker, number: str) -> None:
    assert DATA is not None
    problems = loader("humaneval")(f"{DATA}/humaneval/HumanEval.jsonl.gz").problems
    problem = next(each for each in problems if each.native_id == number)
    assert solved(worker, problem, problem.programs()[0]) is Verdict.ACCEPTED
    assert json.loads(problem.model_dump_json(include={"checker"}))["checker"]["kind"] == "tests"


def test_a_tolerance_is_judged_in_any_language(
    read: Callable[..., Problem], worker: Worker
) -> None:
    starter = {"starter_code": "def f(x: int) -> List[float]: ..."}
    tests = [
        {"input": "3", "output": "[0.333333, 1]", "tolerance": 1e-5},
        {"input": "2", "output": "[0.5, 1]"},
    ]
    problem = read(ROW | starter | {"tests": tests})
    assert refusal(problem, "cpp") == ""
    assert solved(worker, problem, "def f(x): return 1 / x, True") is Verdict.ACCEPTED
    for wrong in ("[1 / x + 2e-5, 1]", "[1 / x]", "[1 / x + (x < 3) * 1e-9, 1]", "['1', 1]"):
        assert solved(worker, problem, f"def f(x): return {wrong}") is Verdict.WRONG_ANSWER
    nan = "def f(x): return [float('nan') if x == 3 else 0.5, 1]"
    assert solved(worker, problem, nan) is Verdict.WRONG_ANSWER


def test_a_row_that_only_raises_is_judged(read: Callable[..., Problem], worker: Worker) -> None:
    raises: dict[str, Any] = {"input": "-1", "raises": "ValueError"}
    returns: dict[str, Any] = {"input": "1", "output": "2", "public": True}
    for some in ([raises | {"public": False}, returns], [raises | {"public": True}]):
        problem = read(ROW | {"tests": some})
        assert len(problem.tests.all()) == len(some)
        raising = "def f(x):\n    if x < 0: raise ValueError(x)\n    return x + 1"
        assert solved(worker, problem, raising) is Verdict.ACCEPTED
        assert solved(worker, problem, RIGHT) is Verdict.WRONG_ANSWER
        other = raising.replace("ValueError", "KeyError")
        assert solved(worker, problem, other) is Verdict.RUNTIME_ERROR
        same_name = f"class ValueError(Exception): pass\n{raising}"
        assert solved(worker, problem, same_name) is Verdict.RUNTIME_ERROR
        renamed = f"class E(Exception): pass\nE.__name__ = 'ValueError'\n{raising}"
        assert solved(worker, problem, renamed.replace("raise ValueError", "raise E")) is (
            Verdict.RUNTIME_ERROR
        )
        narrower = f"class Own(ValueError): pass\n{raising}"
        assert solved(worker, problem, narrower.replace("raise V", "raise Own(x); V")) is (
            Verdict.ACCEPTED
        )


NODES = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next

def list_node(values):
    head = None
    for value in values[::-1]:
        head = ListNode(value, head)
    return head

def is_same_list(one, other):
    while one and other and one.val == other.val:
        one, other = one.next, other.next
    return not one and not other
"""
REVERSED = """
class Solution:
    def rev(self, head):
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""


def test_functions_of_the_prompt_that_judge_are_not_the_solutions(
    read: Callable[..., Problem], worker: Worker
) -> None:
    problem = read(
        {
            "task_id": "rev",
            "problem_description": "Reverse a list.",
            "starter_code": "class Solution:\n    def rev(self, head):\n        ",
            "prompt": NODES,
            "entry_point": "Solution().rev",
            "completion": REVERSED,
            "test": "def check(candidate):\n"
            "    assert is_same_list(candidate(list_node([1, 2])), list_node([2, 1]))\n"
            "    long = [*range(1500)]\n"
            "    assert is_same_list(candidate(list_node(long)), list_node(long[::-1]))\n"
            "    head = list_node([1, 2])\n"
            "    candidate(head)\n"
            "    assert head.next is None\n",
        }
    )
    own = "class ListNode:\n    def __init__(self, val, next=None):\n        self.val = val\n"
    for right in (REVERSED, own + REVERSED):
        assert solved(worker, problem, right) is Verdict.ACCEPTED
    same = "class Solution:\n    def rev(self, head): return head\n"
    yes = "class Yes:\n    def __eq__(self, other): return True\n"
    for wrong in (
        same,
        f"{same}is_same_list = lambda *given: True\n",
        f"{same}is_same_list = list_node = lambda *given: None\n",
        f"{yes}{same.replace('return head', 'return Yes()')}",
        f"{yes}{same.replace('return head', 'head.val = Yes(); return head')}",
    ):
        assert solved(worker, problem, wrong) in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}
