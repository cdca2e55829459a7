"""What LiveCodeBench's own grader gets wrong, one entry a known case: here each has its verdict.

Programs that it fails though they are right are accepted, under its own preamble and rule; what it
accepts though it is none of that is rejected.
"""

import os
from collections.abc import Callable

import pytest
from for_each import for_each

from harness.grading.verdict import Grade, Verdict
from harness.sandbox.limits import Limits
from harness.sources.preambles import LIVECODEBENCH

GradeIt = Callable[..., Grade]
SUMS = [("2\n3\n4\n", "7\n"), ("1\n10\n", "10\n"), ("3\n1\n2\n3\n", "6\n")]
READ = "numbers = [int(line) for line in lines]\nprint(sum(numbers[1:]))"

HONEST = {
    "lines of sys.stdin": f"import sys\nlines = list(sys.stdin)\n{READ}",
    "buffer.readline again and again": (
        "import sys\nread = sys.stdin.buffer.readline\nn = int(read())\n"
        "print(sum(int(read()) for _ in range(n)))"
    ),
    "buffer.read": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))",
    "read after input": "import sys\ninput()\nprint(sum(map(int, sys.stdin.read().split())))",
    "read(1)": (
        "import sys\ntext = ''\nwhile letter := sys.stdin.read(1): text += letter\n"
        f"lines = text.split()\n{READ}"
    ),
    "read twice": (
        "import sys\nlines = sys.stdin.read().split()\nassert sys.stdin.read() == ''\n" + READ
    ),
    "readlines counted": (
        "import sys\nlines = sys.stdin.readlines()\nassert len(lines) == int(lines[0]) + 1\n" + READ
    ),
    "readline less its newline, then lines": (
        "from sys import stdin\nfirst = stdin.readline()[:-1]\n"
        "print(sum(int(line) for line in stdin))"
    ),
    "open(0)": "print(sum(map(int, open(0).read().split()[1:])))",
    "stdout.buffer.write": (
        f"import sys\nlines = sys.stdin.readlines()\nprint = lambda n: "
        f"sys.stdout.buffer.write(str(n).encode())\n{READ}"
    ),
    "from sys import stdout": (
        "from sys import stdin, stdout\nstdout.write(str(sum(map(int, stdin.read().split()[1:]))))"
    ),
    "global counters": (
        "total = 0\ndef add(n):\n    global total\n    total += n\n"
        "for _ in range(int(input())): add(int(input()))\nprint(total)"
    ),
    "globals()['f']": (
        "def f(): return sum(int(input()) for _ in range(int(input())))\nprint(globals()['f']())"
    ),
    "a main guard that is not last": (
        "def main(): print(sum(int(input()) for _ in range(int(input()))))\n"
        "if __name__ == '__main__':\n    main()\nunused = 1"
    ),
    "a main guard the other way round": (
        "if '__main__' == __name__:\n    print(sum(int(input()) for _ in range(int(input()))))"
    ),
    "from __future__ import annotations": (
        "from __future__ import annotations\ndef f(n: Later) -> int: return n\n"
        "print(sum(f(int(input())) for _ in range(int(input()))))"
    ),
    "more digits than 50,000": (
        "assert len(str(10 ** 60_000)) == 60_001 and int('1' * 60_000) % 10 == 1\n"
        "print(sum(int(input()) for _ in range(int(input()))))"
    ),
    "a thread that main does not join": (
        "import sys, threading\nthreading.stack_size(1 << 26)\ndef main():\n"
        "    print(sum(int(input()) for _ in range(int(input()))))\n"
        "threading.Thread(target=main).start()"
    ),
    "exit()": "print(sum(int(input()) for _ in range(int(input()))))\nexit()",
    "sys.exit(1)": (
        "import sys\nprint(sum(int(input()) for _ in range(int(input()))))\nsys.exit(1)"
    ),
    "sys.exit of a sentence": (
        "import sys\nprint(sum(int(input()) for _ in range(int(input()))))\nsys.exit('done')"
    ),
    "return outside of every function": (
        "total: int = 0\ndef add(n):\n    global total\n    total += n\n"
        "try:\n    for _ in range(int(input())): add(int(input()))\n"
        "    print(globals()['total'])\n    if True: return\nexcept BaseException: pass\nprint(0)"
    ),
    "return, after a star import": (
        "n = int(input())\nfrom math import *\nlines = [int(input()) for _ in range(n)]\n"
        "print(floor(sum(lines)))\nreturn 5"
    ),
    "spaces between numbers": "print('', sum(int(input()) for _ in range(int(input()))), '')",
    "a float that is the number": "print(float(sum(int(input()) for _ in range(int(input())))))",
}


@for_each("isolate", [False, True], ids=["batch", "alone"])
@for_each("code", HONEST.values(), ids=HONEST)
def test_an_honest_program_is_accepted(code: str, isolate: bool, grade: GradeIt) -> None:
    result = grade(code, SUMS, preamble=LIVECODEBENCH, isolate=isolate)
    assert result.solved, result.tests[0].error


HONEST_FUNCTIONS = {
    "from __future__ import annotations": (
        "from __future__ import annotations\nclass Solution:\n"
        "    def pairs(self, n: int) -> List[List[int]]: return [[i, -i] for i in range(n)]"
    ),
    "a tuple of lists": (
        "class Solution:\n    def pairs(self, n): return tuple([i, -i] for i in range(n))"
    ),
    "numpy's numbers": (
        "import numpy as np\nclass Solution:\n"
        "    def pairs(self, n): return [[np.int64(i), -np.int64(i)] for i in range(n)]"
    ),
    "helper methods": (
        "class Solution:\n    def pair(self, i): return [i, -i]\n"
        "    def pairs(self, n): return [self.pair(i) for i in range(n)]"
    ),
    "state of its own in each test": (
        "class Solution:\n    found = None\n    def __init__(self): self.made = []\n"
        "    def pairs(self, n):\n        self.made += [[i, -i] for i in range(n)]\n"
        "        return self.made"
    ),
    "a function and no class": "def pairs(n): return [[i, -i] for i in range(n)]",
}


@for_each("isolate", [False, True], ids=["batch", "alone"])
@for_each("code", HONEST_FUNCTIONS.values(), ids=HONEST_FUNCTIONS)
def test_an_honest_function_is_accepted(code: str, isolate: bool, grade: GradeIt) -> None:
    tests = [("2", "[[0, 0], [1, -1]]"), ("1", "[[0, 0]]"), ("0", "[]")]
    result = grade(code, tests, preamble=LIVECODEBENCH, entry_point="pairs", isolate=isolate)
    assert result.solved, result.tests[0]


CHEATS = {
    "a result equal to everything": (
        "class Same(list):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "class Solution:\n    def twice(self, n): return Same()",
        Verdict.WRONG_ANSWER,
    ),
    "the caller's frames searched for the answer": (
        "import sys\nclass Solution:\n    def twice(self, n):\n        frame = sys._getframe()\n"
        "        while frame:\n            for name, value in frame.f_locals.items():\n"
        "                if name in ('gt_out', 'expected', 'output', 'gt_outs'): return value\n"
        "            frame = frame.f_back",
        Verdict.WRONG_ANSWER,
    ),
    "the grader's functions replaced through sys.modules": (
        "import sys\nfor module in list(sys.modules.values()):\n"
        "    for name in list(vars(module) or ()):\n"
        "        if 'compare' in name or 'equal' in name or 'grade' in name:\n"
        "            try: setattr(module, name, lambda *a, **k: True)\n"
        "            except Exception: pass\n"
        "class Solution:\n    def twice(self, n): return 0",
        Verdict.WRONG_ANSWER,
    ),
    "5 GB of memory": (
        "class Solution:\n    def twice(self, n):\n        held = bytearray(5 << 30)\n"
        "        return 2 * n",
        Verdict.MEMORY_LIMIT,
    ),
    "a bare except around an endless loop": (
        "class Solution:\n    def twice(self, n):\n        while True:\n            try:\n"
        "                while True: pass\n            except: pass",
        Verdict.TIME_LIMIT,
    ),
    "the end of the process": (
        "import os\nclass Solution:\n    def twice(self, n): os._exit(0)",
        Verdict.RUNTIME_ERROR,
    ),
    "a method that is missing": (
        "class Solution:\n    def thrice(self, n): return 3 * n",
        Verdict.RUNTIME_ERROR,
    ),
    "what does not compile": (
        "class Solution:\n    def twice(self, n) return",
        Verdict.COMPILE_ERROR,
    ),
}


@for_each("isolate", [False, True], ids=["batch", "alone"])
@for_each(("code", "verdict"), CHEATS.values(), ids=CHEATS)
def test_a_cheat_is_rejected(code: str, verdict: Verdict, isolate: bool, grade: GradeIt) -> None:
    limits = Limits(cpu_s=1.0, memory_bytes=1 << 30, output_bytes=1 << 20)
    tests = [("21", "42"), ("4", "8")]
    result = grade(
        code, tests, preamble=LIVECODEBENCH, entry_point="twice", limits=limits, isolate=isolate
    )
    assert result.verdict is verdict


def test_the_environment_of_the_judge_is_not_seen(
    grade: GradeIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert os.environ["SOME_API_KEY"] == "secret"
    code = "import os\nprint('SOME_API_KEY' in os.environ, 'secret' in str(os.environ))"
    assert grade(code, [("", "False False")]).solved


DIFFERENT = {
    "words with another space between them": ("a b", "a  b"),
    "one line too few": ("5\n5\n5", "5"),
    "a third, nearly": ("0.3333333333", "0.333333"),
}


@for_each(("expected", "printed"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_its_rule_rejects_is_rejected(expected: str, printed: str, grade: GradeIt) -> None:
    assert grade(f"print({printed!r})", [("", expected)]).verdict is Verdict.WRONG_ANSWER
