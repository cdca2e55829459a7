"""The quick look for state that a solution may leave: its time is linear in the text's length."""

from for_each import for_each
from linear import assert_linear

from harness.sandbox.inside.python.lasting_names import may_need_a_look


@for_each("piece", ["a", " ", ". ", "a ", "a.", "a\n", "(", ".  a"])
def test_a_long_text_is_looked_at_in_linear_time(piece: str) -> None:
    assert_linear(lambda size: may_need_a_look(piece * size), 60_000, soon=0.3)


@for_each(
    ("text", "may"),
    [
        ("import math\nprint(math.sqrt(4))", False),
        ("import math\nmath . seen = 1", True),
        ("import sys\nsys.stdout.write('a')", False),
        ("import sys\nsys  .path.append('a')", True),
        ("a = [1]\na.append(2)", False),
        ("class A: pass\nA().b.c = 1", True),
        ("f()  .left = 1", True),
    ],
)
def test_only_attributes_that_may_last_are_remarkable(text: str, may: bool) -> None:
    assert may_need_a_look(text) is may
