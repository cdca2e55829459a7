"""verl's sandbox client, its file unchanged, against the address that is given.

verl itself needs torch and Ray; the packages above the client are stood in for by empty ones.
"""

import json
import sys
import threading
import types
from typing import Any

address, folder = sys.argv[1:3]
for name in ("verl", "verl.utils", "verl.utils.reward_score"):
    package = types.ModuleType(name)
    package.__path__ = [f"{folder}/{name.replace('.', '/')}"]
    sys.modules[name] = package

from verl.utils.reward_score import sandbox_fusion  # noqa: E402

url = f"{address}/run_code"
ECHO = {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["1\n", "2\n", "3\n"]}
ADD = {"inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"], "fn_name": "add"}


def score(code: str, tests: Any, **more: Any) -> list[Any]:
    text = f"Here it is.\n```python\n{code}\n```\n"
    reward, metadata = sandbox_fusion.compute_score(
        url, threading.Semaphore(8), 1024, text, tests, continuous=True, **more
    )
    return [reward, sorted({each["status"] for each in metadata})]


twenty = {"inputs": [f"{n}\n" for n in range(20)], "outputs": [f"{n}\n" for n in range(20)]}
found = {
    "right": score("print(input())", ECHO),
    "wrong": score("print(1)", ECHO),
    "exit": score("import sys; print(input()); sys.exit(3)", ECHO),
    "raises": score("print(input()); 1/0", ECHO),
    "compile": score("print(", ECHO),
    "time": score("while True: pass", {"inputs": ["1"], "outputs": ["1"]}, timeout=1),
    "memory": score("x = bytearray(2 << 30)", {"inputs": ["1"], "outputs": ["1"]}),
    "function": score("def add(a, b): return a + b", ADD),
    "method": score("class Solution:\n    def add(self, a, b): return a + b", ADD),
    "function wrong": score("def add(a, b): return a - b", ADD),
    "function raises": score("def add(a, b): return a / 0", ADD),
    "twenty": score("print(input())", twenty),
    "assert": score("def f(): return 1", {"assert_case": ["assert f() == 1", "assert f() == 2"]}),
}
print(json.dumps(found))
