"""Expected linked lists and trees are written as results are."""

from for_each import for_each

from harness.problem import Codec, Signature
from harness.sources.canonical_output import canonical

CASES = {
    "an empty list": (Codec.LINKED_LIST, "null", "[]"),
    "a list": (Codec.LINKED_LIST, "[1, null]", "[1, null]"),
    "an empty tree": (Codec.TREE, " null\n", "[]"),
    "a tree that ends in nothing": (Codec.TREE, "[1,null,2,null,null]", "[1,null,2]"),
    "a tree of nothing": (Codec.TREE, "[null]", "[]"),
    "lists": (Codec.LINKED_LISTS, "[[1],null,[]]", "[[1],[],[]]"),
    "no lists": (Codec.LINKED_LISTS, "null", "[]"),
    "trees": (Codec.TREES, "[[1,null],null]", "[[1],[]]"),
    "what is not a tree": (Codec.TREE, "5", "5"),
    "what are no trees": (Codec.TREES, "{}", "{}"),
    "a plain value": (Codec.JSON, " null", " null"),
}


@for_each(("codec", "expected", "written"), CASES.values(), ids=CASES)
def test_an_expected_node_is_written_canonically(codec: Codec, expected: str, written: str) -> None:
    assert canonical(expected, Signature(result=codec)) == written


def test_in_place_the_first_argument_says_what_is_expected() -> None:
    signature = Signature(arguments=(Codec.TREE, Codec.JSON), result=Codec.FIRST_ARGUMENT)
    assert canonical("[1,null]", signature) == "[1]"
    assert canonical("null", Signature(result=Codec.FIRST_ARGUMENT)) == "null"


def test_what_a_program_prints_stays_as_it_is() -> None:
    assert canonical(" null \n", Signature()) == " null \n"
