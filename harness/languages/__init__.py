"""Languages of solutions: one module each, with compiler, flags, limits and names.

`language.py` says what a language is, `known.py` which there are.
"""

PYTHON = "python"
"""The language of a solution where nothing is said."""
