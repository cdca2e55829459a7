"""An entry a sample: CSV for spreadsheets, Parquet for data frames, JUnit's XML for CI."""

import csv
import io
import shlex
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hostile_words import HOSTILE

from harness.features.export.junit import junit_text
from harness.features.export.sample_rows import FIELDS, csv_text, write_parquet
from harness.grading.verdict import Verdict
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
        assert (row["model"], row["mode"]) == ("replay:written", "agentic")


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
    control_codes = "\x1b[2J\x9b2J\x07\u202e"
    text = "".join(
        csv_text(make_run([make_result("made/a", title=control_codes, code=f"a\n{control_codes}")]))
    )
    assert not [letter for letter in text if not letter.isprintable() and letter not in "\r\n"]
    assert r"\x1b[2J\x9b2J\x07\u202e" in text


def _suite(run: Run) -> ET.Element:
    root = ET.fromstring("".join(junit_text(run)).encode())
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    return suite


def test_a_sample_is_a_case_and_a_failure_says_why(agentic: Run) -> None:
    suite = _suite(agentic)
    cases = suite.findall("testcase")
    assert suite.attrib["name"] == "agentic"
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["20", "5", "0", "0"]
    for case, result in zip(cases, agentic.results, strict=True):
        assert f"{case.attrib['classname']}/{case.attrib['name']}" == result.sample
        failure = case.find("failure")
        assert (failure is None) is result.solved
        if failure is not None:
            assert failure.attrib["type"] == result.verdict.value
            assert (
                f"{result.hidden_passed} of {result.hidden_total} hidden"
                in failure.attrib["message"]
            )
            command = ["harness", "transcript", str(agentic.path), result.sample]
            assert failure.text == shlex.join(command)
    properties = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert properties["pass_at_1"] == "0.7500"


def test_pending_is_an_error_and_ungraded_is_skipped(
    make_run: MakeRun, make_result: MakeResult
) -> None:
    ungraded = make_result("made/b", verdict=Verdict.UNGRADED)
    suite = _suite(make_run([make_result("made/a", solved=True), ungraded], more=1))
    assert [[each.tag for each in case] for case in suite.findall("testcase")] == [
        [],
        ["skipped"],
        ["error"],
    ]
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["3", "0", "1", "1"]


def test_any_text_is_xml(make_run: MakeRun, make_result: MakeResult) -> None:
    suite = _suite(make_run([make_result(f"made/{HOSTILE}", title=HOSTILE)]))
    (case,) = suite.findall("testcase")
    assert r"\x00\x1b[2J\ufffe" in case.attrib["name"]
    assert "</testcase>]]>&" in case.attrib["name"]


def test_commands_in_sample_rows_work_in_a_shell(
    make_run: MakeRun, make_result: MakeResult
) -> None:
    run = make_run([make_result("made/a b; rm -rf ~ $(x)")])
    (case,) = _suite(run).findall("testcase")
    failure = case.find("failure")
    assert failure is not None
    command = shlex.split(failure.text or "")
    assert command == ["harness", "transcript", str(run.path), "made/a b; rm -rf ~ $(x)#0"]


def test_nothing_in_the_xml_acts_on_a_terminal(make_run: MakeRun, make_result: MakeResult) -> None:
    text = "".join(junit_text(make_run([make_result("made/a\x9b2J\x7f", title="\x1b[2J")])))
    assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]
