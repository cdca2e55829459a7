"""YAML texts cost no more than their size suggests, and fail in one line."""

from contextlib import suppress

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.yaml_text import YamlError, parse_yaml


def bomb(levels: int) -> str:
    """Return a text whose aliases expand to 9 ** levels values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(rows)


@for_each(
    ("text", "value"),
    [
        ("", None),
        ("a: 1", {"a": 1}),
        ("a: &x [1, 2]\nb: *x\nc: {d: *x}", {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
    ],
)
def test_a_text_is_its_value(text: str, value: object) -> None:
    assert parse_yaml(text) == value


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(12), "aliases expand it to more than"),
        (f"a: &a {'x' * 30_000}\nb: [{', '.join(['*a'] * 9_000)}]", "aliases expand it to more"),
        ("a: &a [*a]", "an alias contains itself"),
        ("&a b: *a\nc: &c {d: *c}", "an alias contains itself"),
        ("[" * 5_000, "nested too deeply"),
        ("a: 1\na: 2", "a is given twice, in lines 1 and 2"),
        ("a: 2001-13-45", "not valid YAML: month must be in"),
        ("a: !!int ''", "not valid YAML"),
        ("a: !!bool x", "not valid YAML"),
        ("a: !!timestamp x", "not valid YAML"),
        (f"a: {'1:' * 300}1.5", "not valid YAML"),
        (f"a: {'9' * 5_000}", "line 1: an integer of more than 200 characters"),
        ("? [a]\n: b", "not valid YAML"),
        ("a: !!python/object:os.system x", "not valid YAML"),
        ("a: \x00", "not valid YAML"),
        ('a: "\\uD800"', "half of a surrogate pair"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, words: str) -> None:
    with pytest.raises(YamlError, match=words) as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value)


PIECES = st.sampled_from(
    [
        *"[]{}:,-?&*!|>'\"%@`#\n \t",
        "a",
        "1",
        ": ",
        "- ",
        "&a ",
        "*a",
        "!!int ",
        "!!set ",
        "<<: ",
        "~",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_a_value_or_an_error(text: str) -> None:
    with suppress(YamlError):
        assert len(repr(parse_yaml(text))) < 10_000
