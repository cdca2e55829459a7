"""Signature of a function, from the annotations of its starter code.

LeetCode's starter code says `Optional[ListNode]` where its tests have a list of numbers. The code
is a data set's, so it is parsed and never executed. Anything that cannot be parsed is treated as
plain JSON.
"""

import ast
import re
from typing import NamedTuple

from harness.languages.python_functions import (
    FunctionNode,
    defined,
    functions_of,
    parameters_of,
    tree_of,
)
from harness.problem import Codec, Signature

_NODES = {
    "ListNode": (Codec.LINKED_LIST, Codec.LINKED_LISTS),
    "TreeNode": (Codec.TREE, Codec.TREES),
}
_NONE = (None, "None")
_LISTS = {"List", "list", "Sequence", "Iterable"}


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
    function = None if entry_point is None else entry_point_of(starter_code, entry_point)
    return function.signature if function else Signature()


def entry_point_of(code: str, entry_point: str) -> EntryPoint | None:
    """Return the entry point defined in some code; None if missing or unparsable.

    Args:
        code: starter code as for `signature_of`, or a whole solution.
        entry_point: as for `signature_of`.
    """
    definition = defined(code, entry_point)
    try:
        return None if definition is None else _entry_point(*definition)
    except RecursionError:  # an annotation nested too deeply for ast.unparse
        return None


def defined_names(code: str) -> dict[str, bool]:
    """Return the functions, methods and classes defined, and whether each is a class."""
    tree = tree_of(code)
    functions = {function.name: False for _, function in functions_of(tree)}
    return functions | {each.name: True for each in tree.body if isinstance(each, ast.ClassDef)}


def _entry_point(owner: str | None, function: FunctionNode) -> EntryPoint:
    parameters = parameters_of(owner, function)
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


def _codec(annotation: ast.expr | None) -> Codec:
    if annotation is None:
        return Codec.JSON
    names = set(re.findall(r"\w+", ast.unparse(annotation)))
    for node, (one, many) in _NODES.items():
        if node in names:
            return many if names & _LISTS else one
    return Codec.JSON
