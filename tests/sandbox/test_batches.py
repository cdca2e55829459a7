"""Tests of a batch share a process, and see nothing of each other in what is renewed."""

from collections.abc import Callable

import pytest
from for_each import for_each

from harness.sandbox.execution import Ending, Execution
from harness.sandbox.trial import INPUT_BYTES

Run = Callable[..., Execution]
Batch = Callable[..., list[Execution]]

SPOILS = {
    "the namespace": ("print('seen' in globals())\nseen = 1", b"False\n"),
    "a name of the main module": (
        "import __main__\nprint(hasattr(__main__, 'seen'))\n__main__.seen = 1",
        b"False\n",
    ),
    "stdin read to its end": ("import sys\nprint(sys.stdin.read())", b"data\n"),
    "stdin closed": ("import sys\nprint(sys.stdin.read())\nsys.stdin.close()", b"data\n"),
    "descriptor 0 closed": ("import os, sys\nprint(sys.stdin.read())\nos.close(0)", b"data\n"),
    "descriptor 1 closed": (
        "import os, sys\nprint('x', flush=True)\nos.close(1)\nsys.stdout = None",
        b"x\n",
    ),
    "stdout replaced": ("import io, sys\nprint('x')\nsys.stdout = io.StringIO()", b"x\n"),
    "stdout written to without a flush": ("print('x')", b"x\n"),
    "the recursion limit": (
        "import sys\nprint(sys.getrecursionlimit())\nsys.setrecursionlimit(50)",
        b"1000\n",
    ),
    "a built-in replaced": (
        "import builtins\nprint(len('ab'))\nbuiltins.len = lambda _: 9",
        b"2\n",
    ),
    "a built-in added": (
        "import builtins\nprint(hasattr(builtins, 'seen'))\nbuiltins.seen = 1",
        b"False\n",
    ),
    "a built-in removed": ("import builtins\nprint(sorted('b'))\ndel builtins.sorted", b"['b']\n"),
    "the arguments": ("import sys\nprint(sys.argv)\nsys.argv.append('x')", b"['solution.py']\n"),
    "the module path": (
        "import sys\nprint('seen' in sys.path)\nsys.path.append('seen')",
        b"False\n",
    ),
    "the working directory": (
        "import os\nprint(os.getcwd() == os.environ['HOME'])\nos.chdir('/')",
        b"True\n",
    ),
    "an alarm": ("import signal\nprint(signal.alarm(60))", b"0\n"),
    "the collector": ("import gc\nprint(gc.isenabled())\ngc.disable()", b"True\n"),
    "functions called at exit": ("import atexit\natexit.register(print, 'x')", b"x\n"),
}


@for_each(("code", "prints"), SPOILS.values(), ids=SPOILS)
def test_a_test_does_not_see_what_an_earlier_one_did_to(
    code: str, prints: bytes, run_batch: Batch
) -> None:
    executions = run_batch(code, b"data", b"data", b"data")
    assert [(e.ending, e.stdout, e.error) for e in executions] == [
        (Ending.FINISHED, prints, "")
    ] * 3


def test_each_test_has_an_object_of_its_own(run_batch: Batch) -> None:
    code = """
    class Solution:
        shared = []
        def __init__(self):
            self.own = []
        def f(self, item):
            self.own.append(item)
            self.shared.append(item)
            return [self.own, self.shared, __name__]
    """
    executions = run_batch(code, b"1", b"2", entry_point="f")
    assert [execution.result for execution in executions] == [
        b'[[1],[1],"solution"]',
        b'[[2],[2],"solution"]',
    ]


def test_imported_modules_are_shared(run_batch: Batch) -> None:
    """What the judge confirms failures and checks passes again for."""
    code = "import math\nprint(hasattr(math, 'seen'))\nmath.seen = 1"
    executions = run_batch(code, b"", b"")
    assert [execution.stdout for execution in executions] == [b"False\n", b"True\n"]


def test_programs_share_nothing(run: Run) -> None:
    spoil = "import math, os\nmath.seen = 1\nopen('left', 'w').close()\nos.mkdir('folder')"
    assert run(spoil).ending is Ending.FINISHED
    look = "import math, os\nprint(hasattr(math, 'seen'), os.listdir())"
    assert run(look).stdout == b"False []\n"


def test_inputs_and_outputs_are_not_mixed_up(run_batch: Batch) -> None:
    inputs = [b"%d" % (10**digits) for digits in range(60)]
    executions = run_batch(
        "import sys\ns = input()\nprint(s)\nprint(s[::-1], file=sys.stderr)", *inputs
    )
    assert [execution.stdout for execution in executions] == [data + b"\n" for data in inputs]
    assert [execution.stderr.encode() for execution in executions] == [
        data[::-1] + b"\n" for data in inputs
    ]


@for_each("last_act", ["1 / 0", "exit(1)", "import nothing_like_it"])
def test_an_error_does_not_end_a_batch(last_act: str, run_batch: Batch) -> None:
    executions = run_batch(f"s = input()\nprint(s)\nif s == 'b':\n    {last_act}", b"a", b"b", b"c")
    assert [execution.stdout for execution in executions] == [b"a\n", b"b\n", b"c\n"]
    first, second, third = (execution.ending for execution in executions)
    assert first is third is Ending.FINISHED
    assert second in {Ending.ERROR, Ending.EXIT}


def test_the_end_of_the_process_ends_the_batch(run_batch: Batch) -> None:
    code = "import os\ns = input()\nprint(s, flush=True)\nif s == 'b':\n    os._exit(0)"
    executions = run_batch(code, b"a", b"b", b"c")
    assert [(execution.ending, execution.stdout) for execution in executions] == [
        (Ending.FINISHED, b"a\n"),
        (Ending.FINISHED, b"b\n"),
    ]


def test_a_thread_left_behind_ends_the_batch(run_batch: Batch) -> None:
    code = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    assert len(run_batch(code, b"", b"")) == 1


def test_peak_memory_is_known_of_a_test_alone(run: Run, run_batch: Batch) -> None:
    code = "x = bytearray(100 << 20)"
    alone = run(code)
    assert 100 << 20 < alone.peak_bytes < 200 << 20
    assert alone.alone
    together = run_batch("x = bytearray(int(input()) << 20)", b"1", b"100")
    assert not any(execution.alone for execution in together)
    assert len({execution.peak_bytes for execution in together}) == 1
    assert 100 << 20 < together[0].peak_bytes < 200 << 20


def test_time_is_that_of_each_test(run_batch: Batch) -> None:
    code = (
        "import time\nend = time.process_time() + float(input())\n"
        "while time.process_time() < end: pass"
    )
    quick, slow, again = run_batch(code, b"0", b"0.3", b"0")
    assert 0.3 <= slow.cpu_s < 1
    assert slow.wall_s >= slow.cpu_s * 0.9
    assert quick.cpu_s < 0.25
    assert again.cpu_s < 0.25


def test_inputs_that_are_too_many_for_a_batch_are_left_for_another(
    run_batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert INPUT_BYTES >= 1 << 20
    monkeypatch.setattr("harness.sandbox.trial.INPUT_BYTES", 10)
    code = "print(len(input()))"
    assert [e.stdout for e in run_batch(code, b"a" * 4, b"b" * 6, b"c")] == [b"4\n", b"6\n"]
    assert [e.stdout for e in run_batch(code, b"a" * 40, b"b")] == [b"40\n"]


def test_outputs_that_pile_up_end_a_batch(
    run_batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sandbox.lazy_fork_server.COLLECT_BYTES", 10)
    code = "print('x' * int(input()))"
    assert [len(e.stdout) for e in run_batch(code, b"3", b"7", b"1", b"1")] == [4, 8]
