"""Find a program of a compiled language in a model's text.

The last block with a tag of the language; else a program in a JSON object; else the last block
without a tag; else what stands between tags, or the part of the text that the language takes for
source, if it has the marks of a program.
"""

from functools import partial

from harness.agent.extraction.code import Extract, Extraction, extract, found_in
from harness.agent.extraction.marked import JSON_TAGS, in_json, tagged
from harness.languages import PYTHON
from harness.languages.known import language as language_of
from harness.languages.language import Language
from harness.markdown import UNTAGGED, fenced_blocks


def extract_fenced(
    answer: str, entry_point: str | None = None, *, language: Language
) -> Extraction:
    """Find the program in an answer.

    Args:
        answer: the model's text, usually Markdown.
        entry_point: not needed.
        language: the language of the program.
    """
    del entry_point
    return found_in(answer, partial(_search, language=language))


def extractor_of(name: str | None) -> Extract:
    """Return the usual extractor for solutions in a language; None is Python."""
    own = language_of(name or PYTHON)
    return partial(extract_fenced, language=own) if own.is_compiled else extract


def _search(text: str, language: Language) -> Extraction:
    blocks = [block for block in fenced_blocks(text) if block.text.strip()]
    is_program = language.is_program
    told = in_json(text, [block.text for block in blocks if block.tag in JSON_TAGS])
    if is_program(told) and not any(block.tag in language.fences for block in blocks):
        return Extraction(code=told, rule="JSON")
    for rule, tags in ((f"{language.name} block", language.fences), ("last block", UNTAGGED)):
        mine = [block for block in blocks if block.tag in tags]
        if mine:
            whole = [block for block in mine if any(mark in block.text for mark in language.marks)]
            block = (whole or mine)[-1]
            return Extraction(code=block.text, rule=rule + ", unclosed" * (not block.closed))
    for rule, codes in (("tags", tagged(text)), ("bare code", [language.bare(text)])):
        programs = list(filter(is_program, codes))
        if programs and not blocks:
            return Extraction(code=programs[-1].strip("\n"), rule=rule)
    return Extraction(code="", rule="none")
