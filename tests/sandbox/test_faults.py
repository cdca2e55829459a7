"""What goes wrong on our side: tests are run again or end as the sandbox's error.

Never is a verdict wrong, never does anything hang, never is a process or a file left.
"""

import contextlib
import gc
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Protocol

import pydantic
import pytest
from levels import LEVELS, level_of
from processes import children, resting

import harness
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.problem import TestCase
from harness.sandbox.execution import Ending, SandboxError
from harness.sandbox.isolation import Isolation
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

PATIENCE_S = 60.0
PATH = f"{Path(harness.__file__).parents[1]}:{Path(pydantic.__file__).parents[1]}"
LIMITS = Limits(cpu_s=5.0, memory_bytes=512 * MEBIBYTE)
TESTS = [TestCase(input=f"{n}\n", output=f"{2 * n}", public=True) for n in range(4)]
DOUBLE = "print(2 * int(input()))"
SLOW = "import time\ntime.sleep(1)\nprint(2 * int(input()))"
"""Each test lasts longer than it takes to find and kill its process, in whatever order they run."""
OURS = {Verdict.ACCEPTED, Verdict.SANDBOX_ERROR}


class Marks(Protocol):
    """See the fixture."""

    code: str

    def wait(self, seconds: float = ...) -> int: ...


def descendants(process: int) -> set[int]:
    """All that came of it, in generations."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    process_ids: set[int] = set()
    waiting = [process]
    while waiting:
        new = children.get(waiting.pop(), [])
        process_ids.update(new)
        waiting += new
    return process_ids


@contextlib.contextmanager
def watched(processes: set[int]) -> Generator[Callable[[], bool]]:
    """Says whether they all end in time."""
    handles: list[int] = []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            handles.append(os.pidfd_open(process))

    def ended() -> bool:
        end = time.monotonic() + PATIENCE_S
        return all(
            bool(select.select([each], [], [], max(0.0, end - time.monotonic()))[0])
            for each in handles
        )

    try:
        yield ended
    finally:
        for each in handles:
            os.close(each)


@pytest.fixture(params=LEVELS)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return level_of(request.param)


@pytest.fixture
def worker_at_level(isolation: Isolation) -> Iterator[Worker]:
    worker = Worker(isolation)
    yield worker
    worker.stop()


def double(worker: Worker, code: str = DOUBLE, limits: Limits = LIMITS) -> Grade:
    return judge(worker, Task(Program(code), TESTS, limits))


def started(worker: Worker) -> int:
    """The process that was started, running."""
    assert worker.run(Program("print(1)"), [b""], LIMITS)[0].stdout == b"1\n"
    assert worker.process_id is not None
    return worker.process_id


def fork_server(worker: Worker) -> int:
    """The fork server itself: in namespaces, what was started only waits for it."""
    return resting(started(worker))


class TestKilled:
    """By the machine, which was short of memory, or by somebody's mistake."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("which", [started, fork_server])
    def test_a_fork_server_killed_amid_a_test(
        self, which: Callable[[Worker], int], worker_at_level: Worker, marks: Marks
    ) -> None:
        victim = which(worker_at_level)
        everything = {victim, *descendants(victim)}
        judged: set[int] = set()

        def kill() -> None:
            judged.add(marks.wait(PATIENCE_S))
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        result = double(worker_at_level, marks.code + SLOW)
        killer.join()
        assert result.solved
        assert [str(test.verdict) for test in result.tests] == ["accepted"] * 4
        assert result.judged_again.retried == 1
        assert result.judged_again.blamed == 0
        with watched(everything | judged) as ended:
            assert ended()

    @pytest.mark.thorough
    def test_one_that_is_killed_again_and_again(self, worker_at_level: Worker) -> None:
        """It gets through or it does not; nobody is blamed."""
        over = threading.Event()

        def kill() -> None:
            while not over.wait(0.01):
                process = worker_at_level.process_id
                if process is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

        strangers = children() - {worker_at_level.process_id}  # as another test's browser
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            for _ in range(2):
                with contextlib.suppress(SandboxError):
                    assert double(worker_at_level).solved
        finally:
            over.set()
            killer.join()
        worker_at_level.kill()
        ours = children() - strangers
        with watched(ours.union(*map(descendants, ours))) as ended:
            assert ended()
        assert double(worker_at_level).solved

    def test_a_fork_server_that_is_stopped(
        self, worker_at_level: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.fork_server_connection.LEAVE_S", 0.2)
        victim = started(worker_at_level)
        os.kill(victim, signal.SIGSTOP)
        start = time.monotonic()
        assert double(worker_at_level).solved
        assert time.monotonic() - start < PATIENCE_S

    def test_a_stuck_fork_server_is_killed_with_all_it_runs(
        self, worker_at_level: Worker, marks: Marks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.fork_server_connection.LEAVE_S", 0.2)
        server = fork_server(worker_at_level)
        errors: list[SandboxError] = []

        def work() -> None:
            try:
                worker_at_level.run(
                    Program(marks.code + "while True: pass"), [b""], Limits(cpu_s=300)
                )
            except SandboxError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        everything = {marks.wait(PATIENCE_S), server}
        with watched(everything) as ended:
            os.kill(server, signal.SIGSTOP)
            worker_at_level.kill()
            thread.join(PATIENCE_S)
            over = ended()
            for process in () if over else everything:
                os.kill(process, signal.SIGKILL)
        assert over
        assert errors

    @pytest.mark.thorough
    @pytest.mark.parametrize("tests", [1, len(TESTS)])
    def test_the_runner_killed_from_outside_is_confirmed_away(
        self, worker_at_level: Worker, marks: Marks, tests: int
    ) -> None:
        """The kernel kills like this when memory is short; a test cannot tell it from its own."""
        started(worker_at_level)
        judged: list[int] = []

        def kill() -> None:
            judged.append(marks.wait(PATIENCE_S))
            os.kill(judged[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        result = judge(worker_at_level, Task(Program(marks.code + SLOW), TESTS[:tests], LIMITS))
        killer.join()
        assert result.solved
        assert result.judged_again.confirmed == (1, 1)


JUDGE_FOR_EVER = """
import sys
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
worker = Worker(Isolation(Level(sys.argv[1]), sys.argv[2] or None))
test = TestCase(input="", output="", public=True)
judge(worker, Task(Program(sys.argv[3]), [test], Limits(cpu_s=300)))
"""
ENDLESS = {
    "busy": "while True: pass",
    "asleep": "import time\ntime.sleep(300)",
    "deaf": (
        "import signal, time\nfor n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "time.sleep(300)"
    ),
    "full of threads": (
        "import threading\n"
        "for n in range(20): threading.Thread(target=threading.Event().wait).start()"
    ),
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_nothing_outlives_a_harness_that_is_killed(
    code: str, isolation: Isolation, marks: Marks
) -> None:
    arguments = [
        isolation.level,
        isolation.means or "",
        f"{marks.code}open('left', 'w').close()\n{code}",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", JUDGE_FOR_EVER, *arguments],
        env={**os.environ, "PYTHONPATH": PATH},
    ) as parent:
        try:
            judged = marks.wait(PATIENCE_S)
            try:
                folder = Path(f"/proc/{judged}/cwd").readlink()
            except PermissionError:  # no permission to read it
                folder = None
            everything = descendants(parent.pid)
            assert judged in everything
            with watched(everything) as ended:
                parent.kill()
                assert ended()
        finally:
            parent.kill()
    assert folder is None or not folder.exists()


IN_A_FULL_FOLDER = """
import json, os, subprocess, sys, tempfile
from pathlib import Path
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.execution import SandboxError
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
level, means, cases, folder = sys.argv[1:]
def fill():
    for number, size in enumerate([1 << 20] * 170 + [4096] * 300):
        try:
            Path(folder, f"fill-{number}").write_bytes(bytes(size))
        except OSError:
            pass
def said(when, code):
    options = "size=160m,nr_inodes=20000,mode=1777" + (",ro" if when == "read-only" else "")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder]).returncode:
        sys.exit(77)
    worker = Worker(Isolation(Level(level), means or None))
    try:
        if when == "full later":
            worker.run(Program(""), [b""], Limits())
        if when != "read-only":
            fill()
        tests = [TestCase(input=f"{n}", output=f"{2 * n}", public=True) for n in range(3)]
        try:
            grade = judge(worker, Task(Program(code), tests, Limits()))
        except SandboxError as error:
            return ["sandbox_error", str(error)]
        return [grade.verdict, *(test.error for test in grade.tests)]
    finally:
        worker.stop()
        subprocess.run(["umount", "-l", folder], check=True)
tempfile.tempdir = folder
for each in json.loads(cases):
    process = os.fork()
    if process == 0:
        print(json.dumps(said(*each)), flush=True)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code:
        sys.exit(code)
"""


@pytest.mark.thorough
def test_no_room_for_temporary_files(isolation: Isolation, tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if os.getuid() != 0 or unshare is None:
        pytest.skip("only root mounts a file system of its own")
    writes = "open('f', 'w').write('x' * 9000)\nopen('f').read()\n"
    whens = ("full", "full later", "read-only")
    cases = [(when, code + DOUBLE) for when in whens for code in ("", writes)]
    arguments = [isolation.level, isolation.means or "", json.dumps(cases), str(tmp_path)]
    done = subprocess.run(
        [unshare, "-m", sys.executable, "-c", IN_A_FULL_FOLDER, *arguments],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77 or "unshare: " in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == len(cases)
    for case, (verdict, *errors) in zip(cases, outcomes, strict=True):
        assert verdict in {"accepted", "sandbox_error"}, (case, errors)
        if isolation.means is not None:
            assert verdict == "accepted", "a room of its own has room"


class TestShortOf:
    """What a fork server is short of, as it may come to be while it runs."""

    def test_a_server_that_cannot_fork_is_replaced(self, worker_at_level: Worker) -> None:
        """The user may have no more: nothing can be forked."""
        server = fork_server(worker_at_level)
        if "\nUid:\t0\t" in Path(f"/proc/{server}/status").read_text():
            pytest.skip("root may have as many processes as it likes")
        try:
            resource.prlimit(server, resource.RLIMIT_NPROC, (0, 0))
        except PermissionError:
            pytest.skip("the limits of a process cannot be changed from outside here")
        start = time.monotonic()
        result = double(worker_at_level)
        assert time.monotonic() - start < PATIENCE_S
        assert result.solved, "a fresh one takes over"
        assert result.judged_again.retried >= 1
        assert result.judged_again.blamed == 0

    @pytest.mark.parametrize("number", [0, 5, 8, 12, 16])
    def test_a_server_short_of_descriptors_is_replaced(
        self, number: int, worker_at_level: Worker
    ) -> None:
        server = fork_server(worker_at_level)
        try:
            resource.prlimit(server, resource.RLIMIT_NOFILE, (number, number))
        except PermissionError:
            pytest.skip("the limits of a process cannot be changed from outside here")
        result = double(worker_at_level)
        assert result.solved
        assert result.judged_again.blamed == 0

    @pytest.mark.thorough
    @pytest.mark.parametrize("mebibytes", [1, 20, 60])
    def test_a_server_short_of_memory_is_replaced(
        self, mebibytes: int, worker_at_level: Worker
    ) -> None:
        server = fork_server(worker_at_level)
        size = mebibytes * MEBIBYTE
        try:
            hard = resource.prlimit(server, resource.RLIMIT_AS)[1]
            resource.prlimit(server, resource.RLIMIT_AS, (size, hard))
        except PermissionError:
            pytest.skip("the limits of a process cannot be changed from outside here")
        code = "x = bytearray(200 << 20)\n" + DOUBLE
        try:
            result = double(worker_at_level, code)
        except SandboxError:
            return
        assert result.verdict is Verdict.ACCEPTED, result.tests[0]
        assert result.judged_again.blamed == 0

    def test_descriptors_on_our_side(self, worker_at_level: Worker) -> None:
        started(worker_at_level)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(int(each.name) for each in Path("/proc/self/fd").iterdir())
        taken = [os.open(os.devnull, os.O_RDONLY)]
        while taken[-1] <= most:  # there may be free ones in between
            taken.append(os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1, hard))
        try:
            with pytest.raises(SandboxError):
                double(worker_at_level)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for each in taken:
                os.close(each)
        assert double(worker_at_level).solved


UNDER_A_LIMIT = """
import resource, sys
kind, amount = getattr(resource, sys.argv[1]), int(sys.argv[2])
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.execution import SandboxError
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, IsolationError, Level
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
worker = Worker(Isolation(Level(sys.argv[3]), sys.argv[4] or None))
resource.setrlimit(kind, (amount, amount))
tests = [TestCase(input=f"{n}", output=f"{2 * n}", public=True) for n in range(3)]
try:
    grade = judge(worker, Task(Program(sys.argv[5]), tests, Limits(memory_bytes=1 << 30)))
    print(grade.verdict, *(test.error for test in grade.tests))
except (SandboxError, IsolationError) as error:
    print("sandbox_error", error)
worker.stop()
"""

# A limit that the harness itself was started under, and a program that any machine runs.
INHERITED = {
    "address space": ("RLIMIT_AS", 700 << 20, "x = bytearray(700 << 20)\n"),
    "stack": (
        "RLIMIT_STACK",
        8 << 20,
        "import sys\nsys.setrecursionlimit(10 ** 6)\n"
        "def key(n): return n and max([n], key=lambda _: key(n - 1))[0]\nkey(20_000)\n",
    ),
    "file size": ("RLIMIT_FSIZE", 1 << 20, "open('f', 'wb').write(bytes(2 << 20))\n"),
    "data": ("RLIMIT_DATA", 300 << 20, "x = bytearray(600 << 20)\n"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", INHERITED)
def test_a_limit_of_the_machine_is_not_a_program_s_fault(name: str, isolation: Isolation) -> None:
    kind, amount, code = INHERITED[name]
    if isolation != level_of(None):
        pytest.skip("limits are inherited alike in every sandbox")
    arguments = [kind, str(amount), isolation.level, isolation.means or "", code + DOUBLE]
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, *arguments],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] in {"accepted", "sandbox_error"}, done.stdout


class TestSoak:
    """Two thousand tests leave things as they were; tests/benchmarks/soak.py runs more."""

    SOLUTIONS = (
        (DOUBLE, "accepted"),
        ("print(0)", "wrong_answer"),
        ("1 / 0", "runtime_error"),
        ("import os\nos._exit(1)", "runtime_error"),
        ("print(", "compile_error"),
        ("open('left', 'w').write('x' * 1000)\nprint(2 * int(input()))", "accepted"),
        (
            "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n" + DOUBLE,
            "accepted",
        ),
        ("x = bytearray(5 << 20)\n" + DOUBLE, "accepted"),
    )

    @pytest.mark.thorough
    def test_two_thousand_tests(self) -> None:
        worker = Worker(level_of(None))
        try:
            self._some(worker, 150)
            server = fork_server(worker)
            before = self._state(server)
            ran = self._some(worker, 2000)
            end = time.monotonic() + PATIENCE_S
            while grown := self._grown(before, self._state(server)):
                assert time.monotonic() < end, grown
                time.sleep(0.05)  # a process that is let go of takes a moment to end
        finally:
            worker.stop()
        assert ran >= 2000
        assert worker.process_id is None

    def _grown(
        self, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]
    ) -> list[str]:
        return [
            f"{name}: {had} before, {after[name][0]} after"
            for name, (had, margin) in before.items()
            if after[name][0] > had + margin
        ]

    def _some(self, worker: Worker, number: int) -> int:
        tests = [TestCase(input=f"{n}\n", output=f"{2 * n}", public=True) for n in range(1, 21)]
        ran = 0
        while ran < number:
            for place, (code, verdict) in enumerate(self.SOLUTIONS):
                alone = place % 4 == 0
                task = Task(
                    Program(f"{code}\n# {ran}"), tests, LIMITS, isolate=alone, stop=Stop.NEVER
                )
                grade = judge(worker, task)
                assert grade.verdict == verdict
                assert grade.judged_again.retried == 0
                ran += max(20, len(grade.tests))
        return ran

    def _state(self, server: int) -> dict[str, tuple[int, int]]:
        """What there is now, and by how much it may grow."""
        gc.collect()
        mebibytes = 1024  # in the kernel's KiB
        return {
            "our descriptors": (_descriptors(os.getpid()), 0),
            "our threads": (threading.active_count(), 0),
            "our memory": (_resident(os.getpid()), 8 * mebibytes),
            "its descriptors": (_descriptors(server), 0),
            "its children": (len(children(server, zombies=True)), 0),
            "its memory": (_resident(server), 2 * mebibytes),
        }


def _descriptors(process: int) -> int:
    try:
        return len(list(Path(f"/proc/{process}/fd").iterdir()))
    except PermissionError:  # root alone may look
        return 0


def _resident(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def test_a_program_gone_wrong_is_told_from_a_sandbox_gone_wrong(worker_at_level: Worker) -> None:
    """After all that, a fresh worker says of each what it is."""
    assert double(worker_at_level, "import os\nos.abort()").verdict is Verdict.RUNTIME_ERROR
    small = Limits(memory_bytes=64 * MEBIBYTE)
    assert double(worker_at_level, "x = bytearray(80 << 20)", small).verdict is Verdict.MEMORY_LIMIT
    (execution,) = worker_at_level.run(Program("import os\nos.kill(os.getpid(), 9)"), [b""], LIMITS)
    assert (execution.ending, execution.code) == (Ending.SIGNAL, signal.SIGKILL)
    assert double(worker_at_level).verdict in OURS
