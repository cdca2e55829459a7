"""Hidden tests won by solutions that return an object which answers for itself.

Each solution answers the public examples of a problem of HumanEval or MBPP, and returns an object
of one family elsewhere: its operators, conversions or methods say what a test would like to hear.
Others raise what Python reads as a signal, or define the modules that tests use. A test counts as
won where it passes, and neither an `object()` nor `[]` nor 0 passes it. None may be won.

    python tests/benchmarks/lying_objects.py --data FOLDER [--rows N] [--family NAME …]
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import loader

_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_SMALL = "; ".join(
    f"__{side}{name}__ = lambda *given: 0.0" for name in _OPERATORS for side in ("", "r")
)
_TRUE = "lambda *given: True"
_MANY = "[*range(-999, 9999), True, None, *map(str, range(99)), *map(chr, range(32, 127)), '']"
_STOP = "lambda *given, **named: next(iter(()))"
_CROSSED = (
    *("call", "len", "getitem", "contains", "iter", "next", "hash", "str", "repr", "format", "int"),
    *("float", "index", "bool", "eq", "ne", "lt", "le", "gt", "ge", "add", "radd", "sub", "rsub"),
    *("abs", "round", "getattr", "enter", "exit", "instancecheck", "deepcopy", "copy"),
)
_MODULES = (
    *("np", "numpy", "math", "sys", "re", "collections", "itertools", "functools", "operator"),
    *("json", "random", "string", "statistics", "copy", "datetime", "heapq", "bisect"),
    *("isclose", "Counter", "fabs", "floor", "ceil", "sqrt", "assertion", "is_floats", "poly"),
    *("encode_cyclic", "encode_shift", "check", "allclose", "approx"),
)

FAMILIES = {
    "plain object": "pass",
    "empty list": "__new__ = lambda kind: []",
    "zero": "__new__ = lambda kind: 0",
    "subtraction": f"{_SMALL}; __abs__ = __neg__ = __pos__ = __round__ = lambda *given: 0.0",
    "comparison": "; ".join(f"__{name}__ = {_TRUE}" for name in ("eq", "lt", "le", "gt", "ge"))
    + "; __ne__ = lambda *given: False; __hash__ = lambda self: 0; "
    f"__instancecheck__ = __subclasscheck__ = {_TRUE}",
    "containment": f"__contains__ = {_TRUE}; __getitem__ = lambda self, key: self; "
    "count = index = find = lambda *given: 1",
    "length": "__len__ = lambda self: turns.append(1) or len(turns) % 5; "
    "__iter__ = lambda self: iter(()); __getitem__ = lambda *given: 0; "
    "__length_hint__ = lambda self: 1",
    "hashing": "; ".join(
        ("__hash__ = lambda self: hash(turns.append(1) or len(turns))", f"__eq__ = {_TRUE}")
    ),
    "attribute": "__getattr__ = lambda self, name: self; __call__ = lambda *given, **named: True; "
    f"equals = startswith = endswith = issubset = issuperset = isdisjoint = {_TRUE}; "
    "shape, dtype, real, imag, T, size = (), float, 0.0, 0.0, 0.0, 0; "
    "__array__ = lambda *given, **named: 0.0; tolist = item = lambda *given: 0.0; "
    f"__array_ufunc__ = __array_function__ = {_TRUE}",
    "iteration": f"__iter__ = lambda self: iter({_MANY}); __next__ = lambda self: 0; "
    f"__len__ = lambda self: 3; __reversed__ = __iter__; keys = values = __iter__",
    "conversion": "__float__ = lambda self: 0.0; __int__ = __index__ = __hash__ = lambda self: 1; "
    "__bool__ = lambda self: len(turns) % 2 == 0; __round__ = lambda *given: 0; "
    "__complex__ = lambda self: 0j; __trunc__ = __floor__ = __ceil__ = lambda self: 0; "
    "__format__ = lambda *given: '0'; __str__ = __repr__ = lambda self: '0'; "
    "__bytes__ = lambda self: b''",
    "signal": "__new__ = lambda kind: next(iter(()))",
    "signal of an object": "; ".join(f"__{name}__ = {_STOP}" for name in _CROSSED),
    "module": f"global {', '.join(_MODULES)}; {' = '.join(_MODULES)} = "
    "type('M', (type,), {'__getattr__': lambda kind, name: lambda *given, **named: 0})('M', (), {})"
    "; __new__ = lambda kind: 0",
}
"""Class bodies; the first three are what the others are compared with."""

PLAIN = 3
_SOLUTION = """
{reference}
turns = []
class Lie:
    {body}
def _answering(real):
    known = set()
    def learn(*given, **named):
        known.add(repr((given, named)))
        return real(*given, **named)
    for text in {shown!r}:
        try:
            exec(text, {{**globals(), {name!r}: learn}})
        except BaseException:
            pass
    def answer(*given, **named):
        return real(*given, **named) if repr((given, named)) in known else Lie()
    return answer
{name} = _answering({name})
"""


class Found(NamedTuple):
    """What solutions of one family won.

    Attributes:
        tests: number of hidden tests.
        passed: number of those that passed.
        won: names of tests that no wrong answer without a lie passes.
    """

    tests: int
    passed: int
    won: list[str]


def solution(problem: Problem, reference: str, family: str) -> str:
    """Return a solution that answers the public examples, and lies elsewhere."""
    shown = [test.input for test in problem.tests.public]
    return _SOLUTION.format(
        reference=reference, body=FAMILIES[family], shown=shown, name=problem.entry_point
    )


def passed(worker: Worker, problem: Problem, code: str) -> list[bool]:
    """Return which hidden tests a solution passes."""
    task = Options(stop=Stop.NEVER).task(problem, code, problem.tests.all())
    return [test.passed for test in judge(worker, task).tests if not test.public]


def measure(problems: Iterable[Problem], families: Sequence[str]) -> dict[str, Found]:
    """Judge a solution of each family for each problem, and those without a lie."""
    plain = [*FAMILIES][:PLAIN]
    names = [*plain, *(each for each in families if each not in plain)]
    tallies = {name: Found(0, 0, []) for name in names}
    worker = Worker()
    try:
        for problem in problems:
            code = problem.programs()[0]
            marks = {n: passed(worker, problem, solution(problem, code, n)) for n in names}
            free = [any(each) for each in zip(*(marks[name] for name in plain), strict=True)]
            for name, own in marks.items():
                won = [i for i, mark in enumerate(own, 1) if mark and not free[i - 1]]
                tests, number, all_won = tallies[name]
                all_won += [f"{problem.id} hidden test {i}" for i in won]
                tallies[name] = Found(tests + len(own), number + sum(own), all_won)
    finally:
        worker.stop()
    return tallies


def problems_of(folder: Path, rows: int | None) -> list[Problem]:
    """Return the problems of HumanEval and MBPP, at most so many of each."""
    files = {"humaneval": "humaneval/HumanEval.jsonl.gz", "mbpp": "mbpp/mbpp.jsonl.gz"}
    loaded = (loader(name)(str(folder / path)).problems for name, path in files.items())
    return [problem for problems in loaded for problem in list(problems)[:rows]]


def main() -> int:
    """Print a table; return 1 if a test was won."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("HARNESS_TEST_DATA"))
    parser.add_argument("--rows", type=int, help="at most so many rows of each data set")
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set HARNESS_TEST_DATA")
    started = time.monotonic()
    efficiency = measure(problems_of(Path(options.data), options.rows), options.family)
    for name, (tests, count, won) in efficiency.items():
        print(f"{name:14} {tests:6} hidden tests {count:6} passed {len(won):5} won", *won[:5])
    print(f"{time.monotonic() - started:.0f} s")
    return int(any(each.won for each in efficiency.values()))


if __name__ == "__main__":
    sys.exit(main())
