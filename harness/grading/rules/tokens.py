"""The rule `tokens`: tokens between white space, floats within 1e-6."""

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from functools import partial
from itertools import zip_longest
from typing import Any

from harness.grading.rules.comparison_rule import ComparisonRule
from harness.grading.rules.difference import counted, difference, first_difference, of_bytes
from harness.grading.rules.json_values import ALL_TUPLES, compare_json, first_unequal, same_scalar
from harness.grading.verdict import Difference

TOLERANCE = 1e-6  # relative or absolute, whichever allows more
_EXACT_TOLERANCE = Decimal("1e-6")
# Rounding to doubles may add this to a difference, so that 0.100001 is still right for 0.1.
_ROUNDING = 1e-15

# A group takes part in the match of a float, and none in that of an integer. The quantifiers are
# possessive, so that 10^8 digits cost one pass.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(\.[0-9]*+)?|(\.[0-9]++))([eE][+-]?[0-9]++)?")
# Enough digits for any tolerance; every exponent that a Decimal holds; nothing raises.
_CONTEXT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_SLICE = 1 << 15


def tokens_output(expected: str, got: str) -> Difference | None:
    """Compare a program's output as tokens between white space; lines do not matter.

    The number of tokens must be equal. A token is right when it is equal as text, case included; or
    when the expected one is a float as written (ASCII digits with a point, an exponent or both) and
    the printed one is a number as written (the same, or an integer) no further from it than 1e-6,
    absolutely or relative to the larger of the two. Integers, words, `inf` and `nan` are only ever
    right as text.

    Numbers are compared as decimals, not as doubles: all digits count, 1e400 is not 1e500, and a
    number of a million digits takes linear time. A number whose exponent is too large for a decimal
    (18 digits) is only right as text.
    """
    wanted = expected.split()
    printed = got.split(None, len(wanted))  # the rest stays in one piece
    if wanted == printed:
        return None
    pairs = enumerate(zip_longest(wanted, printed))
    unequal = (index for index, (left, right) in pairs if not _same_token(left, right))
    index = next(unequal, None)
    if index is None:
        return None
    left = wanted[index] if index < len(wanted) else ""
    right = printed[index].split(None, 1)[0] if index < len(printed) else ""
    where = _where(expected, got, index, len(wanted), _count_tokens(got))
    return difference(where, left, right, first_difference(left, right))


def _same_token(wanted: str | None, printed: str | None) -> bool:
    if wanted is None or printed is None or wanted == printed:
        return wanted == printed
    number = _NUMBER.fullmatch(wanted)
    if number is None or number.lastindex is None or _NUMBER.fullmatch(printed) is None:
        return False
    return _are_close(wanted, printed)


def _are_close(wanted: str, printed: str) -> bool:
    try:
        left, right = Decimal(wanted), Decimal(printed)
    except InvalidOperation:  # the exponent is too long
        return False
    error = _CONTEXT.abs(_CONTEXT.subtract(left, right))
    larger = max(_CONTEXT.abs(left), _CONTEXT.abs(right), Decimal(1))
    return error <= _CONTEXT.multiply(larger, _EXACT_TOLERANCE)


def _where(expected: str, got: str, index: int, count: int, printed_count: int) -> str:
    """Return the place of a token in the expected text, and in the output if it differs."""
    in_expected = _place(expected, index) if index < count else None
    in_printed = _place(got, index) if index < printed_count else None
    where = in_expected or in_printed or ""
    notes: list[str] = []
    if in_expected and in_printed and in_expected != in_printed:
        notes.append(f"printed on {in_printed}")
    if count != printed_count:
        notes.append(f"{counted(count, 'token')} expected, {printed_count} printed")
    return f"{where} ({'; '.join(notes)})" if notes else where


def _place(text: str, index: int) -> str:
    """Return line and token, both counted from 1, of the token at an index counted from 0."""
    start = len(text) - len(text.split(None, index)[-1])
    line = text.count("\n", 0, start) + 1
    token = _count_tokens(text[text.rfind("\n", 0, start) + 1 : start]) + 1
    return f"line {line}, token {token}"


def _count_tokens(text: str) -> int:
    """Count the tokens, a slice at a time: a list of them all takes 60 bytes a token."""
    starts = range(0, len(text), _SLICE)
    pieces = sum(len(text[start : start + _SLICE].split()) for start in starts)
    cut = sum(not text[at - 1].isspace() and not text[at].isspace() for at in starts[1:])
    return pieces - cut


def tokens_value(expected: str, got: str) -> Difference | None:
    """Compare a function's result: tuples are lists, floats equal within 1e-6.

    Tuples count at any depth. No other sequence or iterable counts as a list: a generator, range,
    deque or array is wrong. An expected number that is written as a float allows the tolerance of
    `tokens_output`, for a float or an integer returned. Integers are exact, and other numbers
    compare as in Python (True is 1, 6.0 is 6), never with a string. NaN equals nothing, and
    infinity only itself.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
    """
    return compare_json(expected, got, partial(first_unequal, same=_same_value, tuples=ALL_TUPLES))


def _same_value(wanted: Any, returned: Any) -> bool:
    if same_scalar(wanted, returned):
        return True
    if type(wanted) is not float or type(returned) not in (int, float):
        return False
    try:
        return math.isclose(
            wanted, returned, rel_tol=TOLERANCE + _ROUNDING, abs_tol=TOLERANCE + _ROUNDING
        )
    except OverflowError:  # an integer beyond every float
        return False


TOKENS = ComparisonRule(tokens_output, tokens_value, of_bytes(tokens_output))
