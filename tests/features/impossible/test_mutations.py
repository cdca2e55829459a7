"""Changes of an expected output are typed, small, and keep its look."""

import json
from random import Random

from for_each import for_each

from harness.features.impossible.mutations import LONGEST, mutants


def changed(output: str, *, functional: bool = True) -> dict[str, set[str]]:
    changed_outputs: dict[str, set[str]] = {}
    for seed in range(20):
        for mutation, text in mutants(output, Random(seed), functional=functional):
            changed_outputs.setdefault(mutation, set()).add(text)
    return changed_outputs


@for_each(
    ("output", "expected"),
    [
        ("7", {"number": {"6", "8"}}),
        ("0", {"number": {"1"}}),
        ("-1", {"number": {"-2", "0"}}),
        ("true", {"truth": {"false"}}),
        ('"YES"', {"truth": {'"NO"'}}),
        ('"z"', {"letter": {'"y"'}}),
        ("[1,2]", {"number": {"[0,2]", "[2,2]", "[1,1]", "[1,3]"}, "order": {"[2,1]"}}),
        ("[1, [2]]", {"number": {"[0, [2]]", "[2, [2]]", "[1, [1]]", "[1, [3]]"}}),
        ("[[1],[1]]", {"number": {"[[0],[1]]", "[[2],[1]]", "[[1],[0]]", "[[1],[2]]"}}),
        ("[5,null]", {"number": {"[4,null]", "[6,null]"}}),
    ],
)
def test_a_value_is_changed_by_its_type(output: str, expected: dict[str, set[str]]) -> None:
    assert changed(output) == expected


@for_each("output", ["0.5", "1e9", "[]", "null", '""', '{"a": 1}', "[1.5, 2.25]"])
def test_a_value_without_an_exact_part_is_not_changed(output: str) -> None:
    assert changed(output) == {}


@for_each("output", ["0.5\n", "1e9", "", "-\n", "3.0 4.0", "inf?"])
def test_printed_floats_and_signs_are_not_changed(output: str) -> None:
    assert changed(output, functional=False) == {}


def test_a_number_with_leading_zeros_is_not_changed() -> None:
    assert changed("007", functional=False) == {}


def test_order_is_that_of_neighbours_on_one_line_of_one_type() -> None:
    orders = changed("1 2\n3 x\n", functional=False)["order"]
    assert orders == {"2 1\n3 x\n"}


def test_white_space_and_notation_stay() -> None:
    output = "[ 10,\n  20 ]"
    for texts in changed(output).values():
        for text in texts:
            assert json.loads(text) != json.loads(output)
            assert [text.count(each) for each in "[ \n,]"] == [output.count(e) for e in "[ \n,]"]


def test_strings_with_escapes_are_left_alone() -> None:
    assert changed(r'"a\"1"') == {}


def test_a_long_output_is_not_changed() -> None:
    assert mutants("1" + " 1" * LONGEST, Random(0), functional=False) == []


def test_the_kinds_take_turns() -> None:
    mutations = mutants("1 2 3 4\nYes\n", Random(1), functional=False)
    assert {each.mutation for each in mutations[:3]} == {"number", "order", "truth"}
