"""Texts of an event: its parts, highlighted or side by side, without the browser.

A report of `run_tests` is text for a model. Content of a test may look like one of its headings;
then a text is shown in the wrong box, which is harmless. The report itself is shown too.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, cast

from markupsafe import Markup

from harness.agent.events import (
    AgentLeft,
    Event,
    Graded,
    RanWrittenTests,
    Request,
    Response,
    Tested,
    ToolResult,
)
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.models.protocol import ModelTurn
from harness.run.store.message_texts import arguments, message_text, reasoning_text
from harness.text import printable

LONGEST_COLOURED = 20_000
"""Most characters of a highlighted program; longer ones are shown plainly."""
LONGEST_LINE_COLOURED = 2_000
MOST_LINES = 1_000
"""Most lines of each program that is compared."""
LONGEST_COMPARED = 60_000
CONTEXT = 3
SHOWN = 6_000
"""Most characters of a text within a conversation; a link leads to the rest."""
PAGE = 100_000
"""Most characters of a text on its own page."""
FOLDED = 1_200
"""Characters above which an instruction or result is folded."""
FOLDED_LINES = 20
MOST_ROWS = 200
LONGEST_LINE = 2_000
LONGEST_REPORT = 20_000
MOST_FAILURES = 10
_TEST = re.compile(r"^Test (\d{1,9}): (.{1,200})\.$")
_BOXES = ("Input", "Expected", "Got", "Error", "Printed to stdout", "Printed to stderr")
NOTHING = "(nothing)"
_FIRST_DIFFERENCE = "First difference, "


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference.

    Attributes:
        kind: `same`, `added`, `removed`, or `gap` for omitted lines.
        number: line number in the newer program; None if it is not in it.
    """

    kind: str
    number: int | None
    text: str


def language_of(spec: Mapping[str, Any]) -> str:
    """Return the language of a run's solutions."""
    name = spec.get("language")
    return name if isinstance(name, str) and name in LANGUAGES else PYTHON


@lru_cache(maxsize=256)
def coloured(code: str, language: str = PYTHON) -> Markup:
    """Return a program as escaped HTML, with a class for each kind of token.

    Args:
        code: the program.
        language: name of its language.
    """
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import (
        get_lexer_by_name,  # pyright: ignore[reportUnknownVariableType]
    )

    shown = printable(code)
    long = len(shown) > LONGEST_COLOURED
    if long or any(len(line) > LONGEST_LINE_COLOURED for line in shown.split("\n")):
        return Markup.escape(shown)
    lexer = cast("Any", get_lexer_by_name)(language, stripnl=False, ensurenl=False)
    formatter: Any = HtmlFormatter(nowrap=True)  # pyright: ignore[reportUnknownVariableType]
    return Markup(highlight(shown, lexer, formatter))  # noqa: S704 - pygments escapes


def difference(old: str, new: str) -> tuple[DiffLine, ...] | None:
    """Return the changes between two programs, with a few lines of context.

    Returns:
        The lines; None if the programs are too long to compare, empty if they are the same.
    """
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return None
    before, after = printable(old).split("\n"), printable(new).split("\n")
    if max(len(before), len(after)) > MOST_LINES:
        return None
    return tuple(_lines(before, after))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield DiffLine("gap", None, "⋯")
        for word, old_from, old_to, new_from, new_to in group:
            if word == "equal":
                for at in range(new_from, new_to):
                    yield DiffLine("same", at + 1, after[at])
                continue
            for at in range(old_from, old_to):
                yield DiffLine("removed", None, before[at])
            for at in range(new_from, new_to):
                yield DiffLine("added", at + 1, after[at])


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a text, or all of it.

    Attributes:
        text: the text with control and invisible characters spelled out.
        left: number of characters omitted after it.
    """

    text: str
    left: int = 0


def cut(text: str, most: int = SHOWN, start: int = 0) -> Cut:
    """Return a part of a text, from `start`, that is short enough to show."""
    return Cut(printable(text[start : start + most]), max(0, len(text) - start - most))


@dataclass(frozen=True, slots=True)
class Words:
    """A text, cut, and the name with which to request the rest."""

    text: str
    left: int
    name: str
    size: int

    @property
    def long(self) -> bool:
        """Whether the text should be folded."""
        return self.size > FOLDED or self.text.count("\n") >= FOLDED_LINES


def words_of(text: str, name: str) -> Words:
    """Return a text as far as it is shown; `name` is that with which to request the rest."""
    piece = cut(text.strip("\n"))
    return Words(piece.text, piece.left, name, len(text))


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """A line of both texts; None for a text without that line."""

    number: int
    expected: str | None
    got: str | None
    differs: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two texts side by side.

    Attributes:
        left: number of lines omitted.
        numbered: whether line numbers are those of the whole texts.
    """

    lines: tuple[AlignedLine, ...]
    left: int
    numbered: bool = True


def beside(expected: str, got: str, *, numbered: bool = True) -> SideBySide:
    """Align two texts by line number, as they are judged."""
    here, there = expected.strip("\n").split("\n"), got.strip("\n").split("\n")
    pairs = list(zip_longest(here[:MOST_ROWS], there[:MOST_ROWS]))
    lines = tuple(
        AlignedLine(number, _shown(one), _shown(other), _bare(one) != _bare(other))
        for number, (one, other) in enumerate(pairs, 1)
    )
    return SideBySide(lines, max(len(here), len(there)) - len(lines), numbered)


def _shown(line: str | None) -> str | None:
    if line is None:
        return None
    piece = cut(line, LONGEST_LINE)
    return f"{piece.text} … {piece.left:,} more characters" if piece.left else piece.text


def _bare(line: str | None) -> str | None:
    """Return a line without surrounding spaces, which all rules ignore."""
    return None if line is None else line.strip()


def text_in(event: Event, name: str) -> str | None:
    """Return the text of that name in an event; None if there is none."""
    word, _, number = name.partition("-")
    part = int(number) if number.isdecimal() and len(number) < 8 else 0  # noqa: PLR2004 - an index
    match event:
        case Request():
            found = message_text(event.messages[part]) if part < len(event.messages) else None
        case Response():
            found = _of_turn(event.response, word, part)
        case ToolResult():
            found = event.result.content
        case Tested():
            found = event.report
        case Graded():
            found = _of_test(event, word, part)
        case _:
            found = told_in(event)
    return found


def _of_turn(turn: ModelTurn, word: str, part: int) -> str | None:
    if word == "call":
        return arguments(turn.tool_calls[part]) if part < len(turn.tool_calls) else None
    return reasoning_text(turn.reasoning) if word == "reasoning" else turn.text


def _of_test(event: Graded, word: str, index: int) -> str | None:
    test = next((test for test in event.grade.tests if test.index == index), None)
    if test is None or word not in {"got", "error", "stdout", "stderr"}:
        return None
    return str(getattr(test, word))


def told_in(event: Event) -> str:
    """Return the text of an event that is not part of the conversation."""
    if isinstance(event, RanWrittenTests):
        return event.text
    if not isinstance(event, AgentLeft):
        return str(getattr(event, "cause", "") or getattr(event, "error", ""))
    parts = (("stdout", event.stdout), ("stderr", event.stderr))
    return "\n\n".join(f"{name}:\n{text.rstrip()}" for name, text in parts if text.strip())


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed test, with expected and actual output side by side if known."""

    title: str
    sides: SideBySide | None = None
    where: str = ""
    boxes: tuple[tuple[str, Words], ...] = ()


def failures_in(report: str) -> tuple[Failed, ...]:
    """Return the tests that a report describes in full; none if it is another text."""
    if len(report) > LONGEST_REPORT:
        return ()
    return tuple(_failures(report.split("\n")))[:MOST_FAILURES]


def _failures(lines: list[str]) -> Iterator[Failed]:
    starts = [at for at, line in enumerate(lines) if _TEST.match(line) and _detailed(lines, at)]
    for start, end in pairwise([*starts, len(lines)]):
        yield _failure(lines[start], lines[start + 1 : end])


def _detailed(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and lines[at + 1].startswith(("Input:", "Error:"))


def _failure(title: str, lines: list[str]) -> Failed:
    boxes: dict[str, list[str]] = {}
    where, name = "", ""
    for line in lines:
        found = next((box for box in _BOXES if line.startswith(f"{box}:")), "")
        if line.startswith(_FIRST_DIFFERENCE):
            where, name = line, ""
        elif found and found not in boxes and _is_heading(line, found):
            name = found
            boxes[name] = [] if line == f"{found}:" else [NOTHING]
        elif name and not _after_all(line):
            boxes[name].append(line)
        elif _after_all(line):
            name = ""
    texts = {name: "\n".join(said).strip("\n") for name, said in boxes.items()}
    expected, got = texts.pop("Expected", None), texts.pop("Got", None)
    return Failed(
        title=cut(title.removesuffix(".")).text,
        sides=None if expected is None else beside(expected, got or NOTHING),
        where=cut(where).text,
        boxes=tuple((name, words_of(text, "")) for name, text in texts.items() if text),
    )


def _is_heading(line: str, box: str) -> bool:
    return line in {f"{box}:", f"{box}: {NOTHING}"}


def _after_all(line: str) -> bool:
    """Whether a line starts the end of a report: a list of other tests."""
    return bool(_TEST.match(line)) or line.startswith(("Passed: test", "Tests "))
