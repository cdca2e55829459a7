"""Functions and methods that Python source defines; the source is parsed and never executed."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from harness.python_source import parse_or_none

_MAX_STARTER_CHARACTERS = 2**16
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def annotations_of(
    starter_code: str, entry_point: str
) -> tuple[list[ast.expr | None], ast.expr | None] | None:
    """Return the annotations of an entry point's parameters and result, or None."""
    definition = defined(starter_code, entry_point)
    if definition is None:
        return None
    return [each.annotation for each in parameters_of(*definition)], definition[1].returns


@lru_cache(maxsize=2)  # the starter code and the reference of one row
def tree_of(code: str) -> ast.Module:
    """Return the syntax tree of starter code or a solution; empty if it cannot be parsed."""
    tree = None
    if len(code) <= _MAX_STARTER_CHARACTERS:
        tree = parse_or_none(code) or parse_or_none(_with_bodies(code))
    return tree or ast.Module([], [])


def _with_bodies(code: str) -> str:
    """Add `pass` under each header without a body, and remove comments."""
    lines = [line for line in code.split("\n") if line.strip() and line.lstrip()[0] != "#"]
    bodied: list[str] = []
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        bodied.append(line)
        if re.search(r":\s*(#.*)?$", line) and _depth(following) <= _depth(line):
            bodied.append(" " * (_depth(line) + 1) + "pass")
    return "\n".join(bodied)


def _depth(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


def defined(code: str, name: str) -> tuple[str | None, FunctionNode] | None:
    """Return a function of some code and the name of its class; a method of Solution first."""
    functions = [each for each in functions_of(tree_of(code)) if each[1].name == name]
    return next(
        (each for each in functions if each[0] == "Solution"), functions[0] if functions else None
    )


def parameters_of(owner: str | None, function: FunctionNode) -> list[ast.arg]:
    """Return the positional parameters without `self`."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[owner is not None and not _is_static(function) :]


def functions_of(tree: ast.Module) -> Iterator[tuple[str | None, FunctionNode]]:
    """Yield the functions and methods of a module, each with the name of its class."""
    for node in tree.body:
        if isinstance(node, FunctionNode):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, FunctionNode):
                    yield node.name, member


def _is_static(function: FunctionNode) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in function.decorator_list
    )
