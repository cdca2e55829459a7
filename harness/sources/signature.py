"""Signature of a function, from the annotations of its starter code.

LeetCode's starter code says `Optional[ListNode]` where its tests have a list of numbers. The code
is a data set's, so it is parsed and never executed. Anything that cannot be parsed is treated as
plain JSON.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from harness.problem import Codec, Signature
from harness.python_source import parse_or_none

_MAX_STARTER_CHARACTERS = 2**16
_NODES = {
    "ListNode": (Codec.LINKED_LIST, Codec.LINKED_LISTS),
    "TreeNode": (Codec.TREE, Codec.TREES),
}
_NONE = (None, "None")
_LISTS = {"List", "list", "Sequence", "Iterable"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class EntryPoint(NamedTuple):
    """Parameters and signature of an entry point.

    Attributes:
        parameters: names of its positional parameters, without `self`.
        required: number of parameters without a default.
        signature: the codecs, one per argument.
    """

    parameters: tuple[str, ...]
    required: int
    signature: Signature


def signature_of(starter_code: str, entry_point: str | None) -> Signature:
    """Return the codecs of an entry point's positional arguments without `self`.

    An annotation that mentions ListNode is a linked list, or a list of linked lists where it also
    mentions a list; TreeNode likewise. `-> None` returns the first argument, since such problems
    ask to change it in place. Everything else is JSON.

    Args:
        starter_code: Python source, in which bodies may be missing.
        entry_point: name of a function, or of a class's method, with a method of `Solution`
            preferred; None for a program, which has neither.

    Returns:
        `Signature()` when the code cannot be parsed or does not define the entry point.
    """
    found = None if entry_point is None else entry_point_of(starter_code, entry_point)
    return found.signature if found else Signature()


def entry_point_of(code: str, entry_point: str) -> EntryPoint | None:
    """Return the entry point defined in some code; None if missing or unparsable.

    Args:
        code: starter code as for `signature_of`, or a whole solution.
        entry_point: as for `signature_of`.
    """
    found = _defined(code, entry_point)
    try:
        return None if found is None else _entry_point(*found)
    except RecursionError:  # an annotation nested too deeply for ast.unparse
        return None


def annotations_of(
    starter_code: str, entry_point: str
) -> tuple[list[ast.expr | None], ast.expr | None] | None:
    """Return the annotations of an entry point's parameters and result, or None."""
    found = _defined(starter_code, entry_point)
    if found is None:
        return None
    return [each.annotation for each in _parameters(*found)], found[1].returns


def defined_names(code: str) -> dict[str, bool]:
    """Return the functions, methods and classes defined, and whether each is a class."""
    tree = _tree(code)
    found = {function.name: False for _, function in _functions(tree)}
    return found | {each.name: True for each in tree.body if isinstance(each, ast.ClassDef)}


@lru_cache(maxsize=2)  # the starter code and the reference of one row
def _tree(code: str) -> ast.Module:
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


def _defined(code: str, name: str) -> tuple[str | None, _Function] | None:
    """Return a function of some code and the name of its class; a method of Solution first."""
    found = [each for each in _functions(_tree(code)) if each[1].name == name]
    return next((each for each in found if each[0] == "Solution"), found[0] if found else None)


def _parameters(owner: str | None, function: _Function) -> list[ast.arg]:
    """Return the positional parameters without `self`."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[owner is not None and not _is_static(function) :]


def _entry_point(owner: str | None, function: _Function) -> EntryPoint:
    parameters = _parameters(owner, function)
    arguments = tuple(_codec(parameter.annotation) for parameter in parameters)
    in_place = isinstance(function.returns, ast.Constant) and function.returns.value in _NONE
    return EntryPoint(
        parameters=tuple(parameter.arg for parameter in parameters),
        required=max(0, len(parameters) - len(function.args.defaults)),
        signature=Signature(
            arguments=arguments,
            result=Codec.FIRST_ARGUMENT if in_place and arguments else _codec(function.returns),
        ),
    )


def _functions(tree: ast.Module) -> Iterator[tuple[str | None, _Function]]:
    """Yield the functions and methods of a module, each with the name of its class."""
    for node in tree.body:
        if isinstance(node, _Function):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, _Function):
                    yield node.name, member


def _is_static(function: _Function) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in function.decorator_list
    )


def _codec(annotation: ast.expr | None) -> Codec:
    if annotation is None:
        return Codec.JSON
    names = set(re.findall(r"\w+", ast.unparse(annotation)))
    for node, (one, many) in _NODES.items():
        if node in names:
            return many if names & _LISTS else one
    return Codec.JSON
