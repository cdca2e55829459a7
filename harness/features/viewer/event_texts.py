"""Texts of an event, by name, and the failed tests of a report among them.

The report is text for a model. Content of a test may look like one of its headings; then a text is
shown in the wrong box, which is harmless. The report itself is shown too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.agent.events import AgentLeft, Event, Graded, Request, Response, Tested, ToolResult
from harness.models.protocol import ModelTurn
from harness.run.store.entries import arguments, message_text, reasoning_text


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
    if not isinstance(event, AgentLeft):
        return str(getattr(event, "cause", "") or getattr(event, "error", ""))
    parts = (("stdout", event.stdout), ("stderr", event.stderr))
    return "\n\n".join(f"{name}:\n{text.rstrip()}" for name, text in parts if text.strip())


LONGEST_REPORT = 20_000
MOST_FAILURES = 10
_TEST = re.compile(r"^Test (\d{1,9}): (.{1,200})\.$")
_BOXES = ("Input", "Expected", "Got", "Error", "Printed to stdout", "Printed to stderr")
NOTHING = "(nothing)"
_FIRST_DIFFERENCE = "First difference, "


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed test.

    Attributes:
        title: number of the test, and its verdict.
        expected, got: outputs; None if the report does not have them.
        boxes: other texts, with their headings.
        where: description of the first difference.
    """

    title: str
    expected: str | None = None
    got: str | None = None
    where: str = ""
    boxes: tuple[tuple[str, str], ...] = ()


def failures_in(report: str) -> tuple[Failure, ...]:
    """Return the tests that a report describes in full; none if it is another text."""
    if len(report) > LONGEST_REPORT:
        return ()
    return tuple(_failures(report.split("\n")))[:MOST_FAILURES]


def _failures(lines: list[str]) -> Iterator[Failure]:
    starts = [at for at, line in enumerate(lines) if _TEST.match(line) and _detailed(lines, at)]
    for start, end in pairwise([*starts, len(lines)]):
        yield _failure(lines[start], lines[start + 1 : end])


def _detailed(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and lines[at + 1].startswith(("Input:", "Error:"))


def _failure(title: str, lines: list[str]) -> Failure:
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
    return Failure(title.removesuffix("."), expected, got, where, tuple(texts.items()))


def _is_heading(line: str, box: str) -> bool:
    return line in {f"{box}:", f"{box}: {NOTHING}"}


def _after_all(line: str) -> bool:
    """Whether a line starts the end of a report: a list of other tests."""
    return bool(_TEST.match(line)) or line.startswith(("Passed: test", "Tests "))
