"""A data set's generator at work in a real sandbox."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.features.verify.generated_inputs import LARGEST_BYTES, Generated, generated_inputs
from harness.problem import Problem
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
from harness.sources.mercury import load

LIMITS = Limits(cpu_s=1.0, own_wall_s=4.0)
CONVERT = "def convert_offline(case): return case"
EVALUATE = "def evaluate_offline(inputs, outputs, expected): return outputs == expected"


def problem_of(folder: Path, generator: str | None, *arguments: object, **columns: Any) -> Problem:
    """A problem with a test of these arguments."""
    cases = [{"input": list(arguments), "expected": 1}] if arguments else []
    row = {
        "slug_name": "p",
        "entry_point": "solve",
        "convert_offline": CONVERT,
        "evaluate_offline": EVALUATE,
        "test_cases": json.dumps(cases),
        "generator_code": generator,
        **columns,
    }
    path = folder / "mercury.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (problem,) = load(str(path)).problems
    return problem


def returning(value: str) -> str:
    return f"def generate_test_case():\n    return {value}\n"


RANDOM = """
import random

def generate_test_case():
    n = random.randint(1, 20)
    return [random.randint(-9, 9) for _ in range(n)], n
"""


class TestAGoodGenerator:
    """What it makes, and when it makes the same again."""

    def test_it_makes_inputs_as_tests_have_them(self, worker: Worker, tmp_path: Path) -> None:
        problem = problem_of(tmp_path, RANDOM, [1], 1)
        made = generated_inputs(worker, problem, 8, 0, LIMITS)
        assert [each.seed for each in made] == list(range(8))
        assert not any(each.failure for each in made)
        calls = [[json.loads(line) for line in each.input.split("\n")] for each in made]
        assert all(len(numbers) == n for numbers, n in calls)
        assert len({each.input for each in made}) > 1

    def test_a_seed_makes_the_same_wherever_it_comes(self, worker: Worker, tmp_path: Path) -> None:
        problem = problem_of(tmp_path, RANDOM, [1], 1)
        made = generated_inputs(worker, problem, 6, 10, LIMITS)
        assert generated_inputs(worker, problem, 3, 12, LIMITS) == made[2:5]

    def test_numpy_is_seeded_too(self, worker: Worker, tmp_path: Path) -> None:
        pytest.importorskip("numpy")
        code = "import numpy as np\n" + returning("np.random.randint(0, 10**6, 5)")
        problem = problem_of(tmp_path, code, [1])
        first = generated_inputs(worker, problem, 2, 5, LIMITS)
        assert first == generated_inputs(worker, problem, 2, 5, LIMITS)
        assert first[0].input != first[1].input
        assert len(json.loads(first[0].input)) == 5

    def test_the_names_of_the_preamble_are_at_hand(self, worker: Worker, tmp_path: Path) -> None:
        problem = problem_of(tmp_path, returning("ceil(1.5) + random.randint(0, 0)"), 1)
        (made,) = generated_inputs(worker, problem, 1, 0, LIMITS)
        assert made == Generated(0, "2")


@pytest.mark.parametrize(
    ("value", "arguments", "wanted"),
    [
        ("([1, 2], 3)", [[5], 5], ["[1, 2]", "3"]),
        ("[[1, 2], 3]", [[5], 5], ["[1, 2]", "3"]),
        ("([], 3)", [[[5]], 5], ["[]", "3"]),
        ("(([1, 2], 3), 6)", [[5], 5], ["[1, 2]", "3"]),
        ("([[1, 2], 3],)", [[5], 5], ["[1, 2]", "3"]),
        ("7", [5], ["7"]),
        ("[7]", [5], ["7"]),
        ("(7,)", [5], ["7"]),
        ("((7,), 14)", [5], ["7"]),
        ("[1, 2]", [[5]], ["[1, 2]"]),
        ("[1]", [[5]], ["[1]"]),
        ("[[1, 2]]", [[5]], ["[1, 2]"]),
        ("[[1, 2]]", [[[5]]], ["[[1, 2]]"]),
        ("([1, 2],)", [[5]], ["[1, 2]"]),
        ("([[1, 2]], 3)", [[5]], ["[1, 2]"]),
        ("'a\\nb', None, True, 0.5", ["[", None, True, 1.5], ['"a\\nb"', "null", "true", "0.5"]),
        ("lctk.linkedList([1, 2])", [[5]], ["[1, 2]"]),
        ("lctk.binaryTree([1, None, 2])", [[5]], ["[1, null, 2]"]),
        ("10**30", [5], ["1" + "0" * 30]),
        ("{'a': [1]}", [{"a": [5]}], ['{"a": [1]}']),
    ],
)
def test_what_it_returns_becomes_the_arguments(
    value: str, arguments: list[object], wanted: list[str], worker: Worker, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path, returning(value), *arguments)
    (made,) = generated_inputs(worker, problem, 1, 0, LIMITS)
    assert (made.failure, made.input.split("\n")) == ("", wanted)


@pytest.mark.parametrize(
    ("value", "prompt", "wanted"),
    [
        ("([1], 2)", "def solve(a, b): pass", ["[1]", "2"]),
        ("[1, 2]", "def solve(a): pass", ["[1, 2]"]),
        ("([1, 2],)", "def solve(a): pass", ["[1, 2]"]),
        ("([1], 2)", "", ["[1]", "2"]),
        ("[1, 2]", "", ["[1, 2]"]),
    ],
)
def test_without_tests_the_signature_says_how_many(
    value: str, prompt: str, wanted: list[str], worker: Worker, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path, returning(value), prompt=prompt)
    (made,) = generated_inputs(worker, problem, 1, 0, LIMITS)
    assert made.input.split("\n") == wanted


@pytest.mark.parametrize(
    ("generator", "failure"),
    [
        (returning("5"), "ValueError: it returned a int for 2 parameters"),
        (returning("(1, 2, 3)"), "ValueError: it returned a tuple of 3 for 2 parameters"),
        (returning("None"), "ValueError: it returned a NoneType for 2 parameters"),
        (returning("{1, 2}, 3"), "a set is no JSON value"),
        (returning("object(), 3"), "a object is no JSON value"),
        (returning("{1: 2}, 3"), "a key that is no string: 1"),
        (returning("1 / 0"), "ZeroDivisionError: division by zero"),
        (returning("exit(3), 1"), "exit"),
        ("import os\n" + returning("os._exit(0)"), "its process ended before it returned"),
        ("x = 1", "NameError: name 'generate_test_case' is not defined"),
        ("def generate_test_case(:", "SyntaxError: invalid syntax"),
        ("def generate_test_case(n): return 1, 2", "TypeError: generate_test_case() missing"),
        (returning(f"'x' * {LARGEST_BYTES + 1}, 1"), "output limit"),
        (returning("[0] * 10**9, 1"), "memory limit"),
        ("import socket\n" + returning("socket.socket().fileno(), 1"), "PermissionError"),
        (returning("open('/etc/passwd').read(), 1"), ""),
        (returning("open('/root/x', 'w').write('x'), 1"), ""),
    ],
)
def test_what_goes_wrong_is_said_of_each_call(
    generator: str, failure: str, worker: Worker, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path, generator, [1], 2)
    made = generated_inputs(worker, problem, 3, 7, LIMITS)
    assert [each.seed for each in made] == [7, 8, 9]
    for each in made:
        assert each.input == ""
        assert each.failure.startswith(failure)
        assert each.failure
        assert "\n" not in each.failure
        assert len(each.failure) < 200


def test_one_bad_call_spoils_no_other(worker: Worker, tmp_path: Path) -> None:
    code = (
        "import os, random\nstate = []\n\ndef generate_test_case():\n    state.append(1)\n"
        "    n = random.randint(0, 2)\n    if n == 0: os._exit(1)\n    if n == 1: return 1 / 0\n"
        "    return len(state)\n"
    )
    made = generated_inputs(worker, problem_of(tmp_path, code, 1), 12, 0, LIMITS)
    assert {each.input for each in made if not each.failure} == {"1"}
    assert len({each.failure for each in made}) == 3


def test_a_call_that_an_earlier_one_broke_is_made_alone(worker: Worker, tmp_path: Path) -> None:
    code = (
        "import math\n\ndef generate_test_case():\n    assert not hasattr(math, 'spoilt')\n"
        "    math.spoilt = True\n    return random.randint(0, 9)\n"
    )
    made = generated_inputs(worker, problem_of(tmp_path, code, 1), 5, 0, LIMITS)
    assert [each.failure for each in made] == [""] * 5


def test_one_that_loops_for_ever_is_given_up(worker: Worker, tmp_path: Path) -> None:
    problem = problem_of(tmp_path, "def generate_test_case():\n    while True: pass\n", 1)
    limits = Limits(cpu_s=0.2, own_wall_s=4.0)
    made = generated_inputs(worker, problem, 50, 0, limits)
    assert [each.failure for each in made] == [
        *["cpu limit"] * 2,
        *["it runs out of time, and is run no more"] * 48,
    ]


def test_no_file_of_ours_is_read_and_none_is_left(worker: Worker, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("7")
    written = tmp_path / "written"
    for code in (f"open({str(secret)!r}).read()", f"open({str(written)!r}, 'w').write('x')"):
        problem = problem_of(tmp_path, returning(code), 1)
        (made,) = generated_inputs(worker, problem, 1, 0, LIMITS)
        assert (made.input, bool(made.failure)) == ("", True)
    assert not written.exists()


def test_without_a_generator_there_is_nothing(worker: Worker, tmp_path: Path) -> None:
    for code in (None, "", "  \n"):
        problem = problem_of(tmp_path, code, 1)
        assert generated_inputs(worker, problem, 3, 0, LIMITS) == []


def test_a_generator_changes_no_verdict_and_is_shown_to_nobody(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, RANDOM, 1)
    assert problem.generator == RANDOM
    assert problem.content_hash == problem_of(tmp_path, None, 1).content_hash
    assert "generate_test_case" not in problem.view().model_dump_json()
