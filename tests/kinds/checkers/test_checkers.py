"""Answers that no rule can judge are judged by a checker, which meets no solution.

Checkers and solutions are both untrusted: each is given what would break a careless judge.
"""

import json
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, ClassVar

import pytest
from for_each import for_each

from harness.grading.judge import judge
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.judged_by import Checker
from harness.kinds.checkers import checker_code
from harness.problem import Codec, Signature, TestCase
from harness.sandbox.execution import Execution
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker
from harness.sources import preambles

LIMITS = Limits(cpu_s=3.0, memory_bytes=1024 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
NODES = {"preamble": preambles.LEETCODE}

CheckIt = Callable[..., Grade]


@pytest.fixture
def check(worker: Worker) -> CheckIt:
    """Judges code on (input, output) pairs with a checker's code."""
    return _check_on(worker)


@pytest.fixture
def check_unguarded(unguarded: Worker) -> CheckIt:
    """Judges code without the layers."""
    return _check_on(unguarded)


def _check_on(worker: Worker) -> CheckIt:
    def check(
        checker: str,
        code: str,
        *pairs: tuple[str, str],
        kind: Any = "check",
        isolate: bool = False,
        **program: Any,
    ) -> Grade:
        tests = [TestCase(input=given, output=wanted, public=True) for given, wanted in pairs]
        preamble = preambles.MERCURY if kind == "hooks" else ""
        judged = Checker(kind=kind, code=dedent(checker), preamble=preamble)
        task = Task(Program(dedent(code), **program), tests, LIMITS, checker=judged)
        return judge(worker, task._replace(isolate=isolate))

    return check


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_code, "LIMITS", Limits(cpu_s=0.2))


DIVISOR = """
    def check(input, expected, answer):
        number, divisor = int(input), int(answer)
        if not 1 < divisor < number:
            return f"{divisor} is not between"
        return number % divisor == 0
    """


class TestPrograms:
    """The three are texts: what was read, what the data has, what was printed."""

    @for_each("isolate", [False, True])
    def test_any_right_answer_is_accepted(self, check: CheckIt, isolate: bool) -> None:
        code = "n = int(input())\nprint(max(d for d in range(1, n) if n % d == 0))"
        grade = check(DIVISOR, code, ("12\n", "2\n"), ("15\n", "3\n"), isolate=isolate)
        assert grade.verdict is Verdict.ACCEPTED
        assert grade.judged_again.rechecked == ((0, 0) if isolate else (1, 0))

    @for_each("isolate", [False, True])
    def test_a_wrong_one_is_wrong(self, check: CheckIt, isolate: bool) -> None:
        grade = check(DIVISOR, "print(5)", ("12\n", "2\n"), isolate=isolate)
        assert grade.verdict is Verdict.WRONG_ANSWER
        assert grade.tests[0].difference is not None
        assert grade.tests[0].difference.where == "the checker says no"
        assert grade.tests[0].difference.expected == "2\n"
        assert grade.tests[0].got == grade.tests[0].difference.got == "5\n"

    def test_a_sentence_says_why(self, check: CheckIt) -> None:
        grade = check(DIVISOR, "print(20)", ("12\n", "2\n"))
        assert grade.tests[0].difference is not None
        assert grade.tests[0].difference.where == "20 is not between"

    def test_texts_arrive_as_they_were(self, check: CheckIt) -> None:
        checker = "def check(i, e, a): return ascii([i, e, a])"
        code = "import sys\nsys.stdout.buffer.write(b'a\\n\\xff\\x00')"
        grade = check(checker, code, ("\té\n\n", " \r\n\x01"))
        assert grade.tests[0].difference is not None
        assert grade.tests[0].difference.where == ascii(["\té\n\n", " \r\n\x01", "a\n\udcff\0"])

    def test_a_program_that_fails_is_not_put_to_the_checker(self, check: CheckIt) -> None:
        accepts = "def check(i, e, a): return True"
        assert check(accepts, "1 / 0", ("", "")).verdict is Verdict.RUNTIME_ERROR
        assert check(accepts, "def", ("", "")).verdict is Verdict.COMPILE_ERROR
        assert check(accepts, "", ("", "")).verdict is Verdict.NO_SOLUTION

    def test_an_answer_beyond_all_bounds_is_wrong(
        self, check: CheckIt, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.kinds.checkers.check.LONGEST_ANSWER_EXTRA", 1000)
        accepts = "def check(i, e, a): return True"
        assert check(accepts, "print('x' * 900)", ("", "")).solved
        grade = check(accepts, "print('x' * 1100)", ("", ""))
        assert grade.verdict is Verdict.WRONG_ANSWER
        assert grade.tests[0].difference is not None
        assert grade.tests[0].difference.where == "longer than any right answer"


SAME = "def check(i, e, a): return True if a == e else repr(a)"


class TestFunctions:
    """The three are values: a list of arguments, the expected value, what was returned."""

    def told(self, check: CheckIt, code: str, given: str = "", **program: Any) -> str:
        checker = "def check(i, e, a): return repr((i, a))"
        grade = check(checker, code, (given, "0"), entry_point="f", **program)
        assert grade.tests[0].difference is not None, grade
        return grade.tests[0].difference.where

    def test_a_checker_gets_arguments_and_result(self, check: CheckIt) -> None:
        code = "def f(a, b): return (a, {b: 1.5}, {3}, None, 2 ** 70)"
        report = self.told(check, code, '[1, "é"]\n\n7')
        assert report == repr(([[1, "é"], 7], [[1, "é"], {7: 1.5}, {3}, None, 2**70]))

    def test_arguments_are_those_of_the_test_whatever_the_call_made_of_them(
        self, check: CheckIt
    ) -> None:
        assert self.told(check, "def f(a):\n    a.clear()\n    return a", "[1]") == "([[1]], [])"

    def test_a_checker_gets_nodes_as_lists(self, check: CheckIt) -> None:
        code = "def f(a): return [a, TreeNode(1, None, TreeNode(2))]"
        signature = Signature(arguments=(Codec.LINKED_LIST,))
        report = self.told(check, code, "[4, 5]", signature=signature, **NODES)
        assert report == "([[4, 5]], [[4, 5], [1, None, 2]])"

    def test_a_list_without_end_has_one_for_the_checker(self, check: CheckIt) -> None:
        code = "def f():\n    n = ListNode(1, ListNode(2))\n    n.next.next = n\n    return n"
        assert self.told(check, code, **NODES) == "([], [1, 2])"

    def test_an_empty_list_of_nodes_is_a_list(self, check: CheckIt) -> None:
        signature = Signature(result=Codec.LINKED_LIST)
        code = "def f(): return None"
        assert check(SAME, code, ("", "[]"), entry_point="f", signature=signature, **NODES).solved

    def test_sets_of_sets_arrive(self, check: CheckIt) -> None:
        code = "def f(): return {frozenset({1}), frozenset({2})}"
        assert self.told(check, code) in {
            "([], {frozenset({1}), frozenset({2})})",
            "([], {frozenset({2}), frozenset({1})})",
        }

    def test_a_checker_gets_lone_surrogates(self, check: CheckIt) -> None:
        code = r"def f(a): return '\udfff' + a"
        exact = r"def check(i, e, a): return a == e == '\udfff\ud800' and i == ['\ud800']"
        pair = (r'"\ud800"', r'"\udfff\ud800"')
        assert check(exact, code, pair, entry_point="f").solved
        assert check(exact, code, ('"\ud800"', '"\udfff\ud800"'), entry_point="f").solved
        grade = check(SAME, "def f(a): return a", pair, entry_point="f")
        assert grade.verdict is Verdict.WRONG_ANSWER

    def test_an_expected_value_may_have_line_ends(self, check: CheckIt) -> None:
        assert check(SAME, "def f(): return [1, 2]", ("", "[1,\n 2]"), entry_point="f").solved

    def test_numbers_of_any_length(self, check: CheckIt) -> None:
        number = "7" * 6000
        assert check(SAME, "def f(n): return n", (number, number), entry_point="f").solved

    def test_a_value_that_is_not_data_equals_nothing(self, check: CheckIt) -> None:
        code = """
            class Yes:
                def __eq__(self, other): return True
                __hash__ = None
            def f(): return [Yes()]
            """
        grade = check(SAME, code, ("", "[1]"), entry_point="f")
        assert grade.verdict is Verdict.WRONG_ANSWER

    def test_a_function_without_a_result_is_not_checked(self, check: CheckIt) -> None:
        accepts = "def check(i, e, a): return True"
        code = "import os\ndef f(): os._exit(0)"
        grade = check(accepts, code, ("", "1"), entry_point="f")
        assert grade.verdict is Verdict.RUNTIME_ERROR


FORGED = {
    "extra lines": b"1\n1\n1",
    "nothing but lines": b"\n\n",
    "no JSON": b"][",
    "no text": b"\xff\xfe\x00",
    "nesting": b"[" * 200_000,
    "closed nesting": b"[" * 100_000 + b"]" * 100_000,
    "much data": b"[" + b"[]," * 200_000 + b"[]]",
    "an integer that is none": b'{"i":"zz"}',
    "an integer that is not text": b'{"i":5}',
    "a mapping of no pairs": b'{"d":[[1]]}',
    "a mapping of a number": b'{"d":5}',
    "a key that cannot be one": b'{"d":[[{"d":[]},1]]}',
    "a list that leads out of itself": b'{"c":[7,1]}',
    "an empty list that leads back": b'{"c":[0]}',
    "a tree of a number": b'{"t":5}',
    "an unknown tag": b'{"zz":1}',
    "the end of the arguments": b"1],[2]]",
}


@for_each("forged", FORGED.values(), ids=FORGED)
def test_a_forged_result_is_a_wrong_answer(forged: bytes, check: CheckIt) -> None:
    """Not a checker's error: nobody leaves the denominator by breaking the judge."""
    code = f"""
        import os
        def f():
            for fd in range(3, 64):
                try: name = os.readlink(f'/proc/self/fd/{{fd}}')
                except OSError: continue
                if 'result' in name:
                    os.write(fd, {forged[:1]!r} * {len(forged)} if {len(set(forged)) == 1}
                        else {_python(forged)})
            os._exit(0)
        """
    grade = check(SAME, code, ("", "[5]"), entry_point="f")
    assert grade.verdict is Verdict.WRONG_ANSWER, grade


def _python(data: bytes) -> str:
    """The bytes as an expression; long ones by their pattern."""
    if len(data) < 100:
        return repr(data)
    if data.endswith(b"[]]"):
        return "b'[' + b'[],' * 200_000 + b'[]]'"
    half = len(data) // 2
    return f"b'[' * {half} + b']' * {half}"


def test_a_result_that_is_nan_reaches_the_checker(check: CheckIt) -> None:
    nan = "def check(i, e, a): return a != a"
    assert check(nan, "def f(): return float('nan')", ("", "0"), entry_point="f").solved


class TestBlame:
    """A checker that says nothing of the expected output, or of anything, is to blame."""

    @for_each("code", ["print('abc')", "pass", "print('1 2')"])
    def test_what_it_cannot_read_is_wrong_though_the_data_have_no_answer(
        self, code: str, check: CheckIt
    ) -> None:
        checker = "def check(i, e, a): return int(a) > int(i)"
        assert check(checker, "print(int(input()) + 1)", ("1", ""), ("5", "")).solved
        assert check(checker, code, ("1", ""), ("5", "")).verdict is Verdict.WRONG_ANSWER

    @for_each("mistake", ["undefined(a)", "__import__('no_such_module')"])
    def test_a_mistake_that_no_answer_can_cause_is_the_checker_s(
        self, mistake: str, check: CheckIt
    ) -> None:
        checker = f"def check(i, e, a):\n    if a != '8\\n': return False\n    return {mistake}"
        assert check(checker, "print(8)", ("1", "7")).verdict is Verdict.CHECKER_ERROR
        assert check(checker, "print(9)", ("1", "7")).verdict is Verdict.WRONG_ANSWER

    FAILS_ON_SEVEN = """
        def check(input, expected, answer):
            if answer.strip() == '7': {fault}
            return answer == expected
        """
    FAULTS: ClassVar = {
        "an exception": "1 / 0",
        "an exit": "raise SystemExit(0)",
        "the end of the process": "__import__('os')._exit(0)",
        "want of memory": "[0] * 10 ** 10",
        "None": "return None",
        "a number": "return 1",
        "no data": "return object()",
        "a list": "return [True]",
    }

    @for_each("fault", FAULTS.values(), ids=FAULTS)
    def test_failing_on_the_answer_alone_is_a_wrong_answer(
        self, fault: str, check: CheckIt
    ) -> None:
        checker = self.FAILS_ON_SEVEN.format(fault=fault)
        grade = check(checker, "print(input())", ("1", "1\n"), ("7", "8\n"), ("2", "2\n"))
        assert [test.verdict for test in grade.tests] == [
            Verdict.ACCEPTED,
            Verdict.WRONG_ANSWER,
            Verdict.ACCEPTED,
        ]
        assert grade.tests[1].difference is not None
        assert "cannot make anything of it" in grade.tests[1].difference.where

    @for_each("fault", FAULTS.values(), ids=FAULTS)
    @for_each("isolate", [False, True])
    def test_failing_on_the_expected_output_too_is_the_checker_s_error(
        self, fault: str, isolate: bool, check: CheckIt
    ) -> None:
        checker = self.FAILS_ON_SEVEN.format(fault=fault)
        grade = check(checker, "print(7)", ("1", "7\n"), isolate=isolate)
        assert grade.verdict is Verdict.CHECKER_ERROR
        assert grade.tests[0].error

    def test_what_it_returned_is_said(self, check: CheckIt) -> None:
        grade = check("def check(i, e, a): pass", "print(7)", ("1", "7\n"))
        assert grade.tests[0].error == (
            "the problem's checker is at fault: it returned null, neither True nor False nor a "
            "sentence"
        )

    @for_each(
        ("checker", "error"),
        [
            ("def check(i, e, a): 1 / 0", "ZeroDivisionError: division by zero"),
            ("def check(i, e, a):", "IndentationError"),
            ("'''", "SyntaxError"),
            ("", "NameError: name 'check' is not defined"),
            ("check = 5", "its 'check' is not a function"),
            ("def check(i): return True", "TypeError"),
            ("import sys\nsys.exit(3)", "exit"),
            ("def check(i, e, a): raise ValueError('x' * 10 ** 6)", "x" * 20),
            ("def check(i, e, a): raise ValueError('\\ud800')", "\\ud800"),
        ],
    )
    def test_a_checker_that_never_works_says_why_in_a_line(
        self, checker: str, error: str, check: CheckIt
    ) -> None:
        grade = check(checker, "print(7)", ("1", "7\n"), ("2", "7\n"))
        assert grade.verdict is Verdict.CHECKER_ERROR
        assert error in grade.tests[0].error
        assert grade.tests[0].error.startswith("the problem's checker is at fault: ")
        assert "\n" not in grade.tests[0].error
        assert len(grade.tests[0].error) < 400

    def test_a_wrong_answer_elsewhere_is_the_verdict(self, check: CheckIt) -> None:
        checker = self.FAILS_ON_SEVEN.format(fault="1 / 0")
        grade = check(checker, "print(7)", ("1", "7\n"), ("2", "8\n"))
        assert [test.verdict for test in grade.tests] == [
            Verdict.CHECKER_ERROR,
            Verdict.WRONG_ANSWER,
        ]
        assert grade.verdict is Verdict.WRONG_ANSWER

    def test_what_it_prints_does_not_matter(self, check: CheckIt) -> None:
        checker = "import os\ndef check(i, e, a):\n    print('true')\n    os.write(1, b'x')\n"
        assert check(checker + "    return a == e", "print(1)", ("", "1\n")).solved
        assert not check(checker + "    return a != e", "print(1)", ("", "1\n")).solved

    @pytest.mark.thorough
    @pytest.mark.usefixtures("impatient")
    def test_an_endless_one_costs_a_few_limits_however_many_tests(
        self, check: CheckIt, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[int] = []
        execute = RetryingWorker.execute

        def counted(
            bench: RetryingWorker, trial: Trial, indexes: Sequence[int], **how: bool
        ) -> list[Execution]:
            executions = execute(bench, trial, indexes, **how)
            asked.append(sum(x.ending in {"cpu_limit", "wall_limit"} for x in executions))
            return executions

        monkeypatch.setattr(RetryingWorker, "execute", counted)
        pairs = [(str(number), "7\n") for number in range(20)]
        grade = check("def check(i, e, a):\n    while True: pass", "print(7)", *pairs)
        assert grade.verdict is Verdict.CHECKER_ERROR
        assert grade.tests[0].error == (
            "the problem's checker is at fault: it runs out of time, and is asked no more"
        )
        assert sum(asked) <= 4

    @pytest.mark.usefixtures("impatient")
    def test_one_that_is_endless_for_the_answers_alone_makes_them_wrong(
        self, check: CheckIt
    ) -> None:
        checker = self.FAILS_ON_SEVEN.format(fault="\n                while True: pass")
        pairs = [(str(number), "8\n") for number in range(10)]
        grade = check(checker, "print(7)", *pairs)
        assert {test.verdict for test in grade.tests} == {Verdict.WRONG_ANSWER}
        assert len(grade.tests) == 10


class TestTests:
    """Nothing that a checker kept from one test is there in the next."""

    def test_a_checker_s_namespace_is_fresh(self, check: CheckIt) -> None:
        checker = "seen = []\ndef check(i, e, a):\n    seen.append(a)\n    return len(seen) == 1"
        assert check(checker, "print(1)", *[("", "1\n")] * 5).solved

    def test_what_leaks_all_the_same_costs_no_answer_its_verdict(self, check: CheckIt) -> None:
        checker = """
            import math
            def check(i, e, a):
                math.seen = getattr(math, 'seen', 0) + 1
                assert math.seen == 1
                return True
            """
        assert check(checker, "print(1)", *[("", "1\n")] * 4).solved

    def test_a_solution_and_its_checker_share_nothing(self, check: CheckIt) -> None:
        code = "import math, builtins\nmath.leak = builtins.leak = True\nprint(1)"
        checker = """
            import builtins, math
            def check(i, e, a): return not hasattr(math, 'leak') and not hasattr(builtins, 'leak')
            """
        assert check(checker, code, *[("", "1\n")] * 3).solved


class TestSecrets:
    """No expected output and no line of a checker is where a solution could find it."""

    def test_the_search_finds_what_is_there(
        self, check_unguarded: CheckIt, search: str, secret: str
    ) -> None:
        code = f"kept = {secret[::-1]!r}[::-1]\n{search}\nprint(found())"
        checker = "def check(i, e, a): return a.startswith('wanted:')"
        assert check_unguarded(checker, code, ("", "")).solved

    @pytest.mark.parametrize("isolate", [False, True])
    def test_a_program_finds_neither(
        self, check_unguarded: CheckIt, search: str, secret: str, isolate: bool
    ) -> None:
        checker = f"KEY = {secret!r}\ndef check(i, e, a): return a == 'nothing\\n' or a"
        code = f"{search}\nprint(found())"
        for _ in range(3):  # after the checker was asked, too
            grade = check_unguarded(checker, code, *[("", secret)] * 4, isolate=isolate)
            assert [test.got for test in grade.tests if not test.passed] == []

    def test_a_function_finds_neither(
        self, check_unguarded: CheckIt, search: str, secret: str
    ) -> None:
        hooks = f"""
            def convert_offline(case): return case[0], case[1] + [{secret!r}]
            def evaluate_offline(inputs, outputs, expected): return outputs == 'nothing'
            """
        code = f"{search}\ndef f(n): return found()"
        for _ in range(3):
            pairs = [("1", json.dumps([secret]))] * 4
            grade = check_unguarded(hooks, code, *pairs, kind="hooks", entry_point="f")
            assert [test.got for test in grade.tests if not test.passed] == []
            assert grade.tests

    def test_a_checker_finds_no_solution(
        self, check_unguarded: CheckIt, search: str, secret: str
    ) -> None:
        code = f"kept = {secret!r}\nprint()"
        checker = f"{search}\ndef check(i, e, a): return found() == 'nothing' or found()"
        grade = check_unguarded(checker, code, *[("", "")] * 3)
        assert grade.solved, grade


EQUAL = """
    def convert_offline(case): return case
    def evaluate_offline(inputs, outputs, expected): return outputs == expected
    """
IN_PLACE = """
    def convert_offline(case): return case
    def evaluate_offline(inputs, outputs, expected): return inputs[0] == expected
    """
ANY_PAIR = """
    def convert_offline(case): return case
    def evaluate_offline(inputs, outputs, expected):
        numbers, total = inputs
        one, other = outputs
        return one != other and numbers[one] + numbers[other] == total
    """
AS_SETS = """
    def convert_offline(case): return case
    def evaluate_offline(inputs, outputs, expected): return set(outputs) == set(expected)
    """
TREES = """
    def convert_offline(case):
        import lctk
        inputs, expected = case
        return (lctk.binaryTree(inputs[0]),), expected
    def evaluate_offline(inputs, outputs, expected):
        import lctk
        return lctk.binaryTree2Arr(outputs) == expected
    """
CYCLES = """
    def convert_offline(case):
        import lctk
        inputs, expected = case
        return (lctk.linkedList(inputs[0], inputs[1]),), expected
    def evaluate_offline(inputs, outputs, expected): return outputs == expected
    """


class TestHooks:
    """Mercury's hooks make the arguments and look at what the call left."""

    @pytest.fixture
    def judged(self, check: CheckIt) -> CheckIt:
        def judged(hooks: str, code: str, *pairs: tuple[str, str], **options: Any) -> Grade:
            return check(
                hooks, code, *pairs, kind="hooks", entry_point="f", **options,
                preamble=preambles.MERCURY,
            )  # fmt: skip

        return judged

    @for_each("isolate", [False, True])
    def test_a_result_is_compared(self, judged: CheckIt, isolate: bool) -> None:
        pairs = [("1\n2", "3"), ("2\n2", "4")]
        right, wrong = "def f(a, b): return a + b", "def f(a, b): return 3"
        assert judged(EQUAL, right, *pairs, isolate=isolate).solved
        grade = judged(EQUAL, wrong, *pairs, isolate=isolate)
        assert [test.passed for test in grade.tests] == [True, False]
        assert grade.tests[1].got == "3"
        assert grade.tests[1].difference is not None
        assert (grade.tests[1].difference.expected, grade.tests[1].difference.got) == ("4", "3")

    def test_an_in_place_problem_is_judged_by_what_was_left(self, judged: CheckIt) -> None:
        pairs = [("[2, 1]", "[1, 2]"), ("[1, 2]", "[1, 2]")]
        assert judged(IN_PLACE, "def f(a): a.sort()", *pairs).solved
        assert not judged(IN_PLACE, "def f(a): return sorted(a)", *pairs).solved
        grade = judged(IN_PLACE, "def f(a): a.reverse()", *pairs)
        assert [test.passed for test in grade.tests] == [True, False]

    def test_a_prefix_counted_by_the_result(self, judged: CheckIt) -> None:
        hooks = """
            def convert_offline(case): return case
            def evaluate_offline(inputs, outputs, expected):
                return inputs[0][:outputs] == expected
            """
        code = "def f(a):\n    b = sorted(set(a))\n    a[:len(b)] = b\n    return len(b)"
        pairs = [("[1, 1, 2]", "[1, 2]"), ("[1]", "[1]")]
        assert judged(hooks, code, *pairs).solved
        assert not judged(hooks, "def f(a): return 2", *pairs).solved

    def test_order_does_not_matter_to_sets(self, judged: CheckIt) -> None:
        assert judged(AS_SETS, "def f(): return [3, 1, 3, 2]", ("", "[1, 2, 3]")).solved
        assert not judged(AS_SETS, "def f(): return [3, 1]", ("", "[1, 2, 3]")).solved

    @for_each(
        "code",
        [
            "def f(a, b): return (a, b)",
            "def f(a, b): return (n for n in (a, b))",
            "def f(a, b): return [(a, b)][0:1][0]",
            "from collections import deque\ndef f(a, b): return deque([a, b])",
        ],
    )
    def test_another_sequence_is_a_list_to_a_check_alone(self, judged: CheckIt, code: str) -> None:
        pair = ("1\n2", "[1, 2]")
        assert judged(EQUAL, "def f(a, b): return [a, b]", pair).solved
        assert judged(EQUAL, code, pair).verdict is Verdict.WRONG_ANSWER
        assert judged(AS_SETS, code, pair).solved

    def test_several_answers_are_right(self, judged: CheckIt) -> None:
        pair = ("[1, 2, 2, 1]\n3", "[0, 1]")
        assert judged(ANY_PAIR, "def f(a, n): return [2, 3]", pair).solved
        assert not judged(ANY_PAIR, "def f(a, n): return [1, 2]", pair).solved

    def test_arguments_changed_to_fit_the_answer_are_not_believed(self, judged: CheckIt) -> None:
        code = "def f(a, n):\n    a[:] = [n, 0]\n    return [0, 1]"
        grade = judged(ANY_PAIR, code, ("[5, 1, 2]\n3", "[1, 2]"))
        assert grade.verdict is Verdict.WRONG_ANSWER
        assert grade.tests[0].difference is not None
        assert "as they were given" in grade.tests[0].difference.where

    def test_arguments_may_be_changed_by_the_way(self, judged: CheckIt) -> None:
        pair = ("[5, 1, 2]\n3", "[1, 2]")
        assert judged(ANY_PAIR, "def f(a, n):\n    a[0] = 9\n    return [1, 2]", pair).solved
        assert judged(EQUAL, "def f(a):\n    a.clear()\n    return 1", ("[1]", "1")).solved

    def test_hooks_judge_trees(self, judged: CheckIt) -> None:
        swap = """
            class Solution:
                def f(self, root: Optional[TreeNode]) -> Optional[TreeNode]:
                    if root:
                        root.left, root.right = self.f(root.right), self.f(root.left)
                    return root
            """
        pairs = [("[1, 2, null, 3]", "[1, null, 2, null, 3]"), ("[]", "[]")]
        assert judged(TREES, swap, *pairs).solved
        grade = judged(TREES, "def f(root): return root", *pairs)
        assert [test.passed for test in grade.tests] == [False, True]

    def test_lists_that_lead_back(self, judged: CheckIt) -> None:
        code = """
            def f(head):
                seen = set()
                while head and head not in seen:
                    seen.add(head)
                    head = head.next
                return head is not None
            """
        pairs = [("[3, 2, 0]\n1", "true"), ("[1, 2]\n-1", "false"), ("[]\n-1", "false")]
        assert judged(CYCLES, code, *pairs).solved
        assert not judged(CYCLES, "def f(head): return True", *pairs).solved

    @for_each(
        "code",
        [
            "def f(root): return 5",
            "def f(root): return [1]",
            "def f(root): return object()",
            "def f(root):\n    root.left = root\n    return root",
        ],
    )
    def test_what_the_evaluator_fails_on_is_a_wrong_answer(
        self, judged: CheckIt, code: str
    ) -> None:
        grade = judged(TREES, code, ("[1, 2]", "[1, 2]"))
        assert grade.verdict in {Verdict.WRONG_ANSWER, Verdict.MEMORY_LIMIT, Verdict.TIME_LIMIT}

    def test_lists_of_nodes_are_known_to_be_right(self, judged: CheckIt) -> None:
        hooks = """
            def convert_offline(case): return case
            def evaluate_offline(inputs, outputs, expected):
                import lctk
                return [lctk.linkedList2Arr(head) for head in outputs] == expected
            """
        right = "def f(): return [ListNode(1, ListNode(2)), ListNode(3)]"
        assert judged(hooks, right, ("", "[[1, 2], [3]]")).solved
        grade = judged(hooks, "def f(): return 5", ("", "[[1, 2], [3]]"))
        assert grade.verdict is Verdict.WRONG_ANSWER

    @for_each(
        ("convert", "error"),
        [
            ("1 / 0", "test 1: ZeroDivisionError: division by zero"),
            ("return 5", "TypeError"),
            ("return [object()], 1", "objects of a kind that cannot be handed to a solution"),
            ("return [b'x'], 1", "objects of a kind that cannot be handed to a solution"),
            (
                "import lctk\n    n = lctk.linkedList([1, 2])\n    return (n, n.next), 1",
                "its arguments share nodes",
            ),
            (
                "import lctk\n    n = lctk.binaryTree([1, 2])\n    return (n, n.left), 1",
                "its arguments share nodes",
            ),
        ],
    )
    def test_arguments_that_cannot_be_made_are_the_checker_s_error(
        self, judged: CheckIt, convert: str, error: str
    ) -> None:
        hooks = f"""
def convert_offline(case):
    {convert}
def evaluate_offline(inputs, outputs, expected): return outputs == expected
"""
        grade = judged(hooks, "def f(*a): return 1", ("1", "1"), ("2", "1"))
        assert grade.verdict is Verdict.CHECKER_ERROR
        assert len(grade.tests) == 1
        assert grade.tests[0].error.startswith("convert_offline, test 1: ")
        assert error in grade.tests[0].error

    def test_a_text_that_looks_like_no_data_is_a_text(self, judged: CheckIt) -> None:
        text = json.dumps('{"o":"x"}')
        assert judged(EQUAL, "def f(a): return a", (text, text)).solved

    def test_the_solution_s_own_nodes_are_used(self, judged: CheckIt) -> None:
        code = f"{preambles.LEETCODE}\nTreeNode.mine = True\ndef f(root):\n    root.mine\n"
        assert judged(TREES, code + "    return root", ("[1]", "[1]")).solved

    def test_hooks_give_each_test_fresh_arguments(self, judged: CheckIt) -> None:
        code = "def f(a):\n    a.append(1)\n    return len(a)"
        assert judged(EQUAL, code, *[("[]", "1")] * 4).solved
