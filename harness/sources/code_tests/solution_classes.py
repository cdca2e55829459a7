"""Which names in test code are classes of the solution, and which are of its preamble.

Only objects of the solution's classes that the tests make have operators there; see
`inside.calls.standing`. A solution does not decide what is a class: a known solution or the starter
code does, and Python's custom for names else.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Mapping

from harness.python_source import parse_or_none

_LIKE_A_CLASS = re.compile(r"_*[A-Z](?:\w*[a-z]\w*)?")


def classes_used(
    trees: Iterable[ast.AST], entry_point: str, defined: Mapping[str, bool]
) -> tuple[str, ...]:
    """Return the classes of the solution that some test code names, sorted.

    Args:
        trees: the test code.
        entry_point: name of the function or class that it tests.
        defined: names that a known solution or the starter code defines, and whether each is a
            class.
    """
    names = {entry_point}
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.ImportFrom("solution", aliases):
                names |= {each.name for each in aliases}
            case _:
                pass
    names -= vars(builtins).keys()
    return tuple(sorted(each for each in names if defined.get(each, _is_like_a_class(each))))


def _is_like_a_class(name: str) -> bool:
    """Return whether a name is written as a class's, in Python's custom: `LRUCache`."""
    return _LIKE_A_CLASS.fullmatch(name) is not None


def calls_function_of(trees: Iterable[ast.AST], preamble: str) -> bool:
    """Return whether some test code names a function that a preamble defines."""
    functions = {each.name for each in _definitions(preamble) if isinstance(each, ast.FunctionDef)}
    if not functions:
        return False
    nodes = [node for tree in trees for node in ast.walk(tree)]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return any(isinstance(node, ast.Name) and node.id in functions - own for node in nodes)


def classes_of(preamble: str) -> tuple[str, ...]:
    """Return the classes that a preamble defines."""
    return tuple(each.name for each in _definitions(preamble) if isinstance(each, ast.ClassDef))


def _definitions(code: str) -> list[ast.stmt]:
    tree = parse_or_none(code) if "def " in code or "class " in code else None
    return tree.body if tree is not None else []
