"""Python: solutions run in a copy of the fork server's interpreter."""

from harness.languages import PYTHON
from harness.languages.language import Language

LANGUAGE = Language(
    name=PYTHON,
    title="Python",
    endings=(".py",),
    fences=("python", "py", "python3"),
    source="solution.py",
    placeholder="# your complete solution",
)
