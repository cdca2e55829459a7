"""What each rule takes for a list: what the source's own grader takes for one."""

import json
from collections import UserList, deque
from typing import Any

import numpy as np
from for_each import for_each

from harness.grading.rules import RULES
from harness.sandbox.inside import values

EVERYWHERE = frozenset(RULES)
KINDS = {
    "a list": ([[1], [2]], EVERYWHERE),
    "a list that is another class": (UserList([[1], [2]]), EVERYWHERE),
    "a tuple of lists": (([1], [2]), EVERYWHERE - {"equality"}),
    "tuples in a list": ([(1,), (2,)], {"tokens", "apps_legacy"}),
    "tuples in a tuple": (((1,), (2,)), {"tokens", "apps_legacy"}),
    "a generator": (([n] for n in (1, 2)), frozenset[str]()),
    "a map": (map(list, [(1,), (2,)]), frozenset[str]()),
    "a deque": (deque([[1], [2]]), frozenset[str]()),
    "a view of a mapping": ({"a": [1], "b": [2]}.values(), frozenset[str]()),
    "an array of numpy": (np.array([[1], [2]]), frozenset[str]()),
    "ranges in a list": ([range(1, 2), range(2, 3)], frozenset[str]()),
    "numbers of numpy in lists": ([[np.int64(1)], [np.float64(2)]], EVERYWHERE),
}


@for_each(("returned", "accepting"), KINDS.values(), ids=KINDS)
def test_each_rule_takes_its_sequences_for_a_list(returned: Any, accepting: frozenset[str]) -> None:
    written = values.encode(returned, "json", [], []).decode()
    differences = {
        name: rule.value(json.dumps([[1], [2]]), written) for name, rule in RULES.items()
    }
    assert {name for name, difference in differences.items() if difference is None} == accepting
    assert all(each.model_dump_json() for each in differences.values() if each)


EQUALITY = {
    "a number": ("6", 6.0, True),
    "true is 1": ("1", True, True),
    "a string for a number": ("6", "6", False),
    "NaN": ("NaN", float("nan"), False),
    "a float that is off": ("0.3", 0.1 + 0.2, False),
    "null": ("null", None, True),
    "a tuple in a mapping": ('{"a": [1]}', {"a": (1,)}, False),
    "a mapping": ('{"a": [1]}', {"a": [1]}, True),
}


@for_each(("expected", "returned", "right"), EQUALITY.values(), ids=EQUALITY)
def test_equality_is_python_s(expected: str, returned: object, right: bool) -> None:
    written = values.encode(returned, "json", [], []).decode()
    assert (RULES["equality"].value(expected, written) is None) is right


@for_each(
    ("expected", "printed", "right"),
    [("1\n2", "1 \n2\n", True), ("1", "1.0", False), ("1\n2", "1 2", False)],
)
def test_equality_of_texts_is_line_by_line(expected: str, printed: str, right: bool) -> None:
    assert (RULES["equality"].output(expected, printed) is None) is right
