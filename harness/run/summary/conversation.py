"""A sample's transcript by revision: messages, program and test results."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from harness.agent.events import (
    Event,
    Graded,
    PublicTests,
    Response,
    SampleEnd,
    SampleStart,
    Tested,
    ToolResult,
)
from harness.grading.verdict import Grade
from harness.run.store.results import SampleResult
from harness.run.store.revision_programs import revision_in

LONGEST_TEXT = 6_000
"""Characters kept of a text of a conversation; the transcript has the rest."""
MOST_REVISIONS = 40


class WrittenRevision(NamedTuple):
    """A program written in a sample.

    Attributes:
        number: number of the revision, from 1.
        turn: number of the model's answer that contained it.
        text: the model's messages since the previous revision.
        code: the program.
        tests: result on the public tests; None if they were not run.
        report: report on the tests that the model received.
    """

    number: int
    turn: int
    text: str
    code: str
    tests: PublicTests | None = None
    report: str = ""


class RevisionHistory(NamedTuple):
    """The revisions of a sample and its end.

    Attributes:
        revisions: the first `MOST_REVISIONS` revisions.
        more: number of further revisions, which are left out.
        rest: the model's messages after the last revision.
        stopped: why it ended.
        verdict: the verdict; empty if it is not graded.
        failure: description of the first failed test.
    """

    revisions: tuple[WrittenRevision, ...]
    more: int = 0
    rest: str = ""
    stopped: str = ""
    verdict: str = ""
    failure: str = ""


def conversation_of(events: Iterable[Event], result: SampleResult) -> RevisionHistory:
    """Return a transcript's revisions and end, with all texts shortened.

    Args:
        events: the events.
        result: the sample's result, whose steps tell which programs are revisions.
    """
    revisions: list[WrittenRevision] = []
    texts: list[str] = []
    stopped = verdict = failure = ""
    language: str | None = None
    for event in events:
        match event:
            case SampleStart():
                language = event.language
            case Response():
                turn, answer = event.turn, event.response
                code = revision_in(event, result.steps, language)
                spoken = code and not answer.tool_calls  # and the program is in the text
                texts.append((answer.text.partition("```")[0] if spoken else answer.text).strip())
                if code:
                    text = _cut("\n\n".join(filter(None, texts)))
                    number = len(revisions) + 1
                    revisions.append(WrittenRevision(number, turn, text, _cut(code)))
                    texts = []
            case ToolResult(tests=PublicTests() as tests) if revisions:
                report = _cut(event.result.content)
                revisions[-1] = revisions[-1]._replace(tests=tests, report=report)
            case Tested() if revisions:
                report = _cut(event.report)
                revisions[-1] = revisions[-1]._replace(tests=event.tests, report=report)
            case SampleEnd():
                stopped = event.stop_reason.replace("_", " ")
            case Graded():
                verdict, failure = str(event.grade.verdict).replace("_", " "), _failure(event.grade)
            case _:
                pass
    return RevisionHistory(
        tuple(revisions[:MOST_REVISIONS]),
        max(0, len(revisions) - MOST_REVISIONS),
        _cut("\n\n".join(filter(None, texts))),
        stopped,
        verdict,
        failure,
    )


Row = tuple[WrittenRevision | None, WrittenRevision | None]


def aligned(a: RevisionHistory, b: RevisionHistory) -> Sequence[Row]:
    """Return the revisions of two conversations in pairs, by number."""
    return list(zip_longest(a.revisions, b.revisions))


def _failure(grade: Grade) -> str:
    failed = next((test for test in grade.tests if not test.passed), None)
    if failed is None:
        return ""
    where = "public" if failed.public else "hidden"
    return f"{where} test {failed.index + 1}: {str(failed.verdict).replace('_', ' ')}"


def _cut(text: str) -> str:
    text = text.strip("\n")
    left = len(text) - LONGEST_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TEXT]}\n… {left:,} more characters"
