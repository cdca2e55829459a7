import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.grading.rules import RULES
from harness.judged_by import Checker
from harness.problem import Codec, Problem
from harness.sources import preambles
from harness.sources.jsonl import load
from harness.sources.jsonl_row import JsonlRow, RowTest, schema

BUNDLED = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
JSON_TYPES: dict[str, type] = {"string": str, "array": list, "null": type(None)}
ROW: dict[str, Any] = {
    "statement": "Add them.",
    "tests": [
        {"input": "1 2\n", "output": "3\n", "public": True},
        {"input": "2 2\n", "output": "4\n", "public": False},
    ],
}
FULL: dict[str, Any] = ROW | {
    "id": "mine/sum",
    "title": "Sum",
    "platform": "Mine",
    "difficulty": "Hard",
    "tags": ["Math", "easy"],
    "release_date": "2024-05-06",
    "starter_code": "class Solution:\n    def add(self, head: Optional[ListNode]) -> None:",
    "entry_point": "add",
    "tests": [{"input": "[1]\n2", "output": "3", "public": False}],
    "references": ["class Solution: ..."],
    "preamble": "leetcodedataset",
    "rule": "tokens",
    "checker": "def check(input, expected, answer): return True",
    "known_issues": ["many answers"],
}


def test_a_statement_and_tests_are_enough(problem_of: Callable[..., Problem]) -> None:
    read = problem_of(ROW)
    assert read.id == f"jsonl/{read.content_hash[:16]}"
    assert (read.source, read.title) == ("jsonl", read.native_id)
    assert [test.input for test in read.tests.public] == ["1 2\n"]
    assert [test.input for test in read.tests.load_hidden()] == ["2 2\n"]
    assert (read.difficulty, read.difficulty_word, read.platform) == (None, "", "")
    assert (read.entry_point, read.preamble) == (None, "")


def test_every_key_is_read(problem_of: Callable[..., Problem]) -> None:
    read = problem_of(FULL)
    assert (read.id, read.source, read.title) == ("mine/sum", "mine", "Sum")
    assert (read.platform, read.difficulty, read.difficulty_word) == ("mine", "hard", "Hard")
    assert read.tags == ("Math", "easy")
    assert read.release_date == date(2024, 5, 6)
    assert read.entry_point == "add"
    assert read.signature.arguments == (Codec.LINKED_LIST,)
    assert read.signature.result == Codec.FIRST_ARGUMENT
    assert read.programs() == ("class Solution: ...",)
    assert read.preamble == preambles.LEETCODEDATASET
    assert read.rule == "tokens"
    assert read.checker == Checker(kind="check", code=FULL["checker"])
    assert read.known_issues == ("many answers",)
    code = {"test", "public_test", "test_setup", "values"}  # see test_jsonl_code.py
    more = {"preamble_code", "time_limit", "memory_limit", "languages", "starters"}
    assert FULL.keys() | code | more == JsonlRow.model_fields.keys()


CALL = [{"input": "1", "output": "1", "public": True}]


@for_each(
    ("change", "preamble"),
    [
        ({}, ""),
        ({"preamble": "none"}, ""),
        ({"preamble": "apps"}, preambles.APPS),
        ({"tests": CALL, "entry_point": "f"}, preambles.LEETCODE),
        ({"tests": CALL, "entry_point": "f", "preamble": "none"}, ""),
        ({"tests": CALL, "entry_point": "f", "preamble": "mercury"}, preambles.MERCURY),
    ],
)
def test_solutions_have_the_names_that_the_row_says(
    problem_of: Callable[..., Problem], change: dict[str, Any], preamble: str
) -> None:
    assert problem_of(ROW | change).preamble == preamble


def test_every_preamble_has_a_name(problem_of: Callable[..., Problem]) -> None:
    for name, text in preambles.BY_NAME.items():
        assert problem_of(ROW | {"preamble": name}).preamble == text


def test_where_no_test_says_what_is_public_the_first_are(
    problem_of: Callable[..., Problem],
) -> None:
    tests = [{"input": str(number), "output": ""} for number in range(8)]
    read = problem_of(ROW | {"tests": tests})
    assert read.public_rule == "first"
    assert [test.input for test in read.tests.public] == ["0", "1", "2"]
    assert [test.input for test in read.tests.all()] == [test["input"] for test in tests]
    assert problem_of(ROW).public_rule == "source"


class TestSchema:
    """The format as JSON Schema says what the reader does."""

    def test_every_key_is_described(self) -> None:
        described = schema()
        for model, keys in ((JsonlRow, described), (RowTest, described["$defs"]["RowTest"])):
            assert keys["properties"].keys() == model.model_fields.keys()
            assert all(key["description"] for key in keys["properties"].values())
            assert keys["additionalProperties"] is False

    def test_what_must_be_there(self) -> None:
        assert schema()["required"] == ["statement"]
        assert schema()["anyOf"] == [{"required": ["tests"]}, {"required": ["test"]}]
        assert schema()["$defs"]["RowTest"]["required"] == ["input"]

    def test_words_are_those_that_are_read(self) -> None:
        keys = schema()["properties"]
        (named,) = [way["enum"] for way in keys["preamble"]["anyOf"] if "enum" in way]
        assert set(named) == preambles.BY_NAME.keys()
        assert set(keys["rule"]["examples"]) == set(RULES)

    def test_the_bundled_rows_are_valid(self) -> None:
        rows = [json.loads(line) for line in BUNDLED.read_text().splitlines()]
        whole = schema()
        keys = whole["properties"]
        for row in rows:
            assert row.keys() <= keys.keys()
            assert set(whole["required"]) <= row.keys()
            for name, value in row.items():
                ways = keys[name].get("anyOf", [keys[name]])
                assert type(value) in {JSON_TYPES[way["type"]] for way in ways}, name

    @pytest.mark.thorough
    def test_the_bundled_rows_are_valid_to_a_validator(self) -> None:
        jsonschema = pytest.importorskip("jsonschema")
        for line in BUNDLED.read_text().splitlines():
            jsonschema.validate(json.loads(line), schema())


def test_an_id_without_a_source_gets_this_one(problem_of: Callable[..., Problem]) -> None:
    assert problem_of(ROW | {"id": "sum"}).id == "jsonl/sum"


def test_a_word_that_is_no_level_stays_the_sources_own(problem_of: Callable[..., Problem]) -> None:
    read = problem_of(ROW | {"difficulty": "Div. 2"})
    assert (read.difficulty, read.difficulty_word) == (None, "Div. 2")


@for_each(
    ("change", "differs"),
    [
        ({"statement": "Other."}, True),
        ({"starter_code": "x"}, True),
        ({"tests": CALL}, True),
        ({"tests": [test | {"public": True} for test in ROW["tests"]]}, True),
        ({"tests": ROW["tests"][::-1]}, True),
        ({"tests": [{"input": "1 2\n", "output": "3\n"}]}, True),
        ({"checker": "def check(i, e, a): return True"}, True),
        ({"rule": "tokens"}, True),
        ({"preamble": "apps"}, True),
        ({"rule": "lcb"}, False),
        ({"known_issues": ["x"]}, False),
        ({"title": "Other"}, False),
        ({"tags": ["x"]}, False),
        ({"references": ["x"]}, False),
    ],
)
def test_the_content_hash_covers_what_can_change_a_verdict(
    problem_of: Callable[..., Problem], change: dict[str, Any], differs: bool
) -> None:
    assert (problem_of(ROW | change).content_hash != problem_of(ROW).content_hash) == differs


@for_each(
    ("row", "field", "complaint"),
    [
        (ROW | {"sttement": ""}, "sttement", "unknown key; did you mean 'statement'?"),
        (ROW | {"zzz": ""}, "zzz", "unknown key; known: statement, tests, id"),
        (
            ROW | {"tests": [{"input": "", "output": "", "publc": True, "public": True}]},
            "tests.1.publc",
            "unknown key; did you mean 'public'?",
        ),
        ({"tests": []}, "statement", "missing"),
        (ROW | {"tests": []}, "tests", "empty; give at least one test, or 'test', tests as code"),
        ({"tests": [], "statment": "Echo."}, "statment", "unknown key; did you mean 'statement'?"),
        ({"statement": ""}, "tests", "missing"),
        (ROW | {"statement": " \n"}, "statement", "it is empty; say what a solution has to do"),
        (
            ROW | {"tests": [ROW["tests"][0], {"input": "", "output": ""}]},
            "tests",
            "test 2 does not say 'public', as others do",
        ),
        (ROW | {"preamble": "numpy"}, "preamble", "must be 'none', 'livecodebench'"),
        (ROW | {"rule": "exact"}, "rule", "known are lcb, equality, tokens, apps_legacy"),
        (ROW | {"checker": 5}, "checker", "must be text"),
        (ROW | {"checker": "x = 1  # check"}, "checker", "defines no function 'check'"),
        (ROW | {"checker": "def chek(i, e, a): ..."}, "checker", "defines no function 'check'"),
        (ROW | {"known_issues": "x"}, "known_issues", "must be a list"),
        (
            ROW | {"tests": [{"input": 1, "output": "", "public": True}]},
            "tests.1.input",
            "must be text, not 1",
        ),
        *(
            (
                ROW | {"tests": [{"input": "", "output": "1", "tolerance": tolerance}]},
                "tests.1.tolerance",
                "must be ",
            )
            for tolerance in (-1, float("nan"), float("inf"))
        ),
        (ROW | {"tests": "x"}, "tests", "must be a list, not 'x'"),
        (
            ROW | {"tests": [{"input": "", "output": "", "public": 1}]},
            "tests.1.public",
            "must be true or false",
        ),
        (ROW | {"release_date": "soon"}, "release_date", "must be a day such as 2025-01-31"),
        (ROW | {"id": "a/"}, "id", "'a/' is not a name or <source>/<name>"),
        (ROW | {"id": "/a"}, "id", "'/a' is not a name or <source>/<name>"),
        (ROW | {"id": ""}, "id", "'' is not a name or <source>/<name>"),
        (FULL | {"entry_point": "a b"}, "entry_point", "'a b' is not a Python name"),
        (ROW | {"entry_point": "f"}, "tests, test 1", "line 1 of the input is not a JSON value"),
    ],
)
def test_a_bad_row_is_named_with_its_place(
    problem_of: Callable[..., Problem], row: dict[str, Any], field: str, complaint: str
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(row)
    assert error.value.where.endswith("rows.jsonl:1")
    assert error.value.field == field
    assert error.value.what.startswith(complaint)
    assert "\n" not in str(error.value)


def test_a_line_that_is_no_json_is_said_as_such(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(b"\n{'statement'\n")
    with pytest.raises(DataError, match="rows:2: not JSON: key must be a string at column 2"):
        load(str(tmp_path / "rows"))


def test_a_program_may_read_what_is_no_json(problem_of: Callable[..., Problem]) -> None:
    assert problem_of(ROW).tests.public[0].input == "1 2\n"


def test_bad_rows_and_second_ones_can_be_skipped(write_rows: Callable[..., Path]) -> None:
    path = write_rows(ROW, ROW, {"statement": 1}, FULL)
    with pytest.raises(DataError, match=rf"rows.jsonl:2: .* was already at {path}:1"):
        load(str(path))
    loaded = load(str(path), skip_bad_rows=True)
    assert len(loaded.problems) == 2
    assert [error.where for error in loaded.skipped] == [f"{path}:2", f"{path}:3"]


def test_without_a_file_the_user_is_told_to_give_one() -> None:
    with pytest.raises(UsageError, match="give --benchmark jsonl:PATH"):
        load(None)


def test_a_view_reaches_no_hidden_test_and_no_reference(problem_of: Callable[..., Problem]) -> None:
    view = json.dumps(problem_of(FULL).view().model_dump(mode="json"))
    assert "class Solution: ..." not in view
    assert "[1]" not in view
