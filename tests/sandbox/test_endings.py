"""How a program came to its end, and the limits that bring it there."""

import signal
from collections.abc import Callable
from textwrap import dedent

import pytest
from for_each import for_each

from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import MEBIBYTE, Limits, limits_of

Run = Callable[..., Execution]
Batch = Callable[..., list[Execution]]


class TestErrors:
    def test_the_traceback_begins_with_the_solution(self, run: Run) -> None:
        execution = run("def f():\n    return 1 // 0\n\nprint('before')\nf()\n")
        assert execution.ending is Ending.ERROR
        assert execution.stdout == b"before\n"
        lines = execution.error.splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert [line for line in lines if line.startswith("  File")] == [
            '  File "solution.py", line 5, in <module>',
            '  File "solution.py", line 2, in f',
        ]
        assert execution.error.endswith("by zero\n")
        assert lines[-1].startswith("ZeroDivisionError: ")

    @for_each("size", [5_990, 1_000_000])
    def test_a_long_message_is_cut(self, size: int, run: Run) -> None:
        execution = run(f"raise ValueError('😀' * {size})")
        assert execution.ending is Ending.ERROR
        assert "ValueError: 😀" in execution.error
        assert len(execution.error) < 7_000

    def test_a_message_that_almost_fills_the_room_arrives(self, run: Run) -> None:
        error = run("raise ValueError(chr(0x1F600) * 5_700)").error
        assert error.count("😀") == 5_700

    def test_a_message_that_cannot_be_made(self, run: Run) -> None:
        code = """
        class Mute(Exception):
            def __str__(self): raise MemoryError
            __repr__ = __str__
        raise Mute
        """
        execution = run(code)
        assert execution.ending is Ending.ERROR
        assert "Mute" in execution.error

    def test_a_message_with_lone_surrogates(self, run: Run) -> None:
        assert "ValueError" in run(r"raise ValueError('\ud800')").error

    def test_endless_recursion_is_an_error(self, run: Run) -> None:
        execution = run("def f(): return f()\nf()")
        assert execution.ending is Ending.ERROR
        assert "RecursionError" in execution.error
        assert len(execution.error) < 7_000

    @for_each("error", ["KeyboardInterrupt", "GeneratorExit", "BaseException"])
    def test_errors_outside_exception(self, error: str, run: Run) -> None:
        execution = run(f"raise {error}")
        assert execution.ending is Ending.ERROR
        assert error in execution.error

    def test_a_function_that_is_not_there(self, run: Run) -> None:
        execution = run("class Solution:\n    def g(self): ...", entry_point="f")
        assert execution.ending is Ending.ERROR
        assert execution.error == "the solution defines no function or Solution method 'f'"

    def test_a_function_that_init_defines(self, run: Run) -> None:
        code = """
        class Solution:
            def __init__(self):
                self.f = lambda n: n + 1
        """
        assert run(code, b"1", entry_point="f").result == b"2"

    @for_each(
        ("objects", "prints"),
        [
            ("a = A(1)", b"end\n1 7\n"),
            ("a = A(1)\nb = A(2)\na.other = b\nb.other = a", b"end\n1 7\n2 7\n"),
            ("_z = A(1)\na = A(2)\natexit.register(print, 'exit')", b"end\nexit\n1 7\n2 7\n"),
            ("a = A(1)\nsys.stdout = None", b"1 7\n"),
        ],
    )
    def test_objects_that_print_as_they_are_deleted_find_all_globals(
        self, objects: str, prints: bytes, run_batch: Batch
    ) -> None:
        code = f"""
import atexit, sys
class A:
    def __init__(self, n): self.n = n
    def __del__(self): print(self.n, LATER)
{objects}
LATER = 7
print('end')
"""
        assert [each.stdout for each in run_batch(code, b"", b"")] == [prints] * 2

    def test_a_function_called_with_too_many_arguments(self, run: Run) -> None:
        execution = run("def f(a): return a", b"1\n2", entry_point="f")
        assert execution.ending is Ending.ERROR
        assert "TypeError" in execution.error
        assert execution.result is None


NOT_PYTHON = {
    "a syntax error": ("def f(:", "SyntaxError"),
    "wrong indentation": ("  x = 1\n y", "IndentationError"),
    "a module-level yield": ("yield 1", "SyntaxError"),
    "a null byte": ("x = '\0'", "null bytes"),
    "a lone surrogate": ("x = '\ud800'", "UnicodeEncodeError"),
    "nested brackets": ("(" * 10_000, ""),
    "an unknown encoding in text": ("x = 1\n\x0c\x1b", "SyntaxError"),
}


@for_each(("code", "message"), NOT_PYTHON.values(), ids=NOT_PYTHON)
def test_what_is_not_python_cannot_compile(code: str, message: str, run_batch: Batch) -> None:
    (execution,) = run_batch(code, b"", b"")
    assert execution.ending is Ending.CANNOT_COMPILE
    assert message in execution.error


class TestExits:
    @for_each(
        ("act", "code"),
        [
            ("exit(3)", 3),
            ("sys.exit(1)", 1),
            ("sys.exit(-1)", 255),
            ("sys.exit(True)", 1),
            ("sys.exit('a word')", 1),
            ("raise SystemExit(255)", 255),
            ("os._exit(7)", 7),
        ],
    )
    def test_an_exit_code_is_told(self, act: str, code: int, run: Run) -> None:
        execution = run(f"import os, sys\nprint('x', flush=True)\n{act}")
        assert (execution.ending, execution.code) == (Ending.EXIT, code)
        assert execution.stdout == b"x\n"

    def test_a_word_goes_to_stderr(self, run: Run) -> None:
        assert run("exit('a word')").stderr == "a word\n"

    @for_each("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
    def test_a_signal_is_told(self, number: signal.Signals, run: Run) -> None:
        execution = run(f"import os\nprint('x', flush=True)\nos.kill(os.getpid(), {int(number)})")
        assert (execution.ending, execution.code) == (Ending.SIGNAL, number)
        assert execution.stdout == b"x\n"

    def test_an_interpreter_that_crashes(self, run: Run) -> None:
        execution = run("import ctypes\nctypes.string_at(0)")
        assert (execution.ending, execution.code) == (Ending.SIGNAL, signal.SIGSEGV)

    def test_a_function_s_exit_leaves_no_result(self, run: Run) -> None:
        execution = run("def f(): exit()", entry_point="f")
        assert (execution.ending, execution.result) == (Ending.FINISHED, None)


class TestMemory:
    @for_each(
        "code",
        [
            "x = bytearray(2 << 30)",
            "x = []\nwhile True: x.append(bytes(1 << 20))",
            "import numpy\nnumpy.ones(1 << 30)",
            "import mmap\ntry:\n    mmap.mmap(-1, 2 << 30)\nexcept OSError:\n    raise MemoryError",
        ],
    )
    def test_more_than_the_limit(self, code: str, run: Run) -> None:
        assert run(code).ending is Ending.MEMORY_LIMIT

    def test_a_program_may_do_with_less(self, run: Run) -> None:
        code = """
        try:
            bytearray(2 << 30)
        except MemoryError:
            print('less')
        """
        execution = run(code)
        assert (execution.ending, execution.stdout) == (Ending.FINISHED, b"less\n")

    def test_the_limit_is_the_one_given(self, run: Run) -> None:
        code = "x = bytearray(300 << 20)\nprint(1)"
        assert run(code, memory_bytes=256 * MEBIBYTE).ending is Ending.MEMORY_LIMIT
        assert run(code, memory_bytes=512 * MEBIBYTE).ending is Ending.FINISHED

    def test_a_result_without_end(self, run: Run) -> None:
        code = "from itertools import repeat\ndef f(): return repeat(0)"
        assert run(code, entry_point="f").ending is Ending.MEMORY_LIMIT

    @pytest.mark.thorough
    def test_the_next_program_has_it_all_again(self, run: Run) -> None:
        for _ in range(2):
            assert run("x = bytearray(600 << 20)").ending is Ending.FINISHED


class TestOutput:
    LIMIT = 100_000

    @for_each("stream", ["stdout", "stderr"])
    def test_more_than_the_limit(self, stream: str, run: Run) -> None:
        code = f"import sys\nsys.{stream}.write('head' + 'x' * {self.LIMIT})\nprint('after')"
        execution = run(code, output_bytes=self.LIMIT)
        assert execution.ending is Ending.OUTPUT_LIMIT
        written = execution.stdout if stream == "stdout" else execution.stderr.encode()
        assert written.startswith(b"headxxx")
        assert len(written) < 20_000

    def test_a_program_that_writes_for_ever(self, run: Run) -> None:
        execution = run("while True: print('x' * 1000)", output_bytes=self.LIMIT)
        assert execution.ending is Ending.OUTPUT_LIMIT
        assert b"x\n...\nx" in execution.stdout

    def test_a_program_that_shrugs_off_the_errors(self, run: Run) -> None:
        code = """
        import os
        while True:
            try:
                os.write(1, b'x' * 1000)
            except OSError:
                break
        """
        assert run(code, output_bytes=self.LIMIT).ending is Ending.OUTPUT_LIMIT

    def test_a_long_result_is_an_output_limit(self, run: Run) -> None:
        code = f"def f(): return 'x' * {self.LIMIT}"
        execution = run(code, entry_point="f", output_bytes=self.LIMIT)
        assert (execution.ending, execution.result) == (Ending.OUTPUT_LIMIT, None)

    def test_all_that_is_under_the_limit_arrives(self, run: Run) -> None:
        execution = run(f"print('x' * {self.LIMIT - 2})", output_bytes=self.LIMIT)
        assert execution.ending is Ending.FINISHED
        assert execution.stdout == b"x" * (self.LIMIT - 2) + b"\n"

    def test_a_long_stderr_is_shown_in_part(self, run: Run) -> None:
        code = "import sys\nprint('first', 'x' * 50_000, 'last', file=sys.stderr)"
        execution = run(code)
        assert execution.ending is Ending.FINISHED
        assert execution.stderr.startswith("first xxx")
        assert execution.stderr.endswith("xxx last\n")
        assert len(execution.stderr) < 20_000

    def test_a_file_that_grows(self, run: Run) -> None:
        code = f"with open('big', 'wb') as f:\n    f.write(b'x' * {self.LIMIT + 1})"
        execution = run(code, output_bytes=self.LIMIT)
        assert execution.ending is Ending.ERROR
        assert "File too large" in execution.error

    def test_a_hole_counts_like_what_surrounds_it(self, run: Run) -> None:
        code = f"import os\nos.ftruncate(1, {self.LIMIT})"
        assert run(code, output_bytes=self.LIMIT).ending is Ending.OUTPUT_LIMIT

    def test_an_output_limit_ends_the_batch(self, run_batch: Batch) -> None:
        """A stream that could not be flushed would write into the next test."""
        code = "print('x' * int(input()))"
        executions = run_batch(code, b"%d" % self.LIMIT, b"2", output_bytes=self.LIMIT)
        assert [execution.ending for execution in executions] == [Ending.OUTPUT_LIMIT]


SPIN = "while True: pass"
SPINNERS = {
    "a loop": SPIN,
    "a loop that catches everything": """
        while True:
            try:
                while True: pass
            except: pass
        """,
    "a loop in C": "sum(iter(int, 1))",
    "several threads": """
        import threading
        def spin():
            x = bytes(1 << 20)
            from zlib import crc32
            while True: crc32(x)
        for _ in range(4):
            threading.Thread(target=spin).start()
        """,
    "a thread at exit": "import atexit\n@atexit.register\ndef _():\n    while True: pass",
    "a class that never dies": """
        class Undead:
            def __del__(self):
                while True: pass
        undead = Undead()
        """,
    "signals ignored": """
        import signal
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True: pass
        """,
}  # fmt: skip


class TestTime:
    @for_each("code", SPINNERS.values(), ids=SPINNERS)
    def test_cpu_time_is_limited(self, code: str, run: Run) -> None:
        execution = run(code, cpu_s=0.15)
        assert execution.ending is Ending.CPU_LIMIT
        assert 0.15 <= execution.cpu_s < 1.5

    def test_cpu_time_of_a_function_is_limited(self, run: Run) -> None:
        code = f"def f():\n    {SPIN}"
        assert run(code, cpu_s=0.2, entry_point="f").ending is Ending.CPU_LIMIT

    def test_compiling_is_limited_too(self, run: Run) -> None:
        line = "x = " + "+".join(f"a{n}" for n in range(100)) + "\n"  # short: no RecursionError
        assert run(line * 10_000, cpu_s=0.2).ending is Ending.CPU_LIMIT

    def test_each_test_of_a_batch_has_the_whole_limit(self, run_batch: Batch) -> None:
        code = (
            "import time\nend = time.process_time() + 0.1\n"
            "while time.process_time() < end: pass\nprint(1)"
        )
        executions = run_batch(code, *[b""] * 3, cpu_s=0.25)
        assert [execution.stdout for execution in executions] == [b"1\n"] * 3

    @for_each(
        "code",
        [
            "import time\ntime.sleep(100)",
            "import threading\nthreading.Event().wait()",
            "import threading\nthreading.Thread(target=threading.Event().wait).start()",
            "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
            "import os\nos.read(os.pipe()[0], 1)",
        ],
    )
    def test_one_that_waits_is_ended_by_the_wall_limit(self, code: str, run: Run) -> None:
        execution = run(code, wall=0.3)
        assert execution.ending is Ending.WALL_LIMIT
        assert 0.3 <= execution.wall_s < 10
        assert execution.cpu_s < 0.3

    def test_what_was_written_before_the_end_is_there(self, run: Run) -> None:
        execution = run("print('x', flush=True)\nwhile True: pass", cpu_s=0.1)
        assert execution.stdout == b"x\n"

    def test_after_a_limit_the_batch_is_over(self, run_batch: Batch) -> None:
        code = "if input() == 'spin':\n    while True: pass"
        executions = run_batch(code, b"end", b"spin", b"end", cpu_s=0.2)
        assert [execution.ending for execution in executions] == [
            Ending.FINISHED,
            Ending.CPU_LIMIT,
        ]


def test_wall_limits_are_looser_than_cpu_limits() -> None:
    assert Limits(cpu_s=6).wall_s == 18
    assert Limits(cpu_s=1).wall_s == 6
    assert limits_of("livecodebench").cpu_s == 6
    assert limits_of("of my own") == Limits()


def test_descriptors_are_limited(run: Run) -> None:
    code = dedent("""
    files = []
    while True:
        files.append(open('/dev/null'))
    """)
    assert "Too many open files" in run(code).error
