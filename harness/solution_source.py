"""What the source of a solution in Python shows without being run."""

import ast
import re

from harness.python_source import parse_or_none

_READS_INPUT = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\s*\(\s*0|\bread\s*\(\s*0|\bfileinput\b")

_BEGINS = re.compile(
    r"(?:from|import|def|class|async|for|while|if|try|with|global|print|assert|@)\b|@\w"
    r"|[A-Za-z_][\w.]{0,60}(?:\[[^\]\n]{0,60}\])?(?:, ?\*?[A-Za-z_][\w.]{0,60})*"
    r" ?(?:[-+*/%&|^]|//|<<|>>|\*\*)?=(?!=)|[A-Za-z_][\w.]{0,60}\("
)


def begins_program(line: str) -> bool:
    """Return whether a line can begin a program: words seldom do."""
    return _BEGINS.match(line) is not None


def says_nothing(tree: ast.Module) -> bool:
    """Return whether a source has only comments and strings, which is not a solution."""
    return all(map(_is_constant, tree.body))


def is_solution(code: str, tree: ast.Module, entry_point: str | None) -> bool:
    """Return whether a source defines the entry point; for a script, whether it reads input.

    Args:
        code: the source.
        tree: its syntax tree.
        entry_point: function or `Solution` method to be called; None for a script.
    """
    if entry_point is None:
        return _READS_INPUT.search(code) is not None
    return any(_defines(node, entry_point) for node in tree.body)


def lacks_body(code: str, entry_point: str) -> bool:
    """Return whether the entry point has no statement that does something, as starter code."""
    tree = parse_or_none(code)
    functions = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef) and node.name == entry_point
    ]
    return bool(functions) and all(map(_does_nothing, functions[-1].body))


def _does_nothing(node: ast.stmt) -> bool:
    return _is_constant(node) or isinstance(node, ast.Pass) or _is_not_implemented(node)


def _is_not_implemented(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defines(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.ClassDef(name="Solution"):
            return bool(node.bases) or any(_defines(item, name) for item in node.body)
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Name) and target.id == name for target in targets)
        case _:
            return False
