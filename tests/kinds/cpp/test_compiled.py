"""C++ programs: verdicts, limits, and the cache of compiled programs."""

import contextlib
import errno
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from for_each import for_each
from processes import descendants

import harness.sandbox
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.kinds.cpp import builder
from harness.kinds.cpp.binaries import Binaries
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import TestCase
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SANDBOX = Path(harness.sandbox.__file__).parent  # where what runs inside finds itself
sys.path.insert(0, str(SANDBOX))

from inside.compiled_trial import failure, is_unstarted  # noqa: E402 - the folder must be known

LIMITS = Limits(cpu_s=1.0, memory_bytes=256 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
DOUBLE = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", 2 * n); }\n'
TESTS = [TestCase(input=f"{n}\n", output=f"{2 * n}\n", public=n == 1) for n in (1, 20, 300)]


def _judge(worker: Worker, code: str, limits: Limits = LIMITS) -> Grade:
    return judge(worker, Task(Program(code, language="cpp"), TESTS, limits))


def test_a_right_program_is_accepted_on_every_test(worker: Worker) -> None:
    grade = _judge(worker, DOUBLE)
    assert grade.verdict is Verdict.ACCEPTED
    assert [test.peak_bytes is not None for test in grade.tests] == [True] * 3


MACROS = "".join(
    f"#define {name} {', '.join([of] * 10)}\n" for name, of in zip("ABCDEF", "1ABCDE", strict=True)
)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("char huge[100 << 20] = {1};\nint main() {}", "the compiler writes more than 48 MiB"),
        (f"{MACROS}int all[] = {{F}};\nint main() {{}}", "the compiler needs more than 64 MiB"),
    ],
    ids=["size", "memory"],
)
def test_a_compiler_that_reaches_a_limit_is_no_fault_of_the_compiler(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, code: str, error: str
) -> None:
    most = replace(builder.COMPILER_LIMITS, memory_bytes=64 * MEBIBYTE)
    monkeypatch.setattr(builder, "COMPILER_LIMITS", most)
    (test,) = _judge(worker, code).tests
    assert test.verdict is Verdict.COMPILE_ERROR
    assert test.error.startswith(error)
    assert "internal compiler error" not in test.error
    assert "bug report" not in test.error


@for_each(
    ("code", "verdict", "error"),
    [
        ("int main() { return 3; }", Verdict.RUNTIME_ERROR, "exit code 3"),
        ("#include <cstdlib>\nint main() { abort(); }", Verdict.RUNTIME_ERROR, "signal 6"),
        ("int main() { for (;;) {} }", Verdict.TIME_LIMIT, ""),
        ("int main() {}", Verdict.WRONG_ANSWER, ""),
        (
            'asm(".section .interp,\\"a\\"\\n.string \\"/usr/bin/env\\"\\n.text");\nint main() {}',
            Verdict.RUNTIME_ERROR,
            "could not be started",
        ),
        (
            'asm(".section .interp,\\"a\\"\\n.string \\"/no/such\\"\\n.text");\nint main() {}',
            Verdict.RUNTIME_ERROR,
            "could not be started",
        ),
        (
            "#include <cstdlib>\n#include <cstring>\n"
            "int main() { for (;;) memset(malloc(1 << 24), 1, 1 << 24); }",
            Verdict.MEMORY_LIMIT,
            "",
        ),
    ],
)
def test_endings_have_the_verdicts_of_python(
    worker: Worker, code: str, verdict: Verdict, error: str
) -> None:
    limits = replace(LIMITS, cpu_s=0.2) if verdict is Verdict.TIME_LIMIT else LIMITS
    grade = _judge(worker, code, limits)
    assert grade.verdict is verdict
    assert error in grade.tests[0].error


@for_each(
    ("opened", "number", "is_its_fault"),
    [("<", errno.ENOEXEC, True), ("<>", errno.ETXTBSY, False)],
    ids=["no program", "a busy file"],
)
def test_the_launcher_says_which_error_kept_a_program_from_starting(
    tmp_path: Path, opened: str, number: int, is_its_fault: bool
) -> None:
    launcher = tmp_path / "launcher"
    source = str(SANDBOX / "inside" / "launcher.cpp")
    subprocess.run([compiler().path, "-o", str(launcher), source], check=True)
    program = tmp_path / "program"
    program.write_bytes(b"\x7fnothing")
    program.chmod(0o755)
    (tmp_path / "orders").write_bytes(struct.pack("=II", 0, 0) + b"fw")
    command = f"exec ./launcher 3<orders 4>answers 5{opened}program"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, timeout=60)
    ready, started = b"R", b"P"
    answers = (tmp_path / "answers").read_bytes()
    assert answers.startswith(ready + started)
    word = b"X" + bytes([number]) + b"execveat".ljust(14, b"\0")
    assert answers[17 : 17 + len(word)] == word
    assert is_unstarted(word) is is_its_fault
    assert failure(word) == f"no process can be started: execveat: {os.strerror(number)}"


def test_a_compiled_program_is_kept_for_its_user_alone(tmp_path: Path) -> None:
    binaries = Binaries(tmp_path / "kept")
    binaries.keep("a", b"program")
    assert binaries.find("a") == b"program"
    (tmp_path / "kept" / "a").chmod(0o644)
    assert binaries.find("a") is None
    (tmp_path / "kept" / "a").chmod(0o600)
    (tmp_path / "kept" / "a").write_bytes(bytes(32) + b"changed")
    assert binaries.find("a") is None
    (tmp_path / "kept").chmod(0o777)
    binaries.keep("b", b"program")
    assert binaries.find("b") is None


def test_a_second_run_of_a_program_does_not_compile_it_again(worker: Worker) -> None:
    code = f"// {time.time_ns()}\n{DOUBLE}"
    assert _judge(worker, code).verdict is Verdict.ACCEPTED
    builder = worker.compiler.builder
    assert builder is not None
    assert builder.server is not None
    builder.end()
    assert _judge(worker, code).verdict is Verdict.ACCEPTED
    assert builder.server is None, "the compiler's sandbox was not started again"


def test_a_program_that_was_prepared_and_never_run_is_closed(worker: Worker) -> None:
    open_files: list[int] = []
    for _ in range(2):
        with worker.on(Trial(Program(DOUBLE, language="cpp"), [b"1"], LIMITS)) as trial:
            assert worker.prepare(trial) is None
        open_files.append(len([*Path("/proc/self/fd").iterdir()]))
    assert open_files[0] == open_files[1]


SAYS = "g++: fatal error: Killed signal terminated program cc1plus"


@for_each(
    "code",
    [
        f"#error {SAYS}\nint main() {{}}",
        f'#line 1 "{SAYS}"\n#error no',
        f'int main() {{ asm(".error \\"\\\\n{SAYS}\\\\ncompilation terminated.\\""); }}',
    ],
)
def test_a_source_that_says_the_compiler_was_killed_does_not_compile(
    worker: Worker, code: str
) -> None:
    grade = _judge(worker, code)
    assert grade.verdict is Verdict.COMPILE_ERROR
    assert grade.judged_again.retried == 0
    assert "Killed signal" in grade.tests[0].error


@pytest.mark.thorough
@pytest.mark.skipif("clang" in compiler().path, reason="Clang compiles in its own process")
def test_a_compiler_that_the_machine_killed_is_asked_again() -> None:
    worker, over = Worker(), threading.Event()
    killed: list[int] = []
    slow = f"// {time.time_ns()}\n#include <regex>\n#include <bits/stdc++.h>\n{DOUBLE}"

    def kill() -> None:
        while not killed and not over.wait(0.002):
            builder = worker.compiler.builder
            server = None if builder is None else builder.server
            passes = () if server is None else descendants(server.process.pid)
            for pid in filter(_compiles, passes):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        grade = _judge(worker, slow)
    finally:
        over.set()
        killer.join()
        worker.stop()
    assert killed
    assert (grade.verdict, grade.judged_again.retried) == (Verdict.ACCEPTED, 1)


def _compiles(pid: int) -> bool:
    try:
        return b"cc1plus" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_the_time_that_an_ended_pass_waited_for_a_core_counts() -> None:
    """Or else a compiler on a busy machine seems to sleep, as soon as its longest pass is over."""
    core = {min(os.sched_getaffinity(0))}
    busy = [sys.executable, "-c", "while True: pass"]
    with contextlib.ExitStack() as rivals:
        for _ in range(2):
            rival = rivals.enter_context(subprocess.Popen(busy))
            rivals.callback(rival.kill)
            os.sched_setaffinity(rival.pid, core)
        command = [sys.executable, "-c", STARVED_PASS, str(SANDBOX), json.dumps([*core])]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    waited_s = json.loads(run.stdout)
    if waited_s is None:
        pytest.skip("this system does not report how long a process waited for a core")
    assert waited_s > 0.1


STARVED_PASS = """
import json, os, select, signal, sys, time
sys.path.append(sys.argv[1])
from inside.compilation import CompilerProcess
over, told = os.pipe()
driver = os.fork()
if driver == 0:
    os.sched_setaffinity(0, json.loads(sys.argv[2]))
    if os.fork() == 0:
        while time.process_time() < 0.15:
            pass
        os._exit(0)
    os.wait()
    os.close(told)
    signal.pause()
os.close(told)
compiler = CompilerProcess(driver)
try:
    while not select.select([over], [], [], 0.02)[0]:
        compiler.now()
    print(json.dumps(compiler.waiting_s()))
finally:
    compiler.end()
"""
