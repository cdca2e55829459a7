"""A data set's Parquet files give the problems that its JSONL gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from for_each import for_each
from pyarrow import parquet  # type: ignore[import-untyped]

from harness.errors import DataError
from harness.sources import mercury
from harness.sources.files.lines import JsonLines
from harness.sources.files.parquet import BATCH_ROWS, ParquetRows
from harness.sources.files.rows import open_rows
from harness.sources.livecodebench import livecodebench

Rows = Callable[..., dict[str, Any]]
HOOKS = {
    "slug_name": "double",
    "entry_point": "double",
    "convert_offline": "def convert_offline(case): return case",
    "evaluate_offline": "def evaluate_offline(i, o, e): return o == e",
    "test_cases": '[{"input": [1], "expected": 2}]',
    "solutions": [{"hash": 5, "runtime": "4ms", "solution": "class Solution: ..."}],
    "meta_info": {"data": {"question": {"topicTags": [{"name": "Math", "slug": "math"}]}}},
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_the_same_problems_as_from_lines(
    tmp_path: Path, lcb_row: Rows, write_rows: Callable[..., Path]
) -> None:
    rows = [lcb_row(question_id=str(n)) for n in range(BATCH_ROWS + 3)]
    lines = livecodebench.load(str(write_rows(*rows)))
    table = livecodebench.load(str(write(tmp_path / "rows.parquet", rows)))
    assert [p.content_hash for p in table.problems] == [p.content_hash for p in lines.problems]
    assert [p.id for p in table.problems] == [p.id for p in lines.problems]
    assert table.problems[-1].tests.all() == lines.problems[-1].tests.all()
    (file,) = table.files
    assert file.size == (tmp_path / "rows.parquet").stat().st_size


def test_nested_columns_are_read(tmp_path: Path) -> None:
    (problem,) = mercury.load(str(write(tmp_path / "m.parquet", [HOOKS]))).problems
    assert problem.tags == ("Math",)
    assert problem.programs() == ("class Solution: ...",)


def test_a_bad_row_is_named_by_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "m.parquet", [HOOKS, HOOKS | {"entry_point": "a b", "slug_name": "x"}])
    with pytest.raises(DataError) as error:
        mercury.load(str(path))
    assert str(error.value).startswith(f"{path}:2: field 'entry_point'")


@for_each(
    "column",
    [pa.array([b"\xff"]), pa.array([2**62], pa.timestamp("us"))],
    ids=["bytes", "a time beyond the calendar"],
)
def test_a_row_that_no_json_can_be_made_of_is_named(tmp_path: Path, column: Any) -> None:
    parquet.write_table(pa.table({"x": column}), tmp_path / "m.parquet")
    with pytest.raises(DataError, match=r"m\.parquet:1: cannot be made JSON"):
        mercury.load(str(tmp_path / "m.parquet"))


def test_a_row_group_that_would_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sources.files.parquet.MAX_GROUP_BYTES", 100)
    path = write(tmp_path / "m.parquet", [HOOKS | {"difficulty": "x" * 10_000}])
    with pytest.raises(DataError, match=r"a row group of \d+ bytes is more than 100"):
        mercury.load(str(path))


def test_what_is_no_parquet_is_lines(tmp_path: Path) -> None:
    (tmp_path / "m.parquet").write_text(json.dumps(HOOKS))
    assert isinstance(open_rows(tmp_path / "m.parquet"), JsonLines)
    assert len(mercury.load(str(tmp_path / "m.parquet")).problems) == 1


def test_a_broken_file_is_an_error_in_one_line(tmp_path: Path) -> None:
    whole = write(tmp_path / "m.parquet", [HOOKS] * 3).read_bytes()
    (tmp_path / "m.parquet").write_bytes(whole[:-20])
    rows = open_rows(tmp_path / "m.parquet")
    assert isinstance(rows, ParquetRows)
    with pytest.raises(DataError, match=r"m\.parquet:1: broken Parquet") as error:
        list(rows)
    assert "\n" not in str(error.value)
