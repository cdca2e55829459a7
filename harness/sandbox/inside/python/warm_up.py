"""Rehearse the fork server's interpreter on sample solutions.

On first use the interpreter counts calls, specializes code and fills caches. Done here once, this
is not repeated in every forked process, each time in new memory.
"""

import os
import sys
from typing import Any

from inside.messages import FILE_NAME, FILES
from inside.python.compile_python import compile_solution
from inside.python.lasting_state import may_outlive
from inside.python.preamble import Preamble
from inside.python.solution_facts import SolutionFacts
from inside.runner import Runner

# pyright: reportPrivateUsage=false

TIMES = 12  # Python specializes code from the eighth call on
PREAMBLE = "import math\nfrom typing import *\nfrom collections import *\n"
FUNCTION = """
from typing import List
class Solution:
    def f(self, numbers: List[int], word: str) -> List[int]:
        return sorted(n * 2 for n in numbers)
"""
SCRIPT = """
import sys
def main():
    n = int(input())
    print(n, *map(int, sys.stdin.readline().split()))
main()
"""


def rehearse() -> None:
    """Run the samples, then restore everything they changed."""
    modules = {name: sys.modules.get(name) for name in ("__main__", "solution")}
    streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr", "argv")}
    streams |= {name: getattr(sys, name) for name in ("__stdin__", "__stdout__", "__stderr__")}
    kept = [os.dup(number) for number in range(3)]
    files = [os.memfd_create(name) for name in FILES]
    directory = os.open(".", os.O_PATH | os.O_CLOEXEC)
    try:
        preamble = Preamble(PREAMBLE)
        _run(preamble, files, directory, _job(FUNCTION, "f"), b'[3,1,2]\n"a"')
        _run(preamble, files, directory, _job(SCRIPT, None), b"2\n1 2\n")
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
        for descriptor in (*kept, *files, directory):
            os.close(descriptor)
        for name, value in streams.items():
            setattr(sys, name, value)
        for name, module in modules.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def _job(code: str, entry_point: str | None) -> dict[str, Any]:
    return {"code": code, "entry_point": entry_point, "arguments": ["json"], "result": "json"}


def _run(
    preamble: Preamble, files: list[int], directory: int, job: dict[str, Any], data: bytes
) -> None:
    os.ftruncate(files[0], 0)
    os.pwrite(files[0], data, 0)
    for _ in range(TIMES):
        is_script = job["entry_point"] is None
        solution = SolutionFacts(job, compile_solution(job["code"], FILE_NAME, is_script=is_script))
        may_outlive(solution, preamble)
        runner = Runner(solution, preamble, -1, files, directory)
        runner.rehearse()
        for file in files[1:]:
            os.ftruncate(file, 0)
