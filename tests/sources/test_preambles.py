import ast
import datetime as dt
import heapq
import importlib
import re
import subprocess
import sys
from typing import Any

import pytest
from for_each import for_each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.sources import preambles

MODULES = [
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json"),
]


@pytest.fixture
def limit() -> Any:
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)


def names(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace


def test_livecodebench_imports_names_then_modules_then_lifts_the_recursion_limit() -> None:
    statements = [ast.unparse(node) for node in ast.parse(preambles.LIVECODEBENCH).body]
    assert statements == [
        *(f"from {module} import *" for module in [*MODULES, "builtins", "typing"]),
        *(f"import {module}" for module in MODULES),
        "sys.setrecursionlimit(50000)",
    ]


@pytest.mark.usefixtures("limit")
def test_solutions_find_the_names_they_expect() -> None:
    namespace = names(preambles.LIVECODEBENCH)
    assert {"List", "Optional", "deque", "heappush", "inf", "gcd", "lru_cache"} <= namespace.keys()
    assert namespace["datetime"] is dt
    assert namespace["re"] is re
    assert sys.getrecursionlimit() == 50_000
    assert "ListNode" not in namespace


@pytest.mark.usefixtures("limit")
def test_leetcode_has_its_nodes_too() -> None:
    namespace = names(preambles.LEETCODE)
    node, tree = namespace["ListNode"](1), namespace["TreeNode"](2, None, 3)
    assert (node.val, node.next) == (1, None)
    assert (tree.val, tree.left, tree.right) == (2, None, 3)
    assert namespace["ListNode"]().val == namespace["TreeNode"]().val == 0


NODES = {"ListNode", "TreeNode"}
HELPERS = {"list_node", "tree_node", "is_same_list", "is_same_tree"}
APPS = {
    *("sys", "time", "itertools", "accumulate", "product", "permutations", "combinations"),
    *("collections", "Counter", "OrderedDict", "deque", "defaultdict", "ChainMap", "lru_cache"),
    *("math", "sqrt", "sin", "cos", "tan", "ceil", "fabs", "floor", "gcd", "exp", "log", "log2"),
    *("fractions", "List", "Tuple", "np", "random", "heapq", "stdin", "stdout"),
    *heapq.__all__,
}
MERCURY = {
    *("re", "itertools", "collections", "heapq", "bisect", "string", "sys", "functools", "math"),
    *("copy", "lctk", "sortedcontainers", "floor", "ceil", "factorial", "sqrt", "inf", "maxsize"),
    *("stdin", "bisect_left", "bisect_right", "permutations", "zip_longest", "heappush"),
    *("heappop", "heapify", "deque", "defaultdict", "OrderedDict", "List", "Optional", "Tuple"),
    *("lru_cache", "cache"),
    *NODES,
}


@pytest.mark.parametrize(("source", "wanted"), [("apps", APPS), ("mercury", MERCURY)])
def test_a_source_has_the_names_of_its_home_and_no_other(
    source: str, wanted: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setitem(sys.modules, "lctk", None)
    source_names = names(preambles.BY_NAME[source]).keys() - {"__builtins__"}
    assert source_names == wanted


@pytest.mark.usefixtures("limit")
def test_each_leetcode_preamble_adds_names_to_the_one_before() -> None:
    plain = names(preambles.LIVECODEBENCH).keys()
    leetcode = names(preambles.LEETCODE).keys()
    assert leetcode - plain == NODES
    assert names(preambles.LEETCODEDATASET).keys() - leetcode == HELPERS


@pytest.mark.usefixtures("limit")
def test_leetcodedataset_serves_modules_and_names_alike() -> None:
    namespace = names(preambles.LEETCODEDATASET)
    line = namespace["list_node"]([1, 2])
    assert (line.val, line.next.val, line.next.next) == (1, 2, None)
    assert namespace["list_node"]([]) is namespace["tree_node"]([]) is None
    tree = namespace["tree_node"]([1, None, 2, 3])
    assert (tree.left, tree.right.val, tree.right.left.val) == (None, 2, 3)
    assert namespace["is_same_list"](line, namespace["list_node"]([1, 2]))
    assert not namespace["is_same_list"](line, namespace["list_node"]([1, 2, 3]))
    assert not namespace["is_same_list"](line, None)
    assert namespace["is_same_tree"](tree, namespace["tree_node"]([1, None, 2, 3]))
    assert not namespace["is_same_tree"](tree, namespace["tree_node"]([1, 2, None, 3]))
    assert namespace["is_same_tree"](None, None)
    assert namespace["pow"](2, 5, 7) == 4
    ordered = [1, 3]
    namespace["bisect"].insort(ordered, 2)
    assert ordered == [1, 2, 3]
    assert namespace["collections"].deque is namespace["deque"]
    assert namespace["heapq"].heappush is namespace["heappush"]


class TestLctk:
    """What Mercury's hooks call."""

    @pytest.fixture
    def lctk(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setitem(sys.modules, "lctk", None)
        return names(preambles.MERCURY)["lctk"]

    @given(values=st.lists(st.integers()))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_lists_there_and_back(self, lctk: Any, values: list[int]) -> None:
        assert lctk.linkedList2Arr(lctk.linkedList(values)) == values

    def test_a_list_that_leads_back_is_read_once(self, lctk: Any) -> None:
        head = lctk.linkedList([1, 2, 3], 1)
        assert head.next.next.next is head.next
        assert lctk.linkedList2Arr(head) == [1, 2, 3]
        assert lctk.linkedList([1], -1).next is None
        assert lctk.linkedList([]) is None
        assert lctk.linkedList2Arr(None) == []

    def test_trees_there_and_back(self, lctk: Any) -> None:
        for values in ([], [1], [1, 2], [1, None, 2, 3], [5, 4, 8, 11, None, 13, 4, 7, 2], [1, 0]):
            assert lctk.binaryTree2Arr(lctk.binaryTree(values)) == values

    def test_lctk_can_be_imported(self, lctk: Any) -> None:
        assert importlib.import_module("lctk") is lctk


@for_each("source", [preambles.LIVECODEBENCH, preambles.LEETCODE])
def test_a_preamble_ends_its_last_line_and_runs_in_a_fresh_interpreter(source: str) -> None:
    code = source + "print(Counter('aa')['a'])"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
