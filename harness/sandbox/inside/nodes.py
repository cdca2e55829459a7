"""Linked lists and binary trees: built from values, and read from judged code."""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from collections.abc import Iterator
from typing import Any


class CycleError(Exception):
    """A tree contains a node below itself."""


def chain(head: Any, back: list[int]) -> Iterator[Any]:
    """Yield the values of a linked list.

    Args:
        head: the first node.
        back: receives the index of the node the list leads back to, if it is cyclic.
    """
    met: list[Any] = []  # keeps nodes alive, so that ids are unique
    places: dict[int, int] = {}
    node = head
    while node is not None and id(node) not in places:
        places[id(node)] = len(met)
        met.append(node)
        yield node.val
        node = node.next
    if node is not None:
        back.append(places[id(node)])


def levels(root: Any) -> Iterator[Any]:
    """Yield the values of a binary tree by level, None for a missing child.

    Raises:
        CycleError: the tree is infinite. Shared subtrees are allowed.
    """
    met: dict[int, Any] = {}  # keeps nodes alive, so that ids are unique
    shares = False
    level = [root]
    while any(node is not None for node in level):
        following: list[Any] = []
        for node in level:
            yield None if node is None else node.val
            if node is None:
                continue
            if not shares and id(node) in met:
                shares = True
                _follow(root)
            met[id(node)] = node
            following += (node.left, node.right)
        level = following


def _follow(root: Any) -> None:
    """Visit every node once, tracking its ancestors; raises CycleError if one recurs."""
    above: set[int] = set()
    met: dict[int, Any] = {}
    waiting = [(root, False)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            above.discard(id(node))
        elif id(node) in above:
            raise CycleError
        elif node is not None and id(node) not in met:
            met[id(node)] = node
            above.add(id(node))
            waiting += ((node, True), (node.left, False), (node.right, False))


def linked_list(values: list[Any], node_type: Any, back: int | None = None) -> Any:
    """Return the head of a linked list.

    Args:
        values: values of the nodes.
        node_type: class of the nodes.
        back: index of the node that the last one leads back to.
    """
    made: list[Any] = []  # the last node first
    for value in reversed(values or []):
        node = node_type(value)
        node.next = made[-1] if made else None
        made.append(node)
    if back is not None:
        made[0].next = made[-1 - back]
    return made[-1] if made else None


def tree(values: list[Any], node_type: Any) -> Any:
    """Return the root of a binary tree from its values by level."""
    if not values:
        return None
    rest = iter(values)
    root = node_type(next(rest))
    waiting: list[Any] = [root]
    for parent in waiting:
        for side in ("left", "right"):
            value = next(rest, None)
            if value is not None:
                child = node_type(value)
                setattr(parent, side, child)
                waiting.append(child)
    return root
