"""Detection of a program's tests that its statement shows.

Statements of programming contests show their examples as an input between an input heading
(`Input`, `-----Sample Input 1:-----`, `**Input:** 1 2`) and an output heading, and then the output.
A test is shown if its input is the whole text between the two headings, and its output the whole
text up to the next heading or an empty line, after which explanations come. Other white space does
not matter, nor does the rounding of decimal fractions. So a test with the input `1` is not shown by
every `1` of the statement.
"""

import json
import re
from collections.abc import Iterator, Sequence
from math import isclose
from typing import NamedTuple, cast

from harness.problem import TestCase
from harness.sources.signature import entry_point_of
from harness.sources.statement_examples import MAX_EXAMPLE_CHARACTERS, examples, in_order

MAX_STATEMENT_CHARACTERS = 2**20
"""The rest of a longer statement is ignored."""

MAX_EXAMPLES = 100
"""Further examples are ignored."""

_DECORATION = r"[\s\-*#_=`:.]*"
_HEADING = re.compile(
    rf"""{_DECORATION}
    (?:(?:sample|simple|example|standard|test|first|second|third)\s{{1,3}}){{0,2}}
    (?P<word>inputs?|outputs?|examples?|samples?|notes?|explanations?|constraints?|scoring)
    (?:\s{{1,3}}(?:data|case|for\s{{1,3}}the\s{{1,3}}sample\s{{1,3}}input))?
    \s{{0,3}}\#?[\dA-D]{{0,2}}
    (?P<end>{_DECORATION})""",
    re.IGNORECASE | re.VERBOSE,
)
_RULED = re.compile(r"\s*-{3,}[^-].*-{3,}\s*")
_OUTPUT_WITHIN = re.compile(r"(?<=\s)(?=(?:sample\s)?outputs?\s?:)", re.IGNORECASE)
_LONGEST_HEADING = 120
_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,3})?")
_TOLERANCE = 1e-6
"""Relative and absolute error that most such statements allow."""

_LONGEST_INTEGER = 4_000
"""Digits that `int` accepts under the interpreter's own limit; no statement shows more."""


class _ExpectedOutput(NamedTuple):
    """Text after an output heading: its words, and after how many of them it may have ended."""

    words: list[str]
    ends: frozenset[int]


class _Section(NamedTuple):
    """Text after a heading, and the heading's word: `input`, `output` or another."""

    kind: str
    lines: list[str]


class Examples:
    """Examples that a statement shows; read once, and used for every test.

    Args:
        statement: a problem's statement, of any size and content.
    """

    def __init__(self, statement: str) -> None:
        self._outputs: dict[str, list[_ExpectedOutput]] = {}
        self._longest = 2 * len(statement) + 1_000
        for count, (given, output) in enumerate(_examples(statement)):
            if count == MAX_EXAMPLES:
                break
            self._outputs.setdefault(" ".join(given.split()), []).append(output)

    def show(self, given: str, expected: str) -> bool:
        """Return whether they include a test with this input and output, in linear time."""
        if len(given) > self._longest or len(expected) > self._longest or not self._outputs:
            return False
        words = expected.split()
        return any(
            len(words) in output.ends and _same(output.words[: len(words)], words)
            for output in self._outputs.get(" ".join(given.split()), ())
        )


def _same(shown: Sequence[str], words: Sequence[str]) -> bool:
    return shown == words or all(map(_same_word, shown, words))


def _same_word(shown: str, word: str) -> bool:
    if shown == word:
        return True
    if not (_NUMBER.fullmatch(shown) and _NUMBER.fullmatch(word)) or "." not in shown + word:
        return False
    return isclose(float(shown), float(word), rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _examples(statement: str) -> Iterator[tuple[str, _ExpectedOutput]]:
    given: str | None = None
    for section in _sections(statement[:MAX_STATEMENT_CHARACTERS]):
        if section.kind == "output" and given is not None:
            output = _output(section.lines)
            if given.strip() or output.words:
                yield given, output
        given = "\n".join(section.lines) if section.kind == "input" else None


def _output(lines: list[str]) -> _ExpectedOutput:
    words: list[str] = []
    ends: set[int] = set()
    for line in lines:
        if not line.strip() and words:
            ends.add(len(words))
        words += line.split()
    return _ExpectedOutput(words, frozenset(ends | {len(words)}))


def _sections(statement: str) -> Iterator[_Section]:
    section = _Section("other", [])
    for line in _lines(statement):
        heading = _heading(line)
        if heading is not None:
            yield section
            section = heading
        else:
            section.lines.append("" if line.lstrip().startswith("```") else line)
    yield section


def _lines(statement: str) -> Iterator[str]:
    """Yield the lines, cut again before an `Output:` on the line of its input."""
    for line in statement.splitlines():
        yield from _OUTPUT_WITHIN.split(line) if _says_input(line) else [line]


def _says_input(line: str) -> bool:
    heading = _HEADING.match(line)
    return heading is not None and heading["word"].lower().startswith("input")


def _heading(line: str) -> _Section | None:
    """Return the section that a line opens, with the text after its colon, or None."""
    heading = _HEADING.match(line)
    if heading is None:
        short = len(line) <= _LONGEST_HEADING
        return _Section("other", []) if short and _RULED.fullmatch(line) else None
    rest = line[heading.end() :]
    if rest and ":" not in heading["end"]:
        return None
    return _Section(heading["word"].lower().rstrip("s"), [rest] if rest else [])


def shown(
    statement: str, starter_code: str, entry_point: str | None, tests: Sequence[TestCase]
) -> list[bool]:
    """Return, for each test of a problem, whether the statement shows its input and output."""
    if entry_point is None:
        programs = Examples(statement)
        return [programs.show(test.input, test.output) for test in tests]
    entry = entry_point_of(starter_code, entry_point)
    calls = _calls(statement, entry.parameters if entry else ())
    return [_value_of_test(test) in calls for test in tests]


def _calls(statement: str, parameters: Sequence[str]) -> list[object]:
    """Return the examples of a statement, each as its arguments in order and the result."""
    calls: list[object] = []
    for example in examples(statement):
        # Without parameter names, the arguments are taken in the statement's order.
        names = parameters or ("",) * len(example.arguments)
        arguments = in_order(example, names)
        if arguments is not None:
            calls.append([*arguments, example.expected])
    return calls


def _value_of_test(test: TestCase) -> object:
    """Return a test in the same form; one larger than any example equals nothing."""
    if len(test.input) + len(test.output) > MAX_EXAMPLE_CHARACTERS:
        return object()
    lines = [*(test.input.split("\n") if test.input else ()), test.output]
    try:
        return [_without_quotes(json.loads(line, parse_int=_integer)) for line in lines]
    except (ValueError, RecursionError):
        return object()


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONGEST_INTEGER else digits


def _without_quotes(value: object) -> object:
    """Remove the quotes in strings that APPS copied from LeetCode's examples."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    if isinstance(value, list):
        return [_without_quotes(item) for item in cast("list[object]", value)]
    return value
