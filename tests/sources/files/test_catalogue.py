"""Large files are read once; after that their catalogue is, for as long as it is true."""

import gzip
import json
import os
import random
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from json_lines import json_lines
from pyarrow import parquet  # type: ignore[import-untyped]

from harness.cache import cache_folder
from harness.errors import DataError
from harness.problem import Problem
from harness.sources import jsonl
from harness.sources.files import catalogue
from harness.sources.files.lines import Line
from harness.sources.files.rows import Loaded, load_rows, open_rows

FILLER = "x" * (catalogue.LARGE // 4)


def row(name: str, **columns: Any) -> dict[str, Any]:
    tests = [
        {"input": "1", "output": name, "public": True},
        {"input": "2", "output": name, "public": False},
        {"input": FILLER, "output": name, "public": False},
    ]
    more = {"tags": ["a", "b"], "release_date": "2024-01-02", "references": [f"print({name!r})"]}
    return {"id": name, "statement": f"Print {name}.", "tests": tests, **more, **columns}


ROWS = [row(name) for name in "abcde"]


class Counted:
    """A reader that counts what it reads."""

    def __init__(self) -> None:
        self.rows = 0

    def parse(self, line: Line) -> Problem:
        self.rows += 1
        return jsonl.parse_row(line, source="own")


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "cache"))
    return cache_folder()


def write(path: Path, rows: list[dict[str, Any]], kind: str = "plain") -> Path:
    text = json_lines(rows).encode()
    match kind:
        case "plain":
            path.write_bytes(text)
        case "gzip":
            noise = random.Random(0).randbytes(catalogue.LARGE).hex()  # else it would be small
            extra = json.dumps(row("noise", starter_code=noise)).encode()
            path.write_bytes(gzip.compress(text + extra + b"\n", 1))
        case _:
            table = pa.Table.from_pylist(rows)
            parquet.write_table(table, path, compression="none", use_dictionary=False)
    return path


def load(path: Path, counted: Counted, *, skip_bad_rows: bool = False) -> Loaded:
    return load_rows([open_rows(path)], counted.parse, skip_bad_rows=skip_bad_rows)


def known(problem: Problem) -> dict[str, Any]:
    fields = problem.model_dump(exclude={"tests", "load_references"})
    return {**fields, "public": problem.tests.public}


@pytest.mark.parametrize("kind", ["plain", "gzip", "parquet"])
def test_what_it_says_is_what_the_file_says(kind: str, tmp_path: Path, counted: Counted) -> None:
    path = write(tmp_path / "rows", ROWS, kind)
    assert path.stat().st_size >= catalogue.LARGE
    first = load(path, counted)
    read = counted.rows
    assert read == len(first.problems) >= 5
    second = load(path, counted)
    assert counted.rows == read
    assert list(map(known, first.problems)) == list(map(known, second.problems))
    assert first.files == second.files
    for loaded in (first, second):
        for problem, name in zip(loaded.problems, "abcde", strict=False):
            assert [test.output for test in problem.tests.load_hidden()] == [name, name]
            assert problem.programs() == (f"print({name!r})",)


def test_small_files_have_none(tmp_path: Path, counted: Counted, cache: Path) -> None:
    path = write(tmp_path / "rows", [row("a")])
    for rows in (1, 2):
        load(path, counted)
        assert counted.rows == rows
    assert not cache.exists()


def test_a_file_that_changed_is_read_again(tmp_path: Path, counted: Counted) -> None:
    path = write(tmp_path / "rows", ROWS)
    load(path, counted)
    write(path, [*ROWS, row("f")])
    assert [problem.id for problem in load(path, counted).problems][-1] == "own/f"
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    load(path, counted)
    assert counted.rows == 5 + 6 + 6


def test_another_source_reads_the_file_again(tmp_path: Path) -> None:
    path = write(tmp_path / "rows", ROWS)
    for source in ("one", "two", "one"):
        parse = partial(jsonl.parse_row, source=source)
        problems = load_rows([open_rows(path)], parse).problems
        assert problems[0].id == f"{source}/a"


def test_a_link_that_is_gone_takes_nothing_with_it(tmp_path: Path, counted: Counted) -> None:
    path = write(tmp_path / "rows", ROWS)
    link = tmp_path / "link"
    link.symlink_to(path)
    load(link, counted)
    link.unlink()
    assert load(path, counted).problems[0].programs() == ("print('a')",)
    assert counted.rows == 5 + 1  # the row that the program stands in


def test_changed_code_reads_the_file_again(
    tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "rows", ROWS)
    load(path, counted)
    monkeypatch.setattr(catalogue, "_code", lambda: "of another release")
    load(path, counted)
    assert counted.rows == 10


@pytest.mark.parametrize(
    "damage",
    ["cut", "emptied", "garbage", "a line gone", "a line changed", "rows gone", "rows cut"],
)
def test_a_damaged_one_is_made_anew(
    damage: str, tmp_path: Path, counted: Counted, cache: Path
) -> None:
    kind = "parquet" if "rows" in damage else "plain"
    path = write(tmp_path / "rows", ROWS, kind)
    whole = list(map(known, load(path, counted).problems))
    (kept,) = (cache / "catalogues").glob("*.jsonl")
    match damage:
        case "cut":
            kept.write_bytes(b"".join(kept.read_bytes().splitlines(keepends=True)[:-1]))
        case "a line gone":
            lines = kept.read_bytes().splitlines(keepends=True)
            kept.write_bytes(b"".join([*lines[:1], *lines[2:]]))
        case "a line changed":
            kept.write_bytes(kept.read_bytes().replace(b"Print c.", b"Print d."))
        case "emptied":
            kept.write_bytes(b"")
        case "garbage":
            kept.write_bytes(b"\xff\x00\n" + kept.read_bytes()[:-5])
        case "rows gone":
            kept.with_suffix(".rows").unlink()
        case _:
            os.truncate(kept.with_suffix(".rows"), 99)
    again = load(path, counted)
    assert list(map(known, again.problems)) == whole
    assert counted.rows == 10
    assert again.problems[4].tests.load_hidden()[0].output == "e"


@pytest.mark.parametrize("kind", ["plain", "parquet"])
def test_a_catalogue_that_cannot_be_kept_changes_nothing(
    kind: str, tmp_path: Path, counted: Counted, cache: Path
) -> None:
    cache.parent.mkdir()
    cache.write_text("a file where the folder should be")
    path = write(tmp_path / "rows", ROWS, kind)
    for rows in (5, 10):
        problems = load(path, counted).problems
        assert counted.rows == rows
    assert problems[1].tests.load_hidden()[1].output == "b"


def test_bad_rows_are_bad_the_second_time(tmp_path: Path, counted: Counted) -> None:
    path = write(tmp_path / "rows", [*ROWS, {"statement": "?"}, row("a")])
    faults: list[list[str]] = []
    for _ in range(2):
        loaded = load(path, counted, skip_bad_rows=True)
        faults.append([str(fault) for fault in loaded.skipped])
        assert len(loaded.problems) == 5
        with pytest.raises(DataError, match=r"rows:6: field 'tests': missing"):
            load(path, counted)
    assert faults[0] == faults[1]
    assert len(faults[0]) == 2
    assert "was already at" in faults[0][1]
    assert counted.rows == 7


def test_a_load_that_stops_leaves_no_half_of_one(
    tmp_path: Path, counted: Counted, cache: Path
) -> None:
    path = write(tmp_path / "rows", [*ROWS, {"statement": "?"}])
    with pytest.raises(DataError):
        load(path, counted)
    assert list((cache / "catalogues").iterdir()) == []
