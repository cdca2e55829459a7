"""LiveCodeBench's rule for what a function returns, as a table and against a plain oracle."""

import json
import time
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.rules import RULES
from harness.grading.rules.json_values import describe_value, read_json
from harness.grading.rules.lcb import lcb_value
from harness.sandbox.inside import values

SAME = {
    "a number": ("6", 6),
    "a float for an integer": ("6", 6.0),
    "an integer for a float": ("6.0", 6),
    "true is 1": ("1", True),
    "1 is true": ("true", 1),
    "minus zero": ("0.0", -0.0),
    "infinity": ("Infinity", float("inf")),
    "an overflowing number": ("1e999", float("inf")),
    "null": ("null", None),
    "a string": ('"a"', "a"),
    "a lone surrogate": (r'"\ud800"', "\ud800"),
    "a list": ("[1, [2, []]]", [1, [2, []]]),
    "a tuple": ("[1, [2, []]]", (1, [2, []])),
    "an empty list": ("[]", []),
    "an empty mapping": ("{}", {}),
    "a mapping": ('{"a": 1, "b": [2]}', {"b": [2], "a": True}),
    "mappings in a list": ('[{"a": {}}, {}]', [{"a": {}}, {}]),
    "a brace in a string": ('["{"]', ["{"]),
    "NaN in a string": ('["NaN"]', ["NaN"]),
    "a long integer": (str(2**62), 2**62),
    "a longer one": ("[-" + "7" * 100 + "]", [-int("7" * 100)]),
    "a long integer for a float": ("4611686018427387904.0", 2**62),
}

DIFFERENT = {
    "another number": ("6", 7, "", "6", "7"),
    "another float": ("0.3", 0.1 + 0.2, "", "0.3", "0.30000000000000004"),
    "a string for a number": ("6", "6", "", "6", '"6"'),
    "a number for a string": ('"6"', 6, "", '"6"', "6"),
    "null for a number": ("0", None, "", "0", "null"),
    "false for null": ("null", False, "", "null", "false"),
    "null for an empty list": ("[]", None, "", "[]", "null"),
    "a string for a list": ('["a"]', "a", "", '["a"]', '"a"'),
    "an item": ("[1, 2, 3]", [1, 5, 3], "[1]", "2", "5"),
    "an item deep down": ("[[1], [2, [3]]]", [[1], [2, [4]]], "[1][1][0]", "3", "4"),
    "a list too short": ("[1, 2]", [1], ": length", "2", "1"),
    "a list too long": ("[[1]]", [[1, 2]], "[0]: length", "1", "2"),
    "another order": ("[1, 2]", [2, 1], "[0]", "1", "2"),
    "a set": ("[1]", {1}, "", "[1]", "{1}"),
    "a tuple in a list": ("[[1]]", [(1,)], "[0]", "[1]", "(1,)"),
    "a tuple in a tuple": ("[[1, 2]]", ((1, 2),), "[0]", "[1, 2]", "(1, 2)"),
    "a range": ("[0, 1]", range(2), "", "[0, 1]", "range([0, 1])"),
    "NaN": ("NaN", float("nan"), "", "NaN", "NaN"),
    "NaN in a list": ("[NaN]", [float("nan")], "[0]", "NaN", "NaN"),
    "a key": ('{"a": 1}', {"b": 1}, ": keys", '["a"]', '["b"]'),
    "a key too many": ('{"a": 1}', {"a": 1, "b": 2}, ": keys", '["a"]', '["a", "b"]'),
    "a value under a key": ('{"a": [1]}', {"a": [2]}, "['a'][0]", "1", "2"),
    "keys that are numbers": ('{"1": 2}', {1: 2}, "", '{"1": 2}', "{1: 2}"),
    "a mapping for a list": ("[]", {}, "", "[]", "{}"),
    "a list for a mapping": ("{}", [], "", "{}", "[]"),
    "an object": ("1", object(), "", "1", "<object object>"),
    "long integers": (str(10**20), 10**20 + 1, "", str(10**20), str(10**20 + 1)),
    "very long integers": ("1" + "0" * 5000, 1, "", hex(10**5000)[:160] + "…", "1"),
    "a surrogate": ('"a"', "\ud800", "", '"a"', r'"\ud800"'),
    "a surrogate in a key": (r'{"\ud800": 1}', {"\ud800": 2}, r"['\ud800']", "1", "2"),
}  # fmt: skip


def written(value: Any) -> str:
    return values.encode(value, "json", [], []).decode()


@for_each(("expected", "returned"), SAME.values(), ids=SAME)
def test_lcb_value_accepts_right_values(expected: str, returned: object) -> None:
    assert lcb_value(expected, written(returned)) is None


@for_each(("expected", "returned", "where", "left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_lcb_value_rejects_wrong_values(
    expected: str, returned: object, where: str, left: str, right: str
) -> None:
    difference = lcb_value(expected, written(returned))
    assert difference is not None
    assert (difference.where, difference.expected, difference.got) == (where, left, right)
    assert difference.model_dump_json()


@for_each(
    ("tagged", "expected"),
    [
        ('{"l":[1,2]}', "[1, 2]"),
        ('{"t":[1,null,2]}', "[1, null, 2]"),
        ('[{"l":[1]},{"l":[]}]', "[[1], []]"),
        ('{"l":[{"i":"0x4000000000000000"}]}', f"[{2**62}]"),
        ('{"d":[["a",{"l":[1]}]]}', '{"a": [1]}'),
    ],
)
def test_nodes_are_lists_here(tagged: str, expected: str) -> None:
    assert lcb_value(expected, tagged) is None


def test_the_rule_is_known_by_its_name() -> None:
    assert RULES["lcb"].value is lcb_value


FORGED = {
    "nothing": "",
    "not JSON": "{",
    "two values": "1 2",
    "an unknown tag": '{"x":1}',
    "no tag": "{}",
    "an integer that is none": '{"i":"zz"}',
    "an integer of another kind": '{"i":6}',
    "a list that is none": '{"l":6}',
    "pairs that are none": '{"d":[1]}',
    "pairs that are empty": '{"d":[[]]}',
    "pairs too long": '{"d":[["a",1,2]]}',
    "the same key twice": '{"d":[["a",1],["a",1]]}',
    "keys that are lists": '{"d":[[["a"],1]]}',
    "pairs in a set": '{"s":[{"d":[1]}]}',
    "a set that is none": '{"s":5}',
    "a name that is none": '{"o":5}',
    "many digits": "9" * 10_000,
    "brackets": "[" * 10**6,
    "tags in tags": '{"l":' * 10_000,
    "tags in tags, closed": '{"l":[' * 5_000 + "]}" * 5_000,
    "a null byte": "\0",
    "a lone surrogate": "\ud800",
}


@for_each("result", FORGED.values(), ids=FORGED)
@for_each("expected", ["6", "[1]", '{"a": 1}', "{}", '"a"', "null"])
def test_a_forged_result_is_wrong_and_does_no_harm(expected: str, result: str) -> None:
    difference = lcb_value(expected, result)
    assert difference is not None
    assert len(difference.model_dump_json()) < 3_000


tagged = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("idsltox"), inner, min_size=1, max_size=2)
        | st.fixed_dictionaries({"d": st.lists(st.lists(inner, max_size=3), max_size=3)})
    ),
)


@given(tagged, st.text(st.characters()))
def test_lcb_value_never_raises(value: Any, text: str) -> None:
    for result in (json.dumps(value), text):
        for expected in ("1", "{}", json.dumps(value), text):
            difference = lcb_value(expected, result)
            assert difference is None or difference.model_dump_json()


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, -0.0, 0.5, float("inf"), float("nan")])
    | st.sampled_from(["", "1", "a", "{", "NaN"])
    | st.integers(2**61, 2**65)
)
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


def equal(wanted: Any, returned: Any) -> bool:
    """The rule, as plainly as it can be said."""
    return same(wanted, list(returned) if isinstance(returned, tuple) else returned)


def same(wanted: Any, returned: Any) -> bool:
    if isinstance(wanted, list) and isinstance(returned, list):
        return len(wanted) == len(returned) and all(map(same, wanted, returned))
    if isinstance(wanted, dict) and isinstance(returned, dict):
        return wanted.keys() == returned.keys() and all(
            same(wanted[key], returned[key]) for key in wanted
        )
    if isinstance(wanted, str) or isinstance(returned, str):
        return isinstance(wanted, str) and isinstance(returned, str) and wanted == returned
    if isinstance(wanted, list | dict) or isinstance(returned, list | tuple | dict):
        return False
    return wanted == returned


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """An expected value and a result that is often all but the same."""
    wanted = draw(plain)

    def changed(value: Any) -> Any:
        act = draw(st.sampled_from(["keep"] * 8 + ["other", "number", "tuple", "shorter"]))
        if act == "other":
            return draw(plain)
        if act == "number" and isinstance(value, int):
            return float(value)
        if isinstance(value, list):
            items = [changed(item) for item in value]
            items = items[:-1] if act == "shorter" else items
            return tuple(items) if act == "tuple" else items
        if isinstance(value, dict):
            return {key: changed(item) for key, item in reversed(value.items())}
        return value

    return wanted, changed(wanted)


@given(pairs())
def test_lcb_value_agrees_with_its_description(pair: tuple[Any, Any]) -> None:
    wanted, returned = pair
    difference = lcb_value(json.dumps(wanted), written(returned))
    assert (difference is None) is equal(wanted, returned)
    assert difference is None or difference.model_dump_json()


def without_nan(value: Any) -> bool:
    return "NaN" not in json.dumps(value).replace('"NaN"', "")


@given(plain.filter(without_nan))
def test_every_value_is_right_for_itself(value: Any) -> None:
    assert lcb_value(json.dumps(value), written(value)) is None


HUGE = {
    "digits": ("7" * 10**6, lambda: '{"i":"0x1"}'),
    "the same digits": ("1" + "0" * 10**5, lambda: written(10**100_000)),
    "items": ("1", lambda: "[" + "1," * 10**6 + "1]"),
    "brackets on both sides": ("[" * 10**7 + "]" * 10**7, lambda: "[" * 10**7 + "]" * 10**7),
    "brackets": ("[]", lambda: "[" * 10**7),
    "a string": ('"' + "x" * 10**6 + '"', lambda: '"' + "x" * 10**6 + 'y"'),
    "a key": (json.dumps({"k" * 10**6: 1}), lambda: written({"k" * 10**6: 2})),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("expected", "result"), HUGE.values(), ids=HUGE)
def test_lcb_value_compares_huge_values_in_bounded_time(expected: str, result: Any) -> None:
    got = result()
    start = time.process_time()
    difference = lcb_value(expected, got)
    assert time.process_time() - start < 10
    assert difference is None or len(difference.model_dump_json()) < 2_000


def test_a_result_much_longer_than_what_is_expected_is_not_read() -> None:
    difference = lcb_value("1", "[" + "1," * 10**6 + "1]")
    assert difference is not None
    assert difference.where == "size"


@given(st.integers() | st.integers(4_000, 20_000).map(lambda n: -(10**n) // 7))
def test_integers_of_any_length_are_read(number: int) -> None:
    digits = written(number) if abs(number) < 2**62 else _decimal(number)
    assert read_json(f"[{digits}]") == [number]


def _decimal(number: int) -> str:
    """Its digits, past the interpreter's bound."""
    sign, rest, parts = "-" if number < 0 else "", abs(number), []
    while rest:
        rest, part = divmod(rest, 10**1000)
        parts.append(f"{part:01000d}")
    return sign + "".join(reversed(parts)).lstrip("0")


@pytest.mark.parametrize(
    ("tagged", "shown"),
    [
        ("1.5", "1.5"),
        ('["a",null,true]', '["a", null, true]'),
        ('{"i":"0x4000000000000000"}', str(2**62)),
        ('{"i":"-0x4000000000000000"}', str(-(2**62))),
        ('{"s":[1,2]}', "{1, 2}"),
        ('{"d":[[1,["a"]]]}', '{1: ["a"]}'),
        ('{"l":[1]}', "[1]"),
        ('{"o":"Node"}', "<Node object>"),
        ('{"o":"cyclic tree"}', "<cyclic tree object>"),
        ('{"c":[1,5,6]}', "[5, 6], and back to node 2"),
    ],
)
def test_results_are_shown_much_as_python_writes_them(tagged: str, shown: str) -> None:
    assert describe_value(json.loads(tagged)) == shown
