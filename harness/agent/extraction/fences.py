"""Find a program of a compiled language in a model's text.

The last block with a tag of the language; else the last block without a tag; else, where there is
no block, the whole text if it looks like a program.
"""

from functools import partial

from harness.agent.extraction.code import UNTAGGED, Extract, Extraction, extract, found_in
from harness.languages import PYTHON
from harness.languages.known import language as language_of
from harness.languages.language import Language
from harness.markdown import fenced_blocks

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
    for rule, tags in ((f"{language.name} block", language.fences), ("last block", UNTAGGED)):
        mine = [block for block in blocks if block.tag in tags]
        if mine:
            whole = [block for block in mine if any(mark in block.text for mark in MARKS)]
            block = (whole or mine)[-1]
            return Extraction(code=block.text, rule=rule + ", unclosed" * (not block.closed))
    if not blocks and all(mark in text for mark in MARKS):
        return Extraction(code=text.strip("\n"), rule="bare code")
    return Extraction(code="", rule="none")
