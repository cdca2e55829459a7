"""Languages of solutions: fences, names, starter code, and what else is asked of one."""

from typing import Literal

PYTHON = "python"
"""The language of a solution where nothing is said."""

LanguageName = Literal["python", "cpp"]
"""Names of the languages."""

OtherLanguage = Literal["cpp"]
"""Names of the languages other than Python."""
