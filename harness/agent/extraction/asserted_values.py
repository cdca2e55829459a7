"""Read the expected value from an assertion in a text."""

import ast
import re
import warnings
from collections.abc import Iterator

LONGEST_ASSERTION = 1 << 16
MOST_ASSERTIONS = 16
"""So many of a text are looked at, the last ones."""

_ASSERT = re.compile(r"\bassert\b")
# Quotes that are never closed end with the line, so that nothing is looked at twice.
_TOKEN = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:""")?'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:''')?"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
    r"|\#[^\n]*"
    r"|\\\n"
    r"|[][(){}\n`]",
    re.DOTALL,
)
_END_OF_SENTENCE = ".,;:!*_ "


def asserted(text: str, entry_point: str | None) -> Iterator[str]:
    """The values that a text's assertions say a call has, from the last assertion to the first.

    Read are `assert f(…) == value`, `value == f(…)` and `f(…) is value`, over as many lines as
    their brackets are open for, within a fence, between backticks or in a sentence. One whose value
    is left open (`== ??`, `== # TODO`) is none, and neither is one of another function.

    Args:
        text: what the model wrote, or a part of it.
        entry_point: the function that is called, by its name alone or as a method; None for any.
    """
    starts = [match.start() for match in _ASSERT.finditer(text)]
    for start in reversed(starts[-MOST_ASSERTIONS:]):
        value = equated(_statement(text, start), entry_point)
        if value is not None:
            yield value


def equated(statement: str, entry_point: str | None) -> str | None:
    """The value that one statement, `assert` before it or not, says a call has."""
    if "==" not in statement and " is " not in statement:
        return None
    for source in dict.fromkeys((statement.strip(), statement.strip(_END_OF_SENTENCE))):
        match _parsed(source):
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                sides = ((left, right), (right, left))
                for call, value in sides:
                    if _calls(call, entry_point) and not _calls(value, entry_point):
                        return ast.get_source_segment(source, value)
            case _:
                pass
    return None


def _parsed(source: str) -> ast.expr | None:
    """What is asserted, or the expression that is not asserted at all."""
    if len(source) > LONGEST_ASSERTION:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    match body:
        case [ast.Assert(test=test)]:
            return test
        case [ast.Expr(value=value)]:
            return value
        case _:
            return None


def _calls(node: ast.expr, entry_point: str | None) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return entry_point in {None, name}
        case _:
            return False


def _statement(text: str, start: int) -> str:
    """The text from a place to where a statement that begins there must end."""
    depth = 0
    last = min(len(text), start + LONGEST_ASSERTION)
    for token in _TOKEN.finditer(text, start, last):
        match token[0]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}" if depth:
                depth -= 1
            case ")" | "]" | "}" | "`":
                return text[start : token.start()]
            case "\n" if not depth:
                return text[start : token.start()]
            case _:
                pass
    return text[start:last]
