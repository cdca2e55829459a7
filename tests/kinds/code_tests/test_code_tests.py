"""Tests that are code: they run apart from the solution, which can neither see nor alter them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from for_each import for_each

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.judged_by import NO_EXCEPTION, Checker
from harness.kinds.code_tests.names import Known
from harness.kinds.code_tests.units import code_tests, read_units
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.signature import defined_names

LIMITS = Limits(cpu_s=1.0, memory_bytes=512 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
Judged = Callable[..., Grade]
CHECK = """
    def check(candidate):
        assert candidate(1) == 2
        assert candidate((1, 2)) == (1, 2)
        for number in range(5):
            assert candidate(number) == number + 1
"""
RIGHT = "def f(x): return x if isinstance(x, tuple) else x + 1"

NOTHING = Known(defined={})


@pytest.fixture
def judged(worker: Worker) -> Judged:
    def judged(
        code: str,
        tests: str | Sequence[str],
        *,
        name: str = "f",
        before: str = "",
        first: int = 0,
        limits: Limits = LIMITS,
        **task: Any,
    ) -> Grade:
        tests = dedent(tests) if isinstance(tests, str) else tests
        units = read_units(tests)
        known = defined_names(dedent(code))
        checker, public, hidden = code_tests(
            *(None, units, name, dedent(before), first),
            known=Known(
                defined=known,
                statement=f"Define {', '.join(map('`{}`'.format, known))}.",
            ),
        )
        program = Program(dedent(code), "", name)
        return judge(worker, Task(program, (*public, *hidden), limits, checker=checker, **task))

    return judged


def verdicts(grade: Grade) -> list[str]:
    return [test.verdict.value for test in grade.tests]


def test_each_assertion_is_a_test(judged: Judged) -> None:
    assert verdicts(judged(RIGHT, CHECK)) == ["accepted"] * 3
    lists = judged("def f(x): return list(x) if isinstance(x, tuple) else x + 1", CHECK)
    assert verdicts(lists) == ["accepted", "wrong_answer", "accepted"]
    assert lists.tests[1].difference is not None
    assert (lists.tests[1].difference.expected, lists.tests[1].got) == ("(1, 2)", "[1, 2]")
    assert {test.judged_by for test in lists.tests} == {"test_code"}


def test_public_tests_hold_nothing_of_the_hidden_ones() -> None:
    tests = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(3) == 987654"
    checker, public, hidden = code_tests(None, read_units(tests), "f", "", 1, known=NOTHING)
    assert [test.input for test in public] == ["f(1)"]
    assert [test.output for test in hidden] == ["987654"]
    assert "987654" not in checker.of_public_tests().model_dump_json()
    assert checker.of_public_tests().tests is not None


def test_public_tests_are_judged_without_the_others(judged: Judged, worker: Worker) -> None:
    checker, public, _ = code_tests(None, read_units(dedent(CHECK)), "f", "", 1, known=NOTHING)
    task = Task(Program(RIGHT, "", "f"), public, LIMITS, checker=checker.of_public_tests())
    assert verdicts(judge(worker, task)) == ["accepted"]
    assert verdicts(judged(RIGHT, CHECK, first=1)) == ["accepted"] * 3


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("def f(x", Verdict.COMPILE_ERROR),
        ("import nothing_of_this_name\ndef f(x): return x", Verdict.RUNTIME_ERROR),
        ("def g(x): return x", Verdict.RUNTIME_ERROR),
        ("def f(x): return x / 0", Verdict.RUNTIME_ERROR),
        ("def f(x): raise AssertionError", Verdict.RUNTIME_ERROR),
        ("def f(x): raise SystemExit(0)", Verdict.RUNTIME_ERROR),
        ("import os\ndef f(x): os._exit(0)", Verdict.RUNTIME_ERROR),
        ("def f(x): return None", Verdict.WRONG_ANSWER),
        ("def f(x):\n    while True: pass", Verdict.TIME_LIMIT),
        ("def f(x): return [0] * 10**9", Verdict.MEMORY_LIMIT),
    ],
)
def test_what_a_solution_does_wrong_has_its_verdict(
    judged: Judged, code: str, verdict: Verdict
) -> None:
    limits = replace(LIMITS, cpu_s=0.3) if verdict is Verdict.TIME_LIMIT else LIMITS
    assert judged(code, CHECK, limits=limits).verdict is verdict


@pytest.mark.thorough
def test_a_limit_that_one_test_hits_leaves_the_others_theirs(judged: Judged) -> None:
    code = "def f(x):\n    while x == (1, 2): pass\n    return x + 1"
    grade = judged(code, CHECK, stop=Stop.NEVER)
    assert verdicts(grade) == ["accepted", "time_limit", "accepted"]


EVIL = {
    "an object that equals everything": """
        class Yes:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            __hash__ = None
            def __add__(self, other): return self
        def f(x): return Yes()
    """,
    "an integer that equals everything": """
        class Yes(int):
            def __eq__(self, other): return True
        def f(x): return Yes(9)
    """,
    "a list that equals everything": """
        class Yes(list):
            def __eq__(self, other): return True
        def f(x): return Yes()
    """,
    "another builtin comparison": """
        import builtins, operator
        operator.eq = lambda a, b: True
        builtins.isinstance = lambda a, b: True
        def f(x): return 0
    """,
    "the outcome of a call, forged": """
        import os
        def f(x):
            for number in range(3, 12):
                try:
                    os.write(number, b'{"v": 2}\\n{"v": {"u": [1, 2]}}\\n' * 9)
                except OSError:
                    pass
            return 0
    """,
    "an answer that imports": """
        def f(x):
            raise ImportError('the tests are to blame')
    """,
    "the tests' own exit": """
        import unittest
        def f(x):
            raise unittest.SkipTest('skipped')
    """,
    "a class of the tests' exception": """
        class MissingOutcomeError(BaseException): pass
        class ExhaustedError(BaseException): pass
        def f(x):
            raise (MissingOutcomeError if x == 1 else ExhaustedError)()
    """,
    "a value nested without end": """
        def f(x):
            a = []
            a.append(a)
            return a
    """,
    "an iterator without end": """
        import itertools
        def f(x): return itertools.count()
    """,
}


@pytest.mark.parametrize("code", EVIL.values(), ids=EVIL.keys())
def test_lying_solutions_do_not_pass_code_tests(judged: Judged, code: str) -> None:
    grade = judged(code, CHECK)
    assert not grade.solved
    assert grade.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}, grade


def test_a_solution_finds_nothing_of_the_tests(unguarded: Worker, search: str, secret: str) -> None:
    tests = f"def check(candidate):\n    assert candidate(1) == {secret!r}"
    checker, _, hidden = code_tests(None, read_units(tests), "f", "", known=NOTHING)
    code = f"{dedent(search)}\ndef f(x): return found()"
    grade = judge(unguarded, Task(Program(code, "", "f"), hidden, LIMITS, checker=checker))
    assert grade.verdict is Verdict.WRONG_ANSWER, grade
    assert grade.tests[0].got == "'nothing'"


OBJECTS = """
    class Node:
        def __init__(self, value):
            self.value, self.next = value, None
        def __eq__(self, other): return self.value == other.value
        def __len__(self): return 1 + (len(self.next) if self.next else 0)
    def order(items): items.sort()
    def each(function, items): return [function(item) for item in items]
    def count(n):
        for number in range(n): yield number
    class OddError(Exception): pass
    def odd(n):
        if n % 2: raise OddError(n)
        return n
"""


@pytest.mark.parametrize(
    "test",
    [
        "head = Node(1)\nhead.next = Node(2)\nassert len(head) == 2 and head.next.value == 2",
        "items = [3, 1, 2]\norder(items)\nassert items == [1, 2, 3]",
        "deep = {'a': [2, 1]}\ninner = deep['a']\norder(inner)\nassert deep == {'a': [1, 2]}",
        "base = 10\nassert each(lambda item: item + base, [1, 2]) == [11, 12]",
        "import math\nassert each(math.sqrt, [4]) == [2.0]\nassert each(str.upper, ['a']) == ['A']",
        "assert list(count(200)) == list(range(200))\nassert sum(count(4)) == 6",
        "it = count(2)\nassert next(it) == 0\nassert next(it) == 1\nassert next(it, None) is None",
        "assert isinstance(Node(1), Node) and not isinstance(3, Node)",
        "try:\n    odd(1)\n    assert 0\nexcept OddError as error:\n    assert error.args == (1,)",
        "assert each(odd, [2]) == [2]",
        "a = each(lambda x: {x: (b'', 1j, {x})}, [1])\nassert a == [{1: (b'', 1j, {1})}]",
    ],
)
def test_objects_stay_with_the_solution_and_can_be_used(judged: Judged, test: str) -> None:
    grade = judged(OBJECTS, [test], name="odd")
    assert grade.solved, grade


def test_a_comparison_by_the_solutions_own_class_is_told(judged: Judged) -> None:
    grade = judged(OBJECTS, ["assert Node(1) == Node(1)", "assert Node(1) == Node(2)"], name="odd")
    assert verdicts(grade) == ["accepted", "wrong_answer"]
    assert grade.tests[0].judged_by == "test_code_and_solution"


CASE = """
    import unittest
    from solution import f

    class Base(unittest.TestCase):
        def setUp(self):
            self.start = 3

        def test_value(self):
            self.assertEqual(f(self.start), 4)

        def test_error(self):
            with self.assertRaises(TypeError):
                f('a')

        def test_parts(self):
            for n in range(3):
                with self.subTest(n=n):
                    self.assertEqual(f(n), n + 1)

    if __name__ == "__main__":
        unittest.main()
"""


def test_each_method_of_a_test_case_is_a_test(judged: Judged) -> None:
    assert verdicts(judged("def f(x): return x + 1", CASE)) == ["accepted"] * 3
    grade = judged("def f(x): return 4", CASE)
    assert verdicts(grade) == ["accepted", "wrong_answer", "wrong_answer"]


def test_tests_that_are_at_fault_are_no_verdict_of_the_solution(judged: Judged) -> None:
    for tests in (
        "import no_such_package\ndef check(candidate):\n    assert candidate(1) == 2",
        "def check(candidate):\n    open('/no/such/file')\n    assert candidate(1) == 2",
    ):
        grade = judged(RIGHT, tests)
        assert grade.verdict is Verdict.CHECKER_ERROR, grade
        assert grade.checker_error


def test_random_numbers_are_the_same_in_every_round(judged: Judged) -> None:
    tests = """
        import random
        def check(candidate):
            for _ in range(30):
                n = random.randint(0, 10**9)
                if candidate(n) != n + 1:
                    raise AssertionError(n)
    """
    assert judged(RIGHT, tests).solved


def test_tests_may_depend_on_what_went_before(judged: Judged) -> None:
    code = """
        class Stack:
            def __init__(self): self.items = []
            def push(self, item): self.items.append(item)
            def pop(self): return self.items.pop()
    """
    tests = """
        def check(candidate):
            stack = candidate()
            stack.push(1)
            stack.push(2)
            assert stack.pop() == 2
            assert stack.pop() == 1
    """
    for first in (0, 1):
        assert judged(code, tests, name="Stack", first=first).solved
    assert judged(code, tests, name="Stack", isolate=True).tests[0].passed


@for_each(
    ("tests", "message"),
    [
        ("x = 1", "no test is in it"),
        ("def check(candidate):\n    pass", "asserts nothing"),
        ("def check():\n    assert True", "takes no argument"),
        ("def check(", "not valid Python: "),
        (["assert f(1", "assert f(2)"], "test 1: not valid Python"),
        ("def test_a(tmp_path):\n    assert f(1)", "fixtures"),
    ],
)
def test_test_code_that_cannot_be_used_is_refused(tests: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_units(tests)


def test_what_a_test_is_shown_as() -> None:
    tests = ["assert f(1) == 2", "assert f(3)"]
    _, _, hidden = code_tests(None, read_units(tests), "f", "", known=NOTHING)
    assert [(test.input, test.output) for test in hidden] == [
        ("f(1)", "2"),
        ("assert f(3)", NO_EXCEPTION),
    ]
    assert json.loads(Checker(kind="tests").model_dump_json())["tests"] is None


AT_THE_END = {
    "a bare function of a module": "from operator import truediv\nassert f(1) == 2\n"
    "truediv(1, f(2) == 3)",
    "a function of a module by another name": "from operator import truediv as same\n"
    "assert f(1) == 2\nsame(1, f(2) == 3)",
    "a method of a case": "import unittest\nassertEqual = unittest.TestCase().assertEqual\n"
    "assert f(1) == 2\nassertEqual(f(2), 3)",
    "an alias of a helper": "def helper(a, b):\n    assert a == b\nother = helper\n"
    "assert f(1) == 2\nother(f(2), 3)",
    "a lambda": "import operator\nsame = lambda a, b: 1 / (a == b)\n"
    "assert f(1) == 2\nsame(f(2), 3)",
    "an object": "class Same:\n    def __call__(self, a, b):\n        assert a == b\n"
    "same = Same()\nassert f(1) == 2\nsame(f(2), 3)",
    "a method of an object": "class Same:\n    def holds(self, a, b):\n        assert a == b\n"
    "same = Same()\nassert f(1) == 2\nsame.holds(f(2), 3)",
    "an exit": "import sys\nassert f(1) == 2\nif f(2) != 3:\n    sys.exit(1)",
    "an exit with a text": "import sys\nassert f(1) == 2\nif f(2) != 3:\n    sys.exit('no')",
    "a call that must not raise": "assert f(1) == 2\nf(2)[0] if f(2) != 3 else None",
    "an assignment": "assert f(1) == 2\nresults = [f(2)]\nkept = {3: 1}[results[0]]",
}


OF_NUMPY = "from numpy.testing import {}\nassert f(1) == 2\n{}(f(2), 3)"


@pytest.mark.parametrize(
    ("form", "first", "isolate"),
    [
        ("module", 0, False),
        pytest.param("module", 1, True, marks=pytest.mark.thorough),
        ("check", 1, False),
        ("list", 0, True),
    ],
)
@pytest.mark.parametrize("tests", AT_THE_END.values(), ids=AT_THE_END)
def test_what_stands_after_the_last_assertion_counts(
    judged: Judged, tests: str, form: str, first: int, *, isolate: bool
) -> None:
    assert_it_counts(judged, tests, form, first, isolate=isolate)


def assert_it_counts(judged: Judged, tests: str, form: str, first: int, *, isolate: bool) -> None:
    given: str | list[str] = tests
    if form == "check":
        body = "\n    ".join(tests.replace("f(", "candidate(").split("\n"))
        given = f"def check(candidate):\n    {body}"
    if form == "list":
        *before, last = tests.split("assert f(1) == 2\n")
        given = [*filter(None, before), "assert f(1) == 2", last]
    assert judged("def f(x): return x + 1", given, first=first, isolate=isolate).solved
    wrong = judged("def f(x): return 2", given, first=first, isolate=isolate)
    assert wrong.verdict is Verdict.WRONG_ANSWER, wrong


@for_each(
    ("tests", "form"),
    [
        (OF_NUMPY.format("assert_equal", "assert_equal"), "module"),
        (OF_NUMPY.format("assert_equal as same", "same"), "check"),
    ],
)
def test_a_function_of_numpy_after_the_last_assertion_counts(
    judged: Judged, tests: str, form: str
) -> None:
    assert_it_counts(judged, tests, form, 0, isolate=False)


def test_an_exit_at_the_end_without_an_error_fails_nothing(judged: Judged) -> None:
    for end in ("sys.exit()", "sys.exit(0)", "print('done')"):
        assert judged(RIGHT, f"import sys\nassert f(1) == 2\n{end}").solved
    for end in ("f(2)", "if f(2) == 3: f(4)", "kept = f(2)"):
        exiting = "def f(x):\n    if x == 1: return 2\n    raise SystemExit(0)"
        grade = judged(exiting, f"import sys\nassert f(1) == 2\n{end}")
        assert grade.verdict is Verdict.RUNTIME_ERROR, grade


def test_code_of_the_module_after_the_last_test_function_counts(judged: Judged) -> None:
    tests = "def test_a():\n    assert f(1) == 2\nkept = {3: 1}[f(2)]\n"
    assert judged("def f(x): return x + 1", tests).solved
    assert judged("def f(x): return 2", tests).verdict is Verdict.WRONG_ANSWER


def test_statements_that_start_the_tests_are_left_out(judged: Judged) -> None:
    tests = (
        "def test_a():\n    assert f(1) == 2\ndef test_b():\n    assert f(2) == 3\n"
        "every = [test_a, test_b]\nfor each in every:\n    each()\n"
    )
    assert verdicts(judged("def f(x): return x + 1", tests, first=1)) == ["accepted"] * 2
    assert verdicts(judged("def f(x): return 2", tests, stop=Stop.NEVER)) == [
        "accepted",
        "wrong_answer",
    ]


def test_a_test_that_is_not_reached_does_not_pass(judged: Judged) -> None:
    tests = "def check(candidate):\n    assert candidate(1) == 2\n    if candidate(2) == 2:\n"
    tests += "        return\n    assert candidate(2) == 3"
    assert judged("def f(x): return x + 1", tests).solved
    assert judged("def f(x): return 2", tests).verdict is Verdict.WRONG_ANSWER


PYTEST = """
    import pytest
    from pytest import approx

    def test_raises():
        with pytest.raises(ValueError, match="bad") as caught:
            f("a")
        assert caught.type is ValueError
        pytest.raises((KeyError, ValueError), f, "a")

    def test_value():
        assert f(1) == approx(2.0)
        assert [f(1), f(2)] == approx([2, 3.0000001]) and f(1) != approx(2.1)
"""


def test_a_little_of_pytest_is_known(judged: Judged) -> None:
    right = "def f(x):\n    if x == 'a': raise ValueError('a bad one')\n    return x + 1"
    assert verdicts(judged(right, PYTEST)) == ["accepted"] * 2
    for wrong in ("return 1.5", "raise ValueError('no')", "raise KeyError('bad')"):
        grade = judged(f"def f(x):\n    {wrong}", PYTEST, stop=Stop.NEVER)
        assert grade.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}, grade
        assert not any(test.passed for test in grade.tests)
    with pytest.raises(ValueError, match=r"pytest\.mark; of pytest only approx, fail, raises are"):
        read_units("import pytest\n@pytest.mark.slow\ndef test_a():\n    assert f(1)")


@pytest.mark.thorough
def test_the_time_to_compare_all_answers_is_bounded(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.kinds.code_tests.code_judge.MOST_TESTS_CPU_S", 0.05)
    tests = [f"assert f({number})[0] == {number}" for number in range(30)]
    grade = judged("def f(x): return [x] * 300_000", tests, stop=Stop.NEVER)
    assert grade.verdict is Verdict.WRONG_ANSWER
    assert "too long to compare" in grade.tests[-1].error
