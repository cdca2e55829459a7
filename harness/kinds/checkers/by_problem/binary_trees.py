"""Checkers of LeetCode's functions that may return any of several binary trees.

They take what those of `choices` take. A tree is the list of its values level by level, with None
for a child that is not there; children of such a child have no place in the list.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any, NamedTuple

Arguments = list[Any]


def with_one_more(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """insert-into-a-binary-search-tree: a search tree of the old values and the new one."""
    before, value = arguments
    old, new = _read(before), _read(answer)
    if old is None or new is None:
        return False
    return _in_order(new) == sorted([*old.values, value])


def with_both_orders(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """construct-binary-tree-from-preorder-and-postorder-traversal: a tree with both orders."""
    tree = _read(answer)
    if tree is None:
        return False
    backwards = _parents_first(tree, right_first=True)
    return [_parents_first(tree, right_first=False), backwards[::-1]] == arguments


def balanced(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """balance-a-binary-search-tree: a search tree of the same values, no node lopsided."""
    old, new = _read(arguments[0]), _read(answer)
    if old is None or new is None or _in_order(new) != sorted(old.values):
        return False
    height = [0] * (len(new.values) + 1)  # the last one is that of a child that is not there
    for node in reversed(range(len(new.values))):
        left, right = (height[child] for child in new.children[node])
        if abs(left - right) > 1:
            return False
        height[node] = 1 + max(left, right)
    return True


class _Tree(NamedTuple):
    """Values from the root on, and each one's children by their places; -1 is none."""

    values: list[int]
    children: list[list[int]]


def _read(value: Any) -> _Tree | None:
    """The tree of a list; None where the list is none of a tree of integers."""
    if not isinstance(value, list | None):
        return None
    tree = _Tree([], [])
    slots = [(-1, 0)]
    for at, each in enumerate(value or []):
        if at >= len(slots):
            return None
        if each is None:
            continue
        if not isinstance(each, int) or isinstance(each, bool):
            return None
        parent, side = slots[at]
        node = len(tree.values)
        if parent >= 0:
            tree.children[parent][side] = node
        tree.values.append(each)
        tree.children.append([-1, -1])
        slots += [(node, 0), (node, 1)]
    return tree


def _in_order(tree: _Tree) -> list[int]:
    found: list[int] = []
    waiting: list[int] = []
    node = 0 if tree.values else -1
    while waiting or node >= 0:
        while node >= 0:
            waiting.append(node)
            node = tree.children[node][0]
        node = waiting.pop()
        found.append(tree.values[node])
        node = tree.children[node][1]
    return found


def _parents_first(tree: _Tree, *, right_first: bool) -> list[int]:
    found: list[int] = []
    waiting = [0] if tree.values else []
    while waiting:
        node = waiting.pop()
        found.append(tree.values[node])
        left, right = tree.children[node]
        waiting += [each for each in ((left, right) if right_first else (right, left)) if each >= 0]
    return found
