"""LiveCodeBench's rule for what a program prints, as a table and as properties."""

import time
from decimal import Decimal

from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.rules import RULES
from harness.grading.rules.lcb import lcb_output

SAME = {
    "equal": ("1 2\n3\n", "1 2\n3\n"),
    "empty": ("", ""),
    "blank and empty": ("", " \n\t\n"),
    "no last newline": ("1\n", "1"),
    "blank lines at the ends": ("1\n2", "\n\n1\n2\n\n"),
    "space around lines": ("a b\nc", "  a b  \n\tc "),
    "carriage returns": ("1\n2\n", "1\r\n2\r\n"),
    "space between numbers": ("1 2 3", "1  2\t3"),
    "an integral decimal": ("1", "1.0"),
    "an exponent": ("100", "1e2"),
    "leading zeros": ("7", "007"),
    "a sign": ("7", "+7"),
    "minus zero": ("0", "-0.0"),
    "infinities": ("Infinity -inf", "inf -Infinity"),
    "long decimals": ("0." + "1" * 1000, "0." + "1" * 1000 + "000"),
    "mixed lines": ("word\n1.50", "word\n1.5"),
}

DIFFERENT = {
    "another word": ("YES", "NO", "line 1, column 1", "YES", "NO"),
    "another case": ("Yes", "YES", "line 1, column 2", "Yes", "YES"),
    "nothing printed": ("1", "", "line 1, column 1", "1", ""),
    "nothing expected": ("", "1", "line 1, column 1", "", "1"),
    "a later line": ("1\n2\n3", "1\n2\n4", "line 3, column 1", "3", "4"),
    "a later column": ("ab\ncd ef", "ab\ncd eg", "line 2, column 5", "cd ef", "cd eg"),
    "an indented line": ("ab\n  cd", "ab\nce", "line 2, column 2", "cd", "ce"),
    "space between words": ("a b", "a  b", "line 1, column 3", "a b", "a  b"),
    "numbers in another order": ("1 2", "2 1", "line 1, column 1", "1 2", "2 1"),
    "a number more": ("1 2", "1 2 3", "line 1, column 4", "1 2", "1 2 3"),
    "a rounded number": ("0.3333333", "0.3333334", "line 1, column 9", "0.3333333", "0.3333334"),
    "a digit far behind": ("1.00000000000000000000001", "1", "line 1, column 2",
                           "1.00000000000000000000001", "1"),
    "beyond a float's digits": ("100000000000000001", "100000000000000000", "line 1, column 18",
                                "100000000000000001", "100000000000000000"),
    "NaN": ("NaN", "nan", "line 1, column 1", "NaN", "nan"),
    "a signalling NaN": ("sNaN", "snan", "line 1, column 2", "sNaN", "snan"),
    "a NaN among numbers": ("1 NaN", "1.0 NaN", "line 1, column 2", "1 NaN", "1.0 NaN"),
    "a number and a word": ("1 a", "1.0 a", "line 1, column 2", "1 a", "1.0 a"),
    "a line too few": (
        "1\n2\n3", "1\n2", "line 3, column 1 (3 lines expected, 2 printed)", "3", ""
    ),
    "a line too many": (
        "1\n2", "1\n2\n3\n4", "line 3, column 1 (2 lines expected, 4 printed)", "", "3"
    ),
    "one line for two": (
        "1\n2", "1 2", "line 1, column 2 (2 lines expected, 1 printed)", "1", "1 2"
    ),
    "two lines for one": (
        "1 2", "1\n2", "line 1, column 2 (1 line expected, 2 printed)", "1 2", "1"
    ),
    "too many lines, and an early one wrong": (
        "1\n2", "1\n5\n3", "line 2, column 1 (2 lines expected, 3 printed)", "2", "5"
    ),
    "too many lines, told apart by space": (
        "1 \n2", "1\n2.0\n3", "line 3, column 1 (2 lines expected, 3 printed)", "", "3"
    ),
    "a blank line within": (
        "1\n2", "1\n\n2", "line 2, column 1 (2 lines expected, 3 printed)", "2", ""
    ),
    "bytes that are not UTF-8": ("a", "a\udcff", "line 1, column 2", "a", "a\\udcff"),
}  # fmt: skip


@for_each(("expected", "printed"), SAME.values(), ids=SAME)
def test_lcb_output_accepts_right_output(expected: str, printed: str) -> None:
    assert lcb_output(expected, printed) is None
    assert lcb_output(printed, expected) is None


@for_each(("expected", "printed", "where", "left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_lcb_output_rejects_wrong_output(
    expected: str, printed: str, where: str, left: str, right: str
) -> None:
    difference = lcb_output(expected, printed)
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)


def test_the_rule_is_known_by_its_name() -> None:
    assert RULES["lcb"].output is lcb_output


texts = st.text(st.characters())
lines = st.text(st.sampled_from("ab 0123.eE+-_\t\r\n"))


@given(texts)
def test_every_text_is_right_for_itself(text: str) -> None:
    assert lcb_output(text, text) is None


@given(texts | lines, texts | lines)
def test_lcb_output_takes_any_text(expected: str, printed: str) -> None:
    difference = lcb_output(expected, printed)
    if difference is not None:
        assert difference.model_dump_json()  # it can be written
        assert "line " in difference.where


@given(lines, lines)
def test_the_order_of_the_two_does_not_matter(expected: str, printed: str) -> None:
    assert (lcb_output(expected, printed) is None) is (lcb_output(printed, expected) is None)


def oracle(expected: str, printed: str) -> bool:
    """The rule, as plainly as it can be said."""
    wanted = [line.strip() for line in expected.strip().split("\n")]
    given = [line.strip() for line in printed.strip().split("\n")]

    def numbers(line: str) -> list[Decimal] | None:
        try:
            return [Decimal(token) for token in line.split()]
        except ArithmeticError:
            return None

    def equal(left: str, right: str) -> bool:
        if left == right:
            return True
        a, b = numbers(left), numbers(right)
        if a is None or b is None or any(x.is_nan() for x in a + b):
            return False
        return a == b

    return len(wanted) == len(given) and all(map(equal, wanted, given))


@given(lines, lines)
def test_lcb_output_agrees_with_its_description(expected: str, printed: str) -> None:
    assert (lcb_output(expected, printed) is None) is oracle(expected, printed)


numbers = st.decimals(allow_nan=False, allow_infinity=False, places=None)
spaced = st.lists(numbers, min_size=1, max_size=5)


@given(spaced, st.data())
def test_numbers_are_right_however_they_are_written(
    values: list[Decimal], data: st.DataObject
) -> None:
    written = " ".join(map(str, values))
    other = data.draw(st.sampled_from([" ", "  ", "\t"])).join(
        data.draw(
            st.sampled_from(
                [
                    f"{value:e}",
                    f"{value:E}",
                    str(value),
                    f"+{value}" if value >= 0 and not value.is_signed() else str(value),
                ]
            )
        )
        for value in values
    )
    assert lcb_output(written, other) is None


@given(spaced)
def test_numbers_that_differ_are_wrong_by_however_little(values: list[Decimal]) -> None:
    written = " ".join(map(str, values))
    sign, digits, exponent = values[-1].as_tuple()
    assert isinstance(exponent, int)
    off = Decimal((sign, (*digits, 1), exponent - 1))
    assert lcb_output(written, " ".join(map(str, [*values[:-1], off]))) is not None


@given(st.lists(st.text(st.sampled_from("abc01 .")), min_size=1), st.data())
def test_space_around_lines_never_matters(rows: list[str], data: st.DataObject) -> None:
    space = st.text(st.sampled_from(" \t\r"), max_size=3)
    padded = "\n".join(data.draw(space) + row + data.draw(space) for row in rows)
    assert lcb_output("\n".join(rows), padded) is None


@given(st.lists(st.integers(), min_size=2, max_size=30), st.data())
def test_the_line_that_differs_is_named(values: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(values) - 1))
    other = [*values]
    other[index] += 1
    difference = lcb_output("\n".join(map(str, values)), "\n".join(map(str, other)))
    assert difference is not None
    assert difference.where.startswith(f"line {index + 1}, ")
    assert (difference.expected, difference.got) == (str(values[index]), str(other[index]))


HUGE = {
    "long numbers": ("9" * 10**6, "9" * 10**6 + ".0", True),
    "long numbers, the last digit wrong": ("9" * 10**6, "9" * (10**6 - 1) + "8", False),
    "many numbers": ("1 " * 10**5, "1.0 " * 10**5, True),
    "exponents": ("1e999999999999999999", "1", False),
    "negative exponents": ("1e-999999999999999999", "0", False),
    "exponents beyond a decimal": ("1e99999999999999999999", "1", False),
    "brackets": ("1", "[" * 10**7, False),
    "lines beyond those expected": ("1\n2", "1\n" * 10**6, False),
    "a long line and a short one": ("x" * 10**7, "x" * 10**7 + "y", False),
}


@for_each(("expected", "printed", "right"), HUGE.values(), ids=HUGE)
def test_lcb_output_compares_huge_outputs_in_bounded_time(
    expected: str, printed: str, right: bool
) -> None:
    start = time.process_time()
    difference = lcb_output(expected, printed)
    assert (difference is None) is right
    assert time.process_time() - start < 10
    if difference is not None:
        assert len(difference.model_dump_json()) < 2_000
