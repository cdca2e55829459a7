import base64
import json
import pickle
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.problem import Codec, Problem, TestCase
from harness.sources import preambles
from harness.sources.files.rows import open_rows
from harness.sources.livecodebench import livecodebench
from harness.sources.livecodebench.livecodebench import COLUMNS, load

Rows = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def test_a_program_is_read(lcb_row: Rows, problem_of: Callable[..., Problem]) -> None:
    read = problem_of(lcb_row(release_file="test.jsonl"))
    assert read.id == "livecodebench/abc999_a"
    assert read.native_id == "abc999_a"
    assert read.aliases == ()
    assert (read.title, read.statement) == ("Doubling", "Print twice the number.")
    assert (read.platform, read.difficulty, read.difficulty_word) == ("atcoder", "easy", "easy")
    assert read.release_date == date(2024, 2, 3)
    assert read.entry_point is None
    assert read.preamble == preambles.LIVECODEBENCH
    assert read.rule == "lcb"
    assert read.tests.public == (TestCase(input="1\n", output="2\n", public=True),)
    assert read.tests.all() == (
        TestCase(input="1\n", output="2\n", public=True),
        TestCase(input="2\n", output="4\n", public=False),
        TestCase(input="3\n", output="6\n", public=False),
    )


def test_a_function_is_read(lcb_function: Rows, problem_of: Callable[..., Problem]) -> None:
    read = problem_of(lcb_function())
    assert read.entry_point == "sumItUp"
    assert read.aliases == ("sum-it-up",)
    assert read.signature.arguments == (Codec.JSON, Codec.JSON)
    assert [test.input for test in read.tests.all()] == ["[1, 2]\n3", "[]\n0"]


def test_the_metadata_and_not_the_test_type_makes_a_function(
    lcb_row: Rows, lcb_function: Rows, problem_of: Callable[..., Problem]
) -> None:
    tests = '[{"input": "1", "output": "2", "testtype": "%s"}]'
    program = lcb_row(public_test_cases=tests % "functional", private_test_cases="")
    assert problem_of(program).entry_point is None
    function = lcb_function(public_test_cases=tests % "stdin", private_test_cases="")
    assert problem_of(function).entry_point == "sumItUp"
    assert problem_of(lcb_row(metadata='{"func_name": null}')).entry_point is None


def test_private_tests_may_be_plain_json(lcb_row: Rows, problem_of: Callable[..., Problem]) -> None:
    private = json.dumps([{"input": "é", "output": "x", "testtype": "stdin"}])
    assert problem_of(lcb_row(private_test_cases=private)).tests.load_hidden() == (
        TestCase(input="é", output="x", public=False),
    )


def test_a_row_without_private_tests_has_no_hidden_tests(
    lcb_row: Rows, problem_of: Callable[..., Problem]
) -> None:
    assert problem_of(lcb_row(private_test_cases="")).tests.load_hidden() == ()
    assert problem_of(lcb_row(private_test_cases="[]")).tests.load_hidden() == ()


@for_each("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_hidden_tests_are_found_whatever_came_before_them(
    lcb_row: Rows, write_rows: Write, name: str, pickled: Callable[[object], str]
) -> None:
    def tests(text: str) -> str:
        return pickled([{"input": text, "output": text, "testtype": "stdin"}])

    rows = [
        lcb_row(question_id=f"é{n}", private_test_cases=tests(str(n) * 10**n)) for n in range(5)
    ]
    problems = load(str(write_rows(*rows, name=name))).problems
    for number, problem in reversed(list(enumerate(problems))):
        (test,) = problem.tests.load_hidden()
        assert test.input == str(number) * 10**number


def test_hidden_tests_are_found_from_another_working_folder(
    lcb_row: Rows, write_rows: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write_rows(lcb_row())
    monkeypatch.chdir(path.parent)
    (problem,) = load(path.name).problems
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(problem.tests.load_hidden()) == 2


@for_each(
    "change",
    [{"question_id": "abc999_b"}, {"private_test_cases": "[]"}, {"difficulty": 1}],
)
def test_a_row_that_changed_since_is_not_graded_with(
    lcb_row: Rows, write_rows: Write, change: dict[str, Any]
) -> None:
    (problem,) = load(str(write_rows(lcb_row()))).problems
    path = write_rows(lcb_row(**change))
    with pytest.raises(DataError) as error:
        problem.tests.load_hidden()
    assert (
        str(error.value)
        == f"{path}:1: no longer the row of 'livecodebench/abc999_a' that was loaded"
    )


def test_a_plain_file_keeps_no_private_test_in_memory(lcb_row: Rows, write_rows: Write) -> None:
    noise = "".join(chr(48 + (n * n * 7919) % 75) for n in range(400_000))
    private = json.dumps([{"input": noise, "output": "", "testtype": "stdin"}])
    rows = [lcb_row(question_id=str(n), private_test_cases=private) for n in range(10)]
    path = write_rows(*rows)
    tracemalloc.start()
    try:
        loaded = load(str(path))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < len(private)
    assert all(problem.tests.load_hidden()[0].input == noise for problem in loaded.problems)


CHANGES = {
    "question_content": "other",
    "starter_code": "x = 1",
    "metadata": '{"other": 1}',
    "public_test_cases": "[]",
    "private_test_cases": "",
    "question_title": "Other",
    "platform": "leetcode",
    "question_id": "1",
    "contest_id": "2",
    "contest_date": "2020-01-01",
    "difficulty": "hard",
}
HASHED = list(CHANGES)[:5]


@for_each("column", COLUMNS)
def test_the_content_hash_covers_what_can_change_a_verdict(
    lcb_row: Rows, problem_of: Callable[..., Problem], column: str
) -> None:
    before = problem_of(lcb_row())
    after = problem_of(lcb_row(**{column: CHANGES[column]}))
    assert (after.content_hash != before.content_hash) == (column in HASHED)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_named(
    lcb_row: Rows, problem_of: Callable[..., Problem], column: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(lcb_row(**{column: ...}))
    assert str(error.value) == f"{tmp_path}/rows.jsonl:1: field '{column}': missing"


@for_each("value", [None, 1, ["x" * 1000], {}])
@for_each("column", COLUMNS)
def test_a_column_that_is_no_string_is_named(
    lcb_row: Rows, problem_of: Callable[..., Problem], column: str, value: object
) -> None:
    with pytest.raises(DataError, match="not a string but") as error:
        problem_of(lcb_row(**{column: value}))
    assert error.value.field == column
    assert len(error.value.what) < 100


@for_each(
    ("column", "value", "complaint"),
    [
        ("question_id", " ", "empty"),
        ("contest_date", "soon", "'soon' is not an ISO date"),
        ("difficulty", "Easy", "'Easy' is not one of easy, medium, hard"),
        ("metadata", "", "not JSON: EOF while parsing a value at column 0"),
        ("metadata", "[]", "not a JSON object"),
        ("metadata", '{"func_name": "a.b"}', "func_name 'a.b' is not a Python name"),
        ("metadata", '{"func_name": 1}', "func_name 1 is not a Python name"),
        ("public_test_cases", "", "not JSON: EOF while parsing a value at column 0"),
        ("public_test_cases", "{}", "not a JSON list"),
        ("public_test_cases", "[1]", "test 1: input, output and testtype must be there"),
        (
            "public_test_cases",
            '[{"input": 1, "output": "", "testtype": "stdin"}]',
            "test 1: input, output and testtype must be there",
        ),
        (
            "public_test_cases",
            '[{"input": "", "output": "", "testtype": "file"}]',
            "test 1: testtype 'file' is not stdin or functional",
        ),
    ],
)
def test_a_bad_value_is_named_with_its_place(
    lcb_row: Rows, problem_of: Callable[..., Problem], column: str, value: str, complaint: str
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(lcb_row(**{column: value}))
    assert error.value.where.endswith("rows.jsonl:1")
    assert error.value.field == column
    assert error.value.what.startswith(complaint)


def test_an_unknown_platform_is_taken_in_small_letters(
    lcb_row: Rows, problem_of: Callable[..., Problem]
) -> None:
    assert problem_of(lcb_row(platform="CodeChef")).platform == "codechef"


@for_each(
    ("case", "complaint"),
    [
        (("[1]\nx", "1"), "line 2 of the input is not a JSON value"),
        (("[1]\n", "1"), "line 2 of the input is not a JSON value"),
        (("1", ""), "the output is not a JSON value"),
        (("1", "None"), "the output is not a JSON value"),
    ],
    ids=["word", "line end", "empty", "python"],
)
def test_a_functions_test_must_be_json(
    lcb_function: Rows,
    problem_of: Callable[..., Problem],
    pickled: Callable[[object], str],
    case: tuple[str, str],
    complaint: str,
) -> None:
    tests = [{"input": case[0], "output": case[1], "testtype": "functional"}]
    with pytest.raises(DataError, match=complaint) as error:
        problem_of(lcb_function(public_test_cases=json.dumps(tests)))
    assert error.value.field == "public_test_cases, test 1"
    hidden = problem_of(lcb_function(private_test_cases=pickled(tests))).tests.load_hidden
    with pytest.raises(DataError, match=complaint) as error:
        hidden()
    assert error.value.field == "private_test_cases, test 1"


@for_each(
    "text",
    ["1" * 60_000, "NaN", '"\\ud800"', "[" * 300 + "]" * 300, ""],
    ids=["long", "nan", "surrogate", "deep", "empty"],
)
def test_a_functions_test_may_hold_all_that_pythons_json_does(
    lcb_function: Rows, problem_of: Callable[..., Problem], text: str
) -> None:
    tests = [{"input": text, "output": text or "1", "testtype": "functional"}]
    assert len(problem_of(lcb_function(public_test_cases=json.dumps(tests))).tests.public) == 1


@for_each("name", ["rows.jsonl", "rows.jsonl.gz"])
@for_each(
    "encoded",
    [
        "no base64",
        base64.b64encode(zlib.compress(b"cos\nsystem\n(S'true'\ntR.")).decode(),
        base64.b64encode(zlib.compress(pickle.dumps(["a list"]))).decode(),
        base64.b64encode(zlib.compress(pickle.dumps("no json"))).decode(),
        '[{"input": ""}]',
    ],
    ids=["words", "call", "list", "text", "no tests"],
)
def test_bad_private_tests_are_an_error_when_they_are_decoded(
    lcb_row: Rows, problem_of: Callable[..., Problem], encoded: str, name: str
) -> None:
    read = problem_of(lcb_row(private_test_cases=encoded), name)
    with pytest.raises(DataError) as error:
        read.tests.load_hidden()
    assert error.value.where.endswith(f"{name}:1")
    assert error.value.field == "private_test_cases"


@for_each("bomb", ["{}", "[]", '{"input":[]}'])
def test_hidden_tests_take_no_more_memory_than_their_text(
    lcb_row: Rows, problem_of: Callable[..., Problem], bomb: str
) -> None:
    text = f"[{','.join([bomb] * 400_000)}]"
    encoded = base64.b64encode(zlib.compress(pickle.dumps(text))).decode()
    read = problem_of(lcb_row(private_test_cases=encoded))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="1,048,576 bytes of it are outside of strings"):
            read.tests.load_hidden()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(text) + 1_000_000  # of empty objects alone: 24 times


def test_large_hidden_tests_are_read(
    lcb_row: Rows, problem_of: Callable[..., Problem], pickled: Callable[[object], str]
) -> None:
    text = '1 "2"\\\n' * 400_000
    tests = [{"input": text, "output": text, "testtype": "stdin"}]
    (only,) = problem_of(lcb_row(private_test_cases=pickled(tests))).tests.load_hidden()
    assert (only.input, only.output) == (text, text)


def test_a_functions_test_of_too_many_values_is_refused_unparsed(
    lcb_function: Rows, problem_of: Callable[..., Problem], pickled: Callable[[object], str]
) -> None:
    text = f"[{','.join(['[]'] * 2_200_000)}]"
    tests = [{"input": text, "output": "1", "testtype": "functional"}]
    read = problem_of(lcb_function(private_test_cases=pickled(tests)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="more than 4,194,304 values"):
            read.tests.load_hidden()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(text)


def test_a_second_row_of_an_id_is_an_error_that_names_both_places(
    lcb_row: Rows, write_rows: Write, tmp_path: Path
) -> None:
    write_rows(lcb_row(question_id="1"), lcb_row(question_id="2"), name="a.jsonl")
    write_rows(lcb_row(question_id="3"), lcb_row(question_id="1"), name="b.jsonl.gz")
    with pytest.raises(DataError) as error:
        load(f"{tmp_path}/*")
    assert str(error.value) == (
        f"{tmp_path}/b.jsonl.gz:2: 'livecodebench/1' was already at {tmp_path}/a.jsonl:1"
    )
    loaded = load(f"{tmp_path}/*", skip_bad_rows=True)
    assert [problem.native_id for problem in loaded.problems] == ["1", "2", "3"]
    assert [str(each) for each in loaded.skipped] == [str(error.value)]


def test_a_file_read_twice_is_all_duplicates(lcb_row: Rows, write_rows: Write) -> None:
    path = write_rows(lcb_row())
    with pytest.raises(DataError, match="was already at"):
        livecodebench.read_rows(map(open_rows, [path, path]))


def test_bad_rows_can_be_skipped_and_are_counted(lcb_row: Rows, write_rows: Write) -> None:
    path = write_rows(lcb_row(metadata=3), lcb_row(), lcb_row(question_id="", metadata="{}"))
    with path.open("ab") as file:
        file.write(b'{"torn": ')
    loaded = load(str(path), skip_bad_rows=True)
    assert [problem.native_id for problem in loaded.problems] == ["abc999_a"]
    assert [error.where for error in loaded.skipped] == [f"{path}:{n}" for n in (1, 3, 4)]
    assert all(error.__traceback__ is None for error in loaded.skipped)
    assert all(error.__context__ is None for error in loaded.skipped)


def test_a_file_cut_short_is_not_skipped_over(lcb_row: Rows, write_rows: Write) -> None:
    path = write_rows(lcb_row(), name="rows.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="ends early"):
        load(str(path), skip_bad_rows=True)


def test_problems_of_the_errata_say_so(lcb_row: Rows, problem_of: Callable[..., Problem]) -> None:
    assert problem_of(lcb_row()).known_issues == ()
    assert problem_of(lcb_row(question_id="abc337_e")).known_issues == ("interactive",)
    slug = "find-the-peaks"
    leetcode = lcb_row(question_id="3221", question_title=slug, platform="leetcode")
    assert problem_of(leetcode).known_issues == ()  # it has a checker
    assert problem_of(leetcode).checker is not None
    assert problem_of(lcb_row(question_title=slug)).known_issues == ()


def test_a_view_reaches_no_hidden_test(lcb_row: Rows, problem_of: Callable[..., Problem]) -> None:
    assert "4\\n" not in problem_of(lcb_row()).view().model_dump_json()


def test_livecodebench_without_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="give --benchmark livecodebench:PATH"):
        load(None)
