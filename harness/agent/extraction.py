"""Finding the solution in what a model wrote. The rule that fired is recorded with the result.

In order:

- `python block with entry point`: the last block tagged python that parses and holds what the
  problem calls (for a program: something that reads input);
- `block with entry point`: the same among blocks with no tag or an unknown one;
- `longest block that parses`, one tagged python before any other;
- `last block`: python or untagged, though it does not parse;
- `bare code`: the whole answer, when it parses as Python and is more than a word;
- `none`, or `too long`: an answer of more than a megabyte is not searched.

A last fence that is never closed counts as closed at the end, which the rule's name then says.
What a model thinks aloud between `<think>` tags is not searched unless there is nothing else.
Time is linear in the length of the answer, but for the parsing of each block.
"""

import ast
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from harness.models.protocol import Frozen

LONGEST_ANSWER = 1 << 20
LONGEST_CODE = 1 << 18
PYTHON_TAGS = frozenset({"python", "py", "python3", "py3"})
UNTAGGED = frozenset({"", "code", "text", "plaintext", "plain", "solution"})
WRAPPERS = frozenset({"markdown", "md"})
SHORTEST_FENCE = 3
_READS_INPUT = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\s*\(\s*0|\bread\s*\(\s*0|\bfileinput\b")


class Extraction(Frozen):
    """The code, empty when none was found, and the rule that found it."""

    code: str
    rule: str


Extract = Callable[[str, str | None], Extraction]
"""Finds the code in an answer to a problem with this entry point."""


@dataclass(frozen=True, slots=True)
class _Block:
    tag: str
    code: str
    closed: bool
    tree: ast.Module | None

    def holds(self, entry_point: str | None) -> bool:
        """Whether it parses and defines what the problem calls."""
        if self.tree is None:
            return False
        if entry_point is None:
            return _READS_INPUT.search(self.code) is not None
        return any(_defines(node, entry_point) for node in self.tree.body)


def extract(answer: str, entry_point: str | None) -> Extraction:
    """Find the solution in an answer.

    Args:
        answer: what the model wrote, Markdown as a rule.
        entry_point: the function or `Solution` method that will be called; None for a program.
    """
    if len(answer) > LONGEST_ANSWER:
        return Extraction(code="", rule="too long")
    said = answer.rpartition("</think>")[2] if "</think>" in answer else answer
    found = _search(said, entry_point)
    return found if found.code or said == answer else _search(answer, entry_point)


def _search(text: str, entry_point: str | None) -> Extraction:
    blocks = _blocks(text)
    python = [block for block in blocks if block.tag in PYTHON_TAGS]
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
    tree = None if blocks else _parse(text)
    if tree is not None and any(not isinstance(node, ast.Expr) for node in tree.body):
        return Extraction(code=text.strip("\n"), rule="bare code")
    return Extraction(code="", rule="none")


def _longest(blocks: list[_Block]) -> list[_Block]:
    parsed = [b for b in blocks if b.tree is not None and b.tag in PYTHON_TAGS | UNTAGGED]
    return sorted(parsed, key=lambda block: len(block.code))


def _blocks(text: str) -> list[_Block]:
    """The fenced blocks, as CommonMark tells them: a fence is closed by one at least as long.

    But a fence that says Markdown opens nothing: the answer is what stands in it. Lines end as in
    CommonMark and in Python, not at every character that `str.splitlines` takes for an end.
    """
    blocks: list[_Block] = []
    opening: _Fence | None = None
    inside: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        fence = _fence(line)
        if opening is None:
            opening = fence if fence and fence.tag not in WRAPPERS else None
        elif fence and not fence.tag and fence.marks.startswith(opening.marks):
            blocks.append(_block(opening, inside, closed=True))
            opening, inside = None, []
        else:
            inside.append(line)
    if opening is not None:
        blocks.append(_block(opening, inside, closed=False))
    return [block for block in blocks if block.code.strip()]


class _Fence(NamedTuple):
    indent: str
    marks: str
    tag: str


def _fence(line: str) -> _Fence | None:
    """The fence that a line is, if it is one. Linear, unlike a pattern with several repeats."""
    bare = line.lstrip(" \t>")
    mark = bare[:1]
    if not mark or mark not in "`~":
        return None
    info = bare.lstrip(mark)
    count = len(bare) - len(info)
    if count < SHORTEST_FENCE or mark in info:
        return None
    tag = (info.split() or [""])[0].strip("{}.").lower()
    return _Fence(line[: len(line) - len(bare)], mark * count, tag)


def _block(fence: _Fence, lines: list[str], *, closed: bool) -> _Block:
    code = "\n".join(_unindented(line, fence.indent) for line in lines).strip("\n")
    if code[:1] in {" ", "\t"}:
        code = textwrap.dedent(code)
    return _Block(tag=fence.tag, code=code, closed=closed, tree=_parse(code) if code else None)


def _unindented(line: str, indent: str) -> str:
    """A line less its fence's indentation; a blank line of a quotation is often a bare `>`."""
    return line.removeprefix(indent if line.startswith(indent) else indent.rstrip())


def _parse(code: str) -> ast.Module | None:
    """The syntax tree; None for what does not parse, or is too long to be a solution."""
    if len(code) > LONGEST_CODE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _defines(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.ClassDef(name="Solution"):
            return bool(node.bases) or any(_defines(item, name) for item in node.body)
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Name) and target.id == name for target in targets)
        case _:
            return False
