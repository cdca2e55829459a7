import time

import pytest
from for_each import for_each

from harness.sources.apps.statement_tests import MAX_STATEMENT_CHARACTERS, Examples

CODEFORCES = """\
Add them up.

-----Input-----

The first line has one integer $n$. The input 7 is not used.


-----Output-----

Print the sum. Output 1 when in doubt.


-----Examples-----
Input
2
3 4

Output
7

Input
1
10

Output
10



-----Note-----

In the first example 3 + 4 = 7.
"""


@for_each(
    ("given", "expected"),
    [("2\n3 4\n", "7\n"), ("2 3  4", "7"), ("1\r\n10\r\n", "10\r\n")],
)
def test_an_example_is_shown_whatever_its_white_space(given: str, expected: str) -> None:
    assert Examples(CODEFORCES).show(given, expected)


@for_each(
    ("given", "expected"),
    [
        ("1\n", "7\n"),
        ("2\n", "7\n"),
        ("3 4\n", "7\n"),
        ("2\n3 4\n", "10\n"),
        ("2\n3 4\n", "7 7\n"),
        ("2\n3 4\n", ""),
        ("1\n10\n", "1\n"),
        ("7", "1"),
        ("", ""),
        ("", "7"),
    ],
)
def test_a_test_that_merely_occurs_is_not_shown(given: str, expected: str) -> None:
    assert not Examples(CODEFORCES).show(given, expected)


@for_each(
    "statement",
    [
        "Input\n5 6\n\nOutput\n11\n",
        "-----Sample Input-----\n5 6\n\n-----Sample Output-----\n11\n\nSince 5 + 6 = 11.",
        "-----Sample Input:-----\n5 6\n-----Sample Output:-----\n11\n-----EXPLANATION:-----\nx",
        "-----Example-----\nInput:\n5 6\nOutput:\n11\n",
        "-----Sample Input 1-----\n5 6\n-----Sample Output 1-----\n11\n-----Sample Input 2-----\n1",
        "**Input:** 5 6\n**Output:** 11\n",
        "**Example 1**\n\n**Input**\n```\n5 6\n```\n**Output**\n```\n11\n```\nThat is all.",
        "SAMPLE INPUT\n5 6\nSAMPLE OUTPUT\n11",
        "Input: 5 6\nOutput: 11\nExplanation: 5 + 6",
        "Input: 5 6 Output: 11",
        "### Example input #1\n5 6\n### Example output #1\n11\n",
        "Input #1:\n5\n6\n\nOutput #1:\n11\n\nNote\nx",
        "Input\r\n5 6\r\n\r\nOutput\r\n11\r\n\r\nas we said",
    ],
)
def test_headings_are_known_in_many_spellings(statement: str) -> None:
    assert Examples(statement).show("5 6\n", "11\n")
    assert not Examples(statement).show("5 6\n", "1\n")
    assert not Examples(statement).show("5\n", "11\n")


def test_an_output_may_have_empty_lines() -> None:
    statement = "Input\n2\n\nOutput\n0\n\n2\n2 3\n\n\n\n-----Note-----\nx"
    assert Examples(statement).show("2\n", "0\n\n2\n2 3\n")


def test_an_explanation_may_follow_after_an_empty_line_only() -> None:
    assert Examples("Input\n2\nOutput\n4\n\nThe square.").show("2", "4")
    assert not Examples("Input\n2\nOutput\n4\n5\n").show("2", "4")


def test_an_input_without_its_output_is_not_shown() -> None:
    assert not Examples("Input\n2\n\nNote\nx\n\nOutput\n4\n").show("2", "4")
    assert not Examples("Output\n4\n\nInput\n2\n").show("2", "4")


def test_a_program_that_reads_nothing_may_be_shown() -> None:
    assert Examples("Input\n\nOutput\nHello\n").show("", "Hello\n")


@for_each(
    ("output", "expected", "is_shown"),
    [
        ("0.333333333333", "0.3333333333333333", True),
        ("1.000000000000000", "1.0", True),
        ("2.75 7", "2.7500 7", True),
        ("25.0", "25", True),
        ("0.3333", "0.3433", False),
        ("1000000000000000001", "1000000000000000000", False),
        ("1.5 yes", "1.5 no", False),
        ("nan", "NaN", False),
        ("1.0" + "0" * 100, "1.0", False),
    ],
)
def test_a_rounded_fraction_is_the_same(output: str, expected: str, is_shown: bool) -> None:
    assert Examples(f"Input\n3\n\nOutput\n{output}\n").show("3\n", expected) is is_shown


def test_two_examples_may_have_one_input() -> None:
    examples = Examples("Input\n1\nOutput\na\n\nInput\n1\nOutput\nb\n")
    assert examples.show("1", "a")
    assert examples.show("1", "b")
    assert not examples.show("1", "c")


def test_a_large_test_is_not_looked_at() -> None:
    assert not Examples("Input\n1\nOutput\n2\n").show("1" + " " * 10_000, "2")
    assert not Examples("Input\n1\nOutput\n2\n").show("1", "2" + " " * 10_000)


HOSTILE = {
    "headings": "Input\n" * 100_000,
    "examples": "Input\n1\nOutput\n2\n" * 60_000,
    "one line of headings": "Input: " + "output: " * 100_000,
    "rules": "-" * 1_000_000,
    "ruled lines": ("-" * 50 + "a" + "-" * 50 + "b\n") * 10_000,
    "words": "sample " * 150_000,
    "spaces": " " * 1_000_000 + "x",
    "empty lines": "\n" * 1_000_000,
    "a long output": "Input\n1\nOutput\n" + "1\n\n" * 300_000,
    "long": "x" * MAX_STATEMENT_CHARACTERS + "\nInput\n1\nOutput\n2\n",
}


@pytest.mark.thorough
@pytest.mark.parametrize("statement", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_no_time(statement: str) -> None:
    start = time.process_time()
    examples = Examples(statement)
    for _ in range(50):
        examples.show("1", "1 " * 200)
    assert time.process_time() - start < 10  # measured: under 1; quadratic, minutes
