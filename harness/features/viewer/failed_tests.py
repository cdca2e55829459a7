"""The failed tests that a report of `run_tests` describes.

The report is text for a model. Content of a test may look like one of its headings; then a text is
shown in the wrong box, which is harmless. The report itself is shown too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.features.viewer.excerpts import Excerpt, cut, excerpt_of
from harness.features.viewer.program_changes import SideBySide, beside

LONGEST_REPORT = 20_000
MOST_FAILURES = 10
_TEST = re.compile(r"^Test (\d{1,9}): (.{1,200})\.$")
_NOT_RUN = re.compile(r"^Tests? \d{1,9}(?: to \d{1,9})? (?:was|were) not run\b")

# Headings of `report.j2` in the bundled prompt set.
_GIVEN = ("Input", "Call", "Given to the judge")
_PRINTED = (
    "Dialogue (> is your program, < the judge)",
    "Error",
    "Printed to stdout",
    "Printed to stderr",
)
_BOXES = (*_GIVEN, "Expected", "Got", *_PRINTED)
NOTHING = "(nothing)"
_REASONS = ("First difference, ", "The judge says: ", "The checker says: ")


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed test, with expected and actual output side by side if known.

    Attributes:
        given: name and text of what the program, or the judge, was given.
        where: first difference, or what a checker says.
    """

    title: str
    given: tuple[str, Excerpt] | None = None
    sides: SideBySide | None = None
    where: str = ""
    boxes: tuple[tuple[str, Excerpt], ...] = ()


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
    return at + 1 < len(lines) and lines[at + 1].startswith(
        (*(f"{name}:" for name in _GIVEN), "Error:")
    )


def _failure(title: str, lines: list[str]) -> Failed:
    boxes: dict[str, list[str]] = {}
    where, name = "", ""
    for line in lines:
        heading = next((box for box in _BOXES if line.startswith(f"{box}:")), "")
        if line.startswith(_REASONS):
            where, name = line, ""
        elif heading and heading not in boxes and _is_heading(line, heading):
            name = heading
            boxes[name] = [] if line == f"{heading}:" else [NOTHING]
        elif name and not _after_all(line):
            boxes[name].append(line)
        elif _after_all(line):
            name = ""
    texts = {name: "\n".join(lines).strip("\n") for name, lines in boxes.items()}
    expected, got = texts.pop("Expected", None), texts.pop("Got", None)
    if expected is None and got is not None:
        texts = {"Got": got, **texts}
    given = next((name for name in _GIVEN if texts.get(name)), None)
    return Failed(
        title=cut(title.removesuffix(".")).text,
        given=None if given is None else (given, excerpt_of(texts.pop(given), "")),
        sides=None if expected is None else beside(expected, got or NOTHING),
        where=cut(where).text,
        boxes=tuple((name, excerpt_of(text, "")) for name, text in texts.items() if text),
    )


def _is_heading(line: str, box: str) -> bool:
    return line in {f"{box}:", f"{box}: {NOTHING}"}


def _after_all(line: str) -> bool:
    """Whether a line starts the end of a report: a list of other tests."""
    return bool(_TEST.match(line) or _NOT_RUN.match(line)) or line.startswith("Passed: test")
