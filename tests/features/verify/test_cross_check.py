"""References against one another on inputs that no test has, in a real sandbox."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.features.verify.cross_check import CrossCheck, Disagreement, Unusable, disagreements
from harness.features.verify.generated_inputs import generated_inputs
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
from harness.sources.mercury import load

Check = Callable[..., CrossCheck]
LIMITS = Limits(cpu_s=1.0, own_wall_s=4.0)
EQUAL = "def evaluate_offline(inputs, outputs, expected): return outputs == expected"
SUM = "class Solution:\n    def solve(self, nums): return sum(nums)"
LOOP = "class Solution:\n    def solve(self, nums):\n        n = 0\n        for x in nums: n += x\n"
LISTS = {
    "convert_offline": (
        "def convert_offline(case):\n    import lctk\n    inputs, expected = case\n"
        "    return (lctk.linkedList(inputs[0]),), expected"
    ),
    "evaluate_offline": (
        "def evaluate_offline(inputs, outputs, expected):\n    import lctk\n"
        "    return lctk.linkedList2Arr(outputs) == expected"
    ),
    "test_cases": '[{"input": [[1, 2]], "expected": [2, 1]}]',
}
REVERSED = """
class Solution:
    def solve(self, head: Optional[ListNode]) -> Optional[ListNode]:
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""
REVERSED_BY_VALUES = """
class Solution:
    def solve(self, head):
        made = None
        while head:
            made, head = ListNode(head.val, made), head.next
        return made
"""


@pytest.fixture
def problem(tmp_path: Path) -> Callable[..., Problem]:
    def problem(*references: str, **columns: Any) -> Problem:
        row = {
            "slug_name": "p",
            "entry_point": "solve",
            "convert_offline": "def convert_offline(case): return case",
            "evaluate_offline": EQUAL,
            "test_cases": '[{"input": [[1, 2]], "expected": 3}]',
            "solutions": [{"solution": code} for code in references],
            **columns,
        }
        path = tmp_path / "mercury.jsonl"
        path.write_text(json.dumps(row) + "\n")
        return load(str(path)).problems[0]

    return problem


@pytest.fixture
def check(worker: Worker, problem: Callable[..., Problem]) -> Check:
    def check(inputs: list[str], *references: str, **columns: Any) -> CrossCheck:
        return disagreements(worker, problem(*references, **columns), inputs, LIMITS)

    return check


def test_references_that_agree(check: Check) -> None:
    found = check(["[]", "[1]", "[1, 2]", "[1]"], SUM, f"{LOOP}        return n", SUM)
    assert found == CrossCheck(references=3, compared=3)


def test_references_that_do_not(check: Check) -> None:
    odd = f"{LOOP}        return n if n < 5 else -1"
    found = check(["[1]", "[5]", "[2, 9]"], SUM, f"{LOOP}        return n", odd)
    assert (found.references, found.compared, found.unusable) == (3, 3, ())
    assert found.disagreements == (
        Disagreement("[5]", 2, Verdict.WRONG_ANSWER, "5 by the first, -1 by this one"),
        Disagreement("[2, 9]", 2, Verdict.WRONG_ANSWER, "11 by the first, -1 by this one"),
    )


@pytest.mark.parametrize(
    ("line", "verdict", "detail"),
    [
        ("return 1 / (n - 5)", Verdict.RUNTIME_ERROR, "ZeroDivisionError: division by zero"),
        ("while n == 5: pass\n        return n", Verdict.TIME_LIMIT, ""),
        ("exit(3)", Verdict.RUNTIME_ERROR, "exit code 3"),
    ],
)
def test_one_that_fails_does_not_agree(
    line: str, verdict: Verdict, detail: str, check: Check
) -> None:
    (found,) = check(["[5]"], SUM, f"{LOOP}        {line}").disagreements
    assert (found.input, found.reference, found.verdict) == ("[5]", 1, verdict)
    assert detail in found.detail


def test_one_that_cannot_be_compiled_is_named_once(check: Check) -> None:
    (found,) = check(["[5]", "[6]"], SUM, "class Solution:").disagreements
    assert (found.reference, found.verdict) == (1, Verdict.COMPILE_ERROR)


def test_linked_lists_go_through_the_hooks(check: Check) -> None:
    inputs = ["[1, 2, 3]", "[]", "[7]"]
    found = check(inputs, REVERSED, REVERSED_BY_VALUES, **LISTS)
    assert found == CrossCheck(references=2, compared=3)
    wrong = "class Solution:\n    def solve(self, head): return head"
    found = check(inputs, REVERSED, wrong, **LISTS)
    assert [(each.input, each.reference) for each in found.disagreements] == [("[1, 2, 3]", 1)]
    assert found.disagreements[0].detail.startswith("[3, 2, 1] by the first, [1, 2, 3] by")


def test_hooks_take_what_is_right_in_another_way(check: Check) -> None:
    any_order = (
        "def evaluate_offline(inputs, outputs, expected):"
        " return sorted(outputs) == sorted(expected)"
    )
    cases = '[{"input": [[1, 2]], "expected": [1, 2]}]'
    up = "class Solution:\n    def solve(self, nums): return sorted(nums)"
    down = up.replace("sorted(nums)", "sorted(nums)[::-1]")
    columns = {"evaluate_offline": any_order, "test_cases": cases}
    assert not check(["[3, 1]"], up, down, **columns).disagreements
    assert check(["[3, 1]"], up, down, test_cases=cases).disagreements


def test_in_place_what_was_changed_is_compared(check: Check) -> None:
    columns = {
        "evaluate_offline": (
            "def evaluate_offline(inputs, outputs, expected): return inputs[0] == expected"
        ),
        "test_cases": '[{"input": [[2, 1]], "expected": [1, 2]}]',
    }
    sort = "class Solution:\n    def solve(self, nums): nums.sort()"
    nothing = "class Solution:\n    def solve(self, nums): pass"
    found = check(["[3, 1]", "[1, 3]"], sort, nothing, **columns)
    assert [(each.input, each.verdict) for each in found.disagreements] == [
        ("[3, 1]", Verdict.WRONG_ANSWER)
    ]


def test_hooks_that_convert_the_expected_output_have_one_of_its_kind(check: Check) -> None:
    convert = (
        "def convert_offline(case):\n    inputs, expected = case\n"
        "    return inputs, expected + 0"  # of a null it would make an error
    )
    found = check(["[4]"], SUM, f"{LOOP}        return n", convert_offline=convert)
    assert found == CrossCheck(references=2, compared=1)


def test_an_input_that_the_first_reference_or_the_hooks_cannot_take_tells_nothing(
    check: Check,
) -> None:
    found = check(['["a"]', "[1]", "5"], SUM, f"{LOOP}        return n")
    assert found.compared == 1
    assert not found.disagreements
    assert [each.input for each in found.unusable] == ['["a"]', "5"]
    assert all(each.why.startswith("the first reference: TypeError") for each in found.unusable)
    found = check(
        ['"abc"', "[1, 2]"],
        REVERSED,
        REVERSED_BY_VALUES,
        **LISTS
        | {
            "convert_offline": LISTS["convert_offline"].replace(
                "    return", "    assert inputs[0][0] == 1\n    return"
            )
        },
    )
    assert found.compared == 1
    assert [each.input for each in found.unusable] == ['"abc"']
    assert found.unusable[0].why.startswith("convert_offline, test 1: AssertionError")


def test_an_answer_that_equals_nothing_tells_nothing(check: Check) -> None:
    nan = "class Solution:\n    def solve(self, nums): return float('nan')"
    found = check(["[1]"], nan, nan)
    why = "the first reference: its own answer is not accepted as right"
    assert (found.compared, found.unusable) == (0, (Unusable("[1]", why),))
    thing = "class Solution:\n    def solve(self, nums): return object()"
    found = check(["[1]"], thing, thing)
    assert found.unusable == (Unusable("[1]", "the first reference: a object is no JSON value"),)


def test_without_hooks_the_rule_compares(worker: Worker, problem: Callable[..., Problem]) -> None:
    plain = problem(SUM, f"{LOOP}        return n + (n == 5)").model_copy(update={"checker": None})
    found = disagreements(worker, plain, ["[1]", "[5]", "[]"], LIMITS)
    assert (found.compared, [each.input for each in found.disagreements]) == (3, ["[5]"])


def test_with_fewer_than_two_references_nothing_disagrees(check: Check) -> None:
    assert check(["[1]"]) == CrossCheck(0, 0)
    assert check(["[1]"], SUM) == CrossCheck(1, 1)
    assert check([], SUM, SUM) == CrossCheck(2, 0)


def test_a_real_row(test_data: Path, worker: Worker, problem: Callable[..., Problem]) -> None:
    data = json.loads((test_data / "mercury_partial_row" / "add-two-numbers.json").read_text())
    generator = (
        "def number():\n    return [random.randint(0, 9) for _ in range(random.randint(1, 9))]\n\n"
        "def generate_test_case():\n    return number(), number()\n"
    )
    row = data["row"] | {"generator_code": generator}
    row["solutions"] = [*row["solutions"], {"solution": data["known_bad"][0]}]
    columns = {name: value for name, value in row.items() if name != "slug_name"}
    read = problem(**columns)
    made = [each.input for each in generated_inputs(worker, read, 10, 0, LIMITS)]
    found = disagreements(worker, read, made, LIMITS)
    assert (found.references, found.compared, found.unusable) == (3, len(set(made)), ())
    assert {each.reference for each in found.disagreements} == {2}
