import gzip
import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.problem import Codec, Problem, TestCase
from harness.sources import preambles
from harness.sources.apps.apps import load
from harness.sources.apps.apps_problem import is_wrapped, platform, title

Rows = Callable[..., dict[str, Any]]
Read = Callable[[dict[str, Any]], Problem]
Write = Callable[..., Path]

STATEMENT = "Print twice the number.\n\n-----Example-----\nInput\n1\n\nOutput\n2\n"
LEETCODE = "class Solution:\n    def f(self, a: List[int], n: int) -> {}:\n        "
CODEWARS = "def f(a):\n\t"
LONG = "7" * 5_000


def suite(inputs: list[Any], outputs: list[Any], **more: object) -> str:
    return json.dumps({"inputs": inputs, "outputs": outputs, **more})


@pytest.fixture
def row() -> Rows:
    """A row of a program, with columns changed at will."""

    def build(**columns: object) -> dict[str, Any]:
        row: dict[str, Any] = {
            "problem_id": 4213,
            "question": STATEMENT,
            "solutions": json.dumps(["print(2 * int(input()))", "print(int(input()) * 2)"]),
            "input_output": suite(["1\n", "2\n", "3\n"], ["2\n", "4\n", "6\n"]),
            "difficulty": "interview",
            "url": "https://codeforces.com/problemset/problem/1353/D",
            "starter_code": "",
        }
        return {name: value for name, value in (row | columns).items() if value is not ...}

    return build


@pytest.fixture
def function(row: Rows) -> Rows:
    """A row of a function."""

    def build(
        inputs: list[Any], outputs: list[Any], starter: str = CODEWARS, **columns: object
    ) -> dict[str, Any]:
        plain = {
            "question": "Call it.",
            "input_output": suite(inputs, outputs, fn_name="f"),
            "starter_code": starter,
        }
        return row(**(plain | columns))

    return build


def results(problem: Problem) -> list[str]:
    return [test.output for test in problem.tests.all()]


def test_a_program_is_read(row: Rows, problem_of: Read) -> None:
    read = problem_of(row())
    assert (read.id, read.source, read.aliases) == ("apps/4213", "apps", ("apps_4213",))
    assert (read.title, read.platform, read.statement) == ("1353D", "codeforces", STATEMENT)
    assert (read.difficulty, read.difficulty_word) == ("medium", "interview")
    assert read.entry_point is None
    assert (read.rule, read.preamble) == ("tokens", preambles.APPS)
    assert read.programs() == ("print(2 * int(input()))", "print(int(input()) * 2)")
    assert read.public_rule == "statement"
    assert read.tests.public == (TestCase(input="1\n", output="2\n", public=True),)
    assert read.tests.load_hidden() == (
        TestCase(input="2\n", output="4\n", public=False),
        TestCase(input="3\n", output="6\n", public=False),
    )


def test_the_first_tests_are_public_if_the_statement_shows_none(
    row: Rows, problem_of: Read
) -> None:
    read = problem_of(row(question="Twice."))
    assert read.public_rule == "first"
    assert [test.input for test in read.tests.public] == ["1\n"]
    assert [test.input for test in read.tests.load_hidden()] == ["2\n", "3\n"]


def test_a_program_may_have_lists_of_lines(row: Rows, problem_of: Read) -> None:
    read = problem_of(row(input_output=suite([["1", "2"], []], [["3"], "4"])))
    assert [test.input for test in read.tests.all()] == ["1\n2\n", ""]
    assert results(read) == ["3\n", "4"]


def test_a_call_has_an_argument_a_line(function: Rows, problem_of: Read) -> None:
    read = problem_of(function([[[1, 2], 3], [[], "a\nb"], []], [4, 5, 6]))
    assert read.entry_point == "f"
    assert [test.input for test in read.tests.all()] == ["[1, 2]\n3", '[]\n"a\\nb"', ""]
    assert results(read) == ["4", "5", "6"]


def test_a_call_is_one_line_a_value_however_it_was_written(row: Rows, problem_of: Read) -> None:
    text = json.dumps({"fn_name": "f", "inputs": [[[1, {"a": 2}], 3]], "outputs": [[4, 5]]})
    spread = json.dumps(json.loads(text), indent=2)
    (test,) = problem_of(row(input_output=spread)).tests.all()
    assert [json.loads(line) for line in test.input.split("\n")] == [[1, {"a": 2}], 3]
    assert json.loads(test.output) == [4, 5]
    assert "\n" not in test.output


@for_each(
    ("outputs", "starter", "expected"),
    [
        ([[1], [2]], CODEWARS, ["1", "2"]),
        ([[1], [2]], "", ["1", "2"]),
        ([[[1, 2]], [[]]], CODEWARS, ["[1, 2]", "[]"]),
        ([[1], 2], CODEWARS, ["[1]", "2"]),
        ([[1], [2, 3]], CODEWARS, ["[1]", "[2, 3]"]),
        ([[1], []], CODEWARS, ["[1]", "[]"]),
        (["1", "2"], CODEWARS, ['"1"', '"2"']),
        ([[1], [2]], LEETCODE.format("List[int]"), ["[1]", "[2]"]),
        ([[1], [2]], LEETCODE.format("ListNode"), ["[1]", "[2]"]),
        ([[1], [2]], LEETCODE.replace(" -> {}", ""), ["[1]", "[2]"]),
        ([[1], [2]], LEETCODE.format("int"), ["1", "2"]),
        ([[True], [False]], LEETCODE.format("bool"), ["true", "false"]),
        ([["a"], ["b"]], "class Solution:\n    def f(self,\n  s: str) ->  str :", ['"a"', '"b"']),
        ([1, 2], LEETCODE.format("int"), ["1", "2"]),
    ],
)
def test_a_result_is_unwrapped_where_all_are_wrapped_and_it_can_be_no_list(
    function: Rows, problem_of: Read, outputs: list[Any], starter: str, expected: list[str]
) -> None:
    assert results(problem_of(function([[0], [1]], outputs, starter))) == expected


def test_another_functions_annotation_does_not_count() -> None:
    starter = "class Solution:\n    def f(self) -> List[int]:\n        pass\ndef g() -> int:\n"
    assert not is_wrapped(["[1]"], starter, "f")


@for_each(
    ("inputs", "outputs", "codecs"),
    [
        ([[{"1": 2}, 0], [{"-3": 4, "0": 1}, 0]], [1, 2], ((Codec.INT_KEYS,), Codec.JSON)),
        ([[0, {"1": 2}], [0, {}]], [1, 2], ((Codec.JSON, Codec.INT_KEYS), Codec.JSON)),
        ([[0], [1]], [{"1": 2}, {"3": 4}], ((), Codec.INT_KEYS)),
        ([[0], [1]], [[{"1": 2}], [{"3": 4}]], ((), Codec.INT_KEYS)),
        ([[{"1": 2}], [{"a": 2}]], [1, 2], ((), Codec.JSON)),
        ([[{"1": 2}], [[1]]], [1, 2], ((), Codec.JSON)),
        ([[{"01": 2}], [{"1.0": 2}]], [{}, {}], ((), Codec.JSON)),
        ([[{"1" * 5_000: 2}], [{"1": 1}]], [1, 2], ((), Codec.JSON)),
    ],
)
def test_keys_that_are_all_integers_are_integers_to_the_function(
    function: Rows,
    problem_of: Read,
    inputs: list[Any],
    outputs: list[Any],
    codecs: tuple[tuple[Codec, ...], Codec],
) -> None:
    signature = problem_of(function(inputs, outputs, starter="")).signature
    assert (signature.arguments, signature.result) == codecs


def test_the_starter_codes_nodes_and_integer_keys_go_together(
    function: Rows, problem_of: Read
) -> None:
    starter = "class Solution:\n    def f(self, head: ListNode, by: Dict[int, int]) -> ListNode:\n"
    signature = problem_of(function([[[1, 2], {"1": 2}]], [[1]], starter)).signature
    assert signature.arguments == (Codec.LINKED_LIST, Codec.INT_KEYS)
    assert signature.result is Codec.LINKED_LIST


@for_each("as_string", [True, False])
@for_each("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_integers_longer_than_int_allows_pass_through(
    function: Rows, write_rows: Write, name: str, as_string: bool
) -> None:
    calls = f'"inputs": [[{LONG}, [1, {LONG}]], [1, []]], "outputs": [[{LONG}], [2]]'
    text = f'{{"fn_name": "f", {calls}}}'
    row = function([], [], input_output=text if as_string else "HERE")
    path = write_rows(row, name=name)
    if not as_string:
        data = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
        path.write_bytes(data.replace(b'"HERE"', text.encode()))
    (problem,) = load(str(path)).problems
    first, second = problem.tests.all()
    assert first.input == f"{LONG}\n[1, {LONG}]"
    assert (first.output, second.output) == (LONG, "2")


def test_the_columns_may_be_lists_and_objects(row: Rows, problem_of: Read) -> None:
    plain = row()
    real = {name: json.loads(plain[name]) for name in ("solutions", "input_output")}
    as_strings, as_they_are = problem_of(plain), problem_of(row(**real))
    assert as_they_are.tests.all() == as_strings.tests.all()
    assert as_they_are.programs() == as_strings.programs()
    assert as_they_are.content_hash == as_strings.content_hash


@for_each("empty", ["", None, ..., "null", "{}", '{"inputs": [], "outputs": []}'])
def test_a_problem_without_tests_is_a_problem(row: Rows, problem_of: Read, empty: object) -> None:
    read = problem_of(row(input_output=empty))
    assert read.tests.all() == ()
    assert read.entry_point is None


@for_each("empty", ["", None, ..., "null", "[]", []])
def test_a_problem_may_have_no_reference(row: Rows, problem_of: Read, empty: object) -> None:
    assert problem_of(row(solutions=empty)).programs() == ()


def test_an_apps_row_needs_a_statement_alone(write_rows: Write) -> None:
    (read,) = load(str(write_rows({"question": "Say hello.\nTo all."}))).problems
    assert read.id == f"apps/{read.content_hash[:16]}"
    assert read.aliases == (f"apps_{read.content_hash[:16]}",)
    assert (read.title, read.platform) == ("Say hello.", "")
    assert (read.difficulty, read.difficulty_word) == (None, "")


@for_each(
    ("columns", "name"),
    [
        ({"problem_id": "4213"}, "4213"),
        ({"problem_id": "0042"}, "42"),
        ({"problem_id": 0}, "0"),
        ({"problem_id": "0000"}, "0"),
        ({"problem_id": " kata one "}, "kata one"),
        ({"problem_id": ..., "id": 7}, "7"),
        ({"problem_id": None, "id": "7"}, "7"),
        ({"problem_id": 1, "id": 7}, "1"),
        ({"problem_id": "1" * 200}, "1" * 200),
    ],
)
def test_a_problem_is_named_by_its_number(
    row: Rows, problem_of: Read, columns: dict[str, Any], name: str
) -> None:
    assert problem_of(row(**columns)).native_id == name


@for_each(
    ("word", "level"),
    [
        ("introductory", "easy"),
        ("interview", "medium"),
        ("competition", "hard"),
        ("Interview", "medium"),
        ("easy", "easy"),
        (None, None),
    ],
)
def test_apps_difficulties_are_levels(
    row: Rows, problem_of: Read, word: str | None, level: str | None
) -> None:
    read = problem_of(row(difficulty=word))
    assert (read.difficulty, read.difficulty_word) == (level, word or "")


@for_each(
    ("url", "site", "name"),
    [
        ("https://codeforces.com/problemset/problem/1353/D", "codeforces", "1353D"),
        ("https://codeforces.com/contest/1353/problem/D2", "codeforces", "1353D2"),
        ("https://atcoder.jp/contests/arc063/tasks/arc063_c", "atcoder", "arc063_c"),
        ("https://leetcode.com/problems/two-sum/", "leetcode", "two-sum"),
        ("https://www.codewars.com/kata/58603c898989d15e9e000475", "codewars", "The statement."),
        ("https://www.codechef.com/problems/ABC12", "codechef", "ABC12"),
        ("https://www.hackerrank.com/challenges/a-b/problem", "hackerrank", "a-b"),
        ("https://open.kattis.com/problems/abc", "kattis", "abc"),
        ("https://LeetCode.com:443/problems/x?y#z", "leetcode", "x"),
        ("", "", "The statement."),
        ("https://", "", "The statement."),
        ("http://[", "", "The statement."),
        ("localhost", "", "localhost"),
    ],
)
def test_the_address_names_the_site_and_the_problem(url: str, site: str, name: str) -> None:
    assert platform(url) == site
    assert title(url, "\n \n The  statement.\nMore.") == name


def test_a_title_is_short() -> None:
    assert len(title("", "x" * 1_000)) == 80
    assert len(title("https://a.b/" + "x" * 1_000, "")) == 80


def test_the_id_is_the_title_of_a_row_without_one(row: Rows, problem_of: Read) -> None:
    assert problem_of(row(url="", question="")).title == "4213"


BAD_TESTS = {
    "no JSON": ("{", "not JSON: a key in quotes is wanted at character 1"),
    "a list": ("[]", "not an object"),
    "no lists": ('{"inputs": {}, "outputs": []}', "not a list"),
    "lengths": (suite(["1", "2"], ["1"]), "2 inputs but 1 outputs"),
    "no outputs": ('{"inputs": ["1"]}', "1 inputs but 0 outputs"),
    "number": (suite(["1"], [2]), "test 1: not a string but '2'"),
    "numbers": (suite(["1", [3]], ["1", "2"]), "test 2: not a string but '3'"),
    "surrogate": (suite(["\ud800"], ["2"]), "test 1: half of a surrogate pair at character 0"),
    "name": (suite([], [], fn_name="a.b"), "fn_name 'a.b' is not a Python name"),
    "no name": (suite([], [], fn_name=1), "not a string but '1'"),
    "arguments": (suite([1], [1], fn_name="f"), "test 1: the input is not a list of arguments"),
    "deep": ('{"inputs": ' + "[" * 500_000, "not JSON: nested too deeply"),
}


@pytest.mark.parametrize(("text", "complaint"), BAD_TESTS.values(), ids=BAD_TESTS)
def test_bad_tests_are_named_with_their_place(
    row: Rows, problem_of: Read, text: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(row(input_output=text))
    assert str(error.value) == f"{tmp_path}/rows.jsonl:1: field 'input_output': {complaint}"


@for_each(
    ("column", "value", "complaint"),
    [
        ("problem_id", "", "'' is not a number or a short name"),
        ("problem_id", "1" * 201, "is not a number or a short name"),
        ("problem_id", "a\nb", "is not a number or a short name"),
        ("problem_id", 1.5, "not a string but '1.5'"),
        ("problem_id", [1], "not a string but '[1]'"),
        ("question", ..., "missing"),
        ("question", None, "not a string but 'null'"),
        ("question", 1, "not a string but '1'"),
        ("question", "\ud800", "half of a surrogate pair"),
        ("solutions", "x", "not a list"),
        ("solutions", [1], "not a string but '1'"),
        ("solutions", 1, "not a string but '1'"),
        ("difficulty", "simple", "'simple' is not one of introductory, interview, competition"),
        ("difficulty", 1, "not a string but '1'"),
        ("url", {}, "not a string but '{}'"),
        ("starter_code", ["x" * 1_000], "not a string but"),
        ("input_output", 3, "not a string but '3'"),
    ],
)
def test_a_bad_value_is_named_with_its_place(
    row: Rows, problem_of: Read, column: str, value: object, complaint: str
) -> None:
    with pytest.raises(DataError) as error:
        problem_of(row(**{column: value}))
    assert error.value.where.endswith("rows.jsonl:1")
    assert error.value.field == column
    assert complaint in error.value.what
    assert len(error.value.what) < 160


@for_each(
    ("line", "complaint"),
    [
        (b"[]", "not a JSON object"),
        (b"{", "not JSON: EOF while parsing an object"),
        (b'{"question": "\xff"}', "not UTF-8: byte 14 is 0xff"),
        (b'{"a": ' + b"[" * 500_000, "not JSON"),
    ],
)
def test_a_line_that_is_no_row_is_refused(tmp_path: Path, line: bytes, complaint: str) -> None:
    (tmp_path / "rows.jsonl").write_bytes(line + b"\n")
    with pytest.raises(DataError, match=complaint) as error:
        load(str(tmp_path / "rows.jsonl"))
    assert error.value.where == f"{tmp_path}/rows.jsonl:1"


def test_bad_rows_can_be_skipped_and_are_counted(row: Rows, write_rows: Write) -> None:
    path = write_rows(row(question=1), row(), row(), row(problem_id=2))
    loaded = load(str(path), skip_bad_rows=True)
    assert [problem.native_id for problem in loaded.problems] == ["4213", "2"]
    assert [error.where for error in loaded.skipped] == [f"{path}:1", f"{path}:3"]


@for_each("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_hidden_tests_are_found_again(row: Rows, write_rows: Write, name: str) -> None:
    def tests(number: int) -> str:
        return suite(["1\n", f"{number}" * 10**number], ["2\n", "é"])

    rows = [row(problem_id=n, input_output=tests(n)) for n in range(5)]
    problems = load(str(write_rows(*rows, name=name))).problems
    for number, problem in reversed(list(enumerate(problems))):
        (test,) = problem.tests.load_hidden()
        assert (test.input, test.output) == (f"{number}" * 10**number, "é")


@for_each(
    "change",
    [
        {"problem_id": 1},
        {"question": "Other."},
        {"starter_code": "x"},
        {"input_output": suite(["1\n", "2\n"], ["2\n", "5\n"])},
        {"input_output": "x"},
    ],
)
def test_a_row_that_changed_since_is_not_graded_with(
    row: Rows, write_rows: Write, change: dict[str, Any]
) -> None:
    (problem,) = load(str(write_rows(row()))).problems
    path = write_rows(row(**change))
    with pytest.raises(DataError) as error:
        problem.tests.load_hidden()
    assert str(error.value) == f"{path}:1: no longer the row of 'apps/4213' that was loaded"


@for_each(
    ("change", "counts"),
    [
        ({"question": "Other."}, True),
        ({"starter_code": "x"}, True),
        ({"input_output": suite(["1\n"], ["2\n"])}, True),
        ({"input_output": suite(["1\n", "2\n", "3\n"], ["2\n", "4\n", "7\n"])}, True),
        ({"solutions": "[]"}, False),
        ({"url": ""}, False),
        ({"difficulty": "competition"}, False),
        ({"problem_id": 1}, False),
    ],
)
def test_the_content_hash_covers_what_can_change_a_verdict(
    row: Rows, problem_of: Read, change: dict[str, Any], counts: bool
) -> None:
    before, after = problem_of(row()), problem_of(row(**change))
    assert (before.content_hash != after.content_hash) is counts


def test_a_plain_file_keeps_no_hidden_test_in_memory(row: Rows, write_rows: Write) -> None:
    noise = "".join(chr(48 + (n * n * 7919) % 75) for n in range(400_000))
    tests = suite(["1\n", noise], ["2\n", ""])
    path = write_rows(*(row(problem_id=n, input_output=tests) for n in range(10)))
    load(str(path))  # imports what reading needs
    tracemalloc.start()
    try:
        loaded = load(str(path))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < len(tests)
    assert all(problem.tests.load_hidden()[0].input == noise for problem in loaded.problems)


def test_a_functions_test_is_public_when_the_statement_shows_it(
    function: Rows, problem_of: Read
) -> None:
    question = 'Example 1:\nInput: s = "ab", n = 2\nOutput: [1]\n\nExample 2:\nInput: …\n'
    starter = "class Solution:\n    def f(self, n: int, s: str) -> List[int]:\n        "
    inputs = [[1, "ab"], [2, "ab"], [int("9" * 4_000), "ab"], [2, '"ab"']]
    read = problem_of(function(inputs, [[1], [1], [1], [1]], starter, question=question))
    assert read.public_rule == "statement"
    # The quotes of LeetCode's examples are part of the string in many rows.
    assert [test.input for test in read.tests.public] == ['2\n"ab"', '2\n"\\"ab\\""']


def test_a_functions_hostile_tests_are_compared_with_the_statement(
    row: Rows, problem_of: Read
) -> None:
    deep = "[" * 900 + "]" * 900
    text = f'{{"fn_name": "f", "inputs": [[{deep}], [{LONG}], [2]], "outputs": [{LONG}, 1, 3]}}'
    read = problem_of(row(input_output=text, question="Input: 2\nOutput: 3\n"))
    assert [test.input for test in read.tests.public] == ["2"]


def test_a_view_reaches_no_hidden_test(row: Rows, problem_of: Read) -> None:
    assert "6\\n" not in problem_of(row()).view().model_dump_json()


def test_apps_without_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="give --benchmark apps:PATH"):
        load(None)


@pytest.mark.thorough
def test_all_real_apps_rows_load_with_every_test(test_data: Path) -> None:
    loaded = load(f"{test_data}/apps_codechain_minival/*[nwy].jsonl")
    problems = loaded.problems
    assert len(problems) == 150
    assert len(loaded.files) == 3
    assert sum(problem.entry_point is not None for problem in problems) == 12
    assert sum(len(problem.tests.all()) for problem in problems) == 959
    assert Counter(problem.difficulty for problem in problems) == dict.fromkeys(
        ("easy", "medium", "hard"), 50
    )
    assert Counter(problem.platform for problem in problems) == {"codeforces": 138, "leetcode": 12}
    assert Counter(problem.public_rule for problem in problems) == {"statement": 136, "first": 14}
    assert all(problem.programs() for problem in problems)


def test_the_known_examples_are_the_public_tests(test_data: Path) -> None:
    """Published example tests; theirs are cut at an empty line and take no rounded number."""
    folder = test_data / "apps_codechain_minival"
    known = json.loads(gzip.decompress((folder / "mini_val_example_tests.json.gz").read_bytes()))
    problems = load(f"{folder}/*[nwy].jsonl").problems
    programs = [problem for problem in problems if problem.entry_point is None]
    agreeing = 0
    for problem in programs:
        example = known[problem.native_id]
        pairs = zip(example["inputs"], example["outputs"], strict=True)
        theirs = {(" ".join(a.split()), " ".join(b.split())) for a, b in pairs}
        tests = {
            (" ".join(test.input.split()), " ".join(test.output.split())): test
            for test in problem.tests.all()
        }
        public = (
            {key for key, test in tests.items() if test.public}
            if problem.public_rule == "statement"
            else set[tuple[str, str]]()
        )
        assert theirs & tests.keys() <= public
        agreeing += public == theirs & tests.keys()
    assert len(programs) == 138
    assert agreeing == 131
