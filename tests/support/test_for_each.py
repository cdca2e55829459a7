"""Tables whose rows one test runs: every row runs, and every row that fails is named."""

import inspect
from pathlib import Path

import pytest
from for_each import for_each


def test_every_row_runs_and_each_that_fails_is_named() -> None:
    ran: list[int] = []

    @for_each("number, double", [(1, 2), (2, 5), (3, 6), (4, 0)])
    def test(number: int, double: int) -> None:
        ran.append(number)
        assert number * 2 == double

    with pytest.raises(ExceptionGroup, match="2 of 4 rows failed") as caught:
        test()
    assert ran == [1, 2, 3, 4]
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in row 2, {'number': 2, 'double': 5}"],
        ["in row 4, {'number': 4, 'double': 0}"],
    ]


def test_an_only_error_is_raised_as_it_is() -> None:
    @for_each("text", ["1", "one"], ids=["a number", "a word"])
    def test(text: str) -> None:
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as caught:
        test()
    assert caught.value.__notes__ == ["in row 1, a number"]


def test_tables_can_be_combined() -> None:
    seen: list[str] = []

    @for_each("letter", "ab")
    @for_each("number", [1, 2])
    def test(letter: str, number: int) -> None:
        seen.append(f"{letter}{number}")

    test()
    assert seen == ["a1", "a2", "b1", "b2"]


def test_a_table_needs_rows() -> None:
    with pytest.raises(ValueError, match="no rows of number"):
        for_each("number", [])


class TestFixtures:
    @for_each("number", [1, 2])
    async def test_a_coroutine_has_a_folder_for_each_row(self, tmp_path: Path, number: int) -> None:
        (tmp_path / str(number)).mkdir()
        assert len([*tmp_path.iterdir()]) == 1  # noqa: ASYNC240 - at once
        here = type(self).test_a_coroutine_has_a_folder_for_each_row
        assert [*inspect.signature(here).parameters] == ["self", "tmp_path"]
