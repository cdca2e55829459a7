"""Answers to problems that ask for a value: read as literals, compared as LiveCodeBench compares.

Where upstream's verdict is another one, the case says so, and why ours is right.
"""

import json
import math
import time
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.verdict import Verdict
from harness.kinds.questions.judge import (
    LONGEST_LITERAL,
    NoLiteralError,
    grade_answer,
    read_answer,
    read_literal,
)
from harness.problem import Kind

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
RIGHT, WRONG = Verdict.ACCEPTED, Verdict.WRONG_ANSWER


def upstream_on_output(answer: str, expected: str) -> bool:
    """What upstream's grader makes of it: Python's value of the answer against the JSON."""
    try:
        return bool(eval(answer) == json.loads(expected))
    except Exception:  # noqa: BLE001 - whatever it is
        return False


def upstream_on_execution(answer: str, expected: str) -> bool:
    """What upstream's grader makes of it: an assertion that both are pasted into."""
    try:
        exec(f"from math import inf\nassert {expected} == {answer}", {})
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


# expected, answer, verdict: upstream's is the same
OF_OUTPUTS = [
    ("3", "3", RIGHT),
    ("3", "4", WRONG),
    ("3", " 3\n", RIGHT),
    ("3", "(3)", RIGHT),
    ("3", "3  # the sum", RIGHT),
    ("3", "3.0", RIGHT),
    ("1", "True", RIGHT),
    ("true", "1", RIGHT),
    ("true", "True", RIGHT),
    ("null", "None", RIGHT),
    ("-0.0", "0", RIGHT),
    ("-3", "- 3", RIGHT),
    ("1e2", "100", RIGHT),
    ("0.3", "0.30000000000000004", WRONG),
    ('"ab"', "'ab'", RIGHT),
    ('"ab"', "'a' 'b'", RIGHT),
    ('"ab"', "ab", WRONG),
    ('"ab"', "b'ab'", WRONG),
    ('"3"', "3", WRONG),
    ('"a\\nb"', "'a\\nb'", RIGHT),
    ('"\\u00e9"', "'é'", RIGHT),
    ('"it\'s"', '"it\'s"', RIGHT),
    ("[1, 2]", "[1,2,]", RIGHT),
    ("[1, 2]", "[\n1,\n2\n]", RIGHT),
    ("[1, 2]", "(1, 2)", WRONG),
    ("[1, 2]", "[2, 1]", WRONG),
    ("[[1, null], true]", "[[1, None], True]", RIGHT),
    ("[]", "()", WRONG),
    ('{"a": [1]}', "{'a': [1]}", RIGHT),
    ('{"1": 2}', "{1: 2}", WRONG),
    ("NaN", "float('nan')", WRONG),
    ("Infinity", "float('inf')", RIGHT),
    ("-Infinity", "-float('inf')", RIGHT),
    ("3", "three", WRONG),
    ("3", "3 4", WRONG),
    ("3", "assert f(1) == 3", WRONG),
]


@for_each(("expected", "answer", "verdict"), OF_OUTPUTS)
def test_a_test_s_output(expected: str, answer: str, verdict: Verdict) -> None:
    assert grade_answer(OUTPUT, answer, expected).verdict is verdict
    assert upstream_on_output(answer, expected) is (verdict is RIGHT)


OF_EXECUTIONS = [
    ("3", "3", RIGHT),
    ("3", "4", WRONG),
    ("True", "1", RIGHT),
    ("6", "6.0", RIGHT),
    ("-0.0", "0", RIGHT),
    ("(1, 2)", "(1, 2)", RIGHT),
    ("(1, 2)", "[1, 2]", WRONG),
    ("[1, 2]", "(1, 2)", WRONG),
    ("[(1,), [2]]", "[(1,), [2]]", RIGHT),
    ("{1, 2}", "{2, 1, 1}", RIGHT),
    ("{1, 2}", "[1, 2]", WRONG),
    ("set()", "set()", RIGHT),
    ("set()", "{}", WRONG),
    ("frozenset({1})", "{1}", RIGHT),
    ("{1: {2}}", "{1: {2}}", RIGHT),
    ("b'a\\x00'", "b'a\\0'", RIGHT),
    ("1j", "1j", RIGHT),
    ("(1-2j)", "1-2j", RIGHT),
    ("inf", "float('inf')", RIGHT),
    ("float('-inf')", "-inf", RIGHT),
    ("float('nan')", "float('nan')", WRONG),
    ("[float('nan')]", "[float('nan')]", WRONG),
    ("'a==b'", "'a==b'", RIGHT),
    ("'\\n'", '"""\n"""', RIGHT),
    ("True", "true", WRONG),
    ("None", "null", WRONG),
    ("3", "three", WRONG),
    ("1e400", "float('inf')", RIGHT),
]


@for_each(("expected", "answer", "verdict"), OF_EXECUTIONS)
def test_execution_answers_are_compared_as_upstream_does(
    expected: str, answer: str, verdict: Verdict
) -> None:
    assert grade_answer(EXECUTION, answer, expected).verdict is verdict
    assert upstream_on_execution(answer, expected) is (verdict is RIGHT)


@for_each(
    ("expected", "answer"),
    [
        ("true", "true"),
        ("null", "null"),
        ("[true, null]", "[true, null]"),
        ("[true, [1]]", "[true, [True,],]"),
        ("NaN", "[NaN]"),  # as wrong as upstream: NaN equals nothing
        ('"\\/"', '"\\/"'),
        ('"\\ud83d\\ude00"', '"\\ud83d\\ude00"'),
    ],
)
def test_json_s_own_spelling_is_right_here_and_an_error_upstream(
    expected: str, answer: str
) -> None:
    right = "NaN" not in expected
    assert grade_answer(OUTPUT, answer, expected).verdict is (RIGHT if right else WRONG)
    assert not upstream_on_output(answer, expected)


@for_each(
    ("expected", "answer"),
    [
        ("3", "3 or True"),
        ("3", "2 + 1"),
        ("[0, 0]", "[0] * 2"),
        ("3", "max(1, 3)"),
        ("[1, 2]", "[*[1, 2]]"),
        ("[1, 2]", "sorted([2, 1])"),
        ("'ab'", "f'ab'"),
        ("'ab'", "'a' + 'b'"),
        ("True", "1 == 1"),
        ("3", "3 == 3"),
        ("3", "3 if True else 4"),
        ("3", "(lambda: 3)()"),
        ("[1]", "[x for x in [1]]"),
        ("3", "int('3')"),
        ("3", "3, 'and a message'"),
        ("3", "3\n4"),
    ],
)
def test_an_expression_is_no_answer_though_upstream_takes_it(expected: str, answer: str) -> None:
    grade = grade_answer(EXECUTION, answer, expected)
    assert grade.verdict is WRONG
    (test,) = grade.tests
    if "message" in answer:  # a tuple, here
        assert test.difference is not None
    else:
        assert test.error.startswith("the answer is not a literal: ")
    assert upstream_on_execution(answer, expected)


def test_a_tuple_needs_no_brackets_though_upstream_takes_half_of_it_for_a_message() -> None:
    assert grade_answer(EXECUTION, "1, 2", "(1, 2)").verdict is RIGHT
    assert not upstream_on_execution("1, 2", "(1, 2)")


def test_a_trick_expression_is_never_a_right_answer() -> None:
    for expected in ("4", "'x'", "[1]"):
        assert grade_answer(EXECUTION, "3 or True", expected).verdict is WRONG
        assert upstream_on_execution("3 or True", expected)


def test_an_answer_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.print", lambda *_: pytest.fail("it was run"))
    for kind in (OUTPUT, EXECUTION):
        for answer in ("print(1)", "[print(1)]", "{**print(1)}", "f'{print(1)}'", "print"):
            assert grade_answer(kind, answer, "1").verdict is WRONG


@for_each("kind", [OUTPUT, EXECUTION])
@for_each("answer", ["", "  \n"])
def test_nothing_at_all_is_no_solution(kind: Kind, answer: str) -> None:
    grade = grade_answer(kind, answer, "1")
    assert (grade.verdict, grade.tests, grade.hidden_total) == (Verdict.NO_SOLUTION, (), 1)


def test_a_grade_is_one_hidden_test() -> None:
    grade = grade_answer(EXECUTION, "4", "4")
    assert (grade.hidden_passed, grade.hidden_total, grade.public_total) == (1, 1, 0)
    assert grade.solved
    (test,) = grade.tests
    assert (test.index, test.public, test.cpu_s) == (0, False, 0)
    assert (grade.isolation, grade.peak_bytes) == ("", 0)


def test_a_wrong_answer_is_shown_beside_the_expected_one() -> None:
    grade = grade_answer(OUTPUT, "[" + "1, " * 400 + "2]", json.dumps([1] * 401))
    assert (grade.hidden_passed, grade.hidden_total, grade.solved) == (0, 1, False)
    (test,) = grade.tests
    assert test.difference is not None
    assert test.difference.got.endswith("2]")
    assert test.difference.expected.endswith("1]")
    assert test.got.startswith("[1, 1")


@for_each(
    ("kind", "expected"),
    [
        (OUTPUT, "True"),
        (OUTPUT, ""),
        (OUTPUT, "(1, 2)"),
        (EXECUTION, "Counter('aab')"),
        (EXECUTION, "1 + 1"),
        (EXECUTION, ""),
        (EXECUTION, "'" + "a" * LONGEST_LITERAL + "'"),
    ],
)
def test_an_expected_value_that_cannot_be_read_is_the_data_s_fault(
    kind: Kind, expected: str
) -> None:
    grade = grade_answer(kind, "1", expected)
    assert grade.verdict is Verdict.CHECKER_ERROR
    assert grade.checker_error.startswith("the expected value cannot be read: ")
    assert grade.hidden_total == 1


HOSTILE = {
    "brackets": "[" * 60_000,
    "brackets that are closed": "[" * 30_000 + "]" * 30_000,
    "signs": "-" * 60_000 + "1",
    "sums": "1+" * 30_000 + "1",
    "nots": "not " * 16_000 + "1",
    "attributes": "a" + ".b" * 30_000,
    "lambdas": "lambda:" * 9_000 + "1",
    "digits": "9" * 60_000,
    "hexadecimal": "0x" + "f" * 60_000,
    "a power": "9**9**9",
    "a repetition": "'a' * 10**12",
    "a null": "\0",
    "half a pair": "'\ud800'",
    "half a pair, bare": "\ud800",
    "equal hashes": "{" + ",".join(str(i * (2**61 - 1)) for i in range(1, 2_800)) + "}",
    "equal hashes as keys": "{" + ":1,".join(hex(i * (2**61 - 1)) for i in range(1, 2_800)) + ":1}",
    "too long": "1" + " " * LONGEST_LITERAL,
    "a megabyte": "[" + "1," * 500_000 + "]",
    "half a megabyte of nothing": " " * 500_000 + "1",
    "a keyword": "await x",
    "an ellipsis": "...",
    "what cannot be hashed": "{[1]: {2: {}}, {}: 3}",
    "a set of lists": "{[1]}",
    "a sign of a bool": "-True",
    "a huge complex number": "0x" + "f" * 5_000 + " + 1j",
    "an escape that is none": "'\\d' + ''",
}


@for_each("kind", [OUTPUT, EXECUTION])
@for_each("answer", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_wrong_in_bounded_time(kind: Kind, answer: str) -> None:
    started = time.process_time()
    grade = grade_answer(kind, answer, "0")
    assert grade.verdict is WRONG
    assert len(grade.model_dump_json()) < 20_000
    assert time.process_time() - started < 10


def test_values_of_equal_hashes_are_compared_in_time() -> None:
    text = HOSTILE["equal hashes"]
    started = time.process_time()
    assert grade_answer(EXECUTION, text, text).verdict is RIGHT
    assert time.process_time() - started < 10


def test_data_nested_deeply_end_in_a_verdict() -> None:
    text = "[" * 900 + "]" * 900
    assert grade_answer(OUTPUT, text, text).verdict is RIGHT
    assert grade_answer(OUTPUT, "[" * 100 + "]" * 100, text).verdict is WRONG


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
json_values: Any = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
hashable: Any = st.recursive(
    st.one_of(
        scalars, st.binary(max_size=4), st.complex_numbers(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=8,
)
python_values: Any = st.recursive(
    hashable,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
    ),
    max_leaves=12,
)


@given(json_values)
def test_every_json_value_is_right_in_either_spelling(value: Any) -> None:
    expected = json.dumps(value)
    assert grade_answer(OUTPUT, repr(value), expected).solved
    assert grade_answer(OUTPUT, expected, expected).solved


@given(json_values, json_values)
def test_two_json_values_are_told_apart_as_upstream_does(one: Any, other: Any) -> None:
    expected = json.dumps(other)
    assert grade_answer(OUTPUT, repr(one), expected).solved is bool(one == json.loads(expected))


@pytest.mark.thorough
@given(python_values)
def test_what_repr_writes_is_read_back(value: Any) -> None:
    read = read_literal(repr(value))
    assert read == value
    assert type(read) is type(value)
    assert grade_answer(EXECUTION, repr(value), repr(value)).solved


@given(python_values, python_values)
def test_two_values_are_told_apart_as_python_does(one: Any, other: Any) -> None:
    assert grade_answer(EXECUTION, repr(one), repr(other)).solved is bool(
        read_literal(repr(one)) == read_literal(repr(other))
    )


@given(st.text(max_size=40), st.sampled_from([OUTPUT, EXECUTION]))
def test_every_text_has_a_verdict(text: str, kind: Kind) -> None:
    assert grade_answer(kind, text, "0").verdict in {RIGHT, WRONG, Verdict.NO_SOLUTION}


def test_each_nan_is_its_own() -> None:
    (one, other) = read_answer(EXECUTION, "[nan, math.nan]")[0]  # type: ignore[misc]
    assert math.isnan(one)
    assert one is not other


@for_each(
    ("text", "reason"),
    [
        ("x", "has the name 'x'"),
        ("f(1)", "has a call of 'f'"),
        ("1 + 1", "has an operation"),
        ("1 == 1", "has a comparison"),
        ("f'a'", "has an f-string"),
        ("a.b", "has an attribute"),
        ("{**{}}", "has a ** in a dict"),
        ("-'a'", "has the sign of what is not a number"),
        ("1 1", "not Python: "),
        ("", "not Python: "),
    ],
)
def test_a_refused_literal_says_why(text: str, reason: str) -> None:
    with pytest.raises(NoLiteralError) as caught:
        read_literal(text)
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)
