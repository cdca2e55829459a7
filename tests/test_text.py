"""Foreign text on a terminal: shown, never obeyed."""

import unicodedata

from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.figures import count, dollars, p_value, p_words, percent
from harness.text import printable, printable_line

ESC, BEL = "\x1b", "\x07"


@for_each(
    ("hostile", "seen"),
    [
        (f"{ESC}[31mred{ESC}[0m", r"\x1b[31mred\x1b[0m"),
        (f"{ESC}[2J{ESC}[H", r"\x1b[2J\x1b[H"),
        (f"{ESC}]8;;http://evil{ESC}\\link", r"\x1b]8;;http://evil\x1b\link"),
        (f"{ESC}]0;title{BEL}", r"\x1b]0;title\x07"),
        ("wrong\rright", r"wrong\rright"),
        ("wrong\b\b\b\b\bright", r"wrong\x08\x08\x08\x08\x08right"),
        ("a\x00b\x7fc", r"a\x00b\x7fc"),
        ("\x9b31m\x85\x90", r"\x9b31m\x85\x90"),
        ("\x0b\x0c", r"\x0b\x0c"),
        ("a\u202eb\u2066c\u200fd\u061ce", r"a\u202eb\u2066c\u200fd\u061ce"),
        ("a\u200bb\u2060c\ufeffd\u00ade", r"a\u200bb\u2060c\ufeffd\xade"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),
        ("\ue000\U000e0041\U0010ffff", r"\ue000\U000e0041\U0010ffff"),
    ],
)
def test_what_a_terminal_would_act_on_is_spelled_out(hostile: str, seen: str) -> None:
    assert printable(hostile) == seen


@for_each(
    "text",
    [
        "",
        "plain ASCII ~ \\ {}",
        "tabs\tand\nlines\n",
        "Straße, naïve, Ωμέγα, Привет, שלום, مرحبا, हिन्दी, 日本語, 한국어",
        "e\u0301 combining, \u00a0 and \u3000 spaces",
        "😀 ≤ ∑ → “quotes” — dashes … €",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@given(st.text())
def test_no_text_holds_a_control_character_afterwards(text: str) -> None:
    seen = printable(text)
    bad = {letter for letter in seen if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co"}}
    assert bad <= {"\n", "\t"}
    assert printable(seen) == seen
    assert "\n" not in printable_line(text)


def test_a_line_stays_one() -> None:
    assert printable_line("one\ntwo\r\nthree\t!") == r"one\ntwo\r\nthree	!"


def test_numbers_are_written_as_people_write_them() -> None:
    assert percent(2 / 3) == "66.7 %"
    assert [count(0, "run"), count(1, "run"), count(1_234, "run")] == [
        "0 runs",
        "1 run",
        "1,234 runs",
    ]
    assert count(2, "entry", "entries") == "2 entries"
    assert [dollars(None), dollars(0.0), dollars(0.01234), dollars(1_234.5)] == [
        *("unknown", "$0.0000", "$0.0123", "$1,234.50")
    ]


@for_each(
    ("value", "alone", "after_p"),
    [(1.0, "1", "= 1"), (0.01562, "0.016", "= 0.016"), (0.0009, "< 0.001", "< 0.001")],
)
def test_a_p_value_has_two_digits_or_is_below_a_thousandth(
    value: float, alone: str, after_p: str
) -> None:
    assert (p_value(value), p_words(value)) == (alone, after_p)
