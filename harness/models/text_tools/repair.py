"""Reader of JSON as models write it: strict first, then with repairs that leave no doubt.

The repairs: comments, commas before a closing bracket, values in single quotes, triple quotes or
backticks, Python's words for constants, escapes that JSON lacks, real newlines in strings, an
object in doubled braces, and closing brackets missing at the end. A string is never completed, and
nothing is left out of one. What stays unclear is not a value: then `Unreadable` is raised.

Time is linear in the length of the text.
"""

import ast
import json
import re
from typing import Any, NamedTuple, cast

from harness.languages.known import LANGUAGES
from harness.python_source import parse_expression_or_none

DEEPEST = 60  # nested brackets

_DECODER = json.JSONDecoder()
_WITH_NEWLINES = json.JSONDecoder(strict=False)  # real newlines are allowed within strings
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|#[^\n]*+|/\*(?s:.*?)\*/)*")
_STRING = re.compile(
    r"\"\"\"|'''"
    r'|"(?P<double>(?:[^"\\]++|\\.)*+)(?P<double_end>"?)'
    r"|'(?P<single>(?:[^'\\]++|\\.)*+)(?P<single_end>'?)"
    r"|`(?P<back>(?:[^`\\]++|\\.)*+)(?P<back_end>`?)",
    re.DOTALL,
)
_TRIPLE_ENDS = {
    quotes: re.compile(rf"{quotes}(?=\s*+(?:[,}}\]:]|\Z))") for quotes in ('"""', "'''")
}
_SCALAR = re.compile(r"-?[\w.+-]{1,100}")
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = dict(zip("nrtbf/\\\"'`", "\n\r\t\b\f/\\\"'`", strict=True))
_SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


class Unreadable(Exception):  # noqa: N818 - not an error of anybody's
    """A text is not JSON, and cannot be repaired without guessing."""


class Value(NamedTuple):
    """A value at the start of a text, where it ends, and whether brackets at the end lack."""

    value: Any
    end: int
    open: bool = False

    @property
    def fields(self) -> dict[str, Any] | None:
        """The value if it is an object."""
        return fields_of(self.value)


def fields_of(value: Any) -> dict[str, Any] | None:
    """Return a value if it is an object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def strict_value(text: str, at: int = 0, *, newlines: bool = False) -> Value | None:
    """Return the JSON value that begins there, as it is written; None if there is none.

    Args:
        text: the text.
        at: where the value begins.
        newlines: whether strings may hold real newlines.
    """
    try:
        value, end = (_WITH_NEWLINES if newlines else _DECODER).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return Value(value, end)


def repaired_value(text: str, at: int = 0) -> Value:
    """Return the value that begins there. Raises Unreadable."""
    reader = _JsonReader(text)
    value, end = reader.value(at, 0)
    return Value(value, end, reader.open)


def skip_comments(text: str, at: int) -> int:
    """Return the place after spaces and comments."""
    match = _BLANK.match(text, at)
    return at if match is None else match.end()


def unescaped(text: str) -> str:
    """Replace JSON's escapes; a backslash before another letter stays."""
    replaced = _ESCAPE.sub(_letter, text)
    return _SURROGATES.sub(_joined, replaced)


def likeliest(*candidates: str) -> str:
    """Return the first candidate that is source code, else the first."""
    return next(filter(is_source, candidates), candidates[0])


def is_source(text: str) -> bool:
    """Return whether a text is, or may be, a whole source in a known language."""
    return any(each.is_source(text) for each in LANGUAGES.values())


def _letter(match: re.Match[str]) -> str:
    if match[1][0] == "u" and len(match[1]) > 1:
        return chr(int(match[1][1:], 16))
    return _ESCAPED.get(match[1], match[0])


def _joined(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")


class _JsonReader:
    """Reads one value.

    Attributes:
        open: whether brackets lack at the end of the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._python = False  # single quotes were seen: a literal of Python
        self.open = False

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        at = self._skip(at)
        letter = self._text[at : at + 1]
        if depth > DEEPEST:
            raise Unreadable
        if letter == "{":
            return self._object(at + 1, depth)
        if letter == "[":
            return self._array(at + 1, depth)
        if letter and letter in "\"'`":
            return self._string(at)
        return self._scalar(at)

    def _object(self, at: int, depth: int) -> tuple[Any, int]:
        fields: dict[str, Any] = {}
        at = self._skip(at)
        if self._text[at : at + 1] == "{":  # doubled braces
            value, at = self.value(at, depth + 1)
            return value, self._close(at, "}")
        while self._text[at : at + 1] != "}":
            key, at = self._key(at)
            at = self._skip(at)
            if self._text[at : at + 1] != ":":
                raise Unreadable
            fields[key], at = self.value(at + 1, depth + 1)
            at, more = self._next(at, "}")
            if not more:
                return fields, at
        return fields, at + 1

    def _array(self, at: int, depth: int) -> tuple[Any, int]:
        items: list[Any] = []
        at = self._skip(at)
        while self._text[at : at + 1] != "]":
            item, at = self.value(at, depth + 1)
            items.append(item)
            at, more = self._next(at, "]")
            if not more:
                return items, at
        return items, at + 1

    def _next(self, at: int, closing: str) -> tuple[int, bool]:
        """Return where to go on after a value, and whether something may follow."""
        at = self._skip(at)
        letter = self._text[at : at + 1]
        if letter == ",":
            at = self._skip(at + 1)
            if at == len(self._text):
                raise Unreadable  # broken off
            return at, True
        if letter == closing:
            return at, True
        return self._close(at, closing), False

    def _close(self, at: int, closing: str) -> int:
        """Return the place after a closing bracket, which may lack at the end."""
        at = self._skip(at)
        if self._text.startswith(closing, at):
            return at + 1
        if at < len(self._text) and self._text[at] not in "}]":
            raise Unreadable
        self.open = True
        return at

    def _key(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] in {'"', "'"}:
            return self._string(at)
        match = re.compile(r"[A-Za-z_]\w{0,100}").match(self._text, at)
        if match is None:
            raise Unreadable
        return match[0], match.end()

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self._text, at)
        if match is None:
            raise Unreadable
        if match[0] in _TRIPLE_ENDS:
            end = _TRIPLE_ENDS[match[0]].search(self._text, match.end())
            if end is None:
                raise Unreadable
            body = self._text[match.end() : end.start()]
            text = likeliest(body, unescaped(body))
            if match[0] in body and not is_source(text):  # the quotes may be a docstring's, too
                raise Unreadable
            return text, end.end()
        kind = str(match.lastgroup).removesuffix("_end")
        if not match[f"{kind}_end"]:
            raise Unreadable
        if kind == "single":
            self._python = True
        literal = _literal(match[0]) if self._python and kind != "back" else None
        return _decoded(match[kind]) if literal is None else literal, match.end()

    def _scalar(self, at: int) -> tuple[Any, int]:
        match = _SCALAR.match(self._text, at)
        if match is None:
            raise Unreadable
        if match[0] in _CONSTANTS:
            return _CONSTANTS[match[0]], match.end()
        number = strict_value(match[0])
        if number is None or number.end != len(match[0]):
            raise Unreadable
        return number.value, match.end()

    def _skip(self, at: int) -> int:
        return skip_comments(self._text, at)


def _decoded(written: str) -> str:
    """Return a string's text; with real newlines, backslashes may be meant as they are, too."""
    text = unescaped(written)
    return likeliest(text, written) if "\n" in written and text != written else text


def _literal(token: str) -> str | None:
    """Return the value of a Python string, which may hold real newlines."""
    quotes = token[0] * 3
    node = parse_expression_or_none(token)
    if node is None and not token[1:-1].endswith(token[0]):
        node = parse_expression_or_none(f"{quotes}{token[1:-1]}{quotes}")
    value = cast("Any", node).value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None
