import ast
import datetime as dt
import re
import subprocess
import sys
from typing import Any

import pytest

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
    found = names(preambles.LIVECODEBENCH)
    assert {"List", "Optional", "deque", "heappush", "inf", "gcd", "lru_cache"} <= found.keys()
    assert found["datetime"] is dt
    assert found["re"] is re
    assert sys.getrecursionlimit() == 50_000
    assert "ListNode" not in found


@pytest.mark.usefixtures("limit")
def test_leetcode_has_its_nodes_too() -> None:
    found = names(preambles.LEETCODE)
    node, tree = found["ListNode"](1), found["TreeNode"](2, None, 3)
    assert (node.val, node.next) == (1, None)
    assert (tree.val, tree.left, tree.right) == (2, None, 3)
    assert found["ListNode"]().val == found["TreeNode"]().val == 0


@pytest.mark.parametrize("source", [preambles.LIVECODEBENCH, preambles.LEETCODE])
def test_a_preamble_ends_its_last_line_and_runs_in_a_fresh_interpreter(source: str) -> None:
    code = source + "print(Counter('aa')['a'])"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
