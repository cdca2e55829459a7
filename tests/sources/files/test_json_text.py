import json
import time
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.sources.files.json_text import elements, members, one_line, string

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
INDENTS = st.sampled_from([None, 0, 3, "\t"])


@pytest.mark.thorough
@given(st.lists(VALUES), INDENTS, st.booleans())
def test_a_lists_elements_are_its_values_texts(
    values: list[Any], indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    parts = elements(text)
    assert all(part in text for part in parts)
    assert [json.dumps(json.loads(part)) for part in parts] == [json.dumps(v) for v in values]


@pytest.mark.thorough
@given(st.dictionaries(st.text(), VALUES), INDENTS)
def test_an_objects_members_are_its_values_texts(
    values: dict[str, Any], indent: int | str | None
) -> None:
    parts = members(json.dumps(values, indent=indent))
    assert list(parts) == list(values)
    again = {key: json.dumps(json.loads(part)) for key, part in parts.items()}
    assert again == {key: json.dumps(value) for key, value in values.items()}


def test_a_value_is_handed_on_as_it_is_written() -> None:
    assert elements(' [ 1.50 , -0,1E2 ,"\\u0041" , [ 1,\n2 ] ,NaN] ') == [
        *("1.50", "-0", "1E2", '"\\u0041"', "[ 1,\n2 ]", "NaN")
    ]


@for_each("digits", ["9" * 60_000, "-" + "9" * 60_000, "0." + "9" * 60_000])
def test_numbers_may_be_longer_than_int_allows(digits: str) -> None:
    assert elements(f"[{digits}, [{digits}]]") == [digits, f"[{digits}]"]
    assert members(f'{{"a": {digits}}}') == {"a": digits}


def test_the_last_of_equal_json_keys_counts() -> None:
    assert members('{"a": 1, "b": 2, "a": 3}') == {"a": "3", "b": "2"}


@for_each(
    ("text", "complaint"),
    [
        ("", "not a list"),
        ("{}", "not a list"),
        ("1", "not a list"),
        ("[", "expecting value at character 1"),
        ("[1", "a comma or ] is wanted at character 2"),
        ("[1 2]", "a comma or ] is wanted at character 3"),
        ("[1,]", "expecting value at character 3"),
        ("[,1]", "expecting value at character 1"),
        ("[1] x", "something follows its end at character 4"),
        ("[] []", "something follows its end at character 3"),
        ('["a]', "unterminated string starting at at character 1"),
        ('["a\n"]', "invalid control character at at character 3"),
        ("[01]", "a comma or ] is wanted at character 2"),
        ("[" * 1_000_000, "nested too deeply"),
        ('[{"a":' * 1_000_000, "nested too deeply"),
    ],
)
def test_what_is_no_list_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        elements(text)


@for_each(
    ("text", "complaint"),
    [
        ("", "not an object"),
        ("[]", "not an object"),
        ("{", "a key in quotes is wanted at character 1"),
        ("{1: 2}", "a key in quotes is wanted at character 1"),
        ('{"a" 1}', "a colon is wanted at character 5"),
        ('{"a": }', "expecting value at character 6"),
        ('{"a": 1,}', "a key in quotes is wanted at character 8"),
        ('{"a": 1 "b": 2}', "a comma or } is wanted at character 8"),
        ('{"a": 1}}', "something follows its end at character 8"),
        ('{"\\ud800": 1}', "half of a surrogate pair"),
        ('{"a": ' * 1_000_000, "nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        members(text)


def test_a_string_is_decoded() -> None:
    assert string('"a\\n\\u00e9\\ud83d\\ude00"') == "a\né😀"


@for_each(
    ("text", "complaint"),
    [
        ("1", "not a string but '1'"),
        ("null", "not a string but 'null'"),
        ('["a"]', "not a string but"),
        ('"\\ud800"', "half of a surrogate pair at character 0"),
        ('"a', "not JSON: unterminated"),
        ("[" * 1_000_000, "nested too deeply"),
    ],
)
def test_what_is_no_string_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as error:
        string(text)
    assert len(str(error.value)) < 120


def test_line_ends_between_values_become_spaces() -> None:
    text = json.dumps({"a": [1, "x\ny"]}, indent=1).replace("\n", "\r\n")
    assert "\n" not in one_line(text)
    assert "\r" not in one_line(text)
    assert json.loads(one_line(text)) == {"a": [1, "x\ny"]}


@pytest.mark.thorough
def test_time_is_linear_in_the_text() -> None:
    def seconds(count: int) -> float:
        text = "[" + ", ".join(['[1, "two"]'] * count) + "]"
        start = time.process_time()
        assert len(elements(text)) == count
        return time.process_time() - start

    seconds(1_000)
    # Quadratic, this would be 400 times as long.
    longest = min(seconds(200_000) for _ in range(2))  # what else the process does is not meant
    assert longest < 100 * max(seconds(10_000), 0.002)
