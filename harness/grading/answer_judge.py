"""Judge of answers to value questions: two literals, compared by Python's ==.

The rule is that of LiveCodeBench (https://github.com/LiveCodeBench/LiveCodeBench, the modules
`compute_test_output_prediction_metrics` and `compute_code_execution_metrics` of
`lcb_runner/evaluation`): True is 1, 6.0 is 6, -0.0 is 0, a list is no tuple, NaN equals nothing.
The verdicts differ from upstream's in these cases:

- Upstream evaluates the answer as Python in the grader's process, or pastes it into a program. Here
it is read as a literal and never run. An expression is wrong, as upstream's own prompt forbids it:
`3 or True`, which passes every problem there, and `[0] * 5`, `2 + 3`, `sorted(x)`.
- For a test output the answer may be JSON too. `[true, null]` is right here, and an error there; so
is a string with JSON's escapes.
- For an execution, `6, 'text'` is a tuple; there it is a 6 and the assertion's message. Further
lines are run there, and are not part of a literal here.
- For an execution, upstream does not count an answer that repeats the call, and divides by fewer.
Here it is an answer like any other.
- An expected value that cannot be read is an error of the data (`checker_error`), not of the model.
"""

from harness.grading.literals import JSON_WORDS, LONGEST_LITERAL, NoLiteralError, read_literal
from harness.grading.rules import read_json
from harness.grading.rules.difference import difference, first_difference
from harness.grading.verdict import Difference, Grade, TestResult, Verdict
from harness.problem import Kind
from harness.text import shorten, writable

LONGEST_SHOWN = 1_500


def grade_answer(kind: Kind, answer: str, expected: str) -> Grade:
    """Judge the answer to a value question: one hidden test, passed or not.

    Neither text can make it raise or take long.

    Args:
        kind: one of the two kinds of value questions.
        answer: the model's answer, without any text around it.
        expected: the expected value, as the problem's test has it.
    """
    if not answer.strip():
        return Grade(verdict=Verdict.NO_SOLUTION, hidden_total=1)
    try:
        wanted = read_expected(kind, expected)
    except NoLiteralError as error:
        return _grade(Verdict.CHECKER_ERROR, error=f"the expected value cannot be read: {error}")
    try:
        values = read_answer(kind, answer)
    except NoLiteralError as error:
        return _grade(Verdict.WRONG_ANSWER, answer, error=f"the answer is no literal: {error}")
    if any(_equal(wanted, value) for value in values):
        return _grade(Verdict.ACCEPTED)
    answer, expected = answer.strip(), expected.strip()
    where = difference("", expected, answer, first_difference(expected, answer))
    return _grade(Verdict.WRONG_ANSWER, answer, difference=where)


def read_answer(kind: Kind, text: str) -> tuple[object, ...]:
    """Return the values of an answer: as Python, and for a test output as JSON.

    Raises:
        NoLiteralError: it is no literal.
    """
    if kind is Kind.CODE_EXECUTION:
        return (read_literal(text),)
    try:
        python = read_literal(text, JSON_WORDS)
    except NoLiteralError as error:
        try:
            return (_read_json(text),)
        except NoLiteralError:
            raise error from None
    try:
        return python, _read_json(text)
    except NoLiteralError:
        return (python,)


def read_expected(kind: Kind, text: str) -> object:
    """Return the expected value: JSON for a test output, else a Python literal.

    Raises:
        NoLiteralError: it cannot be read.
    """
    return read_literal(text) if kind is Kind.CODE_EXECUTION else _read_json(text)


def _read_json(text: str) -> object:
    if len(text) > LONGEST_LITERAL:
        raise NoLiteralError(f"longer than {LONGEST_LITERAL:,} characters")
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        raise NoLiteralError("not JSON") from None


def _equal(wanted: object, said: object) -> bool:
    try:
        return bool(wanted == said)
    except RecursionError:
        return False


def _grade(
    verdict: Verdict, answer: str = "", error: str = "", difference: Difference | None = None
) -> Grade:
    result = TestResult(
        index=0,
        public=False,
        verdict=verdict,
        cpu_s=0,
        wall_s=0,
        difference=difference,
        got=writable(shorten(answer, LONGEST_SHOWN)),
        error=writable(shorten(error, LONGEST_SHOWN)),
    )
    return Grade(verdict=verdict, tests=(result,), hidden_total=1)
