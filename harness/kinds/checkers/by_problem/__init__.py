"""Checkers for problems with several right answers, of which tests hold one.

A checker accepts every answer that is right by the statement, and no other. Each module here is
sent to the sandbox as text, together with the modules here that it imports; otherwise it may import
only the standard library. To add a checker, write a function and a line of `table.tsv`.

The text of a module, docstrings included, is part of the content hash of its problems.
"""

import ast
from functools import cache
from importlib import resources

from harness.judged_by import Checker
from harness.python_source import parse


@cache
def _table() -> dict[str, tuple[str, str]]:
    """Return module and expression of each checker, by a problem's id or slug."""
    lines = (resources.files(__name__) / "table.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {problem: (module, expression) for problem, module, expression in rows}


def checker_of(*names: str) -> Checker | None:
    """Return the checker of a problem with any of these ids or slugs, or None."""
    table = _table()
    known = next((table[name] for name in names if name in table), None)
    return _checker(*known) if known else None


def checked_names() -> frozenset[str]:
    """Return the ids and slugs of all problems that have a checker."""
    return frozenset(_table())


@cache
def _checker(module: str, expression: str) -> Checker:
    code = f"{_source(module)}\n\ncheck = {expression}\n"
    return Checker(kind="check", code=code, beside_rule=True)


def _source(module: str) -> str:
    """Return a module's text, with each import of a module here replaced by its text."""
    text = (resources.files(__name__) / f"{module}.py").read_text("utf-8")
    lines = text.splitlines()
    for node in reversed(parse(text).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{__name__}."):
            imported = (node.module or "").removeprefix(f"{__name__}.")
            lines[node.lineno - 1 : node.end_lineno] = [_source(imported)]
    return "\n".join(lines)
