"""Starter code for a problem without any, derived from a reference solution.

The reference is a data set's: it is parsed and never executed. Its entry point is the function that
the problem's slug or examples name, or the only one that no other calls; a parameter is a linked
list or tree if it is annotated or used as one. If the reference does not show what a test's values
stand for, there is no starter code: no tests are better than tests that no right solution passes.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.problem import Codec, Signature
from harness.python_source import parameters
from harness.sources.leetcode.flow import ITEM, KIND_OF_ATTRIBUTE, SUBSCRIPTED, Flow, Place
from harness.sources.literals import UnreadableError, parse
from harness.sources.signature import entry_point_of

MAX_REFERENCE_CHARACTERS = 2**16
"""A longer reference is not read; `signature` has the same limit for starter code."""

MAX_PARAMETERS = 32
"""A function with more parameters is not read."""

_ANNOTATIONS = {
    Codec.LINKED_LIST: "Optional[ListNode]",
    Codec.LINKED_LISTS: "List[Optional[ListNode]]",
    Codec.TREE: "Optional[TreeNode]",
    Codec.TREES: "List[Optional[TreeNode]]",
    Codec.FIRST_ARGUMENT: "None",
}
_MANY = {Codec.LINKED_LIST: Codec.LINKED_LISTS, Codec.TREE: Codec.TREES}
_OTHER_NODES = frozenset({"children", "neighbors", "random", "child"})
_KNOWN_CLASSES = frozenset({"Solution", "ListNode", "TreeNode", "Node"})
_CONVENTIONS = (
    (re.compile(r"head\w?|l[12]|list[12]"), "linked list", Codec.LINKED_LIST),
    (re.compile(r"lists"), "linked list", Codec.LINKED_LISTS),
    (re.compile(r"root[12]?|sub_?root"), "tree", Codec.TREE),
)
"""LeetCode's names for nodes, which count if the statement has the words."""

_NODE_WITHIN = re.compile(r"[pq]|node\w?|target(_?node)?|leaf", re.IGNORECASE)
"""LeetCode's names for a node of another argument, which its examples show as a number."""


class Starter(NamedTuple):
    """Method that a solution has to define.

    Attributes:
        entry_point: name of the method.
        parameters: names of its parameters.
        code: `class Solution` with the method's head.
    """

    entry_point: str
    parameters: tuple[str, ...]
    code: str


def starter_of(
    reference: str, *, slug: str, statement: str, names: Iterable[frozenset[str]] = ()
) -> Starter | None:
    """Return starter code that fits a reference solution.

    Args:
        reference: a solution: functions, or a class `Solution`.
        slug: slug of the problem.
        statement: statement of the problem.
        names: argument names of each of its examples.

    Returns:
        None where the reference cannot be parsed or is too long, the entry point is not clear, or
        it takes nodes of a kind that tests cannot have, as those of graphs or those within a tree.
    """
    if len(reference) > MAX_REFERENCE_CHARACTERS:
        return None
    shown = frozenset(names)
    try:
        tree = parse(reference)
        function = _entry_point(tree, slug, shown)
        return None if function is None else _starter(tree, function, reference, statement, shown)
    except (UnreadableError, RecursionError):
        return None


def _candidates(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the public methods of `Solution`, or the public functions."""
    body = tree.body
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Solution":
            body = node.body
    return [
        node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def _required(function: ast.FunctionDef, shown: frozenset[frozenset[str]]) -> tuple[str, ...]:
    """Return the parameters without trailing ones with defaults that no example names.

    These belong to the reference alone, as the bounds that a recursion narrows.
    """
    names = parameters(function)
    without_default = max(0, len(names) - len(function.args.defaults))
    end = len(names)
    while end > without_default and not any(names[end - 1] in each for each in shown):
        end -= 1
    return names[:end]


def _entry_point(
    tree: ast.Module, slug: str, names: frozenset[frozenset[str]]
) -> ast.FunctionDef | None:
    candidates = _candidates(tree)
    squashed = slug.replace("-", "").lower()
    for function in candidates:
        if function.name.replace("_", "").lower() == squashed:
            return function
    fitting = [each for each in candidates if frozenset(_required(each, names)) in names]
    if len(fitting) == 1:
        return fitting[0]
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    if "Solution" not in classes and classes - _KNOWN_CLASSES:
        return None  # the problem asks for the class, and the functions are its helpers
    called = {name for each in candidates for name in _called(each) if name != each.name}
    roots = [each for each in candidates if each.name not in called]
    return roots[0] if len(roots) == 1 else None


def _called(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
                yield name
            case _:
                pass


def _starter(
    tree: ast.Module,
    function: ast.FunctionDef,
    reference: str,
    statement: str,
    shown: frozenset[frozenset[str]],
) -> Starter | None:
    parameters = _required(function, shown)
    if len(parameters) > MAX_PARAMETERS or _has_other_nodes(tree):
        return None
    annotated = entry_point_of(reference, function.name)
    signature = annotated.signature if annotated else Signature()
    flow = Flow(tree)
    places = [flow.variable(function, name) for name in parameters]
    kinds: dict[str, Codec] = {}
    for name, place, codec in zip(parameters, places, signature.arguments, strict=False):
        kind = codec if codec is not Codec.JSON else _kind(flow, name, place, statement)
        if kind is not None:
            kinds[place] = kind
    for name, place in zip(parameters, places, strict=True):
        if kinds and place not in kinds and _NODE_WITHIN.fullmatch(name):
            flow.demand_number((place,))
    result = signature.result
    if result is Codec.JSON:
        result = _result(flow, function, kinds, in_place=bool(parameters))
    if result in _MANY:
        given = [each for each in places if (f"{function.name}()",) in flow.reached([(each, ITEM)])]
        kinds = dict.fromkeys(given, _MANY[result]) | kinds
    head = ["self"]
    for name, place in zip(parameters, places, strict=True):
        head.append(f"{name}: {_ANNOTATIONS[kinds[place]]}" if place in kinds else name)
    arrow = f" -> {_ANNOTATIONS[result]}" if result in _ANNOTATIONS else ""
    code = f"class Solution:\n    def {function.name}({', '.join(head)}){arrow}:\n        "
    return Starter(function.name, parameters, code)


def _has_other_nodes(tree: ast.Module) -> bool:
    """Return whether nodes of graphs and the like are read or made.

    Nodes of a class defined here do not count. A class `Node` defined here is LeetCode's own,
    repeated for the reader.
    """
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    own: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("Node")) if "Node" not in classes:
                return True
            case ast.Attribute(value=ast.Name("random" | "np" | "numpy" | "self")):
                pass
            case ast.Attribute(attr=attribute):
                read.add(attribute)
            case _:
                pass
    for name in classes.keys() - _KNOWN_CLASSES:
        own |= _set_on_self(classes[name])
    return bool(read & _OTHER_NODES - own)


def _set_on_self(definition: ast.ClassDef) -> set[str]:
    return {
        node.attr
        for method in definition.body
        if isinstance(method, ast.FunctionDef)
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def _kind(flow: Flow, name: str, place: str, statement: str) -> Codec | None:
    """Return the codec of a parameter used or named as a node or list of nodes.

    Raises:
        UnreadableError: it is used as a node of unknown kind.
    """
    uses, within = flow.uses((place,)), flow.uses((place, ITEM))
    one, many = _kind_of(uses), _kind_of(within)
    kind = one or (_MANY[many] if many else None) or _by_convention(name, statement, uses)
    if kind is None and ("@val",) in uses | within:
        raise UnreadableError("takes a node of a kind that it does not tell")
    return kind


def _kind_of(uses: set[Place]) -> Codec | None:
    """Return the kind of node; trees come first, as some problems' tree nodes have a `next`."""
    kinds = {codec for name, codec in KIND_OF_ATTRIBUTE.items() if (f"@{name}",) in uses}
    return Codec.TREE if Codec.TREE in kinds else next(iter(kinds), None)


def _by_convention(name: str, statement: str, uses: set[Place]) -> Codec | None:
    """Return the codec of a parameter's name, if the body only passes the value on."""
    words = statement.lower().replace("-", " ")
    for pattern, needed, codec in _CONVENTIONS:
        if pattern.fullmatch(name.lower()) and needed in words:
            many = codec in _MANY.values()
            return codec if many or SUBSCRIPTED not in uses else None
    return None


def _result(
    flow: Flow, function: ast.FunctionDef, kinds: Mapping[str, Codec], *, in_place: bool
) -> Codec:
    """Return the codec of the function's result.

    Raises:
        UnreadableError: it returns a node in one place and a list of nodes in another, or nodes
            that are neither those of linked lists nor of trees.
    """
    if function not in flow.giving:
        return Codec.FIRST_ARGUMENT if in_place else Codec.JSON
    result = (f"{function.name}()",)
    if any(place[:1] == result for place in flow.reached(flow.nodes(None))):
        raise UnreadableError("gives nodes of another kind")
    for one, many in ((Codec.TREE, Codec.TREES), (Codec.LINKED_LIST, Codec.LINKED_LISTS)):
        places: list[Place] = [(name,) for name, kind in kinds.items() if kind is one]
        places += [(name, ITEM) for name, kind in kinds.items() if kind is many]
        reached = flow.reached([*places, *flow.nodes(one)])
        found = {place[1:] for place in reached if place[:1] == result}
        if found == {()}:
            return one
        if found == {(ITEM,)}:
            return many
        if found:
            raise UnreadableError("gives nodes in more than one form")
    return Codec.JSON
