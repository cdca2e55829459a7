"""Whether two programs are the same: as text, as syntax trees in Python, else as tokens."""

import ast
import hashlib
import re
from contextlib import suppress
from functools import lru_cache

from harness.languages import PYTHON
from harness.python_source import parse_or_none

CODE_HASH = 32  # characters
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|\w+|[^\w\s]", re.DOTALL
)


def code_hash(code: str) -> str:
    """Return the head of the SHA-256 of some code, as its id."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:CODE_HASH]


@lru_cache(maxsize=1024)
def program_key(code: str, language: str = PYTHON) -> str:
    """Return a digest that is the same for programs that differ in layout and comments alone.

    A program in Python that cannot be parsed is known by its text.
    """
    text = code.strip()
    if language == PYTHON:
        tree = parse_or_none(code)
        with suppress(RecursionError):
            text = text if tree is None else ast.dump(tree)
    else:
        tokens = (each for each in _TOKEN.findall(code) if not each.startswith(("//", "/*")))
        text = "\n".join(tokens)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
