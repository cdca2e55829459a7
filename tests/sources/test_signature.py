import sys

import pytest
from for_each import for_each

from harness.problem import Codec, Signature
from harness.sources.signature import entry_point_of, signature_of

JSON, LIST, LISTS = Codec.JSON, Codec.LINKED_LIST, Codec.LINKED_LISTS
TREE, TREES, FIRST = Codec.TREE, Codec.TREES, Codec.FIRST_ARGUMENT

NODE = """\
# Definition for singly-linked list.
# class ListNode:
#     def __init__(self, val=0, next=None):
#         self.val = val
"""


def method(parameters: str, result: str) -> str:
    return f"{NODE}class Solution:\n    def f(self, {parameters}) -> {result}:\n        "


@for_each(
    ("parameters", "result", "arguments", "returned"),
    [
        ("nums: List[int], k: int", "List[List[int]]", (JSON, JSON), JSON),
        ("head: Optional[ListNode], k: int", "Optional[ListNode]", (LIST, JSON), LIST),
        ("head: 'ListNode'", "bool", (LIST,), JSON),
        ("lists: List[Optional[ListNode]]", "ListNode | None", (LISTS,), LIST),
        ("lists: list['ListNode']", "list[ListNode]", (LISTS,), LISTS),
        ("root: Optional[TreeNode]", "List[TreeNode]", (TREE,), TREES),
        ("roots: typing.List[TreeNode]", "tree.TreeNode", (TREES,), TREE),
        ("board: List[List[str]]", "None", (JSON,), FIRST),
        ("root: Optional[TreeNode]", "None", (TREE,), FIRST),
        ("nums, k=3, /, other=4, *, named=5", "'whatever'", (JSON, JSON, JSON), JSON),
        ("nodes: ListNodes", "MyTreeNode", (JSON,), JSON),
    ],
)
def test_annotations_say_how_values_are_converted(
    parameters: str, result: str, arguments: tuple[Codec, ...], returned: Codec
) -> None:
    expected = Signature(arguments=arguments, result=returned)
    assert signature_of(method(parameters, result), "f") == expected
    assert signature_of(method(parameters, result) + "return None\n", "f") == expected


@for_each(
    "code",
    [
        "class Solution:\n    def f(self, head: ListNode) -> int:",
        "class Solution:\n    def f(self, head: ListNode) -> int:\n        # your code\n",
        'class Solution:\n    def f(self, head: ListNode) -> int:\n        """Text."""\n',
        "class Solution:\n\tdef f(self, head: ListNode) -> int:\n\t\t",
        "class Solution:\r\n    def f(self, head: ListNode) -> int:\r\n        ",
        "class Solution:\n    def g(self):\n\n    def f(self, head: ListNode) -> int:\n\n",
        "class Solution:\n    def f(self, head: ListNode) -> int:\n\n    def g(self):\n        ...",
        "class Solution:\n    def f(\n        self, head: ListNode\n    ) -> int:\n        ",
        "class Solution:\n    @staticmethod\n    def f(head: ListNode) -> int:\n        ",
        "class Other:\n    def f(self): ...\nclass Solution:\n    def f(self, head: ListNode): ...",
        "def f(head: ListNode) -> int:\n",
        "async def f(head: ListNode) -> int: pass",
    ],
)
def test_unfinished_code_is_understood(code: str) -> None:
    assert signature_of(code, "f") == Signature(arguments=(LIST,))


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# class Solution:",
        "class Solution:\n    def g(self, head: ListNode): ...",
        "public int f(ListNode head) {",
        "def f(head: ListNode\n",
        "def f(head: ListNode): \0",
        pytest.param("def f(head: " + "-" * 60_000 + "x): ...", id="deep expression"),
        pytest.param("def f(head: a" + ".b" * 30_000 + "): ...", id="deep tree"),
        pytest.param("def f(head: " + "(" * 500 + "x" + ")" * 500 + "): ...", id="brackets"),
        pytest.param("\n".join(" " * n + "if 1:" for n in range(200)), id="indented"),
        pytest.param("def f(head: ListNode): ..." + " " * 2**16, id="long"),
    ],
)
def test_what_cannot_be_parsed_is_plain_json(code: str) -> None:
    assert signature_of(code, "f") == Signature()


def test_a_program_has_no_signature() -> None:
    assert signature_of("def f(head: ListNode): ...", None) == Signature()


def test_starter_code_is_never_run() -> None:
    signature_of("import antigravity\ndef f(x=__import__('antigravity')): ...", "f")
    assert "antigravity" not in sys.modules


def test_a_doubtful_escape_in_starter_code_is_nobodys_warning() -> None:
    code = "def f(head: ListNode):\n    '\\d'\n"
    assert signature_of(code, "f") == Signature(arguments=(LIST,))


def test_in_place_needs_an_argument_to_return() -> None:
    assert signature_of("def f() -> None: ...", "f") == Signature()


@for_each(
    ("code", "parameters", "required"),
    [
        (method("head: Optional[ListNode], k: int = 3", "int"), ("head", "k"), 1),
        ("class Solution:\n    def f(self) -> int:\n        ", (), 0),
        (
            "class Solution:\n    @staticmethod\n    def f(a, /, b):\n        return a",
            ("a", "b"),
            2,
        ),
        ("def g(a): ...\ndef f(x, *rest, named=1, **more): return x", ("x",), 1),
        ("class Solution:\n    def f(self=None, a=1): ...", ("a",), 0),
    ],
    ids=["default", "none", "static", "function", "default self"],
)
def test_an_entry_point_names_its_parameters(
    code: str, parameters: tuple[str, ...], required: int
) -> None:
    entry_point = entry_point_of(code, "f")
    assert entry_point is not None
    assert (entry_point.parameters, entry_point.required) == (parameters, required)
    assert entry_point.signature == signature_of(code, "f")


@for_each("code", ["", "def g(a): ...", "def f(:", "f = 1", "#" * 2**17])
def test_code_without_the_entry_point_has_none(code: str) -> None:
    assert entry_point_of(code, "f") is None
