"""LiveCodeBench's own extraction rules for chat models, for comparable scores.

Sources: `extract_test_output_code` and `extract_execution_code` in
`lcb_runner/utils/extraction_utils.py`, and, for the relevant side of an assertion,
`lcb_runner/evaluation/compute_test_output_prediction_metrics.py` of
https://github.com/LiveCodeBench/LiveCodeBench, described in words.
"""

import ast
from types import MappingProxyType

from harness.agent.extraction.code import LONGEST_ANSWER, Extract, Extraction, extract
from harness.python_source import parse_or_none

FENCE = "```"


def extract_lcb(answer: str, entry_point: str | None) -> Extraction:
    """Return the lines between the last two with three backticks, or nothing.

    Source: `extract_code` in `lcb_runner/utils/extraction_utils.py` of
    https://github.com/LiveCodeBench/LiveCodeBench, for chat models. So a summary in a separate
    block after the solution is taken for it, and a truncated block is not found.

    Args:
        answer: the model's text.
        entry_point: ignored.
    """
    del entry_point
    if len(answer) > LONGEST_ANSWER:
        return Extraction(code="", rule="too long")
    lines = answer.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    if len(fences) < 2:  # noqa: PLR2004 - an opening and a closing one
        return Extraction(code="", rule="none")
    return Extraction(code="\n".join(lines[fences[-2] + 1 : fences[-1]]), rule="last two fences")


EXTRACTORS: MappingProxyType[str, Extract] = MappingProxyType(
    {"harness": extract, "lcb": extract_lcb}
)
"""Extractors by user-visible name."""


OPEN, CLOSE = "[ANSWER]", "[/ANSWER]"
_NOTHING = Extraction(code="", rule="none")
_TOO_LONG = Extraction(code="", rule="too long")


def extract_lcb_test_output(text: str, entry_point: str | None) -> Extraction:
    """Return the last line starting with `assert`, else the first code block.

    Blocks tagged python take precedence. Only the first line of a multi-line assertion is
    considered; indented assertions are not. Any call may be asserted. `asserted_by_lcb` extracts
    the value.

    Args:
        text: the model's text.
        entry_point: ignored.
    """
    del entry_point
    if len(text) > LONGEST_ANSWER:
        return _TOO_LONG
    lines = text.split("\n")
    asserting = [line for line in lines if line.startswith("assert")]
    if asserting:
        return Extraction(code=asserted_by_lcb(asserting[-1]), rule="last assert line")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    tagged = [n for n in fences if any(f"{FENCE}{tag}" in lines[n] for tag in ("python", "Python"))]
    if tagged:
        fences = [number for number in fences if number >= tagged[0]]
    if len(fences) < 2:  # noqa: PLR2004 - an opening and a closing one
        return _NOTHING
    block = "\n".join(lines[fences[0] + 1 : fences[1]])
    return Extraction(code=asserted_by_lcb(block), rule="first block")


def asserted_by_lcb(prediction: str) -> str:
    """Return the value in a prediction of a test's output, which may be an assertion.

    Of several lines, only the first that mentions `assert` and is no comment counts; of an
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


def extract_lcb_execution(text: str, entry_point: str | None) -> Extraction:
    """Return the text after the first `==`, up to a second one or `[/ANSWER]`.

    Without `[/ANSWER]`, return only its first line. So a value that contains `==` is cut in two,
    and words before the answer may be taken for it.

    Args:
        text: the model's text.
        entry_point: ignored.
    """
    del entry_point
    if len(text) > LONGEST_ANSWER:
        return _TOO_LONG
    rule = "after ==" if "==" in text else "whole text"
    if "==" in text:
        text = text.split("==", 2)[1].strip()
    if CLOSE in text:
        answer = text.partition(CLOSE)[0]
    else:
        answer, rule = text.partition("\n")[0], f"{rule}, first line"
    answer = answer.strip()
    return Extraction(code=answer, rule=rule) if answer else _NOTHING


def extract_lcb_execution_cot(text: str, entry_point: str | None) -> Extraction:
    """Apply `extract_lcb_execution` to the text between the first two `[ANSWER]`.

    Without one, apply it to the whole text.
    """
    if len(text) > LONGEST_ANSWER:
        return _TOO_LONG
    parts = text.split(OPEN, 2)
    return extract_lcb_execution(parts[1].strip() if len(parts) > 1 else text, entry_point)
