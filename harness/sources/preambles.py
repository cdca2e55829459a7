"""Python source that a data set assumes before every solution.

`LIVECODEBENCH`, put before programs and functions alike:

- every public name of string, re, datetime, collections, heapq, bisect, copy, math, random,
  statistics, itertools, functools, operator, io, sys, json, builtins and typing, star-imported in
  this order, so that a later module's name wins (`datetime` and `copy` name the class and the
  function until the next point);
- then the modules themselves, string to json, in the same order: `datetime`, `copy`, `bisect` and
  `random` name modules in the end;
- a recursion limit of 50,000.

`LEETCODE`: the same, with `Counter`, `OrderedDict` and `ChainMap` as the classes and not as
typing's names for them, and the classes `ListNode(val=0, next=None)` and `TreeNode(val=0,
left=None, right=None)`.

`LEETCODEDATASET`: `LEETCODE`, and the functions that the data set's own prompts define:
`list_node`, `tree_node`, `is_same_list`, `is_same_tree`. (Its prompts star-import fewer modules,
and in an order that makes `bisect` a function and `pow` one of two arguments; LeetCode's own has
neither fault.)

`LEETCODEDATASET_SORTED`, for the rows whose prompt imports it: the same, and `SortedList`.

`APPS`: sys, time, itertools (and accumulate, product, permutations, combinations), collections (and
Counter, OrderedDict, deque, defaultdict, ChainMap), lru_cache, math (and sqrt, sin, cos, tan, ceil,
fabs, floor, gcd, exp, log, log2), fractions, List and Tuple, `np` where numpy is installed, random,
heapq and its names; `stdin` and `stdout`.

`MERCURY`: the modules re, itertools, collections, heapq, bisect, string, sys, functools, math,
copy, `lctk` and sortedcontainers; floor, ceil, factorial, sqrt, inf; maxsize, stdin; bisect_left,
bisect_right; permutations, zip_longest; heappush, heappop, heapify; deque, defaultdict,
OrderedDict; List, Optional, Tuple; lru_cache, cache; ListNode and TreeNode. `lctk` is a module of
that name with the functions that the data set's hooks call: linkedList, linkedList2Arr, binaryTree,
binaryTree2Arr.

A user's own programs run as bare scripts, with no preamble, unless their rows name one.

Sources: `lcb_runner/evaluation/testing_util.py` of LiveCodeBench, `eval/testing_util.py` of APPS,
`src/sandbox.py` of Mercury, the `prompt` column of LeetCodeDataset.
"""

_MODULES = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json"),
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


_NODE_HELPERS = '''\
def list_node(values):
    """The linked list of some values."""
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def tree_node(values):
    """The binary tree of some values, level by level, None where there is no node."""
    if not values:
        return None
    rest = iter(values)
    root = TreeNode(next(rest))
    parents = [root]
    for parent in parents:
        for side in ("left", "right"):
            value = next(rest, None)
            if value is not None:
                setattr(parent, side, TreeNode(value))
                parents.append(getattr(parent, side))
    return root


def is_same_list(first, second):
    """Whether two linked lists hold the same values."""
    while first and second and first.val == second.val:
        first, second = first.next, second.next
    return first is None and second is None


def is_same_tree(first, second):
    """Whether two trees have the same shape and values."""
    pairs = [(first, second)]
    for one, other in pairs:
        if bool(one) != bool(other) or one and one.val != other.val:
            return False
        if one:
            pairs += [(one.left, other.left), (one.right, other.right)]
    return True
'''

_LCTK = '''\
def _lctk(list_node, tree_node):
    """The part of the package lctk that Mercury's hooks call, of the nodes defined above."""

    def linkedList2Arr(head):
        values, seen = [], set()
        while head and id(head) not in seen:
            seen.add(id(head))
            values.append(head.val)
            head = head.next
        return values

    def linkedList(values, cyclePos=-1):
        head = list_node(values)
        if head and 0 <= cyclePos < len(values):
            nodes = [head]
            while nodes[-1].next:
                nodes.append(nodes[-1].next)
            nodes[-1].next = nodes[cyclePos]
        return head

    def binaryTree2Arr(root):
        nodes = [root]
        for node in nodes:
            if node:
                nodes += [node.left, node.right]
        values = [node.val if node else None for node in nodes]
        while values and values[-1] is None:
            values.pop()
        return values

    module = type(sys)("lctk")
    module.ListNode, module.TreeNode = ListNode, TreeNode
    module.linkedList, module.linkedList2Arr = linkedList, linkedList2Arr
    module.binaryTree, module.binaryTree2Arr = tree_node, binaryTree2Arr
    sys.modules["lctk"] = module
    return module


lctk = _lctk(list_node, tree_node)
del _lctk, list_node, tree_node, is_same_list, is_same_tree
'''


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


LIVECODEBENCH = _lines(
    *(f"from {module} import *" for module in (*_MODULES, *_NAMES_ONLY)),
    *(f"import {module}" for module in _MODULES),
    f"sys.setrecursionlimit({_RECURSION_LIMIT})",
)
LEETCODE = LIVECODEBENCH + _lines("from collections import *") + _NODES
LEETCODEDATASET = LEETCODE + _NODE_HELPERS
LEETCODEDATASET_SORTED = LEETCODEDATASET + _lines("from sortedcontainers import SortedList")
APPS = _lines(
    "import sys",
    "import time",
    "import itertools",
    "from itertools import accumulate, product, permutations, combinations",
    "import collections",
    "from collections import Counter, OrderedDict, deque, defaultdict, ChainMap",
    "from functools import lru_cache",
    "import math",
    "from math import sqrt, sin, cos, tan, ceil, fabs, floor, gcd, exp, log, log2",
    "import fractions",
    "from typing import List, Tuple",
    "import numpy as np",
    "import random",
    "import heapq",
    "from heapq import *",
    "from sys import stdin, stdout",
)
MERCURY = (
    _lines(
        "import re",
        "import itertools",
        "import collections",
        "import heapq",
        "import bisect",
        "import string",
        "import sys",
        "import functools",
        "import math",
        "import copy",
        "import sortedcontainers",
        "from math import floor, ceil, factorial, sqrt, inf",
        "from sys import maxsize, stdin",
        "from bisect import bisect_left, bisect_right",
        "from itertools import permutations, zip_longest",
        "from heapq import heappush, heappop, heapify",
        "from collections import deque, defaultdict, OrderedDict",
        "from typing import List, Optional, Tuple",
        "from functools import lru_cache, cache",
    )
    + _NODES
    + _NODE_HELPERS
    + _LCTK
)
BY_NAME = {
    "none": "",
    "livecodebench": LIVECODEBENCH,
    "leetcode": LEETCODE,
    "leetcodedataset": LEETCODEDATASET,
    "apps": APPS,
    "mercury": MERCURY,
}
"""Preambles that a row of `jsonl:PATH` may name."""
