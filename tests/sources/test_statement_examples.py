import time

import pytest
from for_each import for_each

from harness.sources.statement_examples import (
    MAX_EXAMPLES,
    MAX_STATEMENT_CHARACTERS,
    Example,
    examples,
    in_order,
    is_shown_as,
)

PLAIN = """\
Return the two numbers.
\xa0
Example 1:

Input: nums = [2,7,11,15], target = 9
Output: [0,1]
Explanation: Because nums[0] + nums[1] == 9, we return [0, 1].

Example 2:

Input: nums = [3,3], target = 6
Output: [0,1]

\xa0
Constraints:

2 <= nums.length <= 104
"""
MARKDOWN = r"""
Return _the two numbers_.

**Example 1:**

**Input:** nums = \[2,7,11,15\], target = 9
**Output:** \[0,1\]
**Explanation:** Because nums\[0\] + nums\[1\] == 9, we return \[0, 1\].

**Example 2:**

**Input:** nums = \[3,3\], target = 6
**Output:** \[0,1\]

**Constraints:**

*   `2 <= nums.length <= 104`
"""
HTML = """
<p>Return the two numbers.</p>
<p><strong class="example">Example 1:</strong></p>
<pre>
<strong>Input:</strong> nums = [2,7,11,15], target = 9
<strong>Output:</strong> [0,1]
<strong>Explanation:</strong> Because nums[0] + nums[1] == 9, we return [0, 1].
</pre>
<p><strong class="example">Example 2:</strong></p>
<div class="example-block">
<p><strong>Input:</strong> <span class="example-io">nums = [3,3], target = 6</span></p>
<p><strong>Output:</strong> <span class="example-io">[0,1]</span></p>
</div>
<p><strong>Constraints:</strong></p>
"""


@for_each("statement", [PLAIN, MARKDOWN, HTML, PLAIN.replace("\n", "\r\n")])
def test_examples_are_read_from_every_mark_up(statement: str) -> None:
    first, second = examples(statement)
    assert first.arguments == (("nums", [2, 7, 11, 15]), ("target", 9))
    assert first.expected == [0, 1]
    assert first.text == "nums = [2,7,11,15], target = 9"
    assert second.arguments == (("nums", [3, 3]), ("target", 6))
    assert second.expected == [0, 1]


@for_each(
    ("given", "arguments"),
    [
        ("[1,2], 3", ((None, [1, 2]), (None, 3))),
        ("root = [1,null,2], ok = true", (("root", [1, None, 2]), ("ok", True))),
        ('s = "a, b = [1", t = "x"', (("s", "a, b = [1"), ("t", "x"))),
        ("n = 3.", (("n", 3.0),)),
        ("s = 'a';", (("s", "a"),)),
        ("\nnums = [1]\nk = 2", (("nums", [1]), ("k", 2))),
        ("grid = [\n  [1],\n  [2]\n]", (("grid", [[1], [2]]),)),
        ("", ()),
        ("x = 2.00000, n = -2", (("x", 2.0), ("n", -2))),
    ],
)
def test_inputs_are_read_as_a_calls_arguments(
    given: str, arguments: tuple[tuple[str | None, object], ...]
) -> None:
    (example,) = examples(f"Example:\nInput: {given}\nOutput: 1\n")
    assert example.arguments == arguments


@for_each(
    ("expected", "value"),
    [
        ("true", True),
        ('"ab"', "ab"),
        ("2 ", 2),
        ("\n[\n  [1],\n\n  [2]\n]", [[1], [2]]),
        ("\n3\n\nThere are three of them.", 3),
        ("3\nThere are three of them.", 3),
        ("[null,1]\nNote: null is nothing.", [None, 1]),
    ],
)
def test_outputs_are_read_as_one_value(expected: str, value: object) -> None:
    (example,) = examples(f"Example:\nInput: 1\nOutput: {expected}")
    assert example.expected == value


def test_an_output_may_stand_on_its_inputs_line() -> None:
    (example,) = examples("Input: a = 1, b = 2 Output: 3\n")
    assert (example.arguments, example.expected) == ((("a", 1), ("b", 2)), 3)


def test_plain_text_keeps_what_looks_like_mark_up() -> None:
    (example,) = examples('Input: s = "<A>a\\\\*b</A> &amp;"\nOutput: "**"')
    assert example.arguments == (("s", "<A>a\\*b</A> &amp;"),)
    assert example.expected == "**"
    (example,) = examples("<p><b>Input:</b> s = &quot;&lt;b&gt;&quot;</p><p>Output: 1</p>")
    assert example.arguments == (("s", "<b>"),)


@for_each("tag", ["<b>", "<p>", "<pre>", "<strong>", "<div x>"])
def test_markdown_that_has_a_tag_is_no_html(tag: str) -> None:
    text = f'Use {tag}.\n{MARKDOWN}\n**Input:** s = "a"\n**Output:** "{tag}a</b>"\n'
    *others, last = examples(text)
    assert others == [*examples(MARKDOWN)]
    assert last.expected == f"{tag}a</b>"


@for_each("tag", ["<b>", "<p>", "<pre>", "<code>"])
def test_tags_within_a_string_are_its_own(tag: str) -> None:
    (example,) = examples(f'Wrap it in {tag}.\nInput: s = "aab"\nOutput: "{tag}aa</b>b"\n')
    assert example.expected == f"{tag}aa</b>b"
    html = f'<pre>\n<b>Input:</b> s = "{tag}", <i>t</i> = "\\"{tag}"\n<b>Output:</b> 1\n</pre>'
    (example,) = examples(html)
    assert example.arguments == (("s", tag), ("t", f'"{tag}'))


def test_html_is_told_by_a_heading_in_a_tag() -> None:
    (example,) = examples("<pre>\nInput: s = &quot;a&quot;\nOutput: [1,<br>2]\n</pre>")
    assert (example.arguments, example.expected) == ((("s", "a"),), [1, 2])


@for_each("tag", ["sup", "sub"])
def test_a_power_is_no_part_of_its_base(tag: str) -> None:
    assert examples(f"<p>Input: k = 10<{tag}>2</{tag}></p><p>Output: 1</p>") == ()


def test_a_word_of_bits_is_no_decimal_number() -> None:
    word = "1" * 32
    assert examples(f"Input: n = {word}\nOutput: 32\n") == ()
    assert examples(f"Input: n = 1\nOutput: {word}\n") == ()
    assert examples(f"Input: s = '\"', n = {word}\nOutput: 32\n") == ()
    (example,) = examples(f'Input: s = "a {word}", n = 1{word}\nOutput: "{word}"\n')
    assert example.arguments == (("s", f"a {word}"), ("n", int(f"1{word}")))


@for_each(
    "statement",
    [
        "",
        "Input: 1",
        "Output: 1",
        "Input: 1\nExplanation: no\nOutput: 1",
        "Input: head = 1 -> 2\nOutput: 1",
        "Input: 1\nOutput: abc",
        "Input: 1\nOutput: 5, nums = [1,2,_]",
        "Input: 1\nOutput: 1, 2",
        "Input: 1\nOutput:",
        "Input: __import__('os')\nOutput: 1",
        "The input: 1\nThe output: 1",
        "Output: 1\nInput: 1",
    ],
)
def test_what_cannot_be_read_is_left_out(statement: str) -> None:
    assert examples(statement) == ()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "statement",
    [
        "Input: x\nOutput: y\n" * 60_000,
        "Input:" * 200_000,
        "Input:\n" * 150_000,
        "**Input:**" + "\\[" * 500_000,
        "<p>" + "<a " * 300_000,
        "Input: 1" + " output" * 150_000,
        "Input: 1\nOutput: 1" + "\n \n" * 300_000,
        "Input: " + "(" * 60_000 + "\nOutput: 1\n",
        ">" * 2**20 + "Input",
        "Input: 1\nOutput: " + "\ud800" * 1000,
        ("Input: " + "a," * 32_000 + "\nOutput: 1\n") * 16,
        "<b>Input:</b> " + '"' + '\\"' * 500_000,
        "Input: " + '"\\"\'' * 16_000 + "\nOutput: 1\n",
        "<b>" * 300_000,
    ],
)
def test_hostile_statements_take_little_time(statement: str) -> None:
    start = time.process_time()
    assert len(examples(statement)) <= 1
    assert time.process_time() - start < 3


def test_the_number_of_examples_and_the_text_looked_at_are_bounded() -> None:
    assert len(examples("Input: 1\nOutput: 1\n" * 1_000)) == MAX_EXAMPLES
    assert examples(" " * MAX_STATEMENT_CHARACTERS + "\nInput: 1\nOutput: 1\n") == ()


@for_each(
    ("arguments", "parameters", "ordered"),
    [
        ((("b", 2), ("a", 1)), ("a", "b"), (1, 2)),
        ((("x", 2), ("y", 1)), ("a", "b"), (2, 1)),
        (((None, 2), (None, 1)), ("a", "b"), (2, 1)),
        ((("a", 1),), ("a", "b"), None),
        ((), (), ()),
        ((("k", 3), ("nums", [1])), ("nums", "kk"), ([1], 3)),
        (((None, 5), ("k", 2)), ("k", "n"), (2, 5)),
        ((("a", 1), ("x", 2), ("y", 3)), ("a", "b", "c"), (1, 2, 3)),
        ((("x", 2), ("a", 1), ("y", 3)), ("a", "b", "c"), None),
    ],
)
def test_names_count_where_they_are_the_parameters(
    arguments: tuple[tuple[str | None, object], ...],
    parameters: tuple[str, ...],
    ordered: tuple[object, ...] | None,
) -> None:
    assert in_order(Example(arguments, 0, ""), parameters) == ordered


@pytest.mark.parametrize(
    ("value", "shown", "same"),
    [
        (1.1666666666, 1.16667, True),
        ([1.5, [2]], [1.50000, [2.0]], True),
        (1.1667, 1.16667, False),
        (3, 3, True),
        (10**9, 10**9 + 1, False),
        ([1], [1, 2], False),
        ("1", 1, False),
        ({"a": 1}, {"a": 1}, True),
        (float("inf"), float("inf"), True),
    ],
)
def test_fractions_are_shown_rounded(value: object, shown: object, same: bool) -> None:
    assert is_shown_as(value, shown) is same
