"""Linked lists and binary trees: made of values, and read; judged code made what is read."""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from collections.abc import Iterator
from typing import Any


class CycleError(Exception):
    """A tree has a node that lies beneath itself."""


def chain(head: Any, back: list[int]) -> Iterator[Any]:
    """The values of a linked list.

    Args:
        head: its first node.
        back: where it leads back, the number of that node from 0 is added here.
    """
    met: list[Any] = []  # held, so that no id stands for two
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
    """The values of a binary tree, level by level, None where a child is missing.

    Raises:
        CycleError: there is no end to it. Two nodes may share what is beneath them.
    """
    met: dict[int, Any] = {}  # held, so that no id stands for two
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
    """Go through every node once, with those above it at hand; CycleError where one returns."""
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
    """The head of a linked list.

    Args:
        values: of its nodes.
        node_type: the class of a node.
        back: the node to which the last one leads, from 0.
    """
    made: list[Any] = []  # the last one first
    for value in reversed(values or []):
        node = node_type(value)
        node.next = made[-1] if made else None
        made.append(node)
    if back is not None:
        made[0].next = made[-1 - back]
    return made[-1] if made else None


def tree(values: list[Any], node_type: Any) -> Any:
    """The root of a binary tree, its values level by level."""
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
