"""LiveCodeBench's own extraction, with what is wrong with it."""

from for_each import for_each

from harness.agent.extraction.code import extract, extract_lcb

CASES = {
    "a block": ("Words\n```python\nprint(1)\n```\nmore", "print(1)"),
    "the last of two": ("```python\n1\n```\n```python\n2\n```", "2"),
    "a summary after the solution": ("```python\nprint(1)\n```\n```\nO(n)\n```", "O(n)"),
    "prose after a fence too many": ("```python\n1\n```\nSo much.\n```", "So much."),
    "a block cut short": ("```python\nprint(1)", ""),
    "the block before one cut short": ("```\n1\n```\ntext\n```python\nprint(", "text"),
    "backticks within a line": ("```\na = '```'\nb\n```", "b"),
    "no fence": ("print(1)", ""),
    "an empty block": ("```\n```", ""),
    "indentation": ("```\n    x\n```", "    x"),
}


@for_each(("answer", "code"), CASES.values(), ids=CASES)
def test_what_stands_between_the_last_two_fences(answer: str, code: str) -> None:
    extraction = extract_lcb(answer, None)
    assert extraction.code == code
    assert extraction.rule == ("last two fences" if answer.count("```") > 1 else "none")


def test_a_solution_that_ours_finds_and_upstream_s_does_not() -> None:
    answer = "```python\nprint(input())\n```\nIt prints:\n```\n1\n```"
    assert extract(answer, None).code == "print(input())"
    assert extract_lcb(answer, None).code == "1"


def test_an_answer_of_more_than_a_megabyte_is_not_searched() -> None:
    assert extract_lcb("```\n1\n```" + " " * (1 << 20), None).rule == "too long"
