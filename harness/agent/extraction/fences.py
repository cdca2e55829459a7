"""Find a program of a compiled language in a model's text.

The last block with a tag of the language; else a program in a JSON object; else the last block
without a tag; else what stands between tags, or from the first `#include` on, if it looks like a
program.
"""

import re
from functools import partial

from harness.agent.extraction.code import Extract, Extraction, extract, found_in
from harness.agent.extraction.marked import JSON_TAGS, in_json, tagged
from harness.languages import PYTHON
from harness.languages.known import language as language_of
from harness.languages.language import Language
from harness.markdown import UNTAGGED, fenced_blocks

MARKS = ("int main", "#include")


def extract_fenced(answer: str, language: Language) -> Extraction:
    """Find the program in an answer.

    Args:
        answer: the model's text, usually Markdown.
        language: the language of the program.
    """
    return found_in(answer, partial(_search, language=language))


def extractor_of(name: str | None) -> Extract:
    """Return the usual extractor for solutions in a language; None is Python."""
    return extract if name in {None, PYTHON} else partial(extract_program, language_of(name or ""))


def extract_program(language: Language, answer: str, entry_point: str | None) -> Extraction:
    """Do the same as `extract_fenced`, called as an extractor; the entry point is not needed."""
    del entry_point
    return extract_fenced(answer, language)


def _search(text: str, language: Language) -> Extraction:
    blocks = [block for block in fenced_blocks(text) if block.text.strip()]
    told = in_json(text, [block.text for block in blocks if block.tag in JSON_TAGS])
    if _is_program(told) and not any(block.tag in language.fences for block in blocks):
        return Extraction(code=told, rule="JSON")
    for rule, tags in ((f"{language.name} block", language.fences), ("last block", UNTAGGED)):
        mine = [block for block in blocks if block.tag in tags]
        if mine:
            whole = [block for block in mine if any(mark in block.text for mark in MARKS)]
            block = (whole or mine)[-1]
            return Extraction(code=block.text, rule=rule + ", unclosed" * (not block.closed))
    for rule, codes in (("tags", tagged(text)), ("bare code", [_from_include(text)])):
        programs = list(filter(_is_program, codes))
        if programs and not blocks:
            return Extraction(code=programs[-1].strip("\n"), rule=rule)
    return Extraction(code="", rule="none")


def _is_program(code: str) -> bool:
    return all(mark in code for mark in MARKS)


def _from_include(text: str) -> str:
    """Return the text from the first line with `#include` to the last closing brace."""
    begin = re.search(r"^[ \t]*#[ \t]*include\b", text, re.MULTILINE)
    return "" if begin is None else text[begin.start() : text.rfind("}") + 1]
