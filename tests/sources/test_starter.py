from textwrap import dedent

import pytest

from harness.problem import Codec
from harness.sources.signature import signature_of
from harness.sources.starter import starter_of

JSON, LIST, LISTS = Codec.JSON, Codec.LINKED_LIST, Codec.LINKED_LISTS
TREE, FIRST = Codec.TREE, Codec.FIRST_ARGUMENT

NO_NAMES: tuple[frozenset[str], ...] = ()


def test_a_function_becomes_a_method() -> None:
    starter = starter_of("def twoSum(nums, target):\n    return []\n", slug="two-sum", statement="")
    assert starter is not None
    assert starter.entry_point == "twoSum"
    assert starter.parameters == ("nums", "target")
    assert starter.code == "class Solution:\n    def twoSum(self, nums, target):\n        "


@pytest.mark.parametrize(
    ("code", "slug", "names", "entry_point"),
    [
        ("def b(x): return x\ndef a_b(x): return b(x)", "a-b", NO_NAMES, "a_b"),
        ("def b(x): return x\ndef c(y): return y", "a", (frozenset({"y"}),), "c"),
        ("def b(x): return x\ndef c(y): return b(y)", "a", NO_NAMES, "c"),
        ("def b(x): return b(x - 1)", "a", NO_NAMES, "b"),
        ("class Solution:\n  def b(self, x): return self.c(x)\n  def c(self, x): 1", "", (), "b"),
        ("class Solution:\n  def __init__(self): 1\n  def c(self, x): 1", "a", NO_NAMES, "c"),
        ("def b(x): return x\ndef c(y): return y", "a", NO_NAMES, None),
        ("class LRUCache:\n  def get(self, key): return key", "lru-cache", NO_NAMES, None),
        ("def b(", "b", NO_NAMES, None),
        ("", "b", NO_NAMES, None),
        ("def f(node):\n  return node.neighbors", "f", NO_NAMES, None),
    ],
)
def test_the_entry_point_is_the_one_that_is_meant(
    code: str, slug: str, names: tuple[frozenset[str], ...], entry_point: str | None
) -> None:
    starter = starter_of(code, slug=slug, statement="", names=names)
    assert (starter.entry_point if starter else None) == entry_point


@pytest.mark.parametrize(
    ("code", "statement", "arguments", "result"),
    [
        ("def f(a): return a + 1", "a tree, a linked list", (JSON,), JSON),
        ("def f(a): return a.next", "", (LIST,), LIST),
        ("def f(a):\n  while a.left: a = a.left\n  return a.val", "", (TREE,), JSON),
        ("def f(a):\n  if a.left: a.next = a.right\n  return a", "", (TREE,), TREE),
        ("def f(h):\n  slow = fast = h\n  slow = slow.next\n  return fast", "", (LIST,), LIST),
        ("def f(h, k):\n  a, b = k, h\n  return [b.next.val]", "", (LIST, JSON), JSON),
        ("def f(lists):\n  for n in lists:\n    n = n.next\n  return 1", "", (LISTS,), JSON),
        ("def f(xs):\n  a = xs[0].next\n  return ListNode(1)", "", (LISTS,), LIST),
        ("def f(xs):\n  root = TreeNode(1)\n  return root", "", (JSON,), TREE),
        ("def f(xs):\n  def g(i): return TreeNode(i)\n  return g(0)", "", (JSON,), TREE),
        ("def f(root): return g(root)\ndef g(a): return 1", "A binary tree", (TREE,), JSON),
        ("def f(head): return g(head)\ndef g(a): return 1", "A linked list", (LIST,), JSON),
        ("def f(root): return g(root)\ndef g(a): return 1", "A square root", (JSON,), JSON),
        ("def f(head): return head[0]", "A linked list", (JSON,), JSON),
        ("def f(a: 'ListNode', b: int) -> 'ListNode': return a", "", (LIST, JSON), LIST),
        ("def f(nums):\n  nums[0] = 1", "", (JSON,), FIRST),
        ("def f(nums):\n  def g(): return 1\n  g()\n  return", "", (JSON,), FIRST),
        ("def f(): pass", "", (), JSON),
    ],
)
def test_nodes_are_what_is_used_as_nodes(
    code: str, statement: str, arguments: tuple[Codec, ...], result: Codec
) -> None:
    starter = starter_of(dedent(code), slug="f", statement=statement)
    assert starter is not None
    signature = signature_of(starter.code, "f")
    assert (signature.arguments, signature.result) == (arguments, result)


def test_functions_that_call_each_other_are_looked_into_once() -> None:
    code = "def f(a): return g(a)\ndef g(a): return f(a)\n"
    starter = starter_of(code, slug="f", statement="")
    assert starter is not None
    assert signature_of(starter.code, "f").result is JSON
