"""Rule `apps_legacy`: the permissive checks of the APPS benchmark's grader, for old scores."""

# This module handles values of unknown type.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from harness.grading.rules.comparison_rule import ComparisonRule
from harness.grading.rules.difference import (
    difference,
    first_unequal_line,
    longest_right,
    never,
    of_bytes,
)
from harness.grading.rules.json_values import (
    compare_json,
    first_unequal,
    same_scalar,
    unfold,
    value_difference,
)
from harness.grading.verdict import Difference

# The line ends that `str.splitlines` knows, except the plain one; the pair comes first.
_LINE_ENDS = ("\r\n", *"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_LINE = re.compile(r"[^\n]+")
# A token, or a line end with the blank lines after it.
_TOKEN_OR_END = re.compile(r"\S+|\n\s*")

# The defaults of numpy's `allclose`.
RELATIVE = 1e-5
ABSOLUTE = 1e-8
TUPLES = 2
"""Number of levels on which a tuple counts as a list: the result, and its items."""


def apps_legacy_output(expected: str, got: str) -> Difference | None:
    """Compare a program's output by APPS' checks (`eval/testing_util.py`).

    The output is cut into lines at every line end that Unicode knows, the expected text at
    newlines, its empty lines dropped and the rest stripped. The output is right if one of these
    holds:

    1. the output, stripped as a whole, is the expected text, stripped as a whole;
    2. the same with every line of the output stripped too;
    3. the lines of the output, as they are, are the expected lines;
    4. the same without the output's empty lines;
    5. each of these lines is one float, each close to the expected one: no further from it than
    1e-8 + 1e-5 of it (infinities are close when equal, NaN never is);
    6. the set of lines is the same, a line being the set of its tokens (lines of the output without
    tokens dropped);
    7. the same with every token read as a float and rounded to 3 decimals.

    Known to be wrongly accepted: lines in another order; repeated lines left out or added (one line
    `5` for three); the tokens of a line in another order; repeated tokens of a line left out or
    added; integers beyond a double's 53 bits (10^17 + 1 for 10^17); on lines of one number, 1000005
    for 1000000; anywhere, floats of the same three decimals (0.1231 for 0.1234, 0.0001 for 0.0004).
    The rule exists to reproduce published scores; `tokens` and `lcb` accept none of these.

    Two things differ from upstream: an output that is the expected text is right even where the two
    ways of cutting lines disagree (a form feed in the text); and an output that is more than 32
    times as long, and a megabyte, is wrong, whatever it repeats.
    """
    if expected.strip() == got.strip():
        return None
    if len(got) <= longest_right(expected) and _climbs(expected, _with_plain_line_ends(got)):
        return None
    unequal = first_unequal_line(expected, got, never)
    return unequal or difference("white space", expected, got)


def _with_plain_line_ends(text: str) -> str:
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text.removesuffix("\n")


def _climbs(expected: str, printed: str) -> bool:
    """Return whether a check holds; no more of a long output is split than can matter."""
    wanted = [line.strip() for line in expected.split("\n") if line]
    if _same_text(expected.strip(), printed.strip()):
        return True
    if printed.split("\n", len(wanted)) == wanted:
        return True
    lines = [line[0] for line in islice(_LINE.finditer(printed), len(wanted) + 1)]
    return (
        lines == wanted
        or _all_close(lines, wanted)
        or _same_token_sets(printed, wanted, str)
        or _same_token_sets(printed, wanted, _rounded)
    )


def _same_text(wanted: str, printed: str) -> bool:
    if wanted == printed:
        return True
    if wanted.count("\n") != printed.count("\n"):
        return False
    return "\n".join(line.strip() for line in printed.split("\n")) == wanted


def _all_close(printed: list[str], wanted: list[str]) -> bool:
    if len(printed) != len(wanted):
        return False
    try:
        return all(
            _close(float(left), float(right)) for left, right in zip(printed, wanted, strict=True)
        )
    except ValueError:
        return False


def _close(number: float, wanted: float) -> bool:
    """Compare as numpy's `isclose`: the tolerance is that of the expected number."""
    if number == wanted:
        return True
    return math.isfinite(wanted) and abs(number - wanted) <= ABSOLUTE + RELATIVE * abs(wanted)


def _rounded(token: str) -> float:
    return round(float(token), 3)


def _same_token_sets(printed: str, wanted: list[str], read: Callable[[str], object]) -> bool:
    """Return whether the lines, as sets of tokens, form the same set.

    Only expected values are kept in sets: a solution can print numbers whose hashes collide, and a
    set of them would take quadratic time.
    """
    try:
        rows = {frozenset(map(read, line.split())) for line in wanted}
        tokens = frozenset[object]().union(*rows)
        seen: set[frozenset[object]] = set()
        values: set[object] = set()
        for piece in _TOKEN_OR_END.finditer(f"{printed.strip()}\n"):
            text = piece[0]
            if text[0] != "\n":
                value = read(text)
                if value not in tokens:
                    return False
                values.add(value)
                continue
            row = frozenset(values)
            if row not in rows:
                return False
            seen.add(row)
            values.clear()
    except ValueError:  # a token that is not a float
        return False
    return seen == rows


def apps_legacy_value(expected: str, got: str) -> Difference | None:
    """Compare a function's result by APPS' checks (`eval/testing_util.py`).

    The result is right when it equals the expected value, or, where that is a non-empty list, its
    first item: upstream's outputs are mostly wrapped in a list of one. The expected value is not
    unwrapped here. Once a reader has unwrapped the outputs of a problem, returning the first item
    of the unwrapped list is accepted too, and returning the wrapped value is not.

    A mapping, as the expected value or as the first item of an expected list, stands for a list of
    just that mapping, with integers for keys, when all its keys can be read as integers.

    A tuple is a list, and so are the tuples among its items; no other sequence or iterable is.
    Upstream accepts tuples among the items only when comparing with the first item, which is the
    expected value itself once a reader has unwrapped it. A key that is an integer's text is
    accepted here and not there, because the sandbox writes integer keys so for such problems.
    Upstream also reads a string beside tuples as a list of characters; that is not repeated here.

    Known to be wrongly accepted: the first item in place of the list; any list whose expected first
    item is a mapping from integers, when the result has just that mapping.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
    """
    return compare_json(expected, got, _compare)


def _compare(wanted: Any, tagged: Any) -> Difference | None:
    first = wanted[0] if isinstance(wanted, list) and wanted else wanted
    mapping = _with_integer_keys(first)
    if mapping is not None:
        right = _is_mapping(mapping, tagged) or _is_mapping(mapping, _only_item(tagged))
        return None if right else value_difference("", wanted, tagged)
    unequal = first_unequal(wanted, tagged, same_scalar, TUPLES)
    if unequal and first is not wanted:
        return first_unequal(first, tagged, same_scalar, TUPLES) and unequal
    return unequal


def _with_integer_keys(wanted: Any) -> dict[int, Any] | None:
    """Return a mapping's keys as integers; None if it is not a mapping, or one is no integer."""
    if not isinstance(wanted, dict):
        return None
    try:
        return {int(key): value for key, value in wanted.items()}
    except ValueError:
        return None


def _integer(key: Any) -> Any:
    """Return a key as an integer if possible; the codec `int_keys` writes integers as strings."""
    try:
        return int(key) if isinstance(key, str) else key
    except ValueError:
        return key


def _only_item(tagged: Any) -> Any:
    match unfold(tagged, tuples=True):
        case [item]:
            return item
        case _:
            return None


def _is_mapping(wanted: dict[int, Any], tagged: Any) -> bool:
    """Return whether a result maps the same numbers to equal values."""
    match tagged:
        case {"d": list(pairs)} if len(pairs) == len(wanted):
            items = [(_integer(unfold(key, tuples=False)), value) for key, value in pairs]
        case _:
            return False
    seen: set[int | float] = set()
    for key, value in items:
        if not isinstance(key, int | float) or key not in wanted:
            return False
        if first_unequal(wanted[int(key)], value, same_scalar, TUPLES) is not None:
            return False
        seen.add(key)
    return len(seen) == len(wanted)


APPS_LEGACY = ComparisonRule(apps_legacy_output, apps_legacy_value, of_bytes(apps_legacy_output))
