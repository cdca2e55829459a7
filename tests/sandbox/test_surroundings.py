"""What a program finds around it, and what it leaves."""

import contextlib
import gc
import json
import marshal
import os
import select
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from for_each import for_each
from processes import resting

from harness.sandbox.execution import Ending, Execution
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.program import Program, packed
from harness.sandbox.worker import Worker

Run = Callable[..., Execution]
RunOn = Callable[..., list[Execution]]
CORES = len(os.sched_getaffinity(0))
PATIENCE_S = 60.0


def children_of(process: int) -> list[int]:
    """Live processes and zombies whose parent it is."""
    children: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[1]) == process:
            children.append(int(stat.parent.name))
    return children


def all_end(processes: list[int]) -> bool:
    """Whether they do so by themselves: a template is let go of without waiting for its end."""
    handles: list[int] = []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            handles.append(os.pidfd_open(process))
    ended = all(select.select([handle], [], [], PATIENCE_S)[0] for handle in handles)
    for handle in handles:
        os.close(handle)
    return ended


def descriptors(process: int | str) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def comes_down_to(number: int, count: Callable[[], int]) -> bool:
    """Whether a count comes down to a number: what has ended is closed a moment later."""
    end = time.monotonic() + PATIENCE_S
    while count() > number and time.monotonic() < end:
        time.sleep(0.01)
    return count() <= number


FILES_OF_RUNNER = ("stdin", "stdout", "stderr", "result", "report")


class TestEnvironment:
    def test_only_named_variables_are_there(
        self, fresh_worker: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
        monkeypatch.setenv("PYTHONPATH", "/planted")
        monkeypatch.setenv("PYTHONSTARTUP", "/planted")
        code = """
        import json, os, sys
        print(json.dumps([dict(os.environ), sys.path]))
        """
        (execution,) = run_on(fresh_worker, code, b"")
        environment, path = json.loads(execution.stdout)
        assert set(environment) - {"PWD"} == {  # which bubblewrap sets
            *("PATH", "LANG", "PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
            *("HOME", "TMPDIR"),
        }
        assert "planted" not in f"{environment}{path}"

    def test_hashes_are_the_same_every_time(self, fresh_worker: Worker, run_on: RunOn) -> None:
        code = "print(list({'a', 'b', 'c', 'd', 'e'}))"
        first = run_on(fresh_worker, code, b"")[0].stdout
        fresh_worker.kill()
        assert run_on(fresh_worker, code, b"")[0].stdout == first

    def test_the_working_directory_is_home_and_for_temporary_files(
        self, fresh_worker: Worker, run_on: RunOn
    ) -> None:
        code = "import os\nprint(os.getcwd(), os.environ['HOME'], os.environ['TMPDIR'])"
        assert len(set(run_on(fresh_worker, code, b"")[0].stdout.split())) == 1

    def test_without_a_room_of_its_own_it_is_a_folder_that_goes(self, run_on: RunOn) -> None:
        worker = Worker(Isolation(Level.LANDLOCK))
        (execution,) = run_on(worker, "import os\nprint(os.getcwd())", b"")
        folder = Path(execution.stdout.decode().strip())
        assert folder.stat().st_mode & 0o777 == 0o700
        worker.stop()
        assert not folder.exists()


class TestDescriptors:
    LOOK = """
    import os, stat
    for number in range(3, 1024):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        print(stat.S_ISREG(mode), stat.S_ISSOCK(mode), stat.S_ISDIR(mode))
    """

    def test_only_the_standard_ones_and_the_runner_s(
        self, fresh_worker: Worker, run_on: RunOn, tmp_path: Path
    ) -> None:
        secret = tmp_path / "secret"
        secret.touch()
        with secret.open() as file:
            os.set_inheritable(file.fileno(), True)
            (execution,) = run_on(fresh_worker, self.LOOK, b"")
        kinds = sorted(execution.stdout.decode().splitlines())
        memory_file, channel, folder = "True False False", "False True False", "False False True"
        assert kinds == sorted([memory_file] * len(FILES_OF_RUNNER) + [channel, folder])

    def test_none_is_left_open_by_earlier_programs(
        self, fresh_worker: Worker, run_on: RunOn
    ) -> None:
        first = sorted(run_on(fresh_worker, self.LOOK, b"")[0].stdout.splitlines())
        assert fresh_worker.process_id is not None
        server = resting(fresh_worker.process_id)
        if not os.access(f"/proc/{server}/fd", os.R_OK):
            pytest.skip("only root may see what a fork server has open")
        before = descriptors(server)
        for _ in range(20):
            run_on(fresh_worker, "import os\nos.pipe()", b"", b"")
        assert sorted(run_on(fresh_worker, self.LOOK, b"")[0].stdout.splitlines()) == first
        resting(server)
        assert comes_down_to(before, lambda: descriptors(server))

    def test_none_is_left_open_on_our_side(self, worker: Worker, run_on: RunOn) -> None:
        run_on(worker, "", b"")
        gc.collect()  # what an earlier test left is closed now, and not while it is counted
        before = descriptors("self")
        for _ in range(20):
            run_on(worker, "", b"", b"")
        assert descriptors("self") == before


PAST_PYTHON = "import ctypes, os\nos.fork = ctypes.PyDLL(None).fork\n"
DAEMON = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b'daemon %d\\n' % os.getpid())
        import time
        while True: time.sleep(100)
    os._exit(0)
os.wait()
while b'daemon' not in os.pread(1, 100, 0): pass
"""
LEFT_BEHIND = {
    "a daemon": DAEMON,
    "a daemon and an error": DAEMON + "1 / 0",
    "a daemon and a crash": DAEMON + "os.kill(os.getpid(), 9)",
    "a daemon and an early end": DAEMON + "os._exit(0)",
    "children that ignore signals": """
        import os, signal
        for _ in range(5):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True: signal.pause()
        """,
    "stopped children": """
        import os, signal
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        """,
    "zombies": """
        import os
        for _ in range(5):
            if os.fork() == 0:
                os._exit(0)
        """,
    "children of children": """
        import os, time
        depth = 0
        while depth < 5 and os.fork() == 0:
            os.setsid()
            depth += 1
        if depth: time.sleep(100)
        """,
}  # fmt: skip


@pytest.mark.parametrize("code", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_no_process_outlives_its_test(code: str, unguarded: Worker, run_on: RunOn) -> None:
    """Where no layer keeps a program from forking, what it left is found and ended."""
    worker = unguarded
    run_on(worker, "", b"")
    server = worker.process_id
    assert server is not None
    (execution,) = run_on(worker, PAST_PYTHON + dedent(code), b"", wall=5.0)
    assert execution.ending is not Ending.WALL_LIMIT
    assert all_end(children_of(server))
    assert worker.process_id == server  # it did not have to be replaced
    if b"daemon" in execution.stdout:
        daemon = int(execution.stdout.split()[1])
        assert not Path(f"/proc/{daemon}").exists()


def test_a_program_that_stays_with_its_children_ends_with_them(
    unguarded: Worker, run_on: RunOn
) -> None:
    worker = unguarded
    code = PAST_PYTHON + "import time\nos.fork()\nos.fork()\nwhile True: time.sleep(100)"
    (execution,) = run_on(worker, code, b"", wall=0.3)
    assert execution.ending is Ending.WALL_LIMIT
    assert worker.process_id is not None
    assert all_end(children_of(worker.process_id))


FILES = {
    "a file": "open('left', 'w').close()",
    "a folder": "import os\nos.makedirs('a/b/c')\nopen('a/b/c/left', 'w').close()",
    "a hidden file": "open('.left', 'w').close()",
    "a locked folder": "import os\nos.mkdir('a', 0)",
    "a deep tree": "import os\nfor _ in range(1_500):\n    os.mkdir('d')\n    os.chdir('d')",
    "a name that is not UTF-8": r"open(b'\xff\n', 'w').close()",
}


@for_each("code", FILES.values(), ids=FILES)
def test_no_file_outlives_its_program(code: str, run: Run) -> None:
    assert run(code).ending is Ending.FINISHED
    assert run("import os\nprint(os.listdir(os.environ['HOME']))").stdout == b"[]\n"


LINKS = {
    "a link": "import os\nos.symlink('/etc', 'link')",
    "a dangling link": "import os\nos.symlink('nowhere', 'link')",
    "a pipe": "import os\nos.mkfifo('pipe')",
    "a folder that nobody may enter": "import os\nos.makedirs('a/b')\nos.chmod('a', 0)",
}


@for_each("code", LINKS.values(), ids=LINKS)
def test_nothing_special_is_made(code: str, run: Run) -> None:
    execution = run(code)
    assert execution.ending is Ending.ERROR
    assert "PermissionError" in execution.error


@pytest.mark.parametrize("code", LINKS.values(), ids=LINKS)
def test_a_home_folder_exists_and_is_empty(code: str, unguarded: Worker, run_on: RunOn) -> None:
    assert run_on(unguarded, code, b"")[0].ending is Ending.FINISHED
    listed = run_on(unguarded, "import os\nprint(os.listdir(os.environ['HOME']))", b"")[0]
    assert listed.stdout == b"[]\n"


def test_what_a_link_points_to_is_not_emptied(
    unguarded: Worker, run_on: RunOn, tmp_path: Path
) -> None:
    (tmp_path / "kept").touch()
    run_on(unguarded, f"import os\nos.symlink({str(tmp_path)!r}, 'link')", b"")
    assert (tmp_path / "kept").exists()


def test_a_request_holds_code_and_inputs_and_nothing_else(
    worker: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expected outputs cannot leak: they are not handed over."""
    requests: list[dict[str, Any]] = []
    send = ForkServer.send

    def spy(server: ForkServer, order: dict[str, Any], files: Sequence[int] = ()) -> None:
        requests.append(order)
        send(server, order, files)

    def packed_and_read(program: Program, **how: bool) -> bytes:
        data = packed(program, **how)
        requests.append(marshal.loads(data))
        return data

    run_on(worker, "print(0)", b"in")  # another test may have ended its fork server
    monkeypatch.setattr(ForkServer, "send", spy)
    monkeypatch.setattr("harness.sandbox.trial.packed", packed_and_read)
    run_on(worker, "print(1)", b"in")
    program, opened = (request for request in requests if request.keys() != {"do"})  # not "close"
    assert set(program) == {"code", "entry_point", "arguments", "result", "apart", "seeds"}
    assert set(opened) == {"do", "preamble", "spans", "limits", "last", "full", "core"}
    assert opened["spans"] == [(0, 2)]


@pytest.mark.skipif(CORES == 1, reason="there is one core")
def test_a_test_that_takes_longer_has_all_cores_in_every_thread(
    fresh_worker: Worker, run_on: RunOn
) -> None:
    """It begins on one core, and waits here until it has all."""
    code = f"""
    import os, threading
    found = []
    def wait():
        while len(os.sched_getaffinity(0)) < {CORES}: pass
        found.append(len(os.sched_getaffinity(0)))
    thread = threading.Thread(target=wait)
    thread.start()
    wait()
    thread.join()
    print(*found)
    """
    (execution,) = run_on(fresh_worker, code, b"")
    assert execution.stdout.decode().split() == [str(CORES), str(CORES)]
