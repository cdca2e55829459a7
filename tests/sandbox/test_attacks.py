"""Ways in which judged code once got further than it may."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from levels import LEVELS, level_of

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

RunOn = Callable[..., list[Execution]]
LIMITS = Limits(cpu_s=3)


@pytest.fixture(params=LEVELS)
def guarded(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker of every kind that can be had here."""
    worker = Worker(level_of(request.param))
    yield worker
    worker.stop()


CHANNEL = """
import os, socket, stat
def channel():
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fd)
        except OSError: pass
"""


def test_words_left_over_name_no_process_to_the_fork_server(guarded: Worker) -> None:
    """An empty word hid those after it; the next run took one for its runner's birth."""
    code = f"""{CHANNEL}
word = input()
print(word, flush=True)
if word == "forge":
    for word in (b"D", b"", b"", b"R%d" % os.getppid(), b"R1", b""):
        channel().send(word)
    while True: pass
"""
    with Trial(Program(code), [b"forge", b"honest"], LIMITS) as trial:
        guarded.try_out(trial, [1])
        server = guarded.process_id
        for _ in range(3):
            assert guarded.try_out(trial, [0])
            assert guarded.try_out(trial, [1])[0].stdout == b"honest\n"
        guarded.leave(trial)
    assert guarded.process_id == server


def test_nothing_is_kept_in_offsets_and_flags_of_shared_files(guarded: Worker) -> None:
    code = """
import fcntl, os
found = []
for fd in range(3, 64):
    try:
        found.append((os.lseek(fd, 0, os.SEEK_CUR), fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_PATH))
        os.lseek(fd, 12345, os.SEEK_SET)
    except OSError: pass
    try: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
    except OSError: pass
print(found)
"""
    with Trial(Program(code), [b""], LIMITS) as trial:
        first, second, third = (guarded.try_out(trial, [0])[0].stdout for _ in range(3))
        guarded.leave(trial)
    assert first == second == third
    assert b"12345" not in first


def test_a_thread_has_no_descriptors_of_its_own(guarded: Worker, run_on: RunOn) -> None:
    """No limit would count those."""
    code = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    stack = ctypes.create_string_buffer(1 << 16)
    VM, FS, FILES, SIGHAND, THREAD = 0x100, 0x200, 0x400, 0x800, 0x10000
    for flags in (VM | FS | SIGHAND | THREAD, VM | FILES | SIGHAND | THREAD, VM | 17, 17):
        top = ctypes.c_void_p(ctypes.addressof(stack) + 60_000)
        done = libc.clone(libc.pause, top, flags, None)
        print(done, ctypes.get_errno())
    """
    (execution,) = run_on(guarded, code, b"")
    assert execution.stdout == b"-1 1\n" * 4


def test_no_file_is_emptied_that_may_only_be_read(
    guarded: Worker, run_on: RunOn, tmp_path: Path
) -> None:
    """Landlock looks at neither before its third version."""
    victim = tmp_path / "victim"
    victim.write_text("kept")
    tmp_path.chmod(0o755)
    code = f"""
    import os
    for attempt in (lambda: os.truncate({str(victim)!r}, 0), lambda: os.truncate('mine', 0),
                    lambda: os.open({str(victim)!r}, os.O_RDONLY | os.O_TRUNC)):
        try: attempt()
        except OSError as error: print(type(error).__name__ != 'OSError')
    with open('mine', 'w') as file: file.write('written')
    with open('mine', 'w') as file: print(file.truncate(0))
    """
    (execution,) = run_on(guarded, code, b"")
    assert execution.stdout == b"True\nTrue\nTrue\n0\n"
    assert victim.read_text() == "kept"


@pytest.mark.thorough
def test_one_solution_keeps_others_waiting_only_so_long() -> None:
    """Every test misses its limit narrowly, and would be tried again while nothing else runs."""
    code = "import time\nwhile time.process_time() < 0.33: pass"
    tests = [TestCase(input=str(n), output="", public=True) for n in range(6)]
    worker = Worker()
    try:
        limits = Limits(cpu_s=0.3, own_wall_s=0.6)
        grade = judge(worker, Task(Program(code), tests, limits, isolate=True, stop=Stop.NEVER))
    finally:
        worker.stop()
    assert len(grade.tests) == 6
    assert 1 <= grade.judged_again.retimed[0] <= 2


def test_folders_that_nobody_may_enter_go_with_a_fork_server_that_is_killed(
    run_on: RunOn,
) -> None:
    worker = Worker(Isolation(Level.LANDLOCK))
    (execution,) = run_on(worker, "import os\nprint(os.getcwd())", b"")
    home = Path(execution.stdout.decode().strip())
    for depth in ("a", "a/b", "a/b/c"):
        (home / depth).mkdir()
    (home / "a/b").chmod(0)
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    worker.stop()
    assert not home.exists()


def test_half_a_thousand_threads_can_be_had(guarded: Worker, run_on: RunOn) -> None:
    code = """
    import threading
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range(400)]
    for thread in threads: thread.start()
    end.set()
    for thread in threads: thread.join()
    print(len(threads))
    """
    (execution,) = run_on(guarded, code, b"", memory_bytes=2 << 30)
    assert (execution.ending, execution.stdout) == (Ending.FINISHED, b"400\n")
