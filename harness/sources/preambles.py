"""The Python source that a data set lets every solution take for granted.

`LIVECODEBENCH`, put before programs and functions alike:

- every public name of string, re, datetime, collections, heapq, bisect, copy, math, random,
  statistics, itertools, functools, operator, io, sys, json, builtins and typing, star-imported in
  this order, so that a later module's name wins (`datetime` and `copy` name the class and the
  function until the next point);
- then the modules themselves, string to json, in the same order: `datetime`, `copy`, `bisect` and
  `random` name modules in the end;
- a recursion limit of 50,000.

`LEETCODE`: the same, and the classes `ListNode(val=0, next=None)` and
`TreeNode(val=0, left=None, right=None)`.

Programs of the other sources run as bare scripts, with no preamble.
"""

_MODULES = (
    "string",
    "re",
    "datetime",
    "collections",
    "heapq",
    "bisect",
    "copy",
    "math",
    "random",
    "statistics",
    "itertools",
    "functools",
    "operator",
    "io",
    "sys",
    "json",
)
_NAMES_ONLY = ("builtins", "typing")
_RECURSION_LIMIT = 50_000

_NODES = '''\
class ListNode:
    """A node of a singly linked list."""

    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right
'''


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


LIVECODEBENCH = _lines(
    *(f"from {module} import *" for module in (*_MODULES, *_NAMES_ONLY)),
    *(f"import {module}" for module in _MODULES),
    f"sys.setrecursionlimit({_RECURSION_LIMIT})",
)
LEETCODE = LIVECODEBENCH + _NODES
