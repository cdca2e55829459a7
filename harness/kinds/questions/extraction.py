"""Find the value that a model gives for a call.

The result names the rule that found it. The rules in order; each takes the last literal in the
text that it applies to:

- `answer tags`: between `[ANSWER]` and `[/ANSWER]`, or `<answer>` and `</answer>`; the prompt may
  already contain the opening tag;
- `answer line`: the last line, if it states the answer (`The answer is 3.`);
- `assertion`: the other side of `assert f(…) == value`, for the function in question;
- `whole text`, `last line`: if that is a literal and nothing else;
- `last block`: a fenced block that is a literal, or asserts one;
- `inline code`: in the last line;
- `none`, or `too long`: a text of more than a megabyte is not searched.

Quotations of the question have no literal in the answer's place (`== ??`) and are skipped. Other
text in that place that is not a literal, such as `2 + 3`, is taken as the answer, a wrong one.
Unclosed tags count as closed at the end of the text, and the rule's name says so. Text between
`<think>` tags is searched only if there is nothing else.

Sources of the `lcb` rules: `extract_test_output_code` and `extract_execution_code` in
`lcb_runner/utils/extraction_utils.py`, and, for the relevant side of an assertion,
`lcb_runner/evaluation/compute_test_output_prediction_metrics.py` of
https://github.com/LiveCodeBench/LiveCodeBench, described in words.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from harness.agent.extraction.code import (
    FENCE,
    NOTHING,
    Extraction,
    found_in,
    of_text,
)
from harness.kinds.questions.judge import LONGEST_LITERAL, NoLiteralError, read_answer
from harness.markdown import fenced_blocks
from harness.problem import Kind
from harness.python_source import parse_or_none

OPEN, CLOSE = "[ANSWER]", "[/ANSWER]"
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
    tree = None if len(source) > LONGEST_ASSERTION else parse_or_none(source)
    match tree:
        case ast.Module(body=[ast.Assert(test=test)]):
            return test
        case ast.Module(body=[ast.Expr(value=value)]):
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


def extract_answer(kind: Kind, text: str, entry_point: str | None) -> Extraction:
    """Find the answer in a text.

    Args:
        kind: the problem's kind, which decides what is a literal: for a test output also JSON.
        text: the model's text.
        entry_point: the function that is called.

    Returns:
        The answer as `code`: a literal, or the text in a literal's place.
    """
    return found_in(text, partial(_search, _AnswerReader(kind, entry_point)))


class _AnswerReader(NamedTuple):
    """Recognizes literals of a kind of problem, and calls of its function."""

    kind: Kind
    entry_point: str | None

    def reads(self, text: str) -> bool:
        try:
            read_answer(self.kind, text)
        except NoLiteralError:
            return False
        return True

    def last(self, places: Iterable[str]) -> str:
        """Return the first text that is a literal or looks meant as one."""
        for place in places:
            if self.reads(place) or _OF_A_LITERAL.search(place):
                return place
        return ""

    def literal(self, text: str) -> str:
        """Return a text that is a literal, without emphasis and full stop; else nothing."""
        bare = text.strip(_AROUND)
        for candidate in dict.fromkeys((text.strip(), bare, bare.rstrip(".").strip(_AROUND))):
            if self.reads(candidate):
                return candidate
        return ""

    def equation(self, text: str) -> str:
        """Return the literal that a line says the call is equal to; else nothing."""
        return self.literal(equated(text.strip(_AROUND), self.entry_point) or "")


def _search(reader: _AnswerReader, text: str) -> Extraction:
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
    """Yield the tagged passages, including text before a leading closing tag."""
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


def _in_tags(reader: _AnswerReader, text: str) -> str:
    """Return the answer in a short passage."""
    for answer in (
        reader.literal(text),
        next(asserted(text, reader.entry_point), ""),
        reader.equation(text),
        _in_blocks(reader, text),
    ):
        if answer:
            return answer
    return text.strip()


def _in_blocks(reader: _AnswerReader, text: str) -> str:
    for block in reversed(fenced_blocks(text)[-MOST_PLACES:]):
        if answer := reader.literal(block.text) or reader.equation(block.text):
            return answer
    return ""


def _last_line(text: str) -> str:
    """Return the last non-empty line, unless it is too long."""
    line = text.rstrip().rpartition("\n")[2]
    return line if len(line) <= LONGEST_LITERAL else ""


def _inline(reader: _AnswerReader, line: str) -> str:
    spans = [match[1] for match in _INLINE_CODE.finditer(line)][-MOST_PLACES:]
    return next((span for span in reversed(spans) if reader.reads(span)), "")


@of_text
def extract_lcb_test_output(text: str) -> Extraction:
    """Return the last line starting with `assert`, else the first code block.

    Blocks tagged python take precedence. Only the first line of a multi-line assertion is
    considered; indented assertions are not. Any call may be asserted. `asserted_by_lcb` extracts
    the value.
    """
    lines = text.split("\n")
    asserting = [line for line in lines if line.startswith("assert")]
    if asserting:
        return Extraction(code=asserted_by_lcb(asserting[-1]), rule="last assert line")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    tagged = [n for n in fences if any(f"{FENCE}{tag}" in lines[n] for tag in ("python", "Python"))]
    if tagged:
        fences = [number for number in fences if number >= tagged[0]]
    if len(fences) < 2:  # noqa: PLR2004 - an opening and a closing one
        return NOTHING
    block = "\n".join(lines[fences[0] + 1 : fences[1]])
    return Extraction(code=asserted_by_lcb(block), rule="first block")


def asserted_by_lcb(prediction: str) -> str:
    """Return the value in a prediction of a test's output, which may be an assertion.

    Of several lines, only the first that mentions `assert` and is not a comment counts; of an
    assertion, the part after its first `==`. Without one the text is returned unchanged: not a
    literal, and so as wrong as upstream.
    """
    text = prediction
    lines = text.splitlines()
    if len(lines) > 1:
        own = (line for line in lines if "assert" in line and not line.startswith("#"))
        text = next(own, text)
    text = text.strip()
    return (_right_side(text) or text) if "assert" in text else text


def _right_side(statement: str) -> str | None:
    tree = parse_or_none(statement)
    match tree and tree.body:
        case [ast.Assert(test=ast.Compare(ops=[ast.Eq(), *_], comparators=[right, *_])), *_]:
            return ast.get_source_segment(statement, right)
        case _:
            return None


@of_text
def extract_lcb_execution(text: str) -> Extraction:
    """Return the text after the first `==`, up to a second one or `[/ANSWER]`.

    Without `[/ANSWER]`, return only its first line. So a value that contains `==` is cut in two,
    and words before the answer may be taken for it.
    """
    rule = "after ==" if "==" in text else "whole text"
    if "==" in text:
        text = text.split("==", 2)[1].strip()
    if CLOSE in text:
        answer = text.partition(CLOSE)[0]
    else:
        answer, rule = text.partition("\n")[0], f"{rule}, first line"
    answer = answer.strip()
    return Extraction(code=answer, rule=rule) if answer else NOTHING


@of_text
def extract_lcb_execution_cot(text: str) -> Extraction:
    """Apply `extract_lcb_execution` to the text between the first two `[ANSWER]`.

    Without one, apply it to the whole text.
    """
    parts = text.split(OPEN, 2)
    return extract_lcb_execution(parts[1].strip() if len(parts) > 1 else text, None)
