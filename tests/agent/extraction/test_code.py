"""Which code is taken from an answer, and by which rule."""

import json
import time
from typing import NamedTuple

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.extraction.code import LONGEST_ANSWER, extract

PROGRAM = "n = int(input())\nprint(n * 2)"
FUNCTION = "def double(n):\n    return n * 2"
METHOD = "class Solution:\n    def double(self, n):\n        return n * 2"
TAGGED = "python block with entry point"
OTHER = "block with entry point"
LONGEST = "longest block that parses"
LAST = "last block"
BARE = "bare code"
AFTER_WORDS = "code after words"
DOCUMENTED = 'def f():\n    """An example:\n\n    ```\n    2\n    ```\n    """'


def fenced(code: str, tag: str = "python", marks: str = "```") -> str:
    return f"{marks}{tag}\n{code}\n{marks}\n"


def indented(text: str, by: str) -> str:
    return "".join(by + line for line in text.splitlines(keepends=True))


class Case(NamedTuple):
    """An answer, the entry point asked for, and what is found."""

    name: str
    answer: str
    entry: str | None
    code: str
    rule: str


MARKDOWN_STRING = 'text = "```python"\nprint(text, input())'
DOCSTRING = f'"""Usage:\n    ```\n    double(2)\n    ```\n"""\n{FUNCTION}'
STRANGE_BREAKS = 'print(input().split("\u2028"), "\x0b", "\x1c", "\x85")\x0c'

CASES = [
    # Which block
    Case("one block", fenced(PROGRAM), None, PROGRAM, TAGGED),
    Case("the last of two", fenced("print(input())") + fenced(PROGRAM), None, PROGRAM, TAGGED),
    Case("a usage block after", fenced(FUNCTION) + fenced("double(2)"), "double", FUNCTION, TAGGED),
    Case(
        "a shell block after",
        fenced(PROGRAM) + fenced("echo 2 | python a.py", "bash"),
        None,
        PROGRAM,
        TAGGED,
    ),
    Case("sample output after", fenced(PROGRAM) + fenced("4", ""), None, PROGRAM, TAGGED),
    Case(
        "the tag before the order",
        fenced(FUNCTION) + fenced("def double(n): pass", ""),
        "double",
        FUNCTION,
        TAGGED,
    ),
    Case(
        "an entry point before a longer block",
        fenced(FUNCTION) + fenced("import math\n" * 9),
        "double",
        FUNCTION,
        TAGGED,
    ),
    Case(
        "no entry point: the longest",
        fenced("x = 1\ny = 2") + fenced("z"),
        "double",
        "x = 1\ny = 2",
        LONGEST,
    ),
    Case("nothing parses: the last", fenced("x = (") + fenced("def f("), None, "def f(", LAST),
    Case(
        "another language",
        fenced("int main() { return 0; }", "cpp"),
        None,
        "",
        "none",
    ),
    Case(
        "two languages",
        fenced(FUNCTION) + fenced("function double(n) { return n * 2 }", "js"),
        "double",
        FUNCTION,
        TAGGED,
    ),
    Case("an empty block", fenced(PROGRAM) + "```python\n```\n", None, PROGRAM, TAGGED),
    # Tags
    *(
        Case(f"tag {tag!r}", fenced(PROGRAM, tag), None, PROGRAM, TAGGED)
        for tag in (
            *("python3", "py", "Python", "PYTHON3", " python", "{.python}", "{.python .numbered}"),
            'python title="a.py"',
        )
    ),
    *(
        Case(f"tag {tag!r}", fenced(PROGRAM, tag), None, PROGRAM, OTHER)
        for tag in ("", "text", "code", "solution", "pycon")
    ),
    # Fences
    Case("never closed", f"```python\n{PROGRAM}", None, PROGRAM, f"{TAGGED}, unclosed"),
    Case(
        "cut in the middle",
        "```python\nn = int(input())\nprint(n *",
        None,
        "n = int(input())\nprint(n *",
        f"{LAST}, unclosed",
    ),
    Case(
        "a closed block before a cut one",
        fenced(PROGRAM) + "```python\nprint(input(",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case("tildes", fenced(PROGRAM, "python", "~~~"), None, PROGRAM, TAGGED),
    Case("four backticks", fenced(PROGRAM, "python", "````"), None, PROGRAM, TAGGED),
    Case("two backticks are no fence", f"``python\n{PROGRAM}\n``", None, "", "none"),
    Case(
        "tildes do not close backticks",
        fenced('"""\n~~~\n"""\nprint(input())'),
        None,
        '"""\n~~~\n"""\nprint(input())',
        TAGGED,
    ),
    Case(
        "a longer fence around a shorter",
        fenced(f'"""\n```\n"""\n{PROGRAM}', "python", "````"),
        None,
        f'"""\n```\n"""\n{PROGRAM}',
        TAGGED,
    ),
    Case(
        "in a longer markdown fence",
        fenced(fenced(PROGRAM), "markdown", "````"),
        None,
        PROGRAM,
        TAGGED,
    ),
    Case("in an equal markdown fence", fenced(fenced(PROGRAM), "markdown"), None, PROGRAM, TAGGED),
    Case("in a list", "1. So:\n" + indented(fenced(PROGRAM), "   "), None, PROGRAM, TAGGED),
    Case("tabs before it", indented(fenced(PROGRAM), "\t"), None, PROGRAM, TAGGED),
    Case("code indented, fences not", fenced(indented(PROGRAM, "    ")), None, PROGRAM, TAGGED),
    Case("quoted", indented(fenced(FUNCTION), "> "), "double", FUNCTION, TAGGED),
    Case("quoted closely", indented(fenced(FUNCTION), ">"), "double", FUNCTION, TAGGED),
    Case(
        "quoted, with a blank line",
        "> ```python\n> n = int(input())\n>\n> print(n)\n> ```\n",
        None,
        "n = int(input())\n\nprint(n)",
        TAGGED,
    ),
    Case("a fence inside a string", fenced(MARKDOWN_STRING), None, MARKDOWN_STRING, TAGGED),
    Case("CRLF", fenced(PROGRAM).replace("\n", "\r\n"), None, PROGRAM, TAGGED),
    Case("odd line breaks", fenced(STRANGE_BREAKS), None, STRANGE_BREAKS, TAGGED),
    *(
        Case(f"a fence behind {words!r}", words + fenced(PROGRAM, tag), None, PROGRAM, rule)
        for words, tag, rule in (
            ("Assistant: ", "python", TAGGED),
            ("Assistant:", "py", TAGGED),
            ("**Solution** ", " Python", TAGGED),
            ("Solution: ", "", OTHER),
            ("> So: ", "python", TAGGED),
            ("1. ", "python", TAGGED),
            ("2) ", "", OTHER),
            ("- ", "python", TAGGED),
            ("  * ", "python", TAGGED),
            ("> + ", "python", TAGGED),
        )
    ),
    Case(
        "in a list item, indented as its words are",
        "1. " + indented(fenced(PROGRAM), "   ").lstrip(),
        None,
        PROGRAM,
        TAGGED,
    ),
    Case("tildes in a list item", "- " + fenced(PROGRAM, "python", "~~~"), None, PROGRAM, TAGGED),
    Case("words and a span", f"Put ```python``` around it.\n{PROGRAM}", None, PROGRAM, AFTER_WORDS),
    Case("words before", f"It is added.\n\n{PROGRAM}\n", None, PROGRAM, AFTER_WORDS),
    Case("words around", f"So:\n{PROGRAM}\n\nThat is all.", None, PROGRAM, AFTER_WORDS),
    Case(
        "words that look like code, before",
        f"import is a word; for x, see below.\nx = 3 apples\n\n{FUNCTION}\n\nIt doubles.",
        "double",
        FUNCTION,
        AFTER_WORDS,
    ),
    Case("words alone", "I would print(n) for x = 3.\nfoo(bar)\nThe end", None, "", "none"),
    Case("words and another function", f"So:\n\n{FUNCTION}", "triple", "", "none"),
    *(
        Case(f"tags {tags}", f"So.\n{tags.replace('-', PROGRAM)}", None, PROGRAM, "tags")
        for tags in (
            "[PYTHON]\n-\n[/PYTHON]",
            "[PYTHON]\n-",
            "[CODE]\n-\n[/CODE]\nDone.",
            "<code>\n-\n</code>",
            "<python>-</python>",
            "Use <code>n</code>:\n<pre><code class='python'>-\n</code></pre>",
            "<solution>\n-\n</solution>",
        )
    ),
    Case(
        "entities between tags",
        "<pre><code>n = int(input())\nprint(n &lt; 3 &amp; 1)\n</code></pre>",
        None,
        "n = int(input())\nprint(n < 3 & 1)",
        "tags",
    ),
    *(
        Case(f"JSON {number}", text, None, PROGRAM, "JSON")
        for number, text in enumerate(
            (
                json.dumps({"explanation": "Add.", "code": PROGRAM}),
                f"So:\n{json.dumps({'Code': PROGRAM})}",
                fenced(json.dumps({"solution": {"python_code": PROGRAM}}), "json"),
                fenced(json.dumps({"code": PROGRAM, "language": "python"}), ""),
                json.dumps({"code": fenced(PROGRAM)}),
                json.dumps({"code": PROGRAM.split("\n")}),
                f'{{"code": "{PROGRAM}"}}',
            )
        )
    ),
    Case("JSON without code", '{"input": "1 2", "answer": "3"}', None, "", "none"),
    Case(
        "JSON beside a block of Python",
        f"{fenced(PROGRAM)}\nReads:\n{fenced(json.dumps({'code': FUNCTION}), 'json')}",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "a fence in a docstring",
        fenced(f"{DOCUMENTED}\n\n{PROGRAM}"),
        None,
        f"{DOCUMENTED}\n\n{PROGRAM}",
        TAGGED,
    ),
    Case(
        "an end that is indented too far",
        f"```python\n{PROGRAM}\n    ```\nThat is it.",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "words about a fence, and a real one",
        f"I end my answer with ```\n\n{fenced(PROGRAM)}",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "words about a fence, and a real one without a tag",
        f"I end my answer with ```\n\n{fenced(PROGRAM, '')}\nDone.",
        None,
        PROGRAM,
        OTHER,
    ),
    Case(
        "a sentence that ends with a fence",
        f"I end my answer with ```.\n\n{fenced(PROGRAM, '')}",
        None,
        PROGRAM,
        OTHER,
    ),
    Case(
        "words behind the end of a block that opened behind words",
        f"Solution: {fenced('print(input(', '')}This works.",
        None,
        "print(input(",
        LAST,
    ),
    Case(
        "a fence with words behind it",
        f"Use ```python to open it.\n{fenced(PROGRAM)}",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "an end that was forgotten",
        f"```python\n# n = int(input())\n# ```\n{fenced(PROGRAM)}",
        None,
        PROGRAM,
        TAGGED,
    ),
    # What is not a solution
    Case(
        "a block of comments after",
        fenced(PROGRAM) + fenced("# n = int(input()) is read\n# and doubled"),
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "a long block of comments",
        fenced("# x\n" * 99) + fenced("print(2)"),
        None,
        "print(2)",
        LONGEST,
    ),
    Case("comments alone", fenced("# input()\n# output"), None, "", "none"),
    Case("a string alone", fenced('"""Reads with input()."""\n...'), None, "", "none"),
    # Thinking aloud
    Case(
        "the answer after the thought",
        f"<think>\n{fenced('print(input())')}</think>\n{fenced(PROGRAM)}",
        None,
        PROGRAM,
        TAGGED,
    ),
    Case(
        "a worse answer after a better thought",
        f"<think>\n{fenced(FUNCTION)}</think>\n{fenced('double = 2 *')}",
        "double",
        "double = 2 *",
        LAST,
    ),
    Case("only a thought", f"<think>\n{fenced(PROGRAM)}</think>\nDone.", None, PROGRAM, TAGGED),
    Case("an endless thought", f"<think>\n{fenced(PROGRAM)}", None, PROGRAM, TAGGED),
    Case("no opening tag", f"hm\n</think>\n{fenced(PROGRAM)}", None, PROGRAM, TAGGED),
    # What holds an entry point
    Case("a method", fenced(METHOD), "double", METHOD, TAGGED),
    Case(
        "another class's method",
        fenced(METHOD.replace("Solution", "Other")),
        "double",
        METHOD.replace("Solution", "Other"),
        LONGEST,
    ),
    Case(
        "a Solution with bases",
        fenced("class Solution(Base):\n    pass"),
        "double",
        "class Solution(Base):\n    pass",
        TAGGED,
    ),
    Case("async def", fenced(f"async {FUNCTION}"), "double", f"async {FUNCTION}", TAGGED),
    Case(
        "a lambda", fenced("double = lambda n: 2 * n"), "double", "double = lambda n: 2 * n", TAGGED
    ),
    Case(
        "a name inside a function",
        fenced("def f():\n    def double(n): pass"),
        "double",
        "def f():\n    def double(n): pass",
        LONGEST,
    ),
    *(
        Case(f"reads by {reading}", fenced(reading), None, reading, TAGGED)
        for reading in (
            "import sys\nprint(sys.stdin.read())",
            "from sys import stdin\nprint(stdin.read())",
            "print(open(0).read())",
            "import os\nprint(os.read(0, 9))",
            "import fileinput\nprint(*fileinput.input())",
        )
    ),
    # No fence
    Case("bare code", PROGRAM, None, PROGRAM, BARE),
    Case("bare function", f"\n\n{FUNCTION}\n\n", "double", FUNCTION, BARE),
    Case("prose", "You double the number and print it.", None, "", "none"),
    Case("a word", "double", None, "", "none"),
    Case("an expression", "f(1) + 2", None, "", "none"),
    Case("empty", "", None, "", "none"),
    Case("blank", " \n\t\n", None, "", "none"),
    Case("NUL", "x = 1\0", None, "", "none"),
    Case("too long", fenced(PROGRAM) + " " * LONGEST_ANSWER, None, "", "too long"),
]


@for_each("case", CASES)
def test_code_and_the_rule_that_found_it(case: Case) -> None:
    extraction = extract(case.answer, case.entry)
    assert (extraction.code, extraction.rule) == (case.code, case.rule)


PIECES = st.sampled_from(
    [
        *(
            "```",
            "~~~",
            "````",
            "```python\n",
            "\n",
            "\n```\n",
            "> ",
            "    ",
            "\t",
            "\r\n",
            "\u2028",
        ),
        *(
            "<think>",
            "</think>",
            "def f(x):\n    return x\n",
            "class Solution:\n",
            "print(input())",
        ),
        *('"""', "x = 1\n", "(", "é", "\0", "\ud800", "- ", "\\"),
    ]
)
ANSWERS = st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join)


@pytest.mark.thorough
@given(ANSWERS, st.sampled_from([None, "f"]))
def test_extracted_code_is_made_of_lines_of_the_answer(answer: str, entry: str | None) -> None:
    extraction = extract(answer, entry)
    final_answer = answer.rpartition("</think>")[2]  # code may begin right behind a thought
    lines = {line.strip("> \t\r") for line in f"{answer}\n{final_answer}".split("\n")}
    assert {line.strip("> \t\r") for line in extraction.code.split("\n")} <= lines | {""}
    assert bool(extraction.code) == (extraction.rule not in {"none", "too long"})


@given(st.text(alphabet=st.characters(exclude_characters="\r", exclude_categories=["Cs"])))
def test_a_block_is_taken_letter_by_letter(text: str) -> None:
    code = f"value = {text!r}\n# {text.replace(chr(10), ' ')}\nprint(input())"
    assert extract(fenced(code), None).code == code


@pytest.mark.thorough
@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "```\n",
        "~~~\n",
        "```python\n",
        "> ",
        "> ```\n",
        "<think>",
        "</think>",
        "```a`\n",
        "input ",
    ],
    ids=repr,
)
def test_time_is_linear_in_the_length(piece: str) -> None:
    def seconds(size: int) -> float:
        answer = piece * (size // len(piece))
        started = time.process_time()
        extract(answer, None)
        return time.process_time() - started

    longest = min(seconds(480_000) for _ in range(3))  # what else the process does is not meant
    assert longest < 40 * max(seconds(30_000), 0.005)  # 16 times as long; not 256


@for_each(
    "code",
    ["(" * 500_000, "-" * 500_000 + "1", "a" + ".b" * 300_000, "x" + "+x" * 300_000, "9" * 900_000],
)
def test_code_that_breaks_a_parser_breaks_nothing_here(code: str) -> None:
    assert extract(fenced(code), None).rule == LAST
