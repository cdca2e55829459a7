"""Preambles: the names available to a solution before its own code runs."""

import ast
import builtins
import contextlib
import re
import sys
from types import CodeType
from typing import Any

from inside.python.solution_facts import SolutionFacts

# Modules that preambles import; importing them runs only the interpreter's own code.
WARM = frozenset(
    (
        *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
        *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
        *("typing", "cmath", "fractions", "decimal", "array", "queue", "threading", "time"),
        *("collections.abc", "dataclasses", "enum", "abc", "contextlib", "textwrap", "struct"),
    )
)


class Preamble:
    """Source that runs before a solution's.

    Imports of warm modules run once, and their names are placed below a solution's namespace, like
    the built-ins: copying them would cost each process more than a short test. Imports of other
    packages, which load slowly and may not be installed, run only for a solution whose text
    contains a word that they bind (`input` contains `np`, but not as a word). The same holds for
    definitions, all or none. The rest of the source runs again for every test.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source does not compile.
    """

    def __init__(self, text: str) -> None:
        warm: list[ast.stmt] = []
        later: list[ast.stmt] = []
        self.packages: list[tuple[re.Pattern[str], CodeType]] = []
        for node in ast.parse(text).body:
            if _is_warm(node):
                warm.append(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.packages.append((_words(_names([node])), _compile([node])))
            else:
                later.append(node)
        definitions = [node for node in later if _names([node])]
        rest = [node for node in later if not _names([node])]
        if _words_of(rest) & set(_names(definitions)):  # they cannot be separated
            definitions, rest = [], later
        imports: dict[str, Any] = {}
        exec(_compile(warm), imports)
        imports.pop("__builtins__", None)
        self.imports = imports
        self.beneath = {**builtins.__dict__, **imports}
        self.defined = _words(_names(definitions)) if definitions else None
        self.definitions = _compile(definitions)
        self.rest = _compile(rest) if rest else None
        self.streams = [
            (name, stream)
            for name in imports
            for stream in ("stdin", "stdout", "stderr")
            if imports[name] is getattr(sys, stream)
        ]

    def fill(self, namespace: dict[str, Any], solution: SolutionFacts) -> None:
        """Put the preamble's names into, or below, a solution's fresh namespace."""
        if solution.meddles:
            namespace.update(self.imports)
            namespace["__builtins__"] = builtins
        else:
            namespace["__builtins__"] = self.beneath
        for name, stream in self.streams:
            namespace[name] = getattr(sys, stream)
        if solution.wanted is None:
            solution.wanted = self.wanted(solution)
        for code in solution.wanted:
            with contextlib.suppress(ImportError):
                exec(code, namespace)
        if self.rest is not None:
            exec(self.rest, namespace)

    def wanted(self, solution: SolutionFacts) -> list[CodeType]:
        """Return the imports and definitions whose names occur in a solution's text."""
        packages = [code for pattern, code in self.packages if pattern.search(solution.text)]
        if self.defined is not None and (solution.has_nodes or self.defined.search(solution.text)):
            packages.append(self.definitions)
        return packages


def _names(statements: list[ast.stmt]) -> list[str]:
    """Return the names bound at the top level; empty if that cannot be determined."""
    names: list[str] = []
    for node in statements:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.append(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names += (each.asname or each.name.partition(".")[0] for each in aliases)
            case _:
                return []
    return names


def _words_of(statements: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _words(names: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")


def _compile(statements: list[ast.stmt]) -> CodeType:
    return compile(ast.Module(statements, []), "<preamble>", "exec")


def _is_warm(node: ast.stmt) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.name in WARM for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module in WARM
        case _:
            return False
