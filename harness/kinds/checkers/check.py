'''Checkers: code of a data set or the user that judges where no rule can.

A checker runs in the sandbox, in processes that are not forked from the solution's. The solution's
memory therefore never held an expected output or a line of a checker. The two exchange values, in
the sandbox's notation.

A `check` defines

    def check(input, expected, answer):
        """Return True for a right answer, else False or a sentence that says why not."""

For a program the three are texts; for a function they are the list of its arguments, the expected
value and its result, where tuples, other sequences, linked lists and trees are lists.

`hooks` are Mercury's: `convert_offline((inputs, expected))` makes the arguments of a call from the
test's, `evaluate_offline(inputs, outputs, expected)` returns whether the call was right, given the
arguments as the call left them. Tuples and deques keep their types; any other iterable becomes a
sequence that equals no list. To prevent a solution from changing its arguments to fit its answer, a
second check runs with untouched arguments wherever the expected value passes with them.

A checker may fail on an answer, or return something else than agreed. Then it is given the expected
output and a few plain values. If it has a verdict on any of them, the answer is wrong: printing
something that a checker cannot read must not remove a sample from the denominator. The checker is
at fault if it has no verdict, if the answer is the expected output itself, or if no answer can
cause such a failure.
'''

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.excerpts import around, decode_head
from harness.grading.answer_comparison import CheckedProgram, CheckerError
from harness.grading.rules.difference import difference
from harness.grading.rules.json_values import describe_value
from harness.grading.rules.lcb import lcb_output, lcb_value
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.verdict import Difference
from harness.judged_by import Checker
from harness.kinds.checkers import checker_code
from harness.problem import Codec, Signature, TestCase
from harness.sandbox.program import Program
from harness.text import writable

# The longest possible right answer: this many times the length of the test's texts, plus this many
# characters.
LONGEST_ANSWER_FACTOR = 32
LONGEST_ANSWER_EXTRA = 32 << 20
READABLE_CHARACTERS = 1 << 20
_AT_FAULT = "the problem's checker is at fault"

Call = tuple[str, ...]
"""Arguments of a checker's function, a line of JSON each."""


@dataclass(frozen=True, slots=True)
class Check:
    """Checker of one solution.

    Attributes:
        code: functions of the checker, run on a worker that no solution runs on.
        functional: whether answers are values, not texts.
        arguments: arguments of each test's call from `convert_offline`, in the sandbox's notation.
        sound: whether the checker has a verdict on any answer to a test, as far as tried.
    """

    code: checker_code.CheckerCode
    functional: bool
    arguments: dict[Call, str] = field(default_factory=dict[Call, str])
    sound: dict[Call, bool] = field(default_factory=dict[Call, bool])

    @classmethod
    def of(cls, bench: RetryingWorker, checker: Checker, *, functional: bool) -> "Check":
        """Return a checker that runs in its own processes."""
        return cls(checker_code.CheckerCode(bench, checker), functional)

    @property
    def beside_rule(self) -> bool:
        """Whether the verdict by the source's own rule is recorded beside the checker's."""
        return self.code.checker.beside_rule

    def close(self) -> None:
        """Do nothing: its processes end with each request."""

    def prepare(self, program: Program, tests: Sequence[TestCase]) -> CheckedProgram:
        """Return the program and inputs, with arguments made by the checker.

        A `check` makes none: the inputs are the tests' own.

        Raises:
            CheckerError: it cannot make the arguments of a test.
            SandboxError: the sandbox failed.
        """
        if self.code.checker.kind == "check":
            return CheckedProgram(program, [test.input for test in tests])
        calls = [self._given(test) for test in tests]
        made = self.code.ask(checker_code.CONVERT, calls)
        for number, (call, arguments) in enumerate(zip(calls, made, strict=True), 1):
            if not isinstance(arguments, list):
                why = (
                    arguments.why
                    if isinstance(arguments, checker_code.CheckerFailure)
                    else "not a list"
                )
                raise CheckerError(f"convert_offline, test {number}: {why}")
            self.arguments[call] = json.dumps(arguments, separators=(",", ":"))
            if '{"o":' in self.arguments[call]:  # inside a string the quotes would be escaped
                raise CheckerError(
                    f"convert_offline, test {number}: it makes objects of a kind that cannot be "
                    "handed to a solution"
                )
        count = max(map(len, made), default=0)
        signature = Signature(arguments=(Codec.TAGGED,) * count, result=Codec.EVERYTHING)
        inputs = ["\n".join(map(json.dumps, arguments)).encode() for arguments in made]
        return CheckedProgram(replace(program, signature=signature), inputs)

    def compare(
        self, pairs: Sequence[tuple[TestCase, str]]
    ) -> list[Difference | CheckerError | None]:
        """Compare answers by the checker.

        Args:
            pairs: each test of the data, and what the program printed; for a function, its result
                in the sandbox's notation.

        Returns:
            For each: None for a right answer, a Difference for a wrong one, or the error of a
            checker that fails on the expected output too.

        Raises:
            SandboxError: the sandbox failed.
        """
        places = [place for place, pair in enumerate(pairs) if is_of_size(*pair)]
        calls = {place: self._call(*pairs[place]) for place in places}
        rulings = dict(
            zip(places, self.code.ask(checker_code.CHECK, list(calls.values())), strict=True)
        )
        touched = [
            place
            for place, call in calls.items()
            if rulings[place] is True and self._is_touched(call[:2], pairs[place][1])
        ]
        again = self.code.ask(checker_code.CHECK_UNTOUCHED, [calls[place] for place in touched])
        for place, verdict in zip(touched, again, strict=True):
            rulings[place] = verdict or "wrong for the arguments as they were given"
        return [
            self._read(rulings[place], test, answer)
            if place in rulings
            else difference_of("longer than any right answer", test, answer)
            for place, (test, answer) in enumerate(pairs)
        ]

    def text_of(self, answer: bytes, test: TestCase) -> str:
        """Return an answer as text, or the head of one that is too long to be right."""
        return text_of(answer, test, "replace" if self.functional else "surrogateescape")

    def shown(self, answer: str) -> str:
        """Return the part of an answer to show to a person."""
        if self.code.checker.kind == "check" or len(answer) > READABLE_CHARACTERS:
            return answer
        try:
            return json.dumps(json.loads(answer)[0])
        except (ValueError, RecursionError, LookupError, TypeError):
            return answer

    def _read(self, ruling: Any, test: TestCase, answer: str) -> Difference | CheckerError | None:
        match ruling:
            case True:
                return None
            case False | "":
                return difference_of("the checker says no", test, self._readable(answer))
            case str():
                return difference_of(ruling, test, self._readable(answer))
            case checker_code.CheckerFailure(own=True):
                return CheckerError(f"{_AT_FAULT}: {ruling.why}")
            case checker_code.CheckerFailure():
                why = ruling.why
            case _:
                what = around(json.dumps(ruling), 0, checker_code.EXCERPT)
                why = f"it returned {what}, neither True nor False nor a sentence"
        if self._is_expected(test, answer) or not self._is_sound(test):
            return CheckerError(writable(f"{_AT_FAULT}: {why}"))
        where = f"the checker cannot make anything of it: {why}"
        return difference_of(where, test, self._readable(answer))

    def _readable(self, answer: str) -> str:
        """Return the answer as Python would write it."""
        shown = self.shown(answer)
        if not self.functional or len(shown) > READABLE_CHARACTERS:
            return shown
        try:
            return describe_value(json.loads(shown))
        except (ValueError, RecursionError, TypeError):
            return shown

    def _is_expected(self, test: TestCase, answer: str) -> bool:
        """Return whether the answer is the expected output itself, by LiveCodeBench's rule."""
        if not test.output.strip():  # the data have no expected output
            return False
        if not self.functional:
            return lcb_output(test.output, answer) is None
        return lcb_value(test.output, self.shown(answer)) is None

    def _is_sound(self, test: TestCase) -> bool:
        call = self._given(test)
        if call not in self.sound:
            (self.sound[call],) = (
                sound is True for sound in self.code.ask(checker_code.IS_SOUND, [call])
            )
        return self.sound[call]

    def _given(self, test: TestCase) -> Call:
        if not self.functional:
            given = [test.input, test.flags] if self.code.checker.takes_flags else test.input
            return json.dumps(given), json.dumps(test.output)
        arguments = ",".join(line for line in test.input.split("\n") if line.strip())
        given = f"[{arguments}]"
        if self.code.checker.takes_flags:
            given = f"[{given},{json.dumps(test.flags)}]"
        return given, _one_line(test.output)

    def _call(self, test: TestCase, answer: str) -> Call:
        """Return the call's arguments; the answer is not parsed, as a solution may forge it."""
        return *self._given(test), _one_line(answer) if self.functional else json.dumps(answer)

    def _is_touched(self, call: Call, answer: str) -> bool:
        """Return whether the call changed its arguments.

        A result ends with the arguments. No other text with this ending can be parsed differently,
        since quotes and brackets are balanced.
        """
        return call in self.arguments and not answer.endswith(f",{self.arguments[call]}]")


def text_of(answer: bytes, test: TestCase, errors: str) -> str:
    """Return an answer as text, or the head of one that is too long to be right."""
    return decode_head(answer, _longest_answer(test) + 1, errors)


def is_of_size(test: TestCase, answer: str) -> bool:
    """Return whether an answer is short enough to be right."""
    return len(answer) <= _longest_answer(test)


def _longest_answer(test: TestCase) -> int:
    size = LONGEST_ANSWER_FACTOR * (len(test.input) + len(test.output))
    return size + LONGEST_ANSWER_EXTRA


def _one_line(text: str) -> str:
    """Put JSON on one line: line ends stand only where a space may."""
    return text.replace("\n", " ")


def difference_of(where: str, test: TestCase, got: str) -> Difference:
    """Return why an answer is wrong, in bounded words."""
    return difference(writable(around(where, 0, checker_code.EXCERPT)), test.output, got)
