"""The rule by tokens, floats within a tolerance, as tables and as properties."""

import json
import math
import time
from decimal import Decimal
from typing import Any

import pytest
from for_each import for_each
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.grading.rules import RULES
from harness.grading.rules.tokens import tokens_output, tokens_value
from harness.sandbox.inside import values

SAME = {
    "equal": ("1 2\n3\n", "1 2\n3\n"),
    "empty": ("", ""),
    "blank and empty": ("", " \n\t\n"),
    "white space of every kind": ("a b\nc", "\r\n a\t\tb \x0b c\u2003"),
    "another line structure": ("1 2\n3", "1\n2 3"),
    "a float and itself": ("nan inf -Infinity", "nan inf -Infinity"),
    "a float less precise": ("0.333333333", "0.3333333"),
    "an absolute error of 1e-6": ("0.1", "0.100001"),
    "an absolute error of 1e-6, below": ("0.1", "0.099999"),
    "an absolute error near zero": ("0.0", "-1e-6"),
    "a relative error": ("1000000.0", "1000001"),
    "a relative error of a large number": ("1e300", "1000000.9e294"),
    "beyond every double": ("1e400", "1.0000001e400"),
    "below every double": ("1e-400", "0"),
    "an integer for a float": ("2.0", "2"),
    "a float for a float that is integral": ("1e2", "100.0"),
    "a point at the end": ("2.", "2"),
    "a point at the start": (".5", "0.5"),
    "signs": ("+1.0 -1.0", "1 -1"),
    "minus zero": ("0.0", "-0"),
    "a capital exponent": ("1E2", "100"),
    "leading zeros": ("7.0", "007"),
    "floats among words": ("Case #1: 0.50", "Case #1: 0.5"),
    "exponents of 18 digits": ("1e999999999999999999", "1.0000001E+999999999999999999"),
}

DIFFERENT = {
    "another word": ("YES", "NO", "line 1, token 1", "YES", "NO"),
    "another case": ("Yes", "YES", "line 1, token 1", "Yes", "YES"),
    "an integer": ("1 2\n3 4 5", "1 2\n3 7 5", "line 2, token 2", "4", "7"),
    "an integer by little": ("1000000", "1000001", "line 1, token 1", "1000000", "1000001"),
    "beyond a double's digits": ("100000000000000000", "100000000000000001", "line 1, token 1",
                                 "100000000000000000", "100000000000000001"),
    "a float for an integer": ("1", "1.0", "line 1, token 1", "1", "1.0"),
    "an exponent for an integer": ("100", "1e2", "line 1, token 1", "100", "1e2"),
    "leading zeros of an integer": ("7", "007", "line 1, token 1", "7", "007"),
    "a float too far": ("0.5", "0.5000011", "line 1, token 1", "0.5", "0.5000011"),
    "a float too far below": ("0.5", "0.4999989", "line 1, token 1", "0.5", "0.4999989"),
    "a large float too far": ("1e9", "1000001001", "line 1, token 1", "1e9", "1000001001"),
    "the other sign": ("0.5", "-0.5", "line 1, token 1", "0.5", "-0.5"),
    "beyond every double": ("1e400", "1e500", "line 1, token 1", "1e400", "1e500"),
    "infinity for a large float": ("1e400", "inf", "line 1, token 1", "1e400", "inf"),
    "infinity in other words": ("inf", "Infinity", "line 1, token 1", "inf", "Infinity"),
    "NaN in other words": ("nan", "NaN", "line 1, token 1", "nan", "NaN"),
    "NaN for a float": ("0.5", "nan", "line 1, token 1", "0.5", "nan"),
    "a signalling NaN": ("0.5", "sNaN", "line 1, token 1", "0.5", "sNaN"),
    "underscores": ("1000.0", "1_000", "line 1, token 1", "1000.0", "1_000"),
    "digits of another script": ("1.5", "\u0661.5", "line 1, token 1", "1.5", "\u0661.5"),
    "hexadecimal": ("1.0", "0x1", "line 1, token 1", "1.0", "0x1"),
    "a point alone": ("0.0", ".", "line 1, token 1", "0.0", "."),
    "an exponent alone": ("0.0", "e5", "line 1, token 1", "0.0", "e5"),
    "a NUL": ("1.0", "1.0\0", "line 1, token 1", "1.0", "1.0\0"),
    "a float in a word": ("x=1.0", "x=1", "line 1, token 1", "x=1.0", "x=1"),
    "an exponent no decimal holds": ("1.0", "1e-99999999999999999999", "line 1, token 1",
                                     "1.0", "1e-99999999999999999999"),
    "nothing printed": (
        "\n1 2", "", "line 2, token 1 (2 tokens expected, 0 printed)", "1", ""
    ),
    "nothing expected": (
        "", "\n 1", "line 2, token 1 (0 tokens expected, 1 printed)", "", "1"
    ),
    "a token too few": (
        "1 2\n3", "1 2\n", "line 2, token 1 (3 tokens expected, 2 printed)", "3", ""
    ),
    "a token too many": (
        "1", "1\n2 3\n", "line 2, token 1 (1 token expected, 3 printed)", "", "2"
    ),
    "too many, and an early one wrong": (
        "1 2", "1 3 4", "line 1, token 2 (2 tokens expected, 3 printed)", "2", "3"
    ),
    "another line structure": (
        "1\n2\n3 4", "1 2 3 5", "line 3, token 2 (printed on line 1, token 4)", "4", "5"
    ),
    "another line structure and count": (
        "1\n2", "1 3 4",
        "line 2, token 1 (printed on line 1, token 2; 2 tokens expected, 3 printed)", "2", "3",
    ),
    "bytes that are not UTF-8": ("a", "a\udcff", "line 1, token 1", "a", "a\\udcff"),
}  # fmt: skip


@for_each(("expected", "printed"), SAME.values(), ids=SAME)
def test_tokens_output_accepts_right_output(expected: str, printed: str) -> None:
    assert tokens_output(expected, printed) is None


@for_each(("expected", "printed", "where", "left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_tokens_output_rejects_wrong_output(
    expected: str, printed: str, where: str, left: str, right: str
) -> None:
    difference = tokens_output(expected, printed)
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)


def test_the_rules_are_known_by_their_name() -> None:
    assert RULES["tokens"][:2] == (tokens_output, tokens_value)


texts = st.text(st.characters())
lines = st.text(st.sampled_from("ab 0123.eE+-_\t\r\n"))
words = st.lists(st.text(st.sampled_from("ab01.e-"), min_size=1), max_size=8)
spaces = st.text(st.sampled_from(" \t\r\n\x0b\x1c\u2028"), min_size=1, max_size=3)
finite = st.decimals(allow_nan=False, allow_infinity=False, places=None)


@given(texts | lines)
def test_every_text_is_right_for_itself(text: str) -> None:
    assert tokens_output(text, text) is None


@given(texts | lines, texts | lines)
def test_tokens_output_takes_any_text(expected: str, printed: str) -> None:
    difference = tokens_output(expected, printed)
    if difference is not None:
        assert difference.model_dump_json()  # it can be written
        assert difference.where.startswith("line ")


@given(words, words, st.data())
def test_white_space_never_matters(left: list[str], right: list[str], data: st.DataObject) -> None:
    def spread(tokens: list[str]) -> str:
        return "".join(token + data.draw(spaces) for token in tokens)

    plain = tokens_output(" ".join(left), " ".join(right))
    other = tokens_output(spread(left), data.draw(spaces) + spread(right))
    assert (plain is None) is (other is None)
    if plain is not None and other is not None:
        assert (plain.expected, plain.got) == (other.expected, other.got)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-3e-6, 3e-6))
def test_the_tolerance_is_the_same_on_both_sides(number: float, error: float) -> None:
    exact, off = Decimal(number), Decimal(error) * max(1, abs(Decimal(number)))
    assume(abs(abs(Decimal(error)) - Decimal("1e-6")) > Decimal("1e-11"))
    wanted, above, below = (f"{value:e}" for value in (exact, exact + off, exact - off))
    assert (tokens_output(wanted, above) is None) is (abs(error) < 1e-6)
    assert (tokens_output(wanted, below) is None) is (abs(error) < 1e-6)


@given(finite, finite)
def test_two_floats_are_as_close_as_they_are_the_other_way_round(a: Decimal, b: Decimal) -> None:
    left, right = f"{a:e}", f"{b:e}"
    assume("e" in left and "e" in right)
    assert (tokens_output(left, right) is None) is (tokens_output(right, left) is None)
    assert (tokens_output(left, right) is None) is (
        tokens_output(_negated(left), _negated(right)) is None
    )


def _negated(number: str) -> str:
    return number[1:] if number.startswith("-") else f"-{number}"


@given(st.integers(), st.integers() | finite)
def test_integers_have_no_tolerance(wanted: int, printed: int | Decimal) -> None:
    right = tokens_output(str(wanted), str(printed)) is None
    assert right is (str(wanted) == str(printed))


@given(st.lists(st.integers(), min_size=1, max_size=30), st.data())
def test_the_token_that_differs_is_named(numbers: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(numbers) - 1))
    width = data.draw(st.integers(1, 5))
    other = [*numbers]
    other[index] += 1

    def rows(items: list[int]) -> str:
        return "\n".join(
            " ".join(map(str, items[at : at + width])) for at in range(0, len(items), width)
        )

    difference = tokens_output(rows(numbers), rows(other))
    assert difference is not None
    assert difference.where == f"line {index // width + 1}, token {index % width + 1}"
    assert (difference.expected, difference.got) == (str(numbers[index]), str(other[index]))


HUGE = {
    "a long number": ("0.5", "0.5" + "0" * 10**8, True),
    "a long integer": ("0.5", "9" * 10**7, False),
    "long numbers": ("9" * 10**7 + ".0", "9" * 10**7, True),
    "long numbers, early digits wrong": ("9" * 10**7 + ".0", "8" * 10**7, False),
    "a long number that is none": ("0.5", "1" * 10**7 + "x", False),
    "a long expected integer": ("1" * 10**7, "1" * (10**7 - 1) + "2", False),
    "a long exponent": ("0.5", "1e" + "9" * 10**7, False),
    "a large exponent": ("0.5", "1e999999999", False),
    "exponents far apart": ("1e999999999999999999", "1e-999999999999999999", False),
    "floats": ("0.5 " * 10**5, "0.5000001\n" * 10**5, True),
    "tokens beyond those expected": ("1 2", "1 " * 10**7, False),
    "tokens cut everywhere": ("1 2", "12 3456 " * 10**6, False),
    "brackets": ("1", "[" * 10**7, False),
    "blanks": ("1", " \n" * 10**7, False),
    "lines": ("1\n" * 10**6 + "2.5", "1\n" * 10**6 + "2.6", False),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("expected", "printed", "right"), HUGE.values(), ids=HUGE)
def test_tokens_output_compares_huge_outputs_in_bounded_time(
    expected: str, printed: str, right: bool
) -> None:
    start = time.process_time()
    difference = tokens_output(expected, printed)
    assert (difference is None) is right
    assert time.process_time() - start < 10
    if difference is not None:
        assert len(difference.model_dump_json()) < 2_000


def test_tokens_are_counted_across_the_slices_they_are_counted_in() -> None:
    printed = "12 345\n" * 500_000
    difference = tokens_output("12", printed)
    assert difference is not None
    assert difference.where == "line 1, token 2 (1 token expected, 1000000 printed)"


VALUES_SAME = {
    "a float within the tolerance": ("0.3", 0.1 + 0.2),
    "an absolute error": ("0.1", 0.100001),
    "a relative error": ("1000000.0", 1000001.0),
    "an integer for a float": ("1e6", 1000001),
    "a long integer for a float": ("1e20", 10**20 + 10**13),
    "a float for an integer": ("6", 6.0),
    "tuples at any depth": ("[1, [2.0, []]]", (1, (2.0000001, ()))),
    "floats in a mapping": ('{"a": [0.5]}', {"a": (0.5000001,)}),
    "infinity": ("Infinity", float("inf")),
    "true is 1": ("1.0", True),
}

VALUES_DIFFERENT = {
    "a float too far": ("[0.5, 0.5]", [0.5, 0.51], "[1]", "0.5", "0.51"),
    "an integer by little": ("1000000000", 1000000001, "", "1000000000", "1000000001"),
    "a float near an integer": ("1", 1.0000001, "", "1", "1.0000001"),
    "NaN": ("NaN", float("nan"), "", "NaN", "NaN"),
    "NaN for a float": ("1.0", float("nan"), "", "1.0", "NaN"),
    "infinity for a large float": ("1e308", float("inf"), "", "1e+308", "Infinity"),
    "a float for infinity": ("Infinity", 1e308, "", "Infinity", "1e+308"),
    "the other infinity": ("Infinity", float("-inf"), "", "Infinity", "-Infinity"),
    "a string for a float": ("0.5", "0.5", "", "0.5", '"0.5"'),
    "true for almost 1": ("1.0000001", True, "", "1.0000001", "true"),
    "an integer beyond every float": ("1e308", 2**20_000, "", "1e+308", hex(2**20_000)[:160] + "…"),
    "a generator": ("[0.5]", iter([0.5]), "", "[0.5]", "list_iterator([0.5])"),
    "a list too short": ("[0.5, 0.5]", [0.5], ": length", "2", "1"),
    "an item deep down": ('[{"a": 0.5}]', [{"a": 0.6}], "[0]['a']", "0.5", "0.6"),
}


def written(value: Any) -> str:
    return values.encode(value, "json", [], []).decode()


@for_each(("expected", "returned"), VALUES_SAME.values(), ids=VALUES_SAME)
def test_tokens_value_accepts_right_values(expected: str, returned: object) -> None:
    assert tokens_value(expected, written(returned)) is None


@for_each(
    ("expected", "returned", "where", "left", "right"),
    VALUES_DIFFERENT.values(),
    ids=VALUES_DIFFERENT,
)
def test_tokens_value_rejects_wrong_values(
    expected: str, returned: object, where: str, left: str, right: str
) -> None:
    difference = tokens_value(expected, written(returned))
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)


@given(st.floats(), st.floats() | st.integers())
def test_a_value_is_close_when_its_text_is(wanted: float, returned: float) -> None:
    assume(math.isfinite(wanted))
    as_value = tokens_value(json.dumps(wanted), written(returned)) is None
    as_text = tokens_output(json.dumps(wanted), json.dumps(returned)) is None
    assert as_value is as_text


@given(st.text(st.characters()), st.text(st.characters()))
def test_tokens_value_takes_any_value(expected: str, result: str) -> None:
    for wanted in (expected, "1.5", json.dumps([expected])):
        difference = tokens_value(wanted, result)
        assert difference is None or difference.model_dump_json()


HUGE_VALUES = {
    "brackets on both sides": ("[" * 10**7 + "]" * 10**7, "[" * 10**7 + "]" * 10**7),
    "digits of a float": ("0.5", "0.6" + "1" * 10**6),
    "a long integer": ("0.5", '{"i":"0x' + "f" * 10**6 + '"}'),
    "floats": (json.dumps([0.5] * 10**5), json.dumps([0.5000001] * 10**5 + [1])),
}


@for_each(("expected", "got"), HUGE_VALUES.values(), ids=HUGE_VALUES)
def test_tokens_value_compares_huge_values_in_bounded_time(expected: str, got: str) -> None:
    start = time.process_time()
    difference = tokens_value(expected, got)
    assert time.process_time() - start < 10
    assert difference is not None
    assert len(difference.model_dump_json()) < 2_000
