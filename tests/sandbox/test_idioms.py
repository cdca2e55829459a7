"""Programs run as real scripts: every usual way to read and to write works.

Unless it says otherwise, an idiom reads the numbers 3 and 4, one a line, and prints their sum. Each
is run alone, and three times in one process, where no test may see that others came before.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from for_each import for_each

from harness.sandbox.execution import Ending, Execution
from harness.sources import preambles


class Idiom(NamedTuple):
    name: str
    code: str
    data: bytes = b"3\n4\n"
    prints: bytes = b"7\n"


READING = (
    Idiom("input", "print(int(input()) + int(input()))"),
    Idiom("input with a prompt", "print(int(input('? ')) + int(input()))", prints=b"? 7\n"),
    Idiom("for line in sys.stdin", "import sys\nprint(sum(int(line) for line in sys.stdin))"),
    Idiom(
        "buffer.readline twice",
        "import sys\nr = sys.stdin.buffer.readline\nprint(int(r()) + int(r()))",
    ),
    Idiom("buffer.read", "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))"),
    Idiom("read after input", "import sys\nprint(int(input()) + int(sys.stdin.read()))"),
    Idiom("input after next", "import sys\nprint(int(next(sys.stdin)) + int(input()))"),
    Idiom(
        "read(1)",
        "import sys\nprint(repr(sys.stdin.read(1) + sys.stdin.read(2)))",
        b"abc",
        b"'abc'\n",
    ),
    Idiom(
        "read twice",
        "import sys\nprint([sys.stdin.read(), sys.stdin.read()])",
        b"a",
        b"['a', '']\n",
    ),
    Idiom("readlines", "import sys\nprint(len(sys.stdin.readlines()))", prints=b"2\n"),
    Idiom(
        "readlines without a last newline",
        "import sys\nprint(len(sys.stdin.readlines()))",
        b"3\n4",
        b"2\n",
    ),
    Idiom(
        "from sys import stdin",
        "from sys import stdin\nfirst = stdin.readline()[:-1]\n"
        "print(int(first) + sum(int(line) for line in stdin))",
    ),
    Idiom("open(0)", "print(sum(map(int, open(0).read().split())))"),
    Idiom("open(0) by lines", "print(sum(int(line) for line in open(0)))"),
    Idiom("open('/dev/stdin')", "print(sum(map(int, open('/dev/stdin'))))"),
    Idiom(
        "os.read as much as fstat says",
        "import os\nprint(sum(map(int, os.read(0, os.fstat(0).st_size).split())))",
    ),
    Idiom(
        "mmap",
        "import mmap\nwith mmap.mmap(0, 0, access=mmap.ACCESS_READ) as m:\n"
        "    print(sum(map(int, m[:].split())))",
    ),
    Idiom("no last newline", "print(int(input()) + int(input()))", b"3\n4"),
    Idiom("carriage returns", "print([input(), input()])", b"3\r\n4\r\n", b"['3', '4']\n"),
    Idiom(
        "carriage returns in bytes",
        "import sys\nprint(sys.stdin.buffer.read())",
        b"3\r\n",
        b"b'3\\r\\n'\n",
    ),
    Idiom("nothing to read", "import sys\nprint(repr(sys.stdin.read()))", b"", b"''\n"),
    Idiom(
        "the end of the input",
        "try:\n    while True:\n        input()\nexcept EOFError:\n    print('end')",
        prints=b"end\n",
    ),
    Idiom("not ASCII", "print(input()[::-1])", "héλ\n".encode(), "λéh\n".encode()),
    Idiom("not UTF-8", "print(input())", b"\xff\xfe\n", b"\xff\xfe\n"),
    Idiom("fileinput", "import fileinput\nprint(sum(map(int, fileinput.input())))"),
)

WRITING = (
    Idiom("buffer.write", "import sys\nsys.stdout.buffer.write(b'x\\n')", prints=b"x\n"),
    Idiom(
        "buffer.write after print",
        "import sys\nprint('a', flush=True)\nsys.stdout.buffer.write(b'b')",
        prints=b"a\nb",
    ),
    Idiom("from sys import stdout", "from sys import stdout\nstdout.write('x')", prints=b"x"),
    Idiom("os.write", "import os\nos.write(1, b'x')", prints=b"x"),
    Idiom("open(1, 'w')", "open(1, 'w').write('x')", prints=b"x"),
    Idiom("print without an end", "print(1, 2, sep='', end='')", prints=b"12"),
    Idiom("print to stderr", "import sys\nprint(1, file=sys.stderr)", prints=b""),
    Idiom("sys.__stdout__", "import sys\nsys.__stdout__.write('x')", prints=b"x"),
    Idiom("logging", "import logging, sys\nlogging.basicConfig(stream=sys.stdout, level=0, "
          "format='%(message)s', force=True)\nlogging.info('x')", prints=b"x\n"),
    Idiom("redirect_stdout", "import contextlib, io\n"
          "with contextlib.redirect_stdout(io.StringIO()) as f:\n    print('x')\n"
          "print(len(f.getvalue()))", prints=b"2\n"),
    Idiom("stdout closed at the end", "import sys\nprint('x')\nsys.stdout.close()", prints=b"x\n"),
    Idiom("atexit", "import atexit\natexit.register(print, 'bye')\nprint('x')", prints=b"x\nbye\n"),
    Idiom(
        "__del__",
        "class Farewell:\n    def __del__(self):\n        print('gone')\n"
        "kept = Farewell()\nprint('x')",
        prints=b"x\ngone\n",
    ),
    Idiom(
        "buffered writer on a descriptor",
        "import io\nout = io.FileIO(1, 'w', closefd=False)\nout.write(b'x')",
        prints=b"x",
    ),
)  # fmt: skip

SHAPE = (
    Idiom("global counter", "n = 0\ndef f():\n    global n\n    n += 1\nf()\nf()\nprint(n)",
          prints=b"2\n"),
    Idiom("globals()", "def f():\n    return 5\nprint(globals()['f']())", prints=b"5\n"),
    Idiom("locals at module level", "x = 5\nprint(locals()['x'])", prints=b"5\n"),
    Idiom("main guard", "if __name__ == '__main__':\n    print(1)", prints=b"1\n"),
    Idiom("main guard, turned round", "if '__main__' == __name__:\n    print(1)", prints=b"1\n"),
    Idiom(
        "main guard, not last",
        "if __name__ == '__main__':\n    print(1)\nprint(2)",
        prints=b"1\n2\n",
    ),
    Idiom(
        "import __main__",
        "import __main__\nx = 5\nprint(__main__.x, __main__.__file__)",
        prints=b"5 solution.py\n",
    ),
    Idiom(
        "from __future__",
        "'A docstring.'\nfrom __future__ import annotations\n"
        "def f(x: Undefined) -> None: ...\nprint(f.__annotations__['x'])",
        prints=b"Undefined\n",
    ),
    Idiom("exit()", "print(1)\nexit()\nprint(2)", prints=b"1\n"),
    Idiom("quit()", "print(1)\nquit()\nprint(2)", prints=b"1\n"),
    Idiom("sys.exit(0)", "import sys\nprint(1)\nsys.exit(0)", prints=b"1\n"),
    Idiom("exit in a function", "def f():\n    print(1)\n    exit()\nf()", prints=b"1\n"),
    Idiom("raise SystemExit", "print(1)\nraise SystemExit", prints=b"1\n"),
    Idiom("os._exit", "import os\nprint(1, flush=True)\nos._exit(0)", prints=b"1\n"),
    Idiom("sys.argv", "import sys\nprint(sys.argv)", prints=b"['solution.py']\n"),
    Idiom("dataclass", "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
          "print(P(1))", prints=b"P(x=1)\n"),
    Idiom("pickle of a class", "import pickle\nclass P: ...\n"
          "print(type(pickle.loads(pickle.dumps(P()))).__name__)", prints=b"P\n"),
    Idiom("inspect.getsource", "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))",
          prints=b"def f(): return 1\n\n"),
    Idiom("numpy", "import numpy as np\nprint(int(np.loadtxt(open(0)).sum()))"),
    Idiom("sortedcontainers", "from sortedcontainers import SortedList\n"
          "print(SortedList([2, 1])[0])", prints=b"1\n"),
    Idiom("int to str beyond 4300 digits", "print(len(str(10 ** 5000)))", prints=b"5001\n"),
    Idiom("str to int beyond 4300 digits", "print(int('9' * 5000) % 10)", prints=b"9\n"),
    Idiom("an assertion that holds", "assert True\nprint(__debug__)", prints=b"True\n"),
    Idiom("asyncio", "import asyncio\nasync def f():\n    print(1)\nasyncio.run(f())",
          prints=b"1\n"),
    Idiom("a temporary file", "import tempfile\nwith tempfile.TemporaryFile() as f:\n"
          "    f.write(b'x')\nprint(1)", prints=b"1\n"),
    Idiom("a file of its own", "import os\nprint(os.listdir())\nopen('made', 'w').close()\n"
          "os.remove('made')", prints=b"[]\n"),
)  # fmt: skip

DEEP = """
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
"""

THREADS = (
    Idiom(
        "recursion",
        f"import sys\nsys.setrecursionlimit(10 ** 6)\n{DEEP}\nprint(down(10 ** 5))",
        prints=b"100000\n",
    ),
    Idiom(
        "recursion in a thread with a big stack",
        "import sys, threading\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(1 << 27)\n"
        f"{DEEP}\nt = threading.Thread(target=lambda: print(down(10 ** 5)))\nt.start()\nt.join()",
        prints=b"100000\n",
    ),
    Idiom(
        "a thread that nobody joins",
        "import threading\ndef main():\n    print(int(input()) + int(input()))\n"
        "threading.Thread(target=main).start()",
    ),
    Idiom(
        "a thread that prints after the main one ended",
        "import threading\nmain = threading.current_thread()\ngate = threading.Event()\n"
        "def late():\n    gate.wait()\n    print('late')\n"
        "threading.Thread(target=late).start()\nprint('first')\ngate.set()",
        prints=b"first\nlate\n",
    ),
    Idiom(
        "a daemon thread that goes on",
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print('x')",
        prints=b"x\n",
    ),
    Idiom(
        "a pool in a with block",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    print(list(pool.map(abs, [-1, -2])))",
        prints=b"[1, 2]\n",
    ),
    Idiom(
        "a pool that is not shut down",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
        "pool.submit(print, 'x')",
        prints=b"x\n",
    ),
    Idiom(
        "_thread",
        "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\n"
        "def f():\n    print('x', flush=True)\n    lock.release()\n"
        "_thread.start_new_thread(f, ())\nlock.acquire()",
        prints=b"x\n",
    ),
)

# The usual "fast I/O" templates put objects of their own in place of the standard streams.
TEMPLATES = (
    Idiom(
        "streams replaced by wrappers of a descriptor",
        """
import os, sys
from io import BytesIO, IOBase

class Fast(IOBase):
    def __init__(self, file):
        self.fd = file.fileno()
        self.writes = "r" not in file.mode
        self.pending = BytesIO()
        self.write = self.pending.write if self.writes else None
        self.lines = 0 if self.writes else iter(
            os.read(self.fd, max(os.fstat(self.fd).st_size, 8192)).splitlines(True)
        )

    def readline(self):
        return next(self.lines, b"")

    def flush(self):
        if self.writes:
            os.write(self.fd, self.pending.getvalue())
            self.pending.truncate(0), self.pending.seek(0)

class Text(IOBase):
    def __init__(self, file):
        self.buffer = Fast(file)
        self.flush = self.buffer.flush
        self.write = lambda text: self.buffer.write(text.encode())
        self.readline = lambda: self.buffer.readline().decode()

sys.stdin, sys.stdout = Text(sys.stdin), Text(sys.stdout)
input = lambda: sys.stdin.readline().rstrip()
print(int(input()) + int(input()))
""",
    ),
    Idiom(
        "stdin replaced by a buffer",
        "import io, os, sys\nsys.stdin = io.BytesIO(os.read(0, os.fstat(0).st_size))\n"
        "input = sys.stdin.readline\nprint(int(input()) + int(input()))",
    ),
    Idiom(
        "input replaced by a reader of lines",
        "import sys\ninput = iter(sys.stdin.buffer.read().splitlines()).__next__\n"
        "print(int(input()) + int(input()))",
    ),
    Idiom(
        "stdout replaced and written at exit",
        "import atexit, io, sys\nout = sys.stdout = io.StringIO()\n"
        "atexit.register(lambda: sys.__stdout__.write(out.getvalue()))\n"
        "print(int(input()) + int(input()))",
    ),
    Idiom(
        "a text layer with a large buffer",
        "import io, sys\nsys.stdout = io.TextIOWrapper(open(1, 'wb', 1 << 20, closefd=False))\n"
        "print(int(input()) + int(input()))",
    ),
    Idiom(
        "stdout detached",
        "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), write_through=True)\n"
        "print(int(input()) + int(input()))",
    ),
    Idiom(
        "stdout reconfigured",
        "import sys\nsys.stdout.reconfigure(line_buffering=False, newline='\\r\\n')\nprint('x')",
        prints=b"x\r\n",
    ),
    Idiom(
        "names and modes of the streams",
        "import sys\nprint([(s.name, s.mode, s.fileno()) for s in (sys.stdin, sys.stdout)])",
        prints=b"[('<stdin>', 'r', 0), ('<stdout>', 'w', 1)]\n",
    ),
)

IDIOMS = READING + WRITING + SHAPE + THREADS + TEMPLATES


def test_every_idiom_has_a_name_of_its_own() -> None:
    assert len({idiom.name for idiom in IDIOMS}) == len(IDIOMS)


@for_each("idiom", IDIOMS)
def test_an_idiom_works_alone(idiom: Idiom, run: Callable[..., Execution]) -> None:
    execution = run(idiom.code, idiom.data)
    assert (execution.ending, execution.error) == (Ending.FINISHED, "")
    assert execution.stdout == idiom.prints


@for_each("idiom", IDIOMS)
def test_works_in_a_batch(idiom: Idiom, run_batch: Callable[..., list[Execution]]) -> None:
    left = 3
    while left:  # what leaves a thread behind ends its batch: the rest is for another
        executions = run_batch(idiom.code, *[idiom.data] * left)
        left -= len(executions)
        for execution in executions:
            assert (execution.ending, execution.error) == (Ending.FINISHED, "")
            assert execution.stdout == idiom.prints


def test_what_is_beside_the_packages_named_cannot_be_imported(
    run: Callable[..., Execution],
) -> None:
    execution = run("import pydantic")
    assert execution.ending is Ending.ERROR
    assert "ModuleNotFoundError: No module named 'pydantic'" in execution.error


@for_each("module", ["inside", "harness", "runner", "values"])
def test_the_sandbox_s_own_modules_cannot_be_imported(
    module: str, run: Callable[..., Execution]
) -> None:
    assert "ModuleNotFoundError" in run(f"import {module}").error


def test_stderr_is_kept_apart(run: Callable[..., Execution]) -> None:
    execution = run("import sys\nprint(1)\nprint('é\\udcff', file=sys.stderr)")
    assert (execution.stdout, execution.stderr) == (b"1\n", "é\\udcff\n")


class TestPreamble:
    """A preamble's names are there for program and function alike."""

    PREAMBLE = "from math import *\nimport sys\nfrom sys import stdin\nimport string\nLIMIT = 5\n"

    def test_names_of_a_preamble_are_there(self, run: Callable[..., Execution]) -> None:
        execution = run("print(gcd(6, 4), LIMIT, string.digits)", preamble=self.PREAMBLE)
        assert execution.stdout == b"2 5 0123456789\n"

    def test_streams_are_those_of_the_test(self, run_batch: Callable[..., list[Execution]]) -> None:
        code = "print(stdin is sys.stdin, stdin.read())"
        executions = run_batch(code, b"a", b"b", preamble=self.PREAMBLE)
        assert [execution.stdout for execution in executions] == [b"True a\n", b"True b\n"]

    def test_a_preamble_is_not_seen_by_a_program_without_one(
        self, run: Callable[..., Execution]
    ) -> None:
        run("", preamble=self.PREAMBLE)
        assert "NameError" in run("print(LIMIT)").error

    def test_a_preamble_keeps_line_numbers_and_future_imports(
        self, run: Callable[..., Execution]
    ) -> None:
        code = "from __future__ import annotations\ndef f(x: Undefined): ...\n1 / 0\n"
        assert 'File "solution.py", line 3' in run(code, preamble=self.PREAMBLE).error

    def test_a_preamble_is_filled_afresh_for_each_test(
        self, run_batch: Callable[..., list[Execution]]
    ) -> None:
        code = "print(LIMIT, gcd(6, 4))\nLIMIT = 6\ngcd = max"
        executions = run_batch(code, b"", b"", preamble=self.PREAMBLE)
        assert [execution.stdout for execution in executions] == [b"5 2\n"] * 2

    def test_a_preamble_serves_functions(self, run: Callable[..., Execution]) -> None:
        code = "def f(a, b):\n    return gcd(a, b) + LIMIT"
        assert run(code, b"6\n4", preamble=self.PREAMBLE, entry_point="f").result == b"7"

    PACKAGE = "import numpy as np\nimport not_installed\nLIMIT = 5\n"
    LOADED = "import sys\nprint('numpy' in sys.modules)\n"

    @for_each("code", ["input()", "# snp np_ xnp"])
    def test_a_package_is_not_loaded_for_a_name_within_a_word(
        self, code: str, run: Callable[..., Execution]
    ) -> None:
        assert run(self.LOADED + code, b"\n", preamble=self.PACKAGE).stdout == b"False\n"

    def test_a_package_is_there_for_those_who_name_it(self, run: Callable[..., Execution]) -> None:
        pytest.importorskip("numpy")
        code = "print(int(np.arange(3).sum()), LIMIT)"
        assert run(code, preamble=self.PACKAGE).stdout == b"3 5\n"

    def test_a_package_that_is_not_installed_is_not_there(
        self, run: Callable[..., Execution]
    ) -> None:
        execution = run("print(LIMIT)\nnot_installed", preamble=self.PACKAGE)
        assert execution.stdout == b"5\n"
        assert "NameError: name 'not_installed' is not defined" in execution.error

    @for_each("name", ["_lctk", "list_node", "tree_node", "is_same_list"])
    def test_no_helper_of_ours_is_seen_under_mercury(
        self, name: str, run: Callable[..., Execution]
    ) -> None:
        assert "NameError" in run(name, preamble=preambles.MERCURY).error

    @for_each("name", ["Counter", "insort", "gcd", "np", "Dict"])
    def test_mercury_lacks_what_its_home_lacks(
        self, name: str, run: Callable[..., Execution]
    ) -> None:
        assert "NameError" in run(name, preamble=preambles.MERCURY).error

    @for_each("name", list(preambles.BY_NAME))
    def test_every_source_s_runs_test_after_test(
        self, name: str, run_batch: Callable[..., list[Execution]]
    ) -> None:
        code = "import sys\ntry: print(len(stdin.read()))\nexcept NameError: print(2)"
        executions = run_batch(code, b"ab", b"cd", preamble=preambles.BY_NAME[name])
        assert [(x.stdout, x.error) for x in executions] == [(b"2\n", "")] * 2

    @for_each(("name", "limit"), [("livecodebench", 50_000), ("leetcode", 50_000), ("apps", 1_000)])
    def test_the_recursion_limit_is_the_source_s(
        self, name: str, limit: int, run_batch: Callable[..., list[Execution]]
    ) -> None:
        code = "import sys\nprint(sys.getrecursionlimit())\nsys.setrecursionlimit(77)"
        executions = run_batch(code, b"", b"", preamble=preambles.BY_NAME[name])
        assert [x.stdout for x in executions] == [b"%d\n" % limit] * 2
