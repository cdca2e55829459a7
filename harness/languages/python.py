"""Python: solutions run in a copy of the fork server's interpreter."""

from harness.languages import PYTHON
from harness.languages.language import Language
from harness.python_source import parse_or_none
from harness.solution_source import lacks_body

LONGEST_PARSED = 256_000  # characters of a text that is tried as a source


def _is_source(text: str) -> bool:
    return len(text) <= LONGEST_PARSED and parse_or_none(text) is not None


LANGUAGE = Language(
    name=PYTHON,
    title="Python",
    endings=(".py",),
    fences=("python", "py", "python3"),
    is_source=_is_source,
    source="solution.py",
    placeholder="# your complete solution",
    lacks_body=lacks_body,
)
