import re

from hypothesis import given
from hypothesis import strategies as st

from harness.excerpts import around, shorten
from harness.text import writable

texts = st.text(st.characters(), max_size=400)


@given(texts, st.integers(min_value=60, max_value=300))
def test_a_shortened_text_is_as_long_as_allowed_and_counts_what_it_lacks(
    text: str, most: int
) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    if len(text) <= most:
        assert short == text
        return
    note = re.search(r" … (\d+) characters left out … ", short)
    assert note is not None
    head, tail = short[: note.start()], short[note.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) + int(note[1]) == len(text)


def test_a_text_that_just_fits_stays_whole() -> None:
    assert shorten("x" * 100, 100) == "x" * 100
    assert shorten("x" * 101, 100) != "x" * 101


def test_a_shortened_text_keeps_most_of_the_room_for_the_text() -> None:
    short = shorten("ab" * 10_000, 1_500)
    assert len(short) > 1_490
    assert len(short.partition(" … ")[0]) > len(short.rpartition(" … ")[2]) > 400


@given(st.integers(min_value=2_000, max_value=50_000), st.integers(min_value=100, max_value=1_400))
def test_an_excerpt_of_an_excerpt_counts_all_that_is_left_out(length: int, most: int) -> None:
    twice = shorten(shorten("x" * length, 1_500), most)
    (note,) = re.findall(r" … (\d+) characters left out … ", twice)
    assert twice.count("x") + int(note) == length


def test_no_room_for_a_text_leaves_the_note() -> None:
    assert shorten("x" * 100, 5) == " … 100 characters left out … "


@given(texts, st.integers(min_value=0, max_value=400), st.integers(min_value=3, max_value=100))
def test_an_excerpt_around_a_position_holds_it(text: str, position: int, most: int) -> None:
    position = min(position, max(0, len(text) - 1))
    piece = around(text, position, most)
    assert len(piece.strip("…")) <= most + 2
    assert piece.removeprefix("…").removesuffix("…") in text
    if text:
        assert text[position] in piece


@given(texts)
def test_an_excerpt_can_be_written_as_utf_8(text: str) -> None:
    written = writable(text).encode()
    assert text.isascii() is written.isascii() or not text.isascii()


def test_only_surrogates_are_escaped() -> None:
    assert writable("é\n😀\udc80\ud800") == "é\n😀\\udc80\\ud800"
