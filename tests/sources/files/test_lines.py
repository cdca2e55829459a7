import gzip
import hashlib
import os
from pathlib import Path

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.sources.files.lines import JsonLines, Line, read_line_again
from harness.sources.files.paths import expand

ROWS = b'{"a": 1}\n\n  \n{"b": "\xc3\xa9"}'


def lines(path: Path, **options: int) -> list[Line]:
    return list(JsonLines(path, **options))


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROWS)
    return path


def test_lines_know_their_number_and_offset_and_blank_ones_are_passed_over(rows: Path) -> None:
    first, second = lines(rows)
    assert (first.number, first.offset, first.raw) == (1, 0, b'{"a": 1}\n')
    assert (second.number, second.offset) == (4, 13)
    assert second.json_object() == {"b": "é"}
    assert second.where == f"{rows}:4"


def test_a_line_is_found_again_by_its_offset(rows: Path) -> None:
    for line in lines(rows):
        assert line.offset is not None
        assert read_line_again(rows, line.offset, line.where) == line.raw


def test_gzip_is_known_by_its_content_not_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(gzip.compress(ROWS[:9]) + gzip.compress(ROWS[9:]))
    assert [line.number for line in lines(path)] == [1, 4]
    assert [line.offset for line in lines(path)] == [None, None]
    plain = tmp_path / "plain.gz"
    plain.write_bytes(ROWS)
    assert [line.offset for line in lines(plain)] == [0, 13]


@for_each(
    "data",
    [ROWS, gzip.compress(ROWS), b"", ROWS * 200_000],
    ids=["plain", "gzip", "empty", "large"],
)
def test_a_file_is_hashed_as_it_lies_on_disk_while_it_is_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "rows"
    path.write_bytes(data)
    reader = JsonLines(path, name="shown")
    for _ in reader:
        pass
    assert reader.file.path == "shown"
    assert reader.file.sha256 == hashlib.sha256(data).hexdigest()
    assert reader.file.size == len(data)


def test_the_hash_of_a_file_not_read_to_its_end_is_not_given(rows: Path) -> None:
    reader = JsonLines(rows)
    next(iter(reader))
    with pytest.raises(RuntimeError):
        _ = reader.file


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    assert lines(path)[0].json_object() == {}


@for_each(
    ("raw", "complaint"),
    [
        (b'{"a": "\xff"}', "not UTF-8: byte 7 is 0xff"),
        (
            b'{"a": 1',
            "not JSON: EOF while parsing an object at column 7; a row must stand on one line",
        ),
        (b"[1]", "not a JSON object"),
        (b"[" * 10_000, "not JSON: recursion limit exceeded at column 202"),
        (b"PAR1\x15\x04", "not JSON: expected value at column 1"),
    ],
    ids=["encoding", "torn", "list", "deep", "parquet"],
)
def test_a_line_that_is_no_json_object_is_one_line_of_error(
    tmp_path: Path, raw: bytes, complaint: str
) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"{}\n" + raw + b"\n")
    with pytest.raises(DataError) as error:
        lines(path)[1].json_object()
    assert str(error.value) == f"{path}:2: {complaint}"


@for_each("keep", [5, 15, -1, -8])
def test_a_gzip_that_ends_early_is_an_error_not_fewer_rows(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(ROWS)[:keep])
    with pytest.raises(DataError, match="gzip data ends early"):
        lines(path)


@for_each("at", [3, 14, -6])
def test_a_broken_gzip_is_an_error(tmp_path: Path, at: int) -> None:
    data = bytearray(gzip.compress(ROWS))
    data[at] ^= 0xFF
    path = tmp_path / "rows.gz"
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=rf"{path.name}:\d+: .*gzip") as error:
        lines(path)
    assert "\n" not in str(error.value)


@for_each("pack", [bytes, gzip.compress])
def test_a_line_is_bounded_before_it_is_held(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "rows"
    path.write_bytes(pack(b"x" * 99 + b"\n" + b"y" * 100 + b"\n"))
    assert len(lines(path, max_line_bytes=101)) == 2
    with pytest.raises(DataError, match=r"rows:2: longer than 100 bytes"):
        lines(path, max_line_bytes=100)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        lines(tmp_path / "none.jsonl")


def test_a_directory_is_said_with_the_way_to_name_its_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is a directory; name its files, as '.*/\*\.jsonl'"):
        lines(tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        lines(tmp_path / "pipe")


def test_a_row_cannot_be_fetched_from_a_file_that_went(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="rows:3: cannot be read again: No such file"):
        read_line_again(tmp_path / "gone", 0, "rows:3")


def test_a_glob_names_its_files_in_order_and_no_folders(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "d.jsonl" / "e.jsonl").touch()
    assert [path.name for path in expand(f"{tmp_path}/*.jsonl")] == ["a.jsonl", "b.jsonl"]
    assert expand(f"{tmp_path}/**/e.jsonl") == [tmp_path / "d.jsonl" / "e.jsonl"]


def test_a_file_whose_name_looks_like_a_glob_is_itself(tmp_path: Path) -> None:
    (tmp_path / "r[1].jsonl").touch()
    (tmp_path / "r1.jsonl").touch()
    assert expand(f"{tmp_path}/r[1].jsonl") == [tmp_path / "r[1].jsonl"]


@for_each("where", ["*.jsonl", "a\0b*", "x" * 5000 + "*"], ids=["none", "null", "long"])
def test_a_glob_without_a_file_is_a_usage_error(tmp_path: Path, where: str) -> None:
    with pytest.raises(UsageError, match=r"no file matches|cannot be a path"):
        expand(f"{tmp_path}/{where}")


@for_each("name", ["a\0b", "x" * 5000], ids=["null", "long"])
def test_a_path_that_cannot_be_one_is_a_usage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        lines(Path(f"{tmp_path}/{name}"))


def test_the_home_folder_may_be_written_as_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "rows.jsonl").touch()
    assert expand("~/rows.jsonl") == expand("~/*.jsonl") == [tmp_path / "rows.jsonl"]


def test_a_file_of_blank_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.gz").write_bytes(gzip.compress(b"\n" * 10**6))
    with pytest.raises(DataError, match="more than 100000 blank lines"):
        list(JsonLines(tmp_path / "rows.gz"))


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        read_line_again(tmp_path / "pipe", 0, "pipe:1")
