r"""The examples in LeetCode's statements.

They come as plain text, as Markdown or as HTML, of any age:

    Example 1:
    Input: nums = [2,7,11,15], target = 9
    Output: [0,1]

    **Input:** nums = \[2,7,11,15\], target = 9

    <strong>Input:</strong> nums = [2,7,11,15], target = 9

The text is untrusted: unreadable examples are left out, nothing raises, and time is linear in its
length.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from itertools import islice
from math import isclose
from typing import NamedTuple, cast

from harness.sources.literals import Call, UnreadableError, read_call

MAX_STATEMENT_CHARACTERS = 2**20
"""The rest of a longer statement is ignored."""

MAX_EXAMPLES = 50
"""Further examples are ignored."""

MAX_EXAMPLE_CHARACTERS = 2**16
"""A longer input or output is not read."""

MAX_READ_CHARACTERS = 2**18
"""Most characters that are read of all examples, each attempt counted."""

_TOLERANCE = 1e-5
_HEADING = re.compile(
    r"^[ \t>*\xa0]{0,20}(?:(?P<kind>input|output)|explanation|example|note|constraint|follow)"
    r"(?:s|[ \t]?\d{1,3})?(?::|[ \t]*$|-up)",
    re.IGNORECASE | re.MULTILINE,
)
_OUTPUT_WITHIN = re.compile(r"(?<=[\s,;])output\s?:", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t\r\xa0]*\n")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARK_UP = re.compile(
    r'(?P<quoted>"(?:[^"\\\n]|\\.)*+(?:"|\\?$))'
    r"|(?P<raised><su[bp]>)"
    r"|(?P<breaking><(?:/?(?:p|div|pre|ul|ol|li|h\d)|br ?/?)(?:\s[^<>]{0,500})?>)"
    r"|</?(?:strong|b|i|em|code|span|sup|sub|font|u|a|img|table|tbody|tr|td|th)"
    r"(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE | re.MULTILINE,
)
"""HTML mark-up, and strings within the text, in which tags are kept."""

_SAYS_HTML = re.compile(
    r"(?<![\"'\w])<[a-z]{1,6}\d?(?:\s[^<>]{0,500})?>[\s*\xa0]{0,20}"
    r"(?:input|output|example)s?[ \xa0]?\d{0,3}[ \xa0]?(?::|</)",
    re.IGNORECASE,
)
_SAYS_MARKDOWN = re.compile(r"\*\*\s?(?:input|output|example)", re.IGNORECASE)
_BITS = re.compile(
    r"""
    "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]|\\.)*+(?:'|\\?\Z)  # a string, which may hold any
    | \b(?P<bits>[01]{32})\b
    """,
    re.VERBOSE | re.DOTALL,
)


class Example(NamedTuple):
    """One example.

    Attributes:
        arguments: arguments in the statement's order, each with its name if shown.
        expected: expected result.
        text: the input's text, without mark-up.
    """

    arguments: tuple[tuple[str | None, object], ...]
    expected: object
    text: str


def examples(statement: str) -> tuple[Example, ...]:
    """Return the statement's examples whose inputs and outputs are literals, in order."""
    pairs = islice(_pairs(_plain(statement[:MAX_STATEMENT_CHARACTERS])), MAX_EXAMPLES)
    reader = _ExampleReader()
    examples = (_example(reader, given, expected) for given, expected in pairs)
    return tuple(example for example in examples if example is not None)


def in_order(example: Example, parameters: Sequence[str]) -> tuple[object, ...] | None:
    """Return an example's arguments in the parameters' order; None if they misfit.

    Arguments are matched by name where the names are the parameters'. A statement and a solution
    may use different names: the last argument takes the remaining place. If no name is known, or
    all known ones stand in their places, the order is kept.
    """
    if len(example.arguments) != len(parameters):
        return None
    values = [value for _, value in example.arguments]
    known = {name: value for name, value in example.arguments if name in parameters}
    pairs = zip(example.arguments, parameters, strict=True)
    if all(name == parameter for (name, _), parameter in pairs if name in known):
        return tuple(values)
    others = [value for name, value in example.arguments if name not in known]
    if len(others) > 1:
        return None
    return tuple(known[name] if name in known else others[0] for name in parameters)


def is_shown_as(value: object, shown: object) -> bool:
    """Return whether a shown result equals a value, fractions rounded to five digits."""
    match value, shown:
        case list(), list():
            values, others = cast("list[object]", value), cast("list[object]", shown)
            return len(values) == len(others) and all(map(is_shown_as, values, others))
        case (float(), float() | int()) | (int(), float()):
            return isclose(value, shown, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        case _:
            return value == shown


def _plain(statement: str) -> str:
    """Return the statement without its mark-up."""
    text = statement.replace("\r", "")
    # Markdown may contain HTML, and either may mention tags.
    if _SAYS_MARKDOWN.search(text):
        text = _ESCAPED.sub(r"\1", text.replace("**", ""))
    elif _SAYS_HTML.search(text):
        text = unescape(_MARK_UP.sub(_without_mark_up, text))
    return text.replace("\xa0", " ")


def _without_mark_up(match: re.Match[str]) -> str:
    """Replace mark-up. A power must not become part of its base: 10^2 is not a number."""
    if match["quoted"]:
        return match["quoted"]
    if match["raised"]:
        return "^"
    return "\n" if match["breaking"] else ""


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text after each input heading with that after its output heading.

    An input may be followed by its output on the same line, as in `Input: 1, Output: 2`.
    """
    headings = list(_HEADING.finditer(text))
    given: str | None = None
    for number, heading in enumerate(headings):
        following = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        section = text[heading.end() : following].strip()
        kind = (heading["kind"] or "").lower()
        if kind == "input":
            within = _OUTPUT_WITHIN.search(section)
            given = section
            if within:
                yield section[: within.start()], section[within.end() :]
                given = None
        elif kind == "output" and given is not None:
            yield given, section
            given = None
        elif not kind:
            given = None


class _ExampleReader:
    """Parses calls' arguments, up to a total number of characters."""

    def __init__(self) -> None:
        self._left = MAX_READ_CHARACTERS

    def first(self, section: str, readings: Callable[[str], Iterator[str]]) -> Call | None:
        """Return the first reading of a text that can be parsed as a call's arguments."""
        if len(section) > MAX_EXAMPLE_CHARACTERS:
            return None
        for text in dict.fromkeys(readings(section)):
            self._left -= len(text)
            if self._left < 0:
                return None
            try:
                call = read_call(text)
            except UnreadableError:
                continue
            return None if _has_bits(text) else call
        return None


def _has_bits(text: str) -> bool:
    """Return whether it has a word of 32 bits, which Python would read as a decimal number."""
    return any(found["bits"] for found in _BITS.finditer(text))


def _example(reader: _ExampleReader, given: str, expected: str) -> Example | None:
    call = reader.first(given, _inputs)
    result = reader.first(expected, _outputs)
    if call is None or result is None or result.named or len(result.positional) != 1:
        return None
    arguments = (*((None, value) for value in call.positional), *call.named.items())
    return Example(arguments, result.positional[0], given)


def _inputs(section: str) -> Iterator[str]:
    """Yield the whole text; without trailing punctuation; and its lines as arguments."""
    text = section.strip()
    yield text
    yield text.rstrip(" .,;")
    yield ",".join(line.strip().rstrip(",") for line in text.split("\n") if line.strip())


def _outputs(section: str) -> Iterator[str]:
    """Yield the whole text; up to an empty line; and its first line."""
    text = section.strip()
    yield text
    yield _BLANK_LINE.split(text, maxsplit=1)[0].rstrip(" .;")
    yield text.partition("\n")[0].rstrip(" .;")
