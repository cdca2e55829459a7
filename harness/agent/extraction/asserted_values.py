"""Read the expected value from an assertion in a text."""

import ast
import re
import warnings
from collections.abc import Iterator

LONGEST_ASSERTION = 1 << 16
MOST_ASSERTIONS = 16
"""Number of assertions considered in a text, from the end."""

_ASSERT = re.compile(r"\bassert\b")
# Unclosed quotes end with the line, so that no text is scanned twice.
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
    """Yield the values a text's assertions state for a call, last assertion first.

    Recognized are `assert f(…) == value`, `value == f(…)` and `f(…) is value`, over several lines
    while brackets are open, in a fenced block, between backticks or in a sentence. Assertions
    without a value (`== ??`, `== # TODO`) or of another function are ignored.

    Args:
        text: the model's text, or a part of it.
        entry_point: the called function, by name or as a method; None for any.
    """
    starts = [match.start() for match in _ASSERT.finditer(text)]
    for start in reversed(starts[-MOST_ASSERTIONS:]):
        value = equated(_statement(text, start), entry_point)
        if value is not None:
            yield value


def equated(statement: str, entry_point: str | None) -> str | None:
    """Return the value a statement, with or without `assert`, states for a call."""
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
    """Return the asserted expression, or the expression itself without `assert`."""
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
    """Return the text from `start` to the end of the statement that starts there."""
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
