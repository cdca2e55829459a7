"""Recursion through C code, which newer Pythons end early, see `inside.python.recursion_depth`."""

import subprocess
import sys
from collections.abc import Callable

from for_each import for_each

from harness.sandbox.execution import Ending, Execution

Run = Callable[..., Execution]
DEEP = "import sys\nsys.setrecursionlimit(50_000)\nfrom functools import lru_cache\n"
WAYS = {
    "a cache": "@lru_cache(None)\ndef f(n): return n and 1 + f(n - 1)",
    "a sort's key": "def f(n):\n  found = []\n"
    "  n and [0].sort(key=lambda _: found.append(f(n - 1)))\n  return 1 + found[0] if n else 0",
    "map": "def f(n): return n and 1 + next(map(f, [n - 1]))",
    "a comparison": "class A:\n  def __init__(self, n): self.n = n\n  def __eq__(self, o):\n"
    "    return self.n == 0 or [A(self.n - 1)] == [o]\ndef f(n): return (A(n) == A(n)) * n",
}


@for_each("way", WAYS)
def test_recursion_through_c_goes_as_deep_as_the_recursion_limit(way: str, run: Run) -> None:
    done = run(f"{DEEP}{WAYS[way]}\nprint(f(int(input())))", b"12000\n", cpu_s=10.0)
    assert (done.error[-200:], done.stdout) == ("", b"12000\n")


@for_each("way", WAYS)
def test_recursion_through_c_goes_deep_in_a_thread_with_a_large_stack(way: str, run: Run) -> None:
    code = f"""{DEEP}{WAYS[way]}
import threading
threading.stack_size(256 << 20)
thread = threading.Thread(target=lambda: print(f(12_000)))
thread.start()
thread.join()
"""
    done = run(code, cpu_s=10.0)
    assert (done.stderr[-200:], done.stdout) == ("", b"12000\n")


@for_each("way", WAYS)
def test_endless_recursion_is_the_program_s_error(way: str, run: Run) -> None:
    done = run(f"{DEEP}{WAYS[way]}\nprint(f(-1))", cpu_s=10.0)
    assert (done.ending, "RecursionError" in done.error) == (Ending.ERROR, True)


@for_each("limit", ["", "sys.setrecursionlimit(100_010)", "sys.setrecursionlimit(60)"])
def test_a_program_recurses_as_deep_as_in_an_interpreter_of_its_own(limit: str, run: Run) -> None:
    code = f"""
import sys
{limit}
def deepest(depth):
    try:
        return deepest(depth + 1)
    except RecursionError:
        return depth
print(deepest(1), sys.getrecursionlimit())
"""
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    depth, kept = map(int, run(code, cpu_s=10.0).stdout.split())
    usual, same = map(int, alone.split())
    assert kept == same
    assert 0 <= depth - usual <= 1  # 3.12 counts no call of `exec`
