"""LiveCodeBench's rows that ask for a call's value, and files that mix its schemas."""

import json
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from for_each import for_each
from pyarrow import parquet  # type: ignore[import-untyped]

from harness.errors import DataError
from harness.kinds.questions import code_execution, test_output
from harness.kinds.questions.test_output import call_of
from harness.problem import Codec, Kind, Problem, TestCase
from harness.sources.livecodebench import livecodebench
from harness.sources.livecodebench.livecodebench import load
from harness.sources.selection import Selection, select

Row = dict[str, Any]
Rows = Callable[..., Row]
Write = Callable[..., Path]
SECRET = "271828182845904523"


def output_row(**columns: object) -> Row:
    row: Row = {
        "question_title": "add-them-up",
        "question_content": "Add all numbers, and one more.",
        "question_id": "9001",
        "contest_id": "weekly-contest-900",
        "contest_date": "2023-09-02T00:00:00",
        "difficulty": "medium",
        "test": json.dumps([{"input": "[1, 2]\ntrue", "output": SECRET, "testtype": "functional"}]),
        "starter_code": (
            "class Solution:\n    def addUp(self, nums: List[int], more: bool) -> int:\n        "
        ),
        "function_name": "addUp",
        "test_id": 3,
    }
    return {name: value for name, value in (row | columns).items() if value is not ...}


def execution_row(**columns: object) -> Row:
    row: Row = {
        "question_id": 9002,
        "contest_id": "biweekly-contest-90",
        "contest_date": "2023-07-08T00:00:00",
        "difficulty": "hard",
        "function_name": "twice",
        "code": "def twice(x: int) -> int:\n    return x + x\n",
        "input": "twice(x = 3)",
        "output": SECRET,
        "id": "sample_7",
        "problem_id": 12,
        "numsteps": 4,
    }
    return {name: value for name, value in (row | columns).items() if value is not ...}


ROWS = {"test_generation": output_row, "execution": execution_row}
COLUMNS = {
    "test_generation": test_output.COLUMNS,
    "execution": code_execution.COLUMNS,
}


def test_a_test_output_prediction_is_read(problem_of: Callable[[Row], Problem]) -> None:
    read = problem_of(output_row())
    assert read.id == "livecodebench/test_generation/9001_3"
    assert (read.source, read.kind) == ("livecodebench", Kind.TEST_OUTPUT_PREDICTION)
    assert (read.title, read.statement) == ("add-them-up", "Add all numbers, and one more.")
    assert (read.platform, read.difficulty, read.difficulty_word) == (
        "leetcode",
        "medium",
        "medium",
    )
    assert read.release_date == date(2023, 9, 2)
    assert read.entry_point == "addUp"
    assert read.signature.arguments == (Codec.JSON, Codec.JSON)
    assert (read.call, read.code) == ("addUp([1, 2], True)", "")
    assert read.tests.public == ()
    assert read.tests.load_hidden() == (
        TestCase(input="[1, 2]\ntrue", output=SECRET, public=False),
    )
    assert (read.known_issues, read.aliases) == ((), ("9001_3",))


def test_a_code_execution_is_read(problem_of: Callable[[Row], Problem]) -> None:
    read = problem_of(execution_row())
    assert read.id == "livecodebench/execution/sample_7"
    assert (read.source, read.kind) == ("livecodebench", Kind.CODE_EXECUTION)
    assert (read.title, read.statement, read.platform) == ("twice", "", "leetcode")
    assert (read.difficulty, read.release_date) == ("hard", date(2023, 7, 8))
    assert read.entry_point == "twice"
    assert read.call == "twice(x = 3)"
    assert read.code == "def twice(x: int) -> int:\n    return x + x\n"
    assert read.tests.public == ()
    assert read.tests.load_hidden() == (
        TestCase(input="twice(x = 3)", output=SECRET, public=False),
    )
    assert read.aliases == ("sample_7",)


@for_each("row", ROWS.values(), ids=ROWS)
def test_the_model_sees_what_is_asked_and_not_the_answer(
    row: Rows, problem_of: Callable[[Row], Problem]
) -> None:
    read = problem_of(row())
    view = read.view()
    assert (view.kind, view.call, view.code) == (read.kind, read.call, read.code)
    assert view.call
    assert SECRET not in view.model_dump_json()
    assert SECRET not in repr(read)  # it stays in its file until somebody grades


def test_code_generation_asks_for_no_call(
    lcb_row: Rows, problem_of: Callable[[Row], Problem]
) -> None:
    view = problem_of(lcb_row()).view()
    assert (view.kind, view.call, view.code) == (Kind.CODE_GENERATION, "", "")


@for_each(
    ("arguments", "call"),
    [
        ("", "f()"),
        ("[1, 2]\n3", "f([1, 2], 3)"),
        ('"a, b"\n"true"', 'f("a, b", "true")'),
        ("[true, false, null]", "f([True, False, None])"),
        ('{"null": null}', 'f({"null": None})'),
        ("-1.5e+10", "f(-1.5e+10)"),
        ("[NaN, -Infinity]", 'f([float("nan"), -float("inf")])'),
        (r'"say \"true\"\n"', r'f("say \"true\"\n")'),
        (r'"\ud83d\ude00 \/"', "f('😀 /')"),
    ],
)
def test_a_call_is_python_that_means_what_the_json_means(arguments: str, call: str) -> None:
    assert call_of("f", arguments) == call
    values = eval(call, {"f": lambda *given: list(given), "float": float})
    assert repr(values) == repr([json.loads(line) for line in arguments.split("\n") if line])


@for_each(
    ("column", "value", "changes"),
    [
        ("question_content", "Other.", True),
        ("starter_code", "def addUp(nums, more): ...", True),
        ("function_name", "addDown", True),
        ("test", json.dumps([{"input": "[2]\ntrue", "output": SECRET}]), True),
        ("test", json.dumps([{"input": "[1, 2]\ntrue", "output": "2"}]), True),
        ("question_title", "other", False),
        ("contest_date", "2020-01-01", False),
    ],
)
def test_the_hash_covers_what_can_change_a_verdict_on_a_test_output(
    column: str, value: str, changes: bool, problem_of: Callable[[Row], Problem]
) -> None:
    before, after = problem_of(output_row()), problem_of(output_row(**{column: value}))
    assert (before.content_hash != after.content_hash) == changes


@for_each(
    ("column", "value", "changes"),
    [
        ("code", "def twice(x): return 2 * x", True),
        ("function_name", "thrice", True),
        ("input", "twice(x = 4)", True),
        ("output", "6", True),
        ("numsteps", 5, False),
        ("contest_date", "2020-01-01", False),
    ],
)
def test_the_hash_covers_what_can_change_a_verdict_on_an_execution(
    column: str, value: object, changes: bool, problem_of: Callable[[Row], Problem]
) -> None:
    before, after = problem_of(execution_row()), problem_of(execution_row(**{column: value}))
    assert (before.content_hash != after.content_hash) == changes


@for_each(
    ("name", "column"),
    [(name, column) for name, columns in COLUMNS.items() for column in columns],
)
def test_a_missing_column_is_named(
    name: str, column: str, problem_of: Callable[[Row], Problem]
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(ROWS[name](**{column: ...}))
    assert (error.value.field, error.value.what) == (column, "missing")


@for_each(
    ("name", "column", "value", "complaint"),
    [
        ("test_generation", "test", "[", "not JSON"),
        ("test_generation", "test", "{}", "not a JSON list"),
        ("test_generation", "test", "[]", "one test is wanted, not 0"),
        ("test_generation", "test", "[1, 2]", "one test is wanted, not 2"),
        ("test_generation", "test", '[{"input": "1"}]', "input and output must be there"),
        ("test_generation", "test", '[{"input": 1, "output": "1"}]', "input and output must be"),
        ("test_generation", "test", '[{"input": "a", "output": "1"}]', "line 1 of the input"),
        ("test_generation", "test", '[{"input": "1", "output": "a"}]', "the output is not a JSON"),
        ("test_generation", "test", [{"input": "1", "output": "1"}], "not a string but"),
        ("test_generation", "function_name", "a b", "'a b' is not a Python name"),
        ("test_generation", "test_id", True, "neither a string nor an integer but True"),
        ("test_generation", "test_id", None, "neither a string nor an integer but None"),
        ("test_generation", "question_id", " ", "empty"),
        ("test_generation", "question_content", "", "empty"),
        ("test_generation", "difficulty", "harsh", "'harsh' is not one of easy, medium, hard"),
        ("test_generation", "contest_date", "soon", "'soon' is not an ISO date"),
        ("execution", "code", " \n", "empty"),
        ("execution", "code", None, "not a string but None"),
        ("execution", "input", "f(x = ", "not Python"),
        ("execution", "input", "x = 3", "not one Python expression"),
        ("execution", "input", "f(1); f(2)", "not one Python expression"),
        ("execution", "output", "", "empty"),
        ("execution", "output", "(" * 500, "not Python"),
        ("execution", "id", "", "empty"),
        ("execution", "id", 1.5, "neither a string nor an integer but 1.5"),
        ("execution", "difficulty", 3, "not a string but 3"),
    ],
)
def test_a_malformed_column_is_named_in_a_line(
    name: str, column: str, value: object, complaint: str, problem_of: Callable[[Row], Problem]
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(ROWS[name](**{column: value}))
    assert error.value.where.endswith("rows.jsonl:1")
    assert (error.value.field, error.value.what[: len(complaint)]) == (column, complaint)
    assert "\n" not in str(error.value)


def test_files_of_one_glob_may_mix_livecodebench_schemas(
    tmp_path: Path, lcb_row: Rows, lcb_function: Rows, write_rows: Write
) -> None:
    write_rows(lcb_row(), output_row(), execution_row(), name="a.jsonl")
    write_rows(execution_row(id="sample_8"), lcb_function(), name="b.jsonl.gz")
    problems = load(f"{tmp_path}/*.jsonl*").problems
    assert [problem.id.removeprefix("livecodebench/") for problem in problems] == [
        "abc999_a",
        "test_generation/9001_3",
        "execution/sample_7",
        "execution/sample_8",
        "9999",
    ]
    assert [len(problem.tests.load_hidden()) for problem in problems] == [2, 1, 1, 1, 1]


def test_a_number_stands_for_its_digits(problem_of: Callable[[Row], Problem]) -> None:
    numbers = problem_of(output_row(question_id=9001, test_id=3))
    assert numbers.id == problem_of(output_row(question_id="9001", test_id="3")).id


def test_parquet_has_dates_and_numbers_of_its_own(tmp_path: Path) -> None:
    day = datetime(2023, 9, 2)  # noqa: DTZ001 - the hub's have no zone
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist([output_row(contest_date=day)]), path)
    (problem,) = load(str(path)).problems
    assert problem.release_date == date(2023, 9, 2)
    assert problem.tests.load_hidden()[0].output == SECRET


def test_a_row_of_no_schema_is_refused_in_a_line(problem_of: Callable[[Row], Problem]) -> None:
    for row in ({}, {"question_id": "1", "function_name": "f"}, {"id": 1, "code": "x = 1"}):
        with pytest.raises(DataError) as error:
            problem_of(row)
        assert error.value.field is None
        assert error.value.what == (
            "has neither the columns of code generation (public_test_cases, private_test_cases, "
            "metadata, …), of test output prediction (test, test_id, function_name, …) nor those "
            "of code execution (code, input, output, …)"
        )


def test_a_row_of_no_schema_can_be_skipped(lcb_row: Rows, write_rows: Write) -> None:
    loaded = load(str(write_rows({"x": 1}, lcb_row(), execution_row(code=""))), skip_bad_rows=True)
    assert [problem.id for problem in loaded.problems] == ["livecodebench/abc999_a"]
    assert [error.where.rpartition(":")[2] for error in loaded.skipped] == ["1", "3"]


def test_equal_ids_are_refused(write_rows: Write) -> None:
    with pytest.raises(DataError, match="'livecodebench/execution/sample_7' was already at"):
        load(str(write_rows(execution_row(), execution_row(input="twice(x = 5)"))))


def test_an_answer_that_changed_since_is_not_given(write_rows: Write) -> None:
    (problem,) = load(str(write_rows(execution_row()))).problems
    write_rows(execution_row(output="7"))
    with pytest.raises(DataError, match="no longer the row"):
        problem.tests.load_hidden()


def test_filters_apply_to_value_questions(lcb_row: Rows, write_rows: Write) -> None:
    problems = load(str(write_rows(lcb_row(), output_row(), execution_row()))).problems

    def kept(**selection: Any) -> list[Kind]:
        return [problem.kind for problem in select(problems, Selection(**selection)).problems]

    assert kept(difficulties=("medium",)) == [Kind.TEST_OUTPUT_PREDICTION]
    assert kept(platforms=("leetcode",)) == [Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION]
    assert kept(max_release_date=date(2023, 7, 31)) == [Kind.CODE_EXECUTION]
    assert kept(min_release_date=date(2023, 9, 2)) == [
        Kind.CODE_GENERATION,
        Kind.TEST_OUTPUT_PREDICTION,
    ]
    assert kept(tasks=("sample_7",)) == [Kind.CODE_EXECUTION]
    assert kept(tasks=("test_generation/9001_3",)) == [Kind.TEST_OUTPUT_PREDICTION]


def test_the_marks_of_a_schema_are_its_own() -> None:
    schemas = {
        livecodebench.COLUMNS: livecodebench.MARKS,
        test_output.COLUMNS: test_output.MARKS,
        code_execution.COLUMNS: code_execution.MARKS,
    }
    for columns, marks in schemas.items():
        for other in schemas:
            shared = set(marks) & set(other)
            assert shared == set(marks) if other is columns else 2 * len(shared) < len(marks)
