import time
from textwrap import dedent

import pytest

from harness.problem import Codec
from harness.sources.leetcode.starter import MAX_REFERENCE_CHARACTERS, starter_of
from harness.sources.signature import signature_of

JSON, LIST, LISTS = Codec.JSON, Codec.LINKED_LIST, Codec.LINKED_LISTS
TREE, TREES, FIRST = Codec.TREE, Codec.TREES, Codec.FIRST_ARGUMENT

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
        ("def b(x): return x\nclass LRUCache:\n  def get(self, k): return b(k)", "a", (), None),
        ("def b(x): return x\nclass Trie:\n  def get(self, k): 1", "b", NO_NAMES, "b"),
        ("def b(x): 1\ndef c(y): 1\nclass A: 1", "a", (frozenset({"y"}),), "c"),
        ("def b(x): return x\nclass ListNode: 1", "a", NO_NAMES, "b"),
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
        ("def f(n):\n  while n: yield n", "", (JSON,), JSON),
        ("def f(nums):\n  def g(): yield 1\n  nums += g()", "", (JSON,), FIRST),
        ("def f(xs):\n  for i, n in enumerate(xs): n.next", "", (LISTS,), FIRST),
        ("def f(xs):\n  for n, i in zip(xs, [1]): n.next", "", (LISTS,), FIRST),
        ("def f(xs):\n  a = xs.pop()\n  return a.next.val", "", (LISTS,), JSON),
        ("def f(xs): return g(xs[0], xs[1:])\ndef g(a, b): return a.next", "", (LISTS,), LIST),
        ("def f(xs):\n  xs.append(ListNode(1))\n  return xs[0]", "", (LISTS,), LIST),
        ("def f(xs):\n  h = [(x.val, x) for x in xs]\n  h[0][1].next", "", (LISTS,), FIRST),
        ("def f(lists): return g(lists[0])", "k linked-lists", (LISTS,), JSON),
        ("def f(lists): return g(lists[0])", "some lists", (JSON,), JSON),
        ("def f(a, s): return g(a, s)\ndef g(n, k): return n.left", "", (TREE, JSON), TREE),
        ("def f(a, s):\n  q = [(a, s)]\n  n, k = q.pop()\n  n.left", "", (TREE, JSON), FIRST),
        ("def f(h, k):\n  p = [None] * k\n  p[0] = h.next\n  return p", "", (LIST, JSON), LISTS),
        ("def f(r):\n  p = []\n  p.append(r.left)\n  return p", "", (TREE,), TREES),
        ("def f(r):\n  p = [r]\n  return [n.val for n in p if n.left]", "", (TREE,), JSON),
        ("def f(n):\n  for i in n:\n    yield TreeNode(i)", "", (JSON,), TREES),
        ("def f(h):\n  a = h.next\n  b = a\n  return b", "", (LIST,), LIST),
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


@pytest.mark.parametrize(
    "code",
    [
        "def f(node):\n  def g(n):\n    for x in n.neighbors: g(x)\n  return g(node)",
        "def f(head): return Node(1)",
        "class Node:\n  def __init__(self): self.child = 1\ndef f(head): return g(head).child",
        "class Node:\n  def __init__(self): self.topLeft = 1\ndef f(grid): return Node()",
        "def f(root, target):\n  root.left\n  return [target.val]",
        "def f(root, x):\n  root.left\n  return x.val",
        "def f(root, p, q):\n  return root if root in (p, q) else f(root.left, p, q)",
        "def f(root, target):\n  g = {}\n  g[root.left] = 1\n  return g[target]",
        "def f(root, target):\n  return root is target or f(root.left, target)",
        "def f(a):\n  if a.left: return a\n  return [a]",
    ],
)
def test_what_an_example_cannot_show_is_refused(code: str) -> None:
    assert starter_of(code, slug="f", statement="A binary tree.") is None


@pytest.mark.parametrize(
    "code",
    [
        "def f(root, target):\n  return root.val == target or f(root.left, target)",
        "def f(root, target):\n  return f(root.left, target - root.val) if root else 0",
        "def f(root, target):\n  t = 0\n  t += root.left.val\n  return t == target",
        "def f(root, p):\n  return p < 3 and root.left",
        "def f(root, nums):\n  return root.left in nums",
    ],
)
def test_a_number_that_is_used_as_one_is_not(code: str) -> None:
    starter = starter_of(code, slug="f", statement="")
    assert starter is not None
    assert signature_of(starter.code, "f").arguments == (TREE, JSON)


def test_the_children_of_a_class_defined_in_the_reference_are_its_own() -> None:
    trie = "class Trie:\n  def __init__(self): self.children = {}\n"
    code = f"{trie}def f(words): return Trie().children\n"
    assert starter_of(code, slug="f", statement="") is not None
    shuffle = "def f(words): return random.random() + random.choice(words)\n"
    assert starter_of(shuffle, slug="f", statement="") is not None


@pytest.mark.parametrize(
    ("names", "parameters"),
    [
        ((), ("root",)),
        ((frozenset({"root"}),), ("root",)),
        ((frozenset({"root", "low"}),), ("root", "low")),
        ((frozenset({"root", "high"}),), ("root", "low", "high")),
    ],
)
def test_parameters_with_defaults_that_no_example_names_are_the_references_own(
    names: tuple[frozenset[str], ...], parameters: tuple[str, ...]
) -> None:
    code = "def f(root, low=0, high=1): return root.left is None"
    starter = starter_of(code, slug="", statement="", names=names)
    assert starter is not None
    assert starter.parameters == parameters
    assert starter.code.startswith("class Solution:\n    def f(self, root: Optional[TreeNode]")
    assert len(signature_of(starter.code, "f").arguments) == len(parameters)


@pytest.mark.parametrize(
    "unit",
    [" a=a\n", " return a\n", " x=a\n a=x,x,x,x,x,x\n", " a=[a]\n", " def g(a): return a[0]\n"],
)
def test_hostile_references_take_little_time(unit: str) -> None:
    code = "def f(a):\n" + unit * (60_000 // len(unit))
    assert len(code) <= MAX_REFERENCE_CHARACTERS
    start = time.process_time()
    starter_of(code, slug="f", statement="")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "code",
    [
        "def f(a):\n" + " a=a\n" * (MAX_REFERENCE_CHARACTERS // 5),
        "def f(" + ", ".join(f"a{i}" for i in range(40)) + "): return 1",
        "def f(a): return " + "(" * 250 + "a" + ")" * 250,
    ],
)
def test_a_reference_that_is_too_large_has_no_starter(code: str) -> None:
    assert starter_of(code, slug="f", statement="") is None
