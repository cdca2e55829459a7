"""Hidden tests stay in their file, and are those of the row that was loaded."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import DataError
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.files.deferred import deferred
from harness.sources.files.lines import JsonLines, Line

Load = Callable[[], tuple[TestCase, ...]]


def read(line: Line) -> Problem:
    """A row is an id, a hash and a test, one letter each."""
    text = line.text().decode()
    if len(text) != 3:
        raise DataError(line.where, None, "not three letters")
    test = TestCase(input=text[2], output="", public=False)
    return Problem(
        id=text[0],
        source="",
        title="",
        statement="",
        platform="",
        difficulty=None,
        difficulty_word="",
        tests=TestSuite((), lambda: (test,)),
        load_references=lambda: (Reference(code=text[2]), Reference(code="", language="java")),
        content_hash=text[1],
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.write_text("axX\n\nbyY\n")
    return path


def problems(path: Path) -> list[Problem]:
    return [deferred(read(line), line, read) for line in JsonLines(path)]


def loaders(path: Path) -> list[Load]:
    return [problem.tests.load_hidden for problem in problems(path)]


def test_references_are_found_likewise(path: Path) -> None:
    assert [problem.programs() for problem in problems(path)] == [("X",), ("Y",)]
    assert problems(path)[0].load_references()[1].language == "java"


def test_each_row_finds_its_own_as_often_as_asked(path: Path) -> None:
    first, second = loaders(path)
    assert [first()[0].input, second()[0].input, first()[0].input] == ["X", "Y", "X"]


def test_a_row_s_bytes_are_not_held(path: Path) -> None:
    (first, _) = loaders(path)
    path.write_text("axZ\n\nbyY\n")
    assert first()[0].input == "Z"


def test_hidden_tests_of_a_compressed_file_are_held_in_memory(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes()))
    first, second = loaders(path)
    path.unlink()
    assert [first()[0].input, second()[0].input] == ["X", "Y"]


@pytest.mark.parametrize(
    "text", ["cxX\n", "azX\n", "", "broken\n", "xaxX\n"], ids=["id", "hash", "", "row", "moved"]
)
def test_a_row_that_is_another_now_is_an_error(text: str, path: Path) -> None:
    first, _ = loaders(path)
    path.write_text(text)
    with pytest.raises(DataError, match=r"rows:1: no longer the row of 'a' that was loaded"):
        first()


def test_a_file_that_is_gone_is_an_error(path: Path) -> None:
    _, second = loaders(path)
    path.unlink()
    with pytest.raises(DataError, match=r"rows:3: cannot be read again: No such file"):
        second()


def test_the_working_directory_may_change(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, _ = loaders(Path(path.name))
    monkeypatch.chdir(os.sep)
    assert first()[0].input == "X"
