"""tinker-cookbook's Code RL grading, its files unchanged, against the address that is given.

The package itself needs torch; the packages above the recipe are stood in for by empty ones.
"""

import asyncio
import json
import os
import sys
import types
from enum import StrEnum
from typing import Any

address, folder = sys.argv[1:3]
os.environ["SANDBOX_URL"] = f"{address}/run_code"
for name in (
    "tinker_cookbook",
    "tinker_cookbook.recipes",
    "tinker_cookbook.recipes.code_rl",
    "tinker_cookbook.sandbox",
):
    package = types.ModuleType(name)
    package.__path__ = [f"{folder}/{name.replace('.', '/')}"]
    sys.modules[name] = package
from tinker_cookbook.sandbox.sandboxfusion import SandboxFusionClient  # noqa: E402

sandbox = sys.modules["tinker_cookbook.sandbox"]
sandbox.SandboxFusionClient = SandboxFusionClient
sandbox.SandboxBackend = StrEnum("SandboxBackend", {"SANDBOXFUSION": "sandboxfusion", "MODAL": "m"})

from tinker_cookbook.recipes.code_rl import code_grading  # noqa: E402

ECHO = [{"input": f"{n}\n", "output": f"{n}\n", "testtype": "stdin_stdout"} for n in range(5)]
ADD = code_grading.taco_to_lcb_format(
    {"inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"], "fn_name": "add"}
)


async def main() -> None:
    async def score(code: str, tests: Any, **more: Any) -> list[Any]:
        passed, details = await code_grading.sandbox_check_correctness(tests, code, **more)
        return [passed, details.get("status"), details.get("error")]

    outcomes = {
        "right": await score("print(input())", ECHO),
        "wrong": await score("print(1)", ECHO),
        "raises": await score("1/0", ECHO),
        "compile": await score("print(", ECHO),
        "time": await score("while True: pass", ECHO[:1], timeout=1),
        "function": await score("def add(a, b): return a + b", ADD),
        "function wrong": await score("def add(a, b): return a - b", ADD),
    }
    many = await asyncio.gather(*(score("print(input())", ECHO) for _ in range(20)))
    outcomes["twenty at once"] = sum(each[0] for each in many)
    await code_grading._get_sandboxfusion_client().close()
    print(json.dumps(outcomes))


asyncio.run(main())
