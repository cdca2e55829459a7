"""Find the solution in a model's text. The result names the rule that found it.

The rules in order:

- `python block with entry point`: the last block tagged python that parses and defines the entry
  point (for a script: that reads input);
- `block with entry point`: the same among blocks with no tag or an unknown one;
- `longest block that parses`, preferring blocks tagged python;
- `last block`: python or untagged, even if it does not parse;
- `tags`: between `[PYTHON]` and `[/PYTHON]`, `<code>` and `</code>` or the like;
- `JSON`: the text of a key such as `code` in an object that is the whole answer, or a block of it;
- `bare code`: the whole answer, if it parses as Python and is more than a word;
- `code after words`: the last lines of the answer that parse as Python, if they are a solution;
- `none`, or `too long`: an answer of more than a megabyte is not searched.

A block of only comments and strings is skipped. If a block does not parse, fences inside it are
searched too: its own end may be missing.

An unclosed last fence counts as closed at the end of the text, and the rule's name says so. Text
between `<think>` tags is searched only if there is nothing else. Time is linear in the length of
the answer, except for the parsing of each block.
"""

import ast
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import NamedTuple

from harness.agent.extraction.marked import JSON_TAGS, in_json, tagged
from harness.frozen import Frozen
from harness.markdown import UNTAGGED, FencedBlock, fenced_blocks
from harness.python_source import parse_or_none
from harness.solution_source import begins_program, is_solution, says_nothing

HARNESS = "harness"
"""Name of the usual extractor."""

LONGEST_ANSWER = 1 << 20
LONGEST_CODE = 1 << 18
PYTHON_TAGS = frozenset({"python", "py", "python3", "py3"})
FENCE = "```"
THOUGHTS_END = "</think>"
MOST_BEGINNINGS = 32  # lines at which code after words is tried to begin
MOST_ENDS = 8  # and paragraphs with which it is tried to end


class Extraction(Frozen):
    """The code, empty when none was found, and the rule that found it."""

    code: str
    rule: str


Extract = Callable[[str, str | None], Extraction]
"""A function that finds the code in an answer, given the problem's entry point."""


class _Block(NamedTuple):
    tag: str
    code: str
    closed: bool
    tree: ast.Module | None

    @property
    def says_nothing(self) -> bool:
        """Whether it contains only comments and strings, which is not a solution."""
        return self.tree is not None and says_nothing(self.tree)

    def holds(self, entry_point: str | None) -> bool:
        """Whether it parses and defines the entry point (for a script: reads input)."""
        return self.tree is not None and is_solution(self.code, self.tree, entry_point)


def extract(answer: str, entry_point: str | None) -> Extraction:
    """Find the solution in an answer.

    Args:
        answer: the model's text, usually Markdown.
        entry_point: function or `Solution` method to be called; None for a script.
    """
    return found_in(answer, partial(_search, entry_point=entry_point))


def found_in(answer: str, search: Callable[[str], Extraction]) -> Extraction:
    """Search an answer after its thoughts; all of it where nothing is found there.

    Args:
        answer: the model's text; one that is too long is not searched.
        search: finds code in a text.
    """
    if len(answer) > LONGEST_ANSWER:
        return Extraction(code="", rule="too long")
    after_thoughts = answer.rpartition(THOUGHTS_END)[2]
    extraction = search(after_thoughts)
    return extraction if extraction.code or after_thoughts == answer else search(answer)


def _search(text: str, entry_point: str | None) -> Extraction:
    blocks = _blocks(text)
    python = [block for block in blocks if block.tag in PYTHON_TAGS]
    if not any(block.tree for block in python):
        told = in_json(text, [block.code for block in blocks if block.tag in JSON_TAGS])
        if told and (tree := _parse(told)) is not None and not says_nothing(tree):
            return Extraction(code=told, rule="JSON")
    if blocks and (found := _in_blocks(blocks, python, entry_point)):
        return found
    marked = [_Block("", each, closed=True, tree=_parse(each)) for each in tagged(text)]
    if marked:
        candidates = [b for b in marked if b.holds(entry_point)] or _longest(marked) or marked
        return Extraction(code=candidates[-1].code, rule="tags")
    if blocks:
        return Extraction(code="", rule="none")
    tree = _parse(text)
    if tree is not None and any(not isinstance(node, ast.Expr) for node in tree.body):
        return Extraction(code=text.strip("\n"), rule="bare code")
    code = _after_words(text, entry_point)
    return Extraction(code=code, rule="code after words" if code else "none")


def _in_blocks(
    blocks: list[_Block], python: list[_Block], entry_point: str | None
) -> Extraction | None:
    """Return the likeliest of some blocks; None if none can be the solution."""
    other = [block for block in blocks if block.tag not in PYTHON_TAGS]
    for rule, candidates in (
        ("python block with entry point", [b for b in python if b.holds(entry_point)]),
        ("block with entry point", [b for b in other if b.holds(entry_point)]),
        ("longest block that parses", _longest(python) or _longest(other)),
        ("last block", [b for b in blocks if b.tag in PYTHON_TAGS | UNTAGGED]),
    ):
        if candidates:
            block = candidates[-1]
            return Extraction(code=block.code, rule=rule + ", unclosed" * (not block.closed))
    return None


def _after_words(text: str, entry_point: str | None) -> str:
    """Return the longest end of a text that is a solution; prose may follow it.

    It begins with a line that can begin a program. Its end is the last line before which it parses.
    """
    lines = text.strip("\n").split("\n")
    begins = [n for n, line in enumerate(lines) if begins_program(line)][:MOST_BEGINNINGS]
    for begin in begins:
        ends = [n for n in range(begin + 1, len(lines)) if not lines[n].strip()] + [len(lines)]
        for end in ends[: -MOST_ENDS - 1 : -1]:
            code = "\n".join(lines[begin:end]).rstrip()
            tree = _parse(code)
            if tree is not None and is_solution(code, tree, entry_point):
                return code
    return ""


def _longest(blocks: list[_Block]) -> list[_Block]:
    parsed = [b for b in blocks if b.tree is not None and b.tag in PYTHON_TAGS | UNTAGGED]
    return sorted(parsed, key=lambda block: len(block.code))


def _blocks(text: str) -> list[_Block]:
    """Return the blocks that may be a solution.

    If an untagged block does not parse, untagged fences after text are ignored, provided that a
    block then parses.
    """
    blocks = _parsed(fenced_blocks(text))
    if not any(block.tree for block in blocks):
        loose = _parsed(fenced_blocks(text, closed_anywhere=True))
        blocks = loose if any(block.tree for block in loose) else blocks
    if any(block.tree is None and not block.tag for block in blocks):
        strict = _parsed(fenced_blocks(text, untagged_after_words=False))
        blocks = strict if any(block.tree for block in strict) else blocks
    return [block for block in blocks if not block.says_nothing]


def _parsed(blocks: list[FencedBlock]) -> list[_Block]:
    """Parse blocks, and the blocks inside of those that do not parse."""
    parsed: list[_Block] = []
    for block in blocks:
        parsed.append(_block(block))
        if parsed[-1].tree is None:
            inner = fenced_blocks(block.text)
            parsed += [_block(each._replace(closed=each.closed or block.closed)) for each in inner]
    return parsed


def _block(fenced: FencedBlock) -> _Block:
    return _Block(fenced.tag, fenced.text, fenced.closed, _parse(fenced.text))


def _parse(code: str) -> ast.Module | None:
    """Return the syntax tree; None if the code does not parse or is too long."""
    return None if len(code) > LONGEST_CODE else parse_or_none(code)


NOTHING = Extraction(code="", rule="none")
_TOO_LONG = Extraction(code="", rule="too long")


def of_text(find: Callable[[str], Extraction]) -> Extract:
    """Return an extractor that heeds no entry point, and searches no text that is too long."""

    @wraps(find)
    def found(text: str, entry_point: str | None) -> Extraction:
        del entry_point
        return _TOO_LONG if len(text) > LONGEST_ANSWER else find(text)

    return found


@of_text
def extract_lcb(answer: str) -> Extraction:
    """Return the lines between the last two with three backticks, or nothing.

    Source: `extract_code` in `lcb_runner/utils/extraction_utils.py` of
    https://github.com/LiveCodeBench/LiveCodeBench, for chat models. So a summary in a separate
    block after the solution is taken for it, and a truncated block is not found.
    """
    lines = answer.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    if len(fences) < 2:  # noqa: PLR2004 - an opening and a closing one
        return NOTHING
    return Extraction(code="\n".join(lines[fences[-2] + 1 : fences[-1]]), rule="last two fences")


EXTRACTORS: Mapping[str, Extract] = {HARNESS: extract, "lcb": extract_lcb}
"""Extractors by user-visible name."""
