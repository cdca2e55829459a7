"""EvalPlus' rows, as its release files and its data sets on the hub have them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import TestResult, Verdict
from harness.problem import Problem
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import loader
from harness.sources.jsonl import load

SCRIPT = """import numpy as np
from math import inf

def assertion(out, exp, atol):
    exact_match = out == exp
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match

def check(candidate):
    inputs = [[1, "ä, b"], [[2], ')'], [-inf, None],]
    results = [2, [2], -inf]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)
"""
BOTH = "for i, (inp, exp) in enumerate(zip(inputs, results)):\n        "


def results(worker: Worker, problem: Problem, code: str) -> list[TestResult]:
    task = Options(stop=Stop.NEVER).task(problem, code, problem.tests.all())
    return list(judge(worker, task).tests)


def row(test: str, number: int = 3) -> dict[str, Any]:
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": 'def f(x, y):\n    """Take x."""\n',
        "entry_point": "f",
        "canonical_solution": "    return x + 1 if isinstance(x, int) else x\n",
        "test": test,
    }


def test_each_input_is_a_test(write_rows: Callable[..., Path], worker: Worker) -> None:
    path = write_rows(row(SCRIPT))
    (problem,) = loader("humanevalplus")(str(path)).problems
    assert [test.input for test in problem.tests.load_hidden()] == [
        'assertion(f(1, "ä, b"), 2, 0)',
        "assertion(f([2], ')'), [2], 0)",
        "assertion(f(-inf, None), -inf, 0)",
    ]
    right = results(worker, problem, problem.programs()[0])
    assert [test.verdict for test in right] == [Verdict.ACCEPTED] * 3
    wrong = results(worker, problem, "def f(x, y): return 2 if x == 1 else [2]")
    assert [test.verdict for test in wrong] == [Verdict.ACCEPTED] * 2 + [Verdict.WRONG_ANSWER]


@pytest.mark.thorough
def test_answers_larger_than_a_session_holds_are_judged(
    write_rows: Callable[..., Path], worker: Worker
) -> None:
    start = SCRIPT.index("def check")
    script = (
        f"{SCRIPT[:start]}def ref_func(x, y): return x * y\n\ndef check(candidate):\n"
        f"    inputs = {[['ab', 30_000_000 + each] for each in range(3)]}\n"
        "    for i, inp in enumerate(inputs):\n"
        "        assertion(candidate(*inp), ref_func(*inp), 0)\n"
    )
    assert Limits().output_bytes < 3 * 60_000_000
    (problem,) = loader("humaneval")(str(write_rows(row(script)))).problems
    grades = results(worker, problem, "def f(x, y): return x * y")
    assert [test.verdict for test in grades] == [Verdict.ACCEPTED] * 3


@for_each(
    "loop",
    [
        BOTH + "assertion(candidate(*inp), exp, i)",
        BOTH + "assertion(candidate(*inp), inp, 0)",
        BOTH + "assert candidate(*inp) == exp\n        assert inp",
        "for inp, exp in zip(inputs, results):\n        assertion(candidate(*inp), exp, 0)",
        "for i, (inp, exp) in enumerate(zip(inputs[:2], results)):\n"
        "        assertion(candidate(*inp), exp, 0)",
    ],
)
def test_loops_of_another_form_stay_one_test(write_rows: Callable[..., Path], loop: str) -> None:
    script = SCRIPT[: SCRIPT.index("for i, (inp")] + loop
    (problem,) = loader("humaneval")(str(write_rows(row(script)))).problems
    assert len(problem.tests.load_hidden()) == 1


def test_a_problem_that_no_solution_passes_is_marked(write_rows: Callable[..., Path]) -> None:
    path = str(write_rows(row(SCRIPT, 32)))
    assert loader("humaneval")(path).problems[0].known_issues == ()
    (problem,) = loader("humanevalplus")(path).problems
    assert problem.known_issues == ("wrong_tests",)


def test_a_script_of_mbppplus_that_asserts_nothing_gives_way_to_the_tests_of_mbpp(
    write_rows: Callable[..., Path], worker: Worker
) -> None:
    head, _, body = SCRIPT.partition("def check(candidate):\n")
    script = head + body.replace("\n    ", "\n").removeprefix("    ").replace("candidate", "f")
    values: dict[str, Any] = {
        "task_id": 11,
        "prompt": "Take x.",
        "code": "def f(x, y):\n    return x + 1 if isinstance(x, int) else x",
        "test_list": ["assert f(1, 0) == 2", "assert f([], 0) == []"],
        "test_imports": [],
        "test": script,
    }
    (problem,) = loader("mbppplus")(str(write_rows(values))).problems
    assert len(problem.tests.load_hidden()) == 3
    assert problem.known_issues == ()
    grades = results(worker, problem, problem.programs()[0])
    assert [test.verdict for test in grades] == [Verdict.ACCEPTED] * 4
    values["test"] = script.replace("assert ", "")
    (problem,) = loader("mbppplus")(str(write_rows(values))).problems
    assert [test.input for test in problem.tests.load_hidden()] == ["f([], 0)"]
    assert problem.known_issues == ("tests_incomplete",)


FLOATS = """import numpy as np

def is_floats(x) -> bool:
    # of one or many
    if isinstance(x, float):
        return True

    return isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x)


def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match


def check(candidate):
    inputs = [[1, 0], [2, 0], [3, 0], [4, 0]]
    results = [7.5, [1.5, 2.5], (0.5,), [1, 2]]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)
"""


NEAR = "{1: 7.50000001, 2: [1.5, 2.50000001], 3: (0.5,), 4: [1.0, 2.0]}[x]"
RETURNED = [
    ("{1: 7.5, 2: [1.5, 2.5], 3: (0.5,), 4: [1, 2]}[x]", True),
    (NEAR, True),
    ("[]", False),
    ("()", False),
    ("__import__('numpy').array([])", False),
    ("{1: [7.5], 2: (1.5, 2.5), 3: [0.5], 4: (1, 2)}[x]", False),
    ("{1: 8, 2: [1.5], 3: (0.5, 0.5), 4: [1, 2, 2]}[x]", False),
    ("{1: 7.501, 2: [[1.5, 2.5]], 3: 0.5, 4: [1.00000001, 2]}[x]", False),
]


@for_each(
    ("source", "returned", "passed"),
    [
        *(("humanevalplus", *each) for each in RETURNED),
        ("jsonl", NEAR, True),
        ("jsonl", "[]", False),
    ],
)
def test_answers_are_compared_as_evalplus_evaluator_does(
    write_rows: Callable[..., Path], worker: Worker, source: str, returned: str, passed: bool
) -> None:
    path = str(write_rows(row(FLOATS)))
    problem = loader(source)(path).problems[0] if source != "jsonl" else load(path).problems[0]
    grades = results(worker, problem, f"def f(x, y): return {returned}")
    marks = [test.passed for test in grades]
    assert marks == [passed] * 4 if source != "jsonl" else all(marks) == passed
