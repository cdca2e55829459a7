"""A row a sample: CSV for spreadsheets, Parquet for data frames."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_words import HOSTILE

from harness.features.export.sample_rows import FIELDS, csv_text, write_parquet
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.text import printable

MakeResult = Callable[..., SampleResult]
MakeRun = Callable[..., Run]


def _rows(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(csv_text(run)), newline="")))


def test_a_row_has_what_the_results_have(agentic: Run) -> None:
    rows = _rows(agentic)
    assert list(rows[0]) == list(FIELDS)
    assert len(rows) == 20
    for row, result in zip(rows, agentic.results, strict=True):
        assert row["sample"] == result.sample
        assert row["verdict"] == result.verdict.value
        assert row["solved"] == str(result.solved).lower()
        assert int(row["hidden_passed"]) == result.hidden_passed
        assert row["code"] == result.code
        assert row["tags"].split(";") == list(result.tags)
        assert row["release_date"] == str(result.release_date)
        assert (row["model"], row["mode"]) == ("replay:bundled", "agentic")


def test_what_nobody_knows_is_an_empty_cell(make_run: MakeRun, make_result: MakeResult) -> None:
    (row,) = _rows(make_run([make_result("made/a", usage=None, cost=None, difficulty=None)]))
    assert [row[name] for name in ("input_tokens", "cost", "difficulty", "release_date")] == [
        ""
    ] * 4


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(make_run: MakeRun, make_result: MakeResult, first: str) -> None:
    word = f"{first}1+cmd|' /C calc'!A0"
    (row,) = _rows(make_run([make_result("made/a", title=word, code=word, tags=(word,))]))
    assert [row[name] for name in ("title", "code", "tags")] == [f"'{printable(word)}"] * 3


def test_a_text_of_any_letters_stays_one_cell(make_run: MakeRun, make_result: MakeResult) -> None:
    (row,) = _rows(make_run([make_result("made/a", code=f'x{HOSTILE}\r\n,"y"')]))
    assert row["code"] == f'x{printable(HOSTILE)}\r\n,"y"'


def test_a_parquet_file_has_the_same_with_types(agentic: Run, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    write_parquet(agentic, tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["sample"] for row in rows] == [result.sample for result in agentic.results]
    for row, result in zip(rows, agentic.results, strict=True):
        assert row["solved"] is result.solved
        assert row["release_date"] == result.release_date
        assert row["seconds"] == result.seconds
        assert row["code"] == result.code
        assert row["cost"] is None


def test_a_run_with_no_result_is_a_table_with_no_row(make_run: MakeRun, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    run = make_run([], more=2)
    write_parquet(run, tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert (table.num_rows, table.column_names) == (0, list(FIELDS))
    assert _rows(run) == []


def test_nothing_in_it_acts_on_a_terminal(make_run: MakeRun, make_result: MakeResult) -> None:
    words = "\x1b[2J\x9b2J\x07\u202e"
    text = "".join(csv_text(make_run([make_result("made/a", title=words, code=f"a\n{words}")])))
    assert not [letter for letter in text if not letter.isprintable() and letter not in "\r\n"]
    assert r"\x1b[2J\x9b2J\x07\u202e" in text
