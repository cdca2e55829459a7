"""Tables by hand: which columns leave a narrow window, and how cells are cut."""

import io

from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from harness.terminal.columns import Cell, Column, ColumnGrid, fit
from harness.terminal.terminal_text import fitted

COLUMNS = (
    Column("#", right=True),
    Column("name", least=6),
    Column("first to go", leaves=1),
    Column("figure", right=True, leaves=2),
)


@for_each(
    ("width", "kept"),
    [(80, [0, 1, 2, 3]), (40, [0, 1, 2, 3]), (30, [0, 1, 3]), (20, [0, 1]), (3, [0, 1])],
)
def test_columns_leave_in_their_order(width: int, kept: list[int]) -> None:
    assert [place for place, _ in fit(COLUMNS, [2, 20, 11, 6], width)] == kept


def test_the_elastic_column_is_cut_before_any_is_left_out() -> None:
    assert dict(fit(COLUMNS, [2, 20, 11, 6], 52)) == {0: 2, 1: 20, 2: 11, 3: 6}
    assert dict(fit(COLUMNS, [2, 20, 11, 6], 45)) == {0: 2, 1: 13, 2: 11, 3: 6}


@given(st.text(max_size=30), st.integers(1, 20), st.booleans())
def test_a_cell_takes_exactly_its_width(text: str, width: int, right: bool) -> None:
    cut = fitted("".join(filter(str.isprintable, text)), width, right=right)
    assert cell_len(cut) == width


def test_what_is_cut_off_leaves_a_mark() -> None:
    assert fitted("longest-calm", 8) == "longest…"
    assert fitted("日本語の問題", 8) == "日本語 …"
    assert fitted("12", 4, right=True) == "  12"


def test_a_terminal_without_box_characters_gets_plain_ones() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=file, width=40, force_terminal=True, color_system=None)
    console.print(ColumnGrid(COLUMNS[:2], [[Cell("1"), Cell("a")]]))
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    assert file.buffer.getvalue().decode("ascii").splitlines() == [
        "+---+------+",
        "| # | name |",
        "+---+------+",
        "| 1 | a    |",
        "+---+------+",
    ]
