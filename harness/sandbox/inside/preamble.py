"""Preambles: the names available to a solution before its own code runs."""

import ast
import builtins
import contextlib
import re
import sys
from types import CodeType
from typing import Any

# Modules that preambles import; importing them runs only the interpreter's own code.
WARM = frozenset(
    (
        *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
        *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
        *("typing", "cmath", "fractions", "decimal", "array", "queue", "threading", "time"),
        *("collections.abc", "dataclasses", "enum", "abc", "contextlib", "textwrap", "struct"),
    )
)


# Any other access to a stream, a thread or a hook needs an import or a dunder name; modules of the
# preamble have some under a leading underscore. A program that evades this check keeps its own
# streams, threads and settings from one test to the next, as it can keep data in any module.
_WRITES = re.compile(
    r"import|__|frame|\b(?:print|input|open|_?sys|_?os|_?io|builtins|exec|eval|compile|getattr|vars"
    r"|globals|locals|dir|help|breakpoint|exit|quit|copyright|credits|license|_?thread(?:ing)?"
    r"|signal|gc|atexit|modules|f_back|f_globals|f_builtins)\b"
)


_DRAWS = re.compile(
    r"rand|shuffle|choice|sample|seed|uniform|triangular|variate|gauss|getstate|binomial"
)


class SolutionFacts:
    """Facts known about a solution before it runs.

    Attributes:
        code: the compiled source.
        meddles: whether it may change the built-ins. It then gets the real ones, which are
            restored for each test.
        has_nodes: whether arguments or result use the preamble's node classes.
        may_write: whether its text suggests that it can reach a standard stream, a thread or a
            hook of the interpreter. Code that comes with a test always can.
        draws: whether its text suggests that it draws random numbers.
        wanted: the parts of the preamble it needs, set by `Preamble.fill`.
    """

    def __init__(self, job: dict[str, Any], code: CodeType) -> None:
        self.code = code
        self.text: str = job["code"]
        self.entry_point: str | None = job["entry_point"]
        self.arguments: list[str] = job["arguments"]
        self.result: str = job["result"]
        self.meddles = "builtins" in self.text
        self.draws = _DRAWS.search(self.text) is not None
        self.has_nodes = not {*self.arguments, self.result} <= {"json"}
        calls = self.entry_point is not None and self.result not in {"tests", "session"}
        self.may_write = not calls or _WRITES.search(self.text) is not None
        self.wanted: list[CodeType] | None = None


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
        found = [code for words, code in self.packages if words.search(solution.text)]
        if self.defined is not None and (solution.has_nodes or self.defined.search(solution.text)):
            found.append(self.definitions)
        return found


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
