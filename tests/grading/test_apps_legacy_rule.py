"""The ladder of APPS' own grader: each rung, and each wrong answer it is known to accept."""

import json
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from for_each import for_each
from hypothesis import example, given
from hypothesis import strategies as st

from harness.grading.rules import RULES
from harness.grading.rules.apps_legacy import apps_legacy_output, apps_legacy_value
from harness.grading.rules.lcb import lcb_output, lcb_value
from harness.grading.rules.tokens import tokens_output, tokens_value
from harness.sandbox.inside import values

RUNGS = {
    "equal": ("1 2\n3\n", "1 2\n3\n"),
    "empty": ("", "\n \n"),
    "stripped as a whole": ("a\nb", "\n a\nb \n\n"),
    "another end of line": ("a\nb", "a\r\nb\r"),
    "every end of line that Unicode knows": ("a\nb\nc\nd", "a\x0bb\u2028c\x85d"),
    "stripped line by line": ("a\nb", "a  \n  b"),
    "the expected lines stripped": ("a \n  b", "a\nb"),
    "carriage returns expected": ("a\r\nb\r\n", "a\nb\n"),
    "blank lines expected": ("a\n\n\nb", "a\nb"),
    "an expected line of spaces is an empty one": ("a\n \nb", "a\n\nb"),
    "blank lines printed": ("a\nb", "a\n\nb"),
    "floats on lines": ("1\n2.5\n1e3", "1.000001\n2.50001\n1000.009"),
    "infinities on lines": ("inf\n-inf", "Infinity\n-1e999"),
    "underscores, as Python reads floats": ("1000", "1_000"),
    "tokens of a line": ("a b", "a  b"),
    "numbers of a line": ("1 2", "1.0 2.0001"),
}

# What no grader should accept; this one does, as upstream's does.
FALSE_POSITIVES = {
    "lines in another order": ("1\n2\n3", "3\n1\n2"),
    "fewer lines": ("5\n5\n5", "5"),
    "more lines": ("5", "5\n5\n5"),
    "tokens in another order": ("a b c", "c a b"),
    "repeated words dropped": ("to be or not to be", "to be or not"),
    "repeated words added": ("to be", "to be to be"),
    "integers beyond a double": ("100000000000000000", "100000000000000001"),
    "the third decimal": ("0.1234", "0.1231"),
    "small floats": ("0.0001", "0.0004"),
    "integers near each other": ("1000000", "1000005"),
    "numbers in another order, rounded": ("1.5 2", "2.0001 1.5"),
}

WRONG = {
    "another word": ("YES", "NO", "line 1, column 1", "YES", "NO"),
    "another case": ("Yes", "YES", "line 1, column 2", "Yes", "YES"),
    "nothing printed": ("1", "", "line 1, column 1", "1", ""),
    "nothing expected": ("", "1", "line 1, column 1", "", "1"),
    "a word less": ("a b", "a", "line 1, column 2", "a b", "a"),
    "a word more": ("a", "a b", "line 1, column 2", "a", "a b"),
    "two lines for one": (
        "1 2", "1\n2", "line 1, column 2 (1 line expected, 2 printed)", "1 2", "1"
    ),
    "too far": ("1000000", "1000011", "line 1, column 6", "1000000", "1000011"),
    "too far, rounded": ("0.1234", "0.1246", "line 1, column 5", "0.1234", "0.1246"),
    "a number more": ("1\n2", "1\n2\n3", "line 3, column 1 (2 lines expected, 3 printed)", "", "3"),
    "NaN in other words": ("nan", "NaN", "line 1, column 1", "nan", "NaN"),
    "infinity for a number": ("1e308", "inf", "line 1, column 1", "1e308", "inf"),
    "a number for infinity": ("inf", "1e308", "line 1, column 1", "inf", "1e308"),
    "floats beside words": ("a\n1.0", "a\n1", "line 2, column 2", "1.0", "1"),
    "a line of spaces too wide": ("a\n \nb", "a\n  \nb", "white space", "a\n \nb", "a\n  \nb"),
}  # fmt: skip


@for_each(("expected", "printed"), RUNGS.values(), ids=RUNGS)
def test_each_rung_is_enough(expected: str, printed: str) -> None:
    assert apps_legacy_output(expected, printed) is None


@for_each(("expected", "printed"), FALSE_POSITIVES.values(), ids=FALSE_POSITIVES)
def test_what_upstream_wrongly_accepts_is_accepted_here_alone(expected: str, printed: str) -> None:
    assert apps_legacy_output(expected, printed) is None
    assert tokens_output(expected, printed) is not None
    assert lcb_output(expected, printed) is not None


@for_each(("expected", "printed", "where", "left", "right"), WRONG.values(), ids=WRONG)
def test_apps_legacy_rule_rejects_wrong_output(
    expected: str, printed: str, where: str, left: str, right: str
) -> None:
    difference = apps_legacy_output(expected, printed)
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)


def test_the_rules_are_known_by_their_name() -> None:
    assert RULES["apps_legacy"][:2] == (apps_legacy_output, apps_legacy_value)
    assert list(RULES) == ["lcb", "equality", "tokens", "apps_legacy"]


texts = st.text(st.characters())
lines = st.text(st.sampled_from("ab 012.e-_\t\r\n\x0b"))


@given(texts | lines)
@example("a\x0bb")
@example("nan nan")
def test_every_text_is_right_for_itself(text: str) -> None:
    assert apps_legacy_output(text, text) is None


@given(texts | lines, texts | lines)
def test_apps_legacy_rule_takes_any_output(expected: str, printed: str) -> None:
    difference = apps_legacy_output(expected, printed)
    if difference is not None:
        assert difference.model_dump_json()  # it can be written


@given(st.lists(st.lists(st.sampled_from(["a", "b", "1", "2.5"]), min_size=1)), st.randoms())
def test_apps_legacy_rule_ignores_order_and_repetition(rows: list[list[str]], random: Any) -> None:
    other = [random.sample(row, len(row)) + row[:1] for row in rows] + rows[:2]
    random.shuffle(other)
    wanted, printed = ("\n".join(map(" ".join, table)) for table in (rows, other))
    assert apps_legacy_output(wanted, printed) is None


near = st.sampled_from([0.0, 1e-5, -1e-5, 1.1e-5, -1.1e-5, 9.9e-6, 1.0])


@given(st.lists(st.floats(), min_size=1, max_size=4), st.data())
def test_a_column_of_floats_is_as_close_as_numpy_has_it(
    wanted: list[float], data: st.DataObject
) -> None:
    printed = [x * (1 + data.draw(near)) + data.draw(near) * 1e-3 for x in wanted]
    close = bool(np.allclose(printed, wanted))
    rounded = {round(x, 3) for x in wanted} == {round(x, 3) for x in printed}
    same = list(map(repr, wanted)) == list(map(repr, printed))
    right = apps_legacy_output(_column(wanted), _column(printed)) is None
    assert right is (close or rounded or same or _same_words(wanted, printed))


def _column(numbers: list[float]) -> str:
    return "\n".join(map(repr, numbers))


def _same_words(wanted: list[float], printed: list[float]) -> bool:
    return set(map(repr, wanted)) == set(map(repr, printed))


HUGE = {
    "long numbers": ("0." + "9" * 10**6, "0." + "9" * 10**7, True),
    "a long integer": ("0.5", "9" * 10**7, False),
    "a large exponent": ("1", "1e999999999", False),
    "lines beyond those expected": ("1\n2", "1\n3\n" * 10**6, False),
    "the same line, again and again": ("1\n2", "1\n2\n" * 10**6, False),
    "the same line, less often": ("1\n2", "1\n2\n" * 10**5, True),
    "the same tokens, again and again": ("1 2", "1.0 2 " * 10**6, False),
    "the same tokens, less often": ("1 2", "1.0 2 " * 10**5, True),
    "tokens": ("a", "a b " * 10**7, False),
    "blanks": ("1", " \n" * 10**7, False),
    "line ends": ("1", "\r\x0b\x1c" * 10**7 + "2", False),
    "brackets": ("1", "[" * 10**7, False),
    "a NUL": ("1", "\0" * 10**7, False),
    "expected lines": ("1 2\n" * 10**5, "2 1\n" * 10**5, True),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("expected", "printed", "right"), HUGE.values(), ids=HUGE)
def test_size_does_not_matter(expected: str, printed: str, right: bool) -> None:
    start = time.process_time()
    difference = apps_legacy_output(expected, printed)
    assert time.process_time() - start < 10
    assert (difference is None) is right
    if difference is not None:
        assert len(difference.model_dump_json()) < 2_000


@pytest.mark.thorough
@pytest.mark.parametrize("rule", [apps_legacy_output, tokens_output, lcb_output])
@pytest.mark.parametrize("unit", ["ab\n", "ab ", "12.5 7\n", "\n", "12\r"])
def test_output_is_not_taken_apart_beyond_what_is_expected(rule: Any, unit: str) -> None:
    printed = unit * (2**18 // len(unit))
    tracemalloc.start()
    try:
        rule("12.5 7\nab", printed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(printed)  # a list of all its tokens takes 15 times as much and more


VALUES_RIGHT = {
    "integers as keys, as the sandbox writes them for such problems": ('{"1": 2}', {"1": 2}),
    "equal": ("[1, 2]", [1, 2]),
    "a tuple": ("[1, 2]", (1, 2)),
    "wrapped": ("[6]", 6),
    "wrapped, and returned so": ("[6]", [6]),
    "a list, wrapped": ("[[1, 2]]", [1, 2]),
    "tuples, wrapped": ("[[[1, 2], [3, 4]]]", [(1, 2), (3, 4)]),
    "a string, wrapped": ('["ab"]', "ab"),
    "numbers as Python compares them": ("[1]", True),
    "an empty list": ("[]", []),
    "null, wrapped": ("[null]", None),
    "a mapping from integers": ('{"1": "a", "2": "b"}', {2: "b", 1: "a"}),
    "a mapping from integers, wrapped": ('[{"1": [2]}]', {1: (2,)}),
    "a mapping from integers, wrapped and returned so": ('[{"1": 2}]', [{1: 2}]),
    "a mapping from long integers": (json.dumps({str(2**70): 1}), {2**70: 1}),
    "an empty mapping": ("{}", {}),
    "a mapping from strings": ('{"a": 1}', {"a": 1}),
    "a mapping from strings, wrapped": ('[{"a": 1}]', {"a": 1}),
}

# As above: accepted here as upstream does, and nowhere else.
VALUES_FALSE_POSITIVES = {
    "the first item for the list": ("[1, 2, 3]", 1),
    "the first list for the lists": ("[[1, 2], [3]]", [1, 2]),
    "the first mapping for all": ('[{"1": 2}, {"3": 4}]', {1: 2}),
}

VALUES_WRONG = {
    "another item": ("[1, 2]", 2, "", "[1, 2]", "2"),
    "an item too many": ("[1, 2]", [1, 2, 3], ": length", "2", "3"),
    "an item that differs": ("[[1, 2]]", [1, 3], "[0]", "[1, 2]", "1"),
    "the first item of the first": ("[[1, 2]]", 1, "", "[[1, 2]]", "1"),
    "the first character": ('"ab"', "a", "", '"ab"', '"a"'),
    "a list around what was unwrapped": ("6", [6], "", "6", "[6]"),
    "no tolerance": ("[0.3]", 0.1 + 0.2, "", "[0.3]", "0.30000000000000004"),
    "NaN": ("[NaN]", float("nan"), "", "[NaN]", "NaN"),
    "integers for strings as keys": ('{"a": 2}', {1: 2}, "", '{"a": 2}', "{1: 2}"),
    "another integer as a key": ('{"1": 2}', {2: 2}, "", '{"1": 2}', "{2: 2}"),
    "a key too many": ('{"1": 2}', {1: 2, 3: 4}, "", '{"1": 2}', "{1: 2, 3: 4}"),
    "another value under an integer": ('[{"1": 2}]', {1: 3}, "", '[{"1": 2}]', "{1: 3}"),
    "two mappings for the one meant": (
        '[{"1": 2}, {"3": 4}]', [{1: 2}, {3: 4}], "", '[{"1": 2}, {"3": 4}]', "[{1: 2}, {3: 4}]"
    ),
    "tuples as keys": ('{"1": 2}', {(1,): 2}, "", '{"1": 2}', "{(1,): 2}"),
    "tuples two levels down": ("[[[1]]]", [[(1,)]], "[0][0]", "[1]", "(1,)"),
    "a range": ("[0, 1]", range(2), "", "[0, 1]", "range([0, 1])"),
    "a set": ("[1]", {1}, "", "[1]", "{1}"),
}  # fmt: skip


def written(value: Any) -> str:
    return values.encode(value, "json", [], []).decode()


@for_each(("expected", "returned"), VALUES_RIGHT.values(), ids=VALUES_RIGHT)
def test_apps_legacy_rule_accepts_right_values(expected: str, returned: object) -> None:
    assert apps_legacy_value(expected, written(returned)) is None


@for_each(("expected", "returned"), VALUES_FALSE_POSITIVES.values(), ids=VALUES_FALSE_POSITIVES)
def test_values_that_upstream_wrongly_accepts_are_accepted_here_alone(
    expected: str, returned: object
) -> None:
    assert apps_legacy_value(expected, written(returned)) is None
    assert tokens_value(expected, written(returned)) is not None
    assert lcb_value(expected, written(returned)) is not None


@for_each(
    ("expected", "returned", "where", "left", "right"), VALUES_WRONG.values(), ids=VALUES_WRONG
)
def test_apps_legacy_rule_rejects_wrong_values(
    expected: str, returned: object, where: str, left: str, right: str
) -> None:
    difference = apps_legacy_value(expected, written(returned))
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3),
)


@given(plain)
def test_a_value_is_right_as_it_is_and_wrapped(value: Any) -> None:
    assert apps_legacy_value(json.dumps(value), written(value)) is None
    assert apps_legacy_value(json.dumps([value]), written(value)) is None
    assert apps_legacy_value(json.dumps([value]), written([value])) is None


FORGED = {
    "nothing": "",
    "not JSON": "{",
    "pairs that are none": '{"d":[1]}',
    "pairs too long": '{"d":[[1,2,3]]}',
    "the same key twice": '{"d":[[1,2],[1,2]]}',
    "the same key in two ways": '{"d":[[1,2],[1.0,2]]}',
    "a key that is a mapping": '{"d":[[{"d":[]},2]]}',
    "a key that is not a number": '{"d":[[NaN,2],[Infinity,2]]}',
    "an integer that is none": '{"d":[[{"i":"zz"},2]]}',
    "brackets": "[" * 10**6,
    "tags in tags": '{"l":[' * 5_000 + "]}" * 5_000,
    "a lone surrogate": "\ud800",
}


@for_each("result", FORGED.values(), ids=FORGED)
@for_each("expected", ['{"1": 2}', '[{"1": 2, "3": 2}]', "[1]", '{"a": 1}', "6"])
def test_a_forged_result_is_wrong_and_does_no_harm(expected: str, result: str) -> None:
    difference = apps_legacy_value(expected, result)
    assert difference is not None
    assert len(difference.model_dump_json()) < 3_000


@given(st.text(st.characters()), st.text(st.characters()))
def test_apps_legacy_rule_takes_any_value(expected: str, result: str) -> None:
    for wanted in (expected, "[1]", '{"1": 2}', json.dumps([expected])):
        difference = apps_legacy_value(wanted, result)
        assert difference is None or difference.model_dump_json()


def test_keys_of_one_hash_do_no_harm() -> None:
    prime = 2**61 - 1
    wanted = json.dumps({str(key): 0 for key in range(20_000)})
    forged = json.dumps({"d": [[{"i": hex(prime * key)}, 0] for key in range(20_000)]})
    start = time.process_time()
    assert apps_legacy_value(wanted, forged) is not None
    assert time.process_time() - start < 5
