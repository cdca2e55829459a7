'''Checkers: code of a data set or a user that judges answers, where no comparison rule can.

It runs in the sandbox, in processes of its own that never hold the solution; the solution's process
never holds the expected outputs. Between the two go values, in the sandbox's notation.

A `check` defines

    def check(input, expected, answer):
        """Return True for a right answer, else False or a sentence that says why not."""

For a program the three are texts; for a function they are the list of its arguments, the expected
value and what it returned, linked lists and trees being lists.

`hooks` are Mercury's: `convert_offline((inputs, expected))` makes the arguments of a call from the
test's, `evaluate_offline(inputs, outputs, expected)` says whether the call was right, given the
arguments as the call left them.
'''

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from harness.grading.blame import execute
from harness.grading.excerpts import around, writable
from harness.grading.verdict import Difference
from harness.problem import Checker, Codec, Signature, TestCase
from harness.sandbox.execution import Ending, Execution, Program
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker

EXCERPT = 160
LIMITS = Limits()
# A right answer, in the sandbox's notation, is no longer than so many times the test's texts.
LONGEST_ANSWER_FACTOR = 32
LONGEST_ANSWER_EXTRA = 1 << 20

_HOOKS = """

def harness_convert(inputs, expected):
    return list(convert_offline((inputs, expected))[0])


def harness_check(inputs, expected, answer):
    _, expected = convert_offline((inputs, expected))
    outputs, left = answer
    return bool(evaluate_offline(tuple(left), outputs, expected))


def harness_is_sound(inputs, expected):
    for make in (lambda value: value, lctk.linkedList, lctk.binaryTree):
        for in_place in (False, True):
            try:
                left, wanted = convert_offline((inputs, expected))
                outputs = make(expected)
                if evaluate_offline((outputs,) if in_place else tuple(left), outputs, wanted):
                    return True
            except Exception:
                continue
    return False
"""
_CHECK = """

harness_check = check


def harness_is_sound(input, expected):
    return check(input, expected, expected) is True
"""


class CheckerError(Exception):
    """The checker itself failed: this says nothing of the solution."""


class Prepared(NamedTuple):
    """A program as a checker wants it run, and the input of each test."""

    program: Program
    inputs: list[bytes]


@dataclass(frozen=True, slots=True)
class Check:
    """A checker at work for one solution.

    Attributes:
        worker: its processes are not the solution's: one is forked for each question.
        functional: whether answers are values, not texts.
    """

    worker: Worker
    checker: Checker
    functional: bool

    def prepare(self, program: Program, tests: Sequence[TestCase]) -> Prepared:
        """Arguments as the checker makes them; what it does not make is as the test says.

        Raises:
            CheckerError: it cannot make the arguments of a test.
            SandboxError: the sandbox failed.
        """
        if self.checker.kind == "check":
            return Prepared(program, [_encode(test.input) for test in tests])
        made = self._ask("harness_convert", [(_arguments(test), test.output) for test in tests])
        for number, arguments in enumerate(made, 1):
            if not isinstance(arguments, list):
                raise CheckerError(f"convert_offline, test {number}: {arguments}")
        inputs = ["\n".join(map(json.dumps, arguments)).encode() for arguments in made]
        count = max(map(len, made), default=0)
        signature = Signature(arguments=(Codec.TAGGED,) * count, result=Codec.EVERYTHING)
        return Prepared(replace(program, signature=signature), inputs)

    def compare(
        self, pairs: Sequence[tuple[TestCase, str]]
    ) -> list[Difference | CheckerError | None]:
        """What `harness.grading.rules` says of answers, from the checker.

        Args:
            pairs: each test as the data has it, and what the program printed; for a function, its
                result in the sandbox's notation.

        Returns:
            For each: None for a right answer, where it is wrong, or the error of a checker that
            fails on a right answer too.

        Raises:
            SandboxError: the sandbox failed.
        """
        values = [self._value(test, answer) for test, answer in pairs]
        calls = [
            (*self._given(test), value)
            for (test, _), value in zip(pairs, values, strict=True)
            if value is not None
        ]
        said = iter(self._ask("harness_check", calls))
        return [
            self._read(next(said), test, answer)
            if value is not None
            else _difference("the answer cannot be read as a value", test.output, answer)
            for (test, answer), value in zip(pairs, values, strict=True)
        ]

    def _read(self, said: Any, test: TestCase, answer: str) -> Difference | CheckerError | None:
        if said is True:
            return None
        if isinstance(said, _Failure):
            (is_sound,) = self._ask("harness_is_sound", [self._given(test)])
            if is_sound is not True:
                return CheckerError(str(said))
            where = f"the checker cannot make anything of it: {said}"
            return _difference(where, test.output, self.shown(answer))
        if said is not False and not isinstance(said, str):
            return CheckerError("it returned neither True nor False nor a sentence")
        return _difference(said or "the checker says no", test.output, self.shown(answer))

    def shown(self, answer: str) -> str:
        """The part of an answer that a person asks for."""
        if self.checker.kind == "check":
            return answer
        try:
            return json.dumps(json.loads(answer)[0])
        except (ValueError, RecursionError, LookupError, TypeError):
            return answer

    def _given(self, test: TestCase) -> tuple[str, str]:
        if self.functional:
            return _arguments(test), test.output
        return json.dumps(test.input), json.dumps(test.output)

    def _value(self, test: TestCase, answer: str) -> str | None:
        """The answer as one line of JSON; None for what a solution wrote there itself."""
        if not self.functional:
            return json.dumps(answer)
        size = LONGEST_ANSWER_FACTOR * (len(test.input) + len(test.output))
        if len(answer) > size + LONGEST_ANSWER_EXTRA:
            return None
        try:
            return json.dumps(json.loads(answer))
        except (ValueError, RecursionError):
            return None

    def _ask(self, function: str, calls: Sequence[tuple[str, ...]]) -> list[Any]:
        """What a function of the checker returns to each call, or why it returned nothing."""
        program = Program(
            self.checker.code + (_HOOKS if self.checker.kind == "hooks" else _CHECK),
            self.checker.preamble,
            function,
            Signature(arguments=(Codec.JSON, Codec.JSON, Codec.TAGGED)),
        )
        inputs = ["\n".join(arguments).encode() for arguments in calls]
        answers: list[Any] = []
        while len(answers) < len(inputs):
            rest = inputs[len(answers) :]
            for execution in execute(self.worker, program, rest, LIMITS):
                answers.append(_answer(execution))
                if isinstance(answers[-1], _Failure) and len(rest) > 1:  # it was not alone
                    again = execute(self.worker, program, inputs[len(answers) - 1 :][:1], LIMITS)
                    answers[-1] = _answer(again[0])
        return answers


class _Failure:
    """Why a checker's function returned nothing."""

    def __init__(self, execution: Execution) -> None:
        lines = execution.error.strip().splitlines()
        self._why = lines[-1] if lines else execution.ending.replace("_", " ")

    def __str__(self) -> str:
        return writable(around(self._why, 0, EXCERPT))


def _answer(execution: Execution) -> Any:
    if execution.ending is not Ending.FINISHED or execution.result is None:
        return _Failure(execution)
    try:
        return json.loads(execution.result)
    except (ValueError, RecursionError):
        return _Failure(execution)


def _arguments(test: TestCase) -> str:
    return "[" + ",".join(line for line in test.input.split("\n") if line.strip()) + "]"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _difference(where: str, expected: str, got: str) -> Difference:
    return Difference(
        where=writable(around(where, 0, EXCERPT)),
        expected=writable(around(expected, 0, EXCERPT)),
        got=writable(around(got, 0, EXCERPT)),
    )
