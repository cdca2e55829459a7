"""Public tests that a problem's statement does not already contain literally."""

from harness.problem import ProblemView, TestCase

LONGEST_STATEMENT = 50_000
"""Characters of a statement that `read_problem` shows."""
LONGEST_TEST = 2_000
"""Characters of an input or output that it shows; longer ones are never omitted."""

_LONGEST_HEADING = 60
_FENCE = "```"
_BETWEEN_BLOCKS = 2  # the end of one block and the start of the next
_AFTER = ("sample", "example", "input", "note", "explanation", "---", "#", "for example", "*")


def further_tests(problem: ProblemView) -> list[tuple[int, TestCase]]:
    """Return the public tests to show beside the statement, numbered from 1.

    A test is left out if the statement contains its input below a heading ("Sample Input 1",
    "Sample 1"), and its output below the next heading ("Sample Output 1") or in the next fenced
    block, both unchanged except for blanks at the ends of lines.
    """
    lines = _lines(problem.statement) if len(problem.statement) <= LONGEST_STATEMENT else []
    return [
        (number, test)
        for number, test in enumerate(problem.public_tests, 1)
        if not _shown(lines, test)
    ]


def _shown(lines: list[str], test: TestCase) -> bool:
    if max(len(test.input), len(test.output)) > LONGEST_TEST:
        return False
    given, wanted = _lines(test.input), _lines(test.output)
    if given == [""] or wanted == [""]:
        return False
    for place, line in enumerate(lines):
        if line != given[0] or lines[place : place + len(given)] != given:
            continue
        if not _heads(lines, _next_text(lines, place - 1, -1), "input", "sample", "example"):
            continue
        start = _next_text(lines, place + len(given), 1)
        fences = sum(each.startswith(_FENCE) for each in lines[place + len(given) : start])
        if fences != _BETWEEN_BLOCKS:
            if not _heads(lines, start, "output"):
                continue
            start = _next_text(lines, start + 1, 1)
        end = start + len(wanted)
        if lines[start:end] == wanted and _ends(lines, end):
            return True
    return False


def _next_text(lines: list[str], place: int, step: int) -> int:
    """Return the first line from `place` in a direction that is not blank or a fence."""
    while 0 <= place < len(lines) and (not lines[place] or lines[place].startswith(_FENCE)):
        place += step
    return place


def _heads(lines: list[str], place: int, *words: str) -> bool:
    """Whether a line is a heading with one of the words."""
    if not 0 <= place < len(lines):
        return False
    return len(lines[place]) <= _LONGEST_HEADING and any(
        word in lines[place].lower() for word in words
    )


def _ends(lines: list[str], place: int) -> bool:
    """Whether an output ends here: at a blank, a fence, another heading or the end."""
    line = lines[place] if place < len(lines) else ""
    return not line or line.startswith(_FENCE) or line.lower().startswith(_AFTER)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\r\n").split("\n")]
