"""Finding the value that a model gives for a call. The rule that fired is recorded with the result.

In order, each with the last place in the text that a literal stands in:

- `answer tags`: between `[ANSWER]` and `[/ANSWER]`, or `<answer>` and `</answer>`; a prompt may
  have opened them already;
- `answer line`: the last line, when it says that it is the answer (`The answer is 3.`);
- `assertion`: the other side of `assert f(…) == value`, for the function that is asked about;
- `whole text`, `last line`: when that is a literal and nothing else;
- `last block`: a fenced block that is one, or asserts one;
- `inline code`: of the last line;
- `none`, or `too long`: a text of more than a megabyte is not searched.

What is quoted of the question has no literal where its answer goes (`== ??`), and is passed over.
But what stands in such a place and is no literal, as `2 + 3`, is the answer all the same, and a
wrong one. Tags that are never closed count as closed at the end, which the rule's name then says.
What a model thinks aloud between `<think>` tags is not searched unless there is nothing else.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from harness.agent.extraction.asserted_values import asserted, equated
from harness.agent.extraction.code import LONGEST_ANSWER, Extract, Extraction
from harness.agent.extraction.upstream import (
    extract_lcb_execution,
    extract_lcb_execution_cot,
    extract_lcb_test_output,
)
from harness.grading.answer_judge import read_answer
from harness.grading.literals import LONGEST_LITERAL, NoLiteralError
from harness.markdown import fenced_blocks
from harness.problem import Kind

MOST_PLACES = 8
_TAG = re.compile(r"\[(/?)ANSWER\]|<(/?)answer>", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore),? )?(?:the )?"
    r"(?:(?:final|correct|expected|returned|return) )?(?:answer|output|result|value)\b"
    r"[ *:=→]*(?:is\b[ *:=]*)?(.*)",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`+([^`]+)`+")
_OF_A_LITERAL = re.compile(r"[\d'\"\[({]")
_AROUND = " \t\n*`_"


def extract_answer(kind: Kind, text: str, entry_point: str | None) -> Extraction:
    """Find the answer in a text.

    Args:
        kind: of the problem, which says what is a literal: for a test output JSON is, too.
        text: what the model wrote.
        entry_point: the function that the call is of.

    Returns:
        The answer as `code`: a literal, or what stands in a literal's place.
    """
    if len(text) > LONGEST_ANSWER:
        return Extraction(code="", rule="too long")
    search = partial(_search, _Reader(kind, entry_point))
    said = text.rpartition("</think>")[2]
    found = search(said)
    return found if found.code or said == text else search(text)


class _Reader(NamedTuple):
    """What a literal is, and whose value is asked for."""

    kind: Kind
    entry_point: str | None

    def reads(self, text: str) -> bool:
        try:
            read_answer(self.kind, text)
        except NoLiteralError:
            return False
        return True

    def last(self, places: Iterable[str]) -> str:
        """The first of these that is a literal, unless one before it was meant for one."""
        for place in places:
            if self.reads(place) or _OF_A_LITERAL.search(place):
                return place
        return ""

    def literal(self, text: str) -> str:
        """A text that is a literal, if need be without emphasis and full stop; else nothing."""
        bare = text.strip(_AROUND)
        for candidate in dict.fromkeys((text.strip(), bare, bare.rstrip(".").strip(_AROUND))):
            if self.reads(candidate):
                return candidate
        return ""

    def equation(self, text: str) -> str:
        """What a line says that the call is equal to, if that is a literal."""
        return self.literal(equated(text.strip(_AROUND), self.entry_point) or "")


def _search(reader: _Reader, text: str) -> Extraction:
    passages = list(_tagged(text))[-MOST_PLACES:]
    tagged = reader.last(_in_tags(reader, passage.text) for passage in reversed(passages))
    if tagged:
        unclosed = not passages[-1].closed
        return Extraction(code=tagged, rule="answer tags" + ", unclosed" * unclosed)
    line = _last_line(text)
    says = match[1] if (match := _ANSWER_LINE.fullmatch(line)) else ""
    for rule, answer in (
        ("answer line", reader.literal(says) or reader.equation(says)),
        ("assertion", reader.last(asserted(text, reader.entry_point))),
        ("whole text", reader.literal(text)),
        ("last line", reader.literal(line) or reader.equation(line)),
        ("last block", _in_blocks(reader, text)),
        ("inline code", _inline(reader, line)),
    ):
        if answer:
            return Extraction(code=answer, rule=rule)
    return Extraction(code="", rule="none")


class _Passage(NamedTuple):
    text: str
    closed: bool


def _tagged(text: str) -> Iterator[_Passage]:
    """What stands in tags, the last passages of them; text before a first closing tag does."""
    tags = list(_TAG.finditer(text))
    if tags and _closes(tags[0]):
        yield _Passage(text[: tags[0].start()], closed=True)
    for tag, following in zip(tags, [*tags[1:], None], strict=False):
        if not _closes(tag):
            end = following.start() if following else len(text)
            closed = following is not None and _closes(following)
            yield _Passage(text[tag.end() : end], closed)


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[2])


def _in_tags(reader: _Reader, text: str) -> str:
    """The answer in a passage that holds little else."""
    for answer in (
        reader.literal(text),
        next(asserted(text, reader.entry_point), ""),
        reader.equation(text),
        _in_blocks(reader, text),
    ):
        if answer:
            return answer
    return text.strip()


def _in_blocks(reader: _Reader, text: str) -> str:
    for block in reversed(fenced_blocks(text)[-MOST_PLACES:]):
        if found := reader.literal(block.text) or reader.equation(block.text):
            return found
    return ""


def _last_line(text: str) -> str:
    """The last line that says something, if it is not too long to be read."""
    line = text.rstrip().rpartition("\n")[2]
    return line if len(line) <= LONGEST_LITERAL else ""


def _inline(reader: _Reader, line: str) -> str:
    spans = [match[1] for match in _INLINE_CODE.finditer(line)][-MOST_PLACES:]
    return next((span for span in reversed(spans) if reader.reads(span)), "")


ANSWER_EXTRACTORS: MappingProxyType[Kind, MappingProxyType[str, Extract]] = MappingProxyType(
    {
        Kind.TEST_OUTPUT_PREDICTION: MappingProxyType(
            {
                "harness": partial(extract_answer, Kind.TEST_OUTPUT_PREDICTION),
                "lcb": extract_lcb_test_output,
            }
        ),
        Kind.CODE_EXECUTION: MappingProxyType(
            {
                "harness": partial(extract_answer, Kind.CODE_EXECUTION),
                "lcb": extract_lcb_execution,
                "lcb-cot": extract_lcb_execution_cot,
            }
        ),
    }
)
"""By kind, and by the names that users know them by."""
