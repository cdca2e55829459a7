"""Objects of a solution: those it returns answer for nothing, those that tests make can be used."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from for_each import for_each

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.kinds.code_tests.names import Known
from harness.kinds.code_tests.units import code_tests, read_units
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.signature import defined_names

LIMITS = Limits(cpu_s=2.0, memory_bytes=512 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
FILE = Path(__file__).parents[2] / "benchmarks" / "lying_objects.py"
DATA = os.environ.get("HARNESS_TEST_DATA")


def grade(worker: Worker, code: str, tests: str | Sequence[str], name: str = "f") -> Grade:
    known = defined_names(dedent(code))
    known[name] = False
    asked = ", ".join(map("`{}`".format, (*known, "MOST")))
    names = Known(defined=known, statement=f"Define {asked}.")
    checker, _, hidden = code_tests(None, read_units(tests), name, "", known=names)
    program = Program(dedent(code), "", name)
    return judge(worker, Task(program, hidden, LIMITS, checker=checker, stop=Stop.NEVER))


def results(grade: Grade) -> list[str]:
    return [f"{test.index} {test.verdict}: {test.error}" for test in grade.tests if not test.passed]


SPY = """
    seen = []
    def said(answer):
        def method(self, *given, **named):
            seen.append((given, named))
            return answer
        return method
    class Spy:
        __init__ = said(None)
        __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __pow__ = said(0.0)
        __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __divmod__ = said(1)
        __and__ = __rand__ = __or__ = __xor__ = said({1})
        __abs__ = __round__ = __float__ = __neg__ = said(0.0)
        __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = said(True)
        __ne__ = said(False)
        __int__ = __index__ = __hash__ = said(1)
        __len__ = said(3)
        __getitem__ = said(0)
        __iter__ = lambda self: iter([0, 1, 2])
        count = index = find = startswith = endswith = issubset = issuperset = said(True)
        equals = said(True)
        shape, dtype, real = (), float, 0.0
        tolist = item = said(0.0)
        def __format__(self, how): return '0'
        def __array__(self, *given, **named): raise TypeError
        def __deepcopy__(self, memo): return self
    def f(n):
        return repr(seen) if n == 0 else Spy()
"""
ASKING = [
    "abs(f(1) - 987654321) < 1e-6",
    "abs(987654321 - f(1)) < 1e-6",
    "round(f(1) - 987654321) == 0",
    "(f(1) - 987654321) ** 2 < 1e-6",
    "f(1) / 987654321 == 1",
    "987654321 / f(1) == 1",
    "f(1) % 987654321 == 1",
    "divmod(f(1), 987654321) == 1",
    "pow(f(1), 987654321, 5) == 0",
    "f(1) & {987654321}",
    "{987654321} & f(1)",
    "f(1) == 987654321",
    "not f(1) != 987654321",
    "not f(1) < 987654321",
    "f(1) >= 987654321",
    "987654321 in f(1)",
    "operator.contains(f(1), 987654321)",
    "f(1).count(987654321)",
    "f(1).startswith('987654321')",
    "f(1).issuperset({987654321})",
    "f(1).equals(987654321)",
    "f(1).__eq__(987654321) is True",
    "f(1)[987654321] == 0",
    "f(1)[0] == 0",
    "len(f(1)) == 3",
    "f(1).shape == ()",
    "{f(1)} == {987654321}",
    "{f(1): 987654321}[1]",
    "float(f(1)) == 0",
    "int(f(1)) == 1",
    "[5, 6][f(1)] == 6",
    "f'{f(1):.1f}' == '0'",
    "max(f(1), 987654321)",
    "sum([f(1), -987654321]) == 0",
    "sorted([987654321, f(1)])",
    "math.isclose(f(1), 987654321)",
    "copy.deepcopy(f(1)) == 987654321",
    "np.allclose(f(1), 987654321)",
    "np.array_equal(f(1), [987654321])",
    "np.testing.assert_allclose(f(1), 987654321) is None",
    "np.isclose(987654321.0, f(1))",
    "case.assertAlmostEqual(f(1), 987654321) is None",
    "case.assertIn(987654321, f(1)) is None",
    "case.assertCountEqual(f(1), [987654321]) is None",
    "f(1) == f(1)",
    "f(1) <= f(2)",
    "(out := f(1)) is not None and list(out) + list(out) == [0, 1, 2]",
    "len(list(f(1))) == 987654321",
]


@for_each("numpy", [True, False])
def test_a_returned_object_is_not_asked_about_expected_values(worker: Worker, numpy: bool) -> None:
    imports = "import copy, math, operator, unittest\ncase = unittest.TestCase()"
    imports += "\nimport numpy as np" if numpy else ""  # in each process of its tests
    asking = [each for each in ASKING if ("np." in each) is numpy]
    grades = grade(worker, SPY, [imports, *(f"assert {each}" for each in asking)])
    assert [asking[test.index] for test in grades.tests if test.passed] == []
    assert {test.judged_by for test in grades.tests} == {"test_code"}
    asked = [f"try:\n    assert {each}\nexcept Exception:\n    pass" for each in asking]
    failing_grade = grade(worker, SPY, [imports, *asked, "assert f(0) == ''"])
    assert "987654321" not in failing_grade.tests[-1].got
    assert failing_grade.tests[-1].got


@for_each("subtraction", ["abs(f(x) - y) < 1e-6", "case.assertAlmostEqual(f(x), y)"])
def test_a_solution_that_is_a_class_is_no_class_of_the_tests(
    worker: Worker, subtraction: str
) -> None:
    code = """
        class f:
            def __init__(self, x): pass
            def __sub__(self, other): return 0.0
            __rsub__ = __sub__
            def __abs__(self): return 0.0
    """
    tests = f"""
import unittest
case = unittest.TestCase()
def check(candidate):
    f = candidate
    for x, y in [(1, 2.5), (2, 3.5)]:
        assert {subtraction.replace("case", "not case")}
"""
    assert not grade(worker, code, tests).solved


def test_a_stop_of_the_solution_does_not_end_a_loop_of_the_tests(worker: Worker) -> None:
    code = "def f(x): raise StopIteration"
    tests = ["for got, wanted in zip(map(f, [1, 2]), [3, 4]):\n    assert got == wanted"]
    assert not grade(worker, code, tests).solved
    again = "out = f(3)\nassert len(list(out)) == 3\nassert all(a == b for a, b in zip(out, 'abc'))"
    generator = "def f(n):\n    for number in range(n): yield number"
    assert not grade(worker, generator, [again]).solved


CLASSES = """
    import enum
    from collections import namedtuple
    class Point(namedtuple('Point', 'x y')):
        def far(self): return self.x + self.y
    class Color(enum.Enum):
        RED, BLUE = 1, 2
    class Vector:
        def __init__(self, *parts): self.parts = list(parts)
        def __add__(self, other): return Vector(*map(sum, zip(self.parts, other.parts)))
        def __mul__(self, number): return Vector(*(number * part for part in self.parts))
        __rmul__ = __mul__
        def __neg__(self): return self * -1
        def __eq__(self, other): return self.parts == other.parts
        def __hash__(self): return hash(tuple(self.parts))
        def __len__(self): return len(self.parts)
        def __getitem__(self, place): return self.parts[place]
        def __contains__(self, part): return part in self.parts
        def __iter__(self): return iter(self.parts)
        def __float__(self): return float(sum(self.parts))
        def __bool__(self): return any(self.parts)
        def mirror(self): return Vector(*self.parts[::-1])
        def append(self, part): self.parts.append(part)
    class LRUCache(dict):
        def __init__(self, size): self.size, self.kept = size, {}
        def put(self, key, value): self.kept[key] = value
        def get(self, key): return self.kept.get(key, -1)
    class Node:
        def __init__(self, val): self.val, self.next = val, None
    def f(n):
        head = None
        for number in range(n, 0, -1):
            node = Node(number)
            node.next, head = head, node
        return head
    def adder(n): return lambda m: n + m
    def color(n): return Color(n)
    def count(n):
        for number in range(n): yield number
    MOST = 10
"""


@for_each(
    "test",
    [
        "obj = LRUCache(2)\nobj.put(1, 1)\nassert obj.get(1) == 1 and obj.get(2) == -1",
        "assert Vector(1) + Vector(2) == Vector(3)",
        "assert ((Vector(1) + Vector(2)) * 2).parts == [6]\nassert 2 * Vector(1) == Vector(2)",
        "v = Vector(1, 2)\nassert len(v) == 2 and v[1] == 2 and 2 in v and list(v) == [1, 2]",
        "v = Vector(1, 2)\nassert list(v) == list(v)\nv.append(3)\nassert float(v) == 6",
        "assert Vector(1, 2).mirror() == Vector(2, 1)\nassert not Vector(0) and Vector(1)",
        "assert Vector(1, 2).mirror() + -Vector(2, 1) == Vector(0, 0)",
        "import copy\nv = Vector(1)\n"
        "w = copy.deepcopy(v)\nw.append(2)\nassert len(v) == 1 < len(w)",
        "assert {Vector(1): 2}[Vector(1)] == 2 and len({Vector(1), Vector(1)}) == 1",
        "assert color(1) == Color.RED and color(1) != Color.BLUE and color(2).name == 'BLUE'",
        "node, found = f(3), []\nwhile node:\n    found.append(node.val)\n    node = node.next\n"
        "assert found == [1, 2, 3]",
        "assert adder(3)(4) == 7 and list(map(adder(1), [1, 2])) == [2, 3]",
        "from itertools import islice\nc = count(200)\nassert list(islice(c, 2)) == [0, 1]\n"
        "assert next(c) == 2 and list(c) == list(range(3, 200))",
        "p = Point(1, 2)\nassert p.x == 1 and p.far() == 3 and p == (1, 2) and p != (1, 3)",
        "assert MOST - 1 == 9 and 5 < MOST and MOST in [10]",
        "assert isinstance(f(1), Node) and not isinstance(1, Node)",
        "assert str(color(1)) == 'Color.RED'",
    ],
)
def test_objects_that_the_tests_make_can_be_used(worker: Worker, test: str) -> None:
    assert results(grade(worker, CLASSES, [test])) == []


def test_a_copy_of_a_returned_object_is_compared(worker: Worker) -> None:
    tests = ["import copy\nout = copy.deepcopy(f(1))\nassert out.val == 2"]
    assert not grade(worker, CLASSES, tests).solved


def _benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("lying_objects_of_benchmarks", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(DATA is None, reason="HARNESS_TEST_DATA names no real rows")
def test_no_family_of_lying_objects_wins_a_hidden_test_of_real_rows() -> None:
    assert DATA is not None
    module = _benchmark()
    problems = module.problems_of(Path(DATA), 6)
    efficiency = module.measure(problems, list(module.FAMILIES))
    assert len(efficiency) == 14
    assert {name: each.won for name, each in efficiency.items() if each.won} == {}
    assert all(each.tests > 0 for each in efficiency.values())
