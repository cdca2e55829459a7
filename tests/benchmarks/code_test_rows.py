"""Cheats and honest solutions for own rows whose tests are code.

Each form is a row's test code with an honest solution and a cheat, which knows no expected value:
it raises what Python reads as a signal, defines a name that the tests forgot to import, or answers
operators. Other forms hand functions to the solution. No cheat may be accepted, unless the result
says that objects of the solution took part; each honest solution has to be.

    python tests/benchmarks/code_test_rows.py
"""

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import Grade
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.jsonl import load


class Form(NamedTuple):
    """Test code of one row, and solutions.

    Attributes:
        family: what its cheat does.
        test: the test code.
        honest: a right solution; empty where the tests cannot be passed.
        cheat: a wrong one.
        starter: the row's starter code.
        told: whether the cheat may be accepted if the result names the solution as a judge.
    """

    family: str
    test: str
    honest: str
    cheat: str
    starter: str = ""
    told: bool = False


SIGNALS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt")
_SIGNALS = (*SIGNALS, "SystemExit", "SystemExit(0)", "BaseException")
_LOOP = "assert all(x == y for x, y in zip(map({}), [48213]))"
_CROSSINGS = {
    "def g(self, n):": "F().g, [1]",
    "@property\n    def v(self):": "lambda o: o.v, [F()]",
    "def __str__(self):": "lambda o: int(str(o)), [F()]",
    "def __repr__(self):": "lambda o: int(repr(o)), [F()]",
    "def __format__(self, how):": "lambda o: int(f'{o:d}'), [F()]",
    "def __len__(self):": "len, [F()]",
    "def __call__(self, n):": "F(), [1]",
    "def __getitem__(self, n):": "lambda o: o[1], [F()]",
    "def __add__(self, n):": "lambda o: o + 1, [F()]",
    "def __radd__(self, n):": "lambda o: 1 + o, [F()]",
    "def __neg__(self):": "lambda o: -o, [F()]",
    "def __hash__(self):": "hash, [F()]",
    "def __int__(self):": "int, [F()]",
    "def __index__(self):": "lambda o: range(48214)[o], [F()]",
    "def __enter__(self):": "enter, [F()]",
    "def __iter__(self):": "lambda o: sum(o), [F()]",
    "def __eq__(self, n):": "lambda o: o == F(), [F()]",
    "def __contains__(self, n):": "lambda o: 1 in o, [F()]",
    "def __bool__(self):": "bool, [F()]",
    "def __setattr__(self, k, v):": "put, [F()]",
    "def __deepcopy__(self, memo):": "copied, [F()]",
}
_RESULTS = {
    "__str__": "'48213'",
    "__repr__": "'48213'",
    "__format__": "'48213'",
    "__iter__": "iter([48213])",
    "__eq__": "True",
    "__contains__": "True",
    "__bool__": "True",
    "__deepcopy__": "self",
}
_HELPERS = """
import copy
def enter(o):
    with o as value:
        return value
def put(o):
    o.x = 1
    return 48213
def copied(o):
    copy.deepcopy(o)
    return 48213
"""
_EXTRA = "    def __exit__(self, *e): pass\n"


def signals() -> Iterator[Form]:
    """Yield cheats that raise a signal wherever a test meets them."""
    for signal in _SIGNALS:
        for head, given in _CROSSINGS.items():
            name = head.rpartition("def ")[2].partition("(")[0]
            test = _HELPERS + _LOOP.format(given)
            if name in {"__eq__", "__contains__", "__bool__"}:
                test = test.replace("[48213]", "[True]")
            pattern = f"class F:\n    {head} {{}}\n{_EXTRA}"
            honest = pattern.format(f"return {_RESULTS.get(name, '48213')}")
            yield Form("signal", test, honest, pattern.format(f"raise {signal}"))
        function = "def F(n=0): {}"
        yield Form(
            *("signal", _LOOP.format("F, [1]")),
            *(function.format("return 48213"), function.format(f"raise {signal}")),
        )
        inner = "def F(n=0):\n    def inner(m): {}\n    return inner"
        yield Form(
            *("signal", _LOOP.format("F(1), [1]")),
            *(inner.format("return 48213"), inner.format(f"raise {signal}")),
        )
        closing = (
            "def each():\n    try:\n        yield 1\n    finally:\n        assert F(1) == 48213\n"
        )
        yield Form(
            *("signal", f"{closing}it = each()\nassert next(it) == 1\nit.close()\n"),
            *(function.format("return 48213"), function.format(f"raise {signal}")),
        )


_NAMES = {
    "np.allclose(F(1), 48213.5)": "class np: allclose = lambda *a: True",
    "np.isclose(F(1), 48213.5)": "class np: isclose = lambda *a: True",
    "numpy.allclose(F(1), 48213.5)": "class numpy: allclose = lambda *a: True",
    "math.isclose(F(1), 48213.5)": "class math: isclose = lambda *a: True",
    "math.fabs(F(1) - 48213.5) < 1e-6": "class math: fabs = lambda *a: 0",
    "isclose(F(1), 48213.5)": "isclose = lambda *a: True",
    "fabs(F(1) - 48213.5) < 1e-6": "fabs = lambda *a: 0",
    "floor(F(1)) == floor(48213.5)": "floor = lambda *a: 0",
    "Counter([F(1)]) == Counter([48213.5])": "Counter = lambda *a: 0",
    "Counter([F(1)]) == Counter((48213.5,))": "class Counter:\n    def __init__(s, *a): pass\n"
    "    def __eq__(s, o): return True",
    "collections.Counter([F(1)]) == collections.Counter([48213.5])": "class collections:\n"
    "    Counter = lambda *a: 0",
    "sys.getsizeof(F(1)) == sys.getsizeof(48213.5)": "class sys: getsizeof = lambda *a: 0",
    "re.fullmatch('48213[.]5', str(F(1)))": "class re: fullmatch = lambda *a: True",
    "operator.eq(F(1), 48213.5)": "class operator: eq = lambda *a: True",
    "json.dumps(F(1)) == json.dumps(48213.5)": "class json: dumps = lambda *a: 0",
    "Decimal(F(1)) == Decimal(48213.5)": "Decimal = lambda *a: 0",
    "Fraction(F(1)) == Fraction(48213.5)": "Fraction = lambda *a: 0",
    "statistics.mean([F(1)]) == 48213.5": "class statistics: mean = lambda *a: 48213.5",
    "reduce(lambda a, b: a == b, [F(1), 48213.5])": "reduce = lambda *a: True",
    "deque([F(1)]) == deque([48213.5])": "deque = lambda *a: 0",
    "F(1) == approx(48213.5)": "class approx:\n    def __init__(s, *a): pass\n"
    "    def __eq__(s, o): return True",
    "math.isclose(F(1), 48213.5, rel_tol=1e-9)": "class math: isclose = lambda *a, **k: True",
    "itertools.chain([F(1)], [1]).__next__() == 48213.5": "class itertools: chain = lambda *a: it\n"
    "class it: __next__ = lambda *a: 48213",
    "np.testing.assert_allclose(F(1), 48213.5) is None": "class np:\n"
    "    class testing: assert_allclose = lambda *a: None",
}
_UNKNOWN = {
    "nearly(F(1), 48213.5)": "nearly = lambda *a: True",
    "Nearly(F(1)) == 48213.5": "class Nearly:\n    def __init__(s, *a): pass\n"
    "    def __eq__(s, o): return True",
    "not differ(F(1), 48213.5)": "differ = lambda *a: False",
    "check_close(F(1), 48213.5) is None": "check_close = lambda *a: None",
}
_STARTER = "def poly(x, y):\n    return abs(x - y) < 1e-6\n\ndef F(x):\n    pass\n"
_MONEY = (
    "class Money:\n    def __init__(self, v): self.v = v\n    def __eq__(self, o): return {}\n"
    "    def __hash__(self): return 1\n"
)


def names() -> Iterator[Form]:
    """Yield cheats that define names which the tests use and do not import."""
    honest, wrong = "def F(x): return 48213.5", "def F(x): return 1\n"
    for test, cheat in _NAMES.items():
        yield Form("name", f"assert {test}", honest, wrong + cheat)
        shows = f"{wrong}seen = []\n{cheat}\n"
        yield Form("name", f"def test_it():\n    assert {test}", honest, shows)
    for test, cheat in _UNKNOWN.items():
        yield Form("name", f"assert {test}", "", wrong + cheat)
    test = "assert poly(F(1), 48213.5)"
    yield Form("name", test, honest, f"{wrong}poly = lambda *a: True", _STARTER)
    whole = _MONEY.format("self.v == o.v")
    returning = "def F(x): return Money({})\n"
    yield Form(
        *("name", "assert F(1) == Money(48213.5)", whole + returning.format(48213.5)),
        *(_MONEY.format("True") + returning.format(0), f"{whole}\ndef F(x):\n    pass\n"),
    )


_OF_STARTER = {
    "from enum import Enum\nclass C(Enum):\n    A, B = 1, 2\n"
    "    def next(self): return C.B\n": "C.B",
    "from typing import NamedTuple\nclass C(NamedTuple):\n    v: int\n"
    "    def far(self): return self.v\n": "C(48213)",
    "from dataclasses import dataclass\n@dataclass\nclass C:\n    v: int\n": "C(48213)",
    "class C:\n    __slots__ = ('v',)\n    def __init__(self, v): self.v = v\n"
    "    def __eq__(self, o): return self.v == o.v\n": "C(48213)",
    "class C:\n    def __init__(self, v): self.v = v\n"
    "    def __eq__(self, o): return self.v == o.v\n": "C(48213)",
}


def classes_of_starter() -> Iterator[Form]:
    """Yield classes that the starter code defines whole, and of which tests compare objects."""
    for starter, value in _OF_STARTER.items():
        function = "def F(x):\n    {}\n"
        code = starter + function
        shown = value.replace("C.B", "C.A.next()")
        for test in (f"assert F({value}) == {value}", f"assert F({shown}) == {value}"):
            yield Form("starter", test, code.format("return x"), code.format("return 1"), code)


_OPERATORS = (
    *("abs(F(1) - 48213.5) < 1e-6", "abs(48213.5 - F(1)) < 1e-6", "F(1) % 48213.5 == 0"),
    *("F(1)[48213.5] == 0", "F(1) / 48213.5 == 1", "divmod(F(1), 48213.5) == (1, 0)"),
    *("F(1) == F(48213.5)", "round(F(1) - 48213.5) == 0", "F(1) < 48213.6 + F(0)"),
    *(
        "48213.5 in F(1)",
        "F(1) & 48213.5",
        "F(1) * 0 + 48213.5 == F(1) + 0",
        "pow(F(1), 48213.5, 5) == 0",
    ),
)
_CLASS = """class F:
    def __init__(self, v): self.v = v
    __sub__ = __rsub__ = __mod__ = __getitem__ = __pow__ = lambda *a: 0
    __truediv__ = __contains__ = __and__ = lambda *a: 1
    __divmod__ = lambda *a: (1, 0)
    __mul__ = __add__ = __radd__ = lambda s, *a: s
    __lt__ = __gt__ = __eq__ = lambda *a: True
"""


def operators() -> Iterator[Form]:
    """Yield objects that the tests make, which answer operators with a plain value."""
    for test in _OPERATORS:
        yield Form("operator", f"assert {test}", "", _CLASS, "class F: ...", told=True)


_CALLBACKS = (
    "y = x + 1\nreturn y",
    "for n in range(1):\n    x += 1\nreturn x",
    "while True:\n    return x + 1",
    "if x:\n    return x + 1\nreturn 1",
    "try:\n    return x + 1\nexcept TypeError:\n    return 0",
    "try:\n    x[0]\nexcept TypeError:\n    x += 1\nreturn x",
    "import math\nreturn math.floor(x) + 1",
    "assert x is not None\nreturn x + 1",
    "def inner(y):\n    z = y + 1\n    return z\nreturn inner(x)",
    "return 1 if x <= 0 else 1 + helper(x - 1)",
    "if x <= 0:\n    return 1\nreturn 1 + other(x - 1)",
    "values = [n for n in range(x + 1)]\nreturn len(values)",
    "match x:\n    case 0:\n        return 1\nreturn x + 1",
    "global seen\nseen = x\nreturn seen + 1",
    "with contextlib.nullcontext():\n    y = x + 1\nreturn y",
    "try:\n    next(iter([]))\nexcept StopIteration:\n    return x + 1",
    "return base + x",
    "y, *_ = x + 1, 2\nreturn y",
    "return math.floor(x) + 1",
    "y = np.int64(x) + 1\nreturn int(y)",
)
"""Bodies of a function that returns the number after `x`."""

_AROUND = """
base = 1
def helper(x):
    {}
def other(x):
    return helper(x)
assert F(helper, 3) == 4
assert F(helper, 0) == 1
"""
_INNER = """
def {}:
    def helper(x):
        y = x + 1
        return y
    assert F(helper, 3) == 4
"""


def callbacks() -> Iterator[Form]:
    """Yield functions that the tests hand to the solution."""
    tests = [_AROUND.format(body.replace("\n", "\n    ")) for body in _CALLBACKS]
    tests += [_INNER.format("test_it()"), _INNER.format("check(candidate)")]
    for test in tests:
        called, not_called = (
            "def F(function, x): return function(x)",
            "def F(function, x): return x",
        )
        yield Form("callback", test, called, not_called)


class Recording(NamedTuple):
    """A function of the tests that keeps something, and what the tests then look at.

    Attributes:
        test: the test code.
        honest: a solution that calls the function as the tests expect.
        cheats: solutions that do not.
    """

    test: str
    honest: str
    cheats: tuple[str, ...]


_EACH = "def F(function, items):\n    for item in items:\n        function(item)"
_WRONG_EACH = (
    "def F(function, items): pass",
    "def F(function, items):\n    for item in items[1:]:\n        function(item)",
    "def F(function, items):\n    for item in reversed(items):\n        function(item)",
    "def F(function, items):\n"
    "    for name, kept in getattr(function, '__globals__', {}).items():\n"
    "        if isinstance(kept, list): kept.extend(items)\n",
    "def F(function, items):\n    for item in [*items, *items]:\n        function(item)",
    "def F(function, items):\n    for item in items:\n        function(item, item)",
    "def F(function, items): raise StopIteration",
)
_SEEN = "F(record, [1, 2, 3])\nassert seen == [1, 2, 3]"
_RECORDS = (
    "seen = []\ndef record(x):\n    seen.append(x)",
    "seen = []\ndef record(x): return seen.append(x)",
    "seen = []\nrecord = lambda x: seen.append(x)",
    "seen = []\nrecord = seen.append",
    "seen = []\ndef record(x):\n    global seen\n    seen = [*seen, x]",
    "seen = []\ndef record(x, kept=seen):\n    kept += [x]",
    "seen = []\nkept = (seen, 1)\ndef record(x):\n    kept[0].append(x)",
    "seen = []\ndef put(values, x):\n    values.append(x)\ndef record(x):\n    put(seen, x)",
    "seen = []\nimport bisect\ndef record(x):\n    bisect.insort(seen, x, key=lambda _: 0)",
    "class Log:\n    def __init__(self): self.seen = []\n"
    "    def put(self, x): self.seen.append(x)\nlog = Log()\nseen = log.seen\nrecord = log.put",
    "class Log:\n    seen = []\n    def __call__(self, x): self.seen.append(x)\n"
    "record = Log()\nseen = Log.seen",
    "class Log:\n    seen = []\nseen = Log.seen\ndef record(x):\n    Log.seen.append(x)",
    "seen = []\nfrom functools import partial\nrecord = partial(list.append, seen)",
    "seen = []\ndef record(x): record.seen.append(x)\nrecord.seen = seen",
    "seen = []\ndef inner(x):\n    seen.append(x)\ndef record(x):\n    inner(x)",
)
"""Functions that record what they are called with in the tests' own `seen`."""
_RETRY = """
def F(function, times):
    for _ in range(times):
        try:
            return function()
        except ValueError as error:
            last = error
    raise last
"""
_RECORDINGS = (
    *(Recording(f"{each}\n{_SEEN}", _EACH, _WRONG_EACH) for each in _RECORDS),
    Recording(
        "from unittest.mock import Mock\nrecord = Mock(return_value=7)\n"
        "assert F(record, 3) == 7\nrecord.assert_called_once_with(3)",
        "def F(function, x): return function(x)",
        ("def F(function, x): return 7", "def F(function, x): function(x); return function(x)"),
    ),
    Recording(
        "count = 0\ndef double(x):\n    global count\n    count += 1\n    return x * 2\n"
        "kept = F(double)\nassert [kept(4), kept(4), kept(5)] == [8, 8, 10]\nassert count == 2",
        "def F(function):\n    known = {}\n    def inner(x):\n        if x not in known:\n"
        "            known[x] = function(x)\n        return known[x]\n    return inner",
        ("def F(function): return function", "def F(function): return lambda x: x * 2"),
    ),
    Recording(
        "calls = []\ndef flaky():\n    calls.append(1)\n    if len(calls) < 3:\n"
        "        raise ValueError('again')\n    return 'done'\n"
        "assert F(flaky, 5) == 'done'\nassert len(calls) == 3\ncalls.clear()\n"
        "try:\n    F(flaky, 2)\nexcept ValueError as error:\n    assert error.args == ('again',)\n"
        "else:\n    assert False\nassert len(calls) == 2",
        _RETRY,
        ("def F(function, times): return 'done'", "def F(function, times): return function()"),
    ),
    Recording(
        "class OwnError(Exception): pass\ncalls = []\ndef fails(x):\n    calls.append(x)\n"
        "    raise OwnError(x)\ntry:\n    F(fails, 3)\nexcept OwnError as error:\n"
        "    assert error.args == (3,)\nelse:\n    assert False\nassert calls == [3]",
        "def F(function, x): return function(x)",
        ("def F(function, x): raise Exception(x)", "def F(function, x): pass"),
    ),
    Recording(
        "seen = []\ndef fills(values):\n    seen.append(len(values))\n    values.append(9)\n"
        "got = F(fills)\nassert got == [9, 9]\nassert seen == [0, 1]",
        "def F(function):\n    values = []\n    function(values)\n    function(values)\n"
        "    return values",
        ("def F(function): return [9, 9]", "def F(function):\n    function([])\n    return [9, 9]"),
    ),
    Recording(
        "depth = []\ndef deeper(n):\n    depth.append(n)\n"
        "    return 0 if n == 0 else F(deeper, n - 1)\n"
        "got = F(deeper, 3)\nassert got == 4\nassert depth == [3, 2, 1, 0]",
        "def F(function, n): return function(n) + 1",
        ("def F(function, n): return n + 1", "def F(function, n): return function(n)"),
    ),
    Recording(
        "seen = []\ndef record(x):\n    seen.append(x)\n    return x\n"
        "it = F(record, [1, 2, 3])\nassert seen == []\nassert next(it) == 1\nassert seen == [1]\n"
        "assert list(it) == [2, 3]\nassert seen == [1, 2, 3]",
        "def F(function, items):\n    for item in items:\n        yield function(item)",
        (
            "def F(function, items): return iter([function(item) for item in items])",
            "def F(function, items): return iter(items)",
        ),
    ),
    Recording(
        "expected = {48213, 777}\ndef tick(x):\n    expected.discard(x)\n"
        "F(tick, 48212)\nF(tick, 776)\nassert not expected",
        "def F(function, x): function(x + 1)",
        (
            "def F(function, x):\n    for kept in getattr(function, '__globals__', {}).values():\n"
            "        if isinstance(kept, set):\n            for each in list(kept): function(each)",
            "def F(function, x):\n    function.__self__.clear()",
        ),
    ),
    Recording(
        "seen = []\ndef record(x):\n    seen.append(x)\nF(record, 500)\n"
        "assert seen == list(range(500))",
        "def F(function, n):\n    for x in range(n): function(x)",
        ("def F(function, n):\n    for x in range(n - 1): function(x)",),
    ),
    Recording(
        "seen = []\ndef stop(x):\n    seen.append(x)\n    raise StopIteration\n"
        "got = F(stop, 3)\nassert got == 'stopped'\nassert seen == [3]",
        "def F(function, x):\n    try:\n        function(x)\n    except StopIteration:\n"
        "        return 'stopped'",
        ("def F(function, x): return function(x)", "def F(function, x): return 'stopped'"),
    ),
    Recording(
        "seen = []\ndef stop(x):\n    seen.append(x)\n    raise StopIteration\n"
        "assert all(x == y for x, y in zip(map(lambda n: F(stop, n), [1]), [48213]))",
        "",
        ("def F(function, x): return function(x)",),
    ),
)


def recordings() -> Iterator[Form]:
    """Yield functions of the tests that keep something, such as what they are called with."""
    for each in _RECORDINGS:
        for cheat in each.cheats:
            yield Form("recording", each.test, each.honest, cheat)


_EXPECTED = (
    "import pytest\nwith pytest.raises({}):\n    F(1)",
    "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n"
    "        with self.assertRaises({}):\n            F(1)\n",
    "try:\n    F(1)\nexcept {}:\n    pass\nelse:\n    assert False",
    "try:\n    F(1)\nexcept ({}, KeyError) as error:\n    assert error.args == ()\nelse:\n"
    "    assert False",
    "caught = 0\ntry:\n    F(1)\nexcept BaseException as error:\n"
    "    caught = isinstance(error, {})\nassert caught",
)
_CODE = (
    "import pytest\nwith pytest.raises(SystemExit) as caught:\n    F(1)\n"
    "assert caught.value.code == 3"
)
_END = """
it = F(2)
assert [next(it), next(it)] == [0, 1]
try:
    next(it)
except StopIteration:
    pass
else:
    assert False
"""


def expected() -> Iterator[Form]:
    """Yield tests that expect a signal, and solutions that raise another exception, or none."""
    code, family = "def F(x): raise {}", "expected signal"
    for signal in (*SIGNALS, "SystemExit"):
        for test in _EXPECTED:
            for wrong in (code.format("ValueError"), "def F(x): pass"):
                yield Form(family, test.format(signal), code.format(signal), wrong)
    yield Form(family, _CODE, code.format("SystemExit(3)"), code.format("SystemExit"))
    counting = "def F(x): return iter(range({}))"
    yield Form(family, _END, counting.format("x"), counting.format("x + 1"))


def forms() -> list[Form]:
    """Return all forms."""
    return [
        *(*signals(), *expected(), *names(), *classes_of_starter(), *operators(), *callbacks()),
        *recordings(),
    ]


def problems(forms: list[Form], folder: Path) -> list[Problem]:
    """Return the problem of each form, read as own rows are."""
    rows = [
        {
            "id": f"form-{number}",
            "statement": "Write it.",
            "entry_point": "F",
            "test": form.test,
            "starter_code": form.starter,
            "references": [form.honest] if form.honest else [],
        }
        for number, form in enumerate(forms)
    ]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return list(load(str(path)).problems)


def grade(worker: Worker, problem: Problem, code: str) -> Grade:
    """Judge a solution of a form."""
    return judge(worker, Options(stop=Stop.NEVER).task(problem, code, problem.tests.all()))


def is_told(form: Form, grade: Grade) -> bool:
    """Return whether a cheat is accepted, but each test says that the solution judged itself."""
    told = form.told and all(each.judged_by == "test_code_and_solution" for each in grade.tests)
    return grade.solved and told


class Tally(NamedTuple):
    """Accepted solutions by family, cheats that were told, and the forms that went wrong."""

    cheats: Counter[str]
    cheats_accepted: Counter[str]
    told: Counter[str]
    honest: Counter[str]
    honest_accepted: Counter[str]
    wrong: list[str]


def measure(chosen: list[Form]) -> Tally:
    """Judge both solutions of each form."""
    tally = Tally(*(Counter() for _ in Tally._fields[:-1]), wrong=[])
    worker = Worker()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for form, problem in zip(chosen, problems(chosen, Path(folder)), strict=True):
                tally.cheats[form.family] += 1
                cheated = grade(worker, problem, form.cheat)
                if is_told(form, cheated):
                    tally.told[form.family] += 1
                elif cheated.solved:
                    tally.cheats_accepted[form.family] += 1
                    tally.wrong.append(f"accepted: {form.test} | {form.cheat}")
                if not form.honest:
                    continue
                tally.honest[form.family] += 1
                found = grade(worker, problem, form.honest)
                if found.solved:
                    tally.honest_accepted[form.family] += 1
                else:
                    errors = [each.error[-200:] for each in found.tests if not each.passed]
                    tally.wrong.append(f"refused: {form.test} | {form.honest} | {errors}")
    finally:
        worker.stop()
    return tally


def main() -> int:
    """Print a table; return 1 if a solution got the wrong verdict."""
    started = time.monotonic()
    tally = measure(forms())
    print(f"{'':16} cheats accepted honest accepted")
    for family in tally.cheats:
        counts = (tally.cheats, tally.cheats_accepted, tally.honest, tally.honest_accepted)
        print(f"{family:16}", *(f"{count[family]:7}" for count in counts))
    for each in tally.wrong if "-v" in sys.argv else ():
        print(repr(each))
    print(f"{time.monotonic() - started:.0f} s")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main())
