"""One fork server: what it survives, what it does not, and what is said of that."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from for_each import for_each
from processes import children, fork_server, is_alive

from harness.sandbox.execution import Ending, Execution, SandboxError, WorkerStoppedError
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.lazy_fork_server import LazyForkServer
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

RunOn = Callable[..., list[Execution]]
PATIENCE_S = 60.0


@contextmanager
def watched(*processes: int) -> Iterator[Callable[[], bool]]:
    """Says whether the processes end in time; told by the kernel, not asked again and again."""
    handles = [os.pidfd_open(process) for process in processes]

    def ended() -> bool:
        return all(bool(select.select([h], [], [], PATIENCE_S)[0]) for h in handles)

    try:
        yield ended
    finally:
        for handle in handles:
            os.close(handle)


SIGNAL = "import ctypes, os\ndef kill(n): ctypes.CDLL(None).kill(os.getppid(), n)\n"


class Marks(Protocol):
    """See the fixture."""

    code: str

    def wait(self) -> int: ...


def sound(worker: Worker, run_on: RunOn) -> bool:
    return run_on(worker, "print(input()[::-1])", b"abc")[0].stdout == b"cba\n"


class TestBroken:
    def test_a_fork_server_killed_amid_a_test_is_a_sandbox_error(
        self, fresh_worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        assert sound(fresh_worker, run_on)
        server = fresh_worker.process_id
        assert server is not None
        ends: list[bool] = []

        def kill() -> None:
            with watched(marks.wait()) as ended:
                os.kill(server, signal.SIGKILL)
                ends.append(ended())

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(SandboxError, match=r"hung up|reset"):
            run_on(fresh_worker, marks.code + "while True: pass", b"")
        killer.join()
        assert ends == [True]
        assert sound(fresh_worker, run_on)
        assert fresh_worker.process_id != server

    def test_a_fork_server_that_died_between_two_calls_is_replaced(
        self, fresh_worker: Worker, run_on: RunOn
    ) -> None:
        assert sound(fresh_worker, run_on)
        assert fresh_worker.process_id is not None
        with watched(fresh_worker.process_id) as ended:
            os.kill(fresh_worker.process_id, signal.SIGKILL)
            assert ended()
        assert sound(fresh_worker, run_on)

    @for_each("word", ["SIGKILL", "SIGSTOP", "SIGTERM"])
    def test_no_program_signals_the_fork_server(
        self, word: str, fresh_worker: Worker, run_on: RunOn
    ) -> None:
        assert sound(fresh_worker, run_on)
        server = fresh_worker.process_id
        code = f"""
        import ctypes, os, signal
        kill = ctypes.CDLL(None).kill
        for process in (os.getppid(), 1, -1, 0):
            print(kill(process, signal.{word}))
        """
        (execution,) = run_on(fresh_worker, code, b"")
        assert (execution.ending, execution.stdout) == (Ending.FINISHED, b"-1\n" * 4)
        assert fresh_worker.process_id == server

    def test_a_fork_server_that_a_program_kills(self, unguarded: Worker, run_on: RunOn) -> None:
        with pytest.raises(SandboxError) as caught:
            run_on(unguarded, SIGNAL + "kill(9)", b"")
        assert "timed out" not in str(caught.value)
        assert sound(unguarded, run_on)

    def test_one_that_a_program_kills_before_its_answer_is_awaited(
        self, unguarded: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A new one would be started, and know nothing of what was asked."""
        assert sound(unguarded, run_on)
        send = LazyForkServer.send

        def send_and_wait(own: LazyForkServer, server: ForkServer, *order: Any, **by: Any) -> None:
            send(own, server, *order, **by)
            server.process.wait(PATIENCE_S)

        with monkeypatch.context() as patch:
            patch.setattr(LazyForkServer, "send", send_and_wait)
            with pytest.raises(SandboxError, match=r"hung up|reset"):
                run_on(unguarded, SIGNAL + "kill(9)", b"", wall=1.0)
        assert sound(unguarded, run_on)

    def test_a_fork_server_that_a_program_stops(
        self, unguarded: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.worker.MARGIN_S", 0.2)
        monkeypatch.setattr("harness.sandbox.fork_server_connection.LEAVE_S", 0.2)
        with pytest.raises(SandboxError, match=r"timed out|Timeout|stopped"):
            run_on(unguarded, SIGNAL + "kill(19)\nwhile True: pass", b"", wall=0.2, cpu_s=0.1)
        assert sound(unguarded, run_on)

    @for_each(
        "move", ["os.rmdir(here)", "os.rename(here, here + '-moved')", "os.rename(here, '/tmp/x')"]
    )
    def test_no_program_takes_the_working_directory_away(
        self, move: str, fresh_worker: Worker, run_on: RunOn
    ) -> None:
        assert sound(fresh_worker, run_on)
        server = fresh_worker.process_id
        (execution,) = run_on(fresh_worker, f"import os\nhere = os.getcwd()\n{move}", b"")
        assert execution.ending is Ending.ERROR
        assert sound(fresh_worker, run_on)
        assert fresh_worker.process_id == server

    def test_a_working_directory_that_a_program_removes(
        self, unguarded: Worker, run_on: RunOn
    ) -> None:
        with pytest.raises(SandboxError):
            run_on(unguarded, "import os\nos.rmdir(os.getcwd())\nprint('x')", b"")
        assert sound(unguarded, run_on)

    def test_a_link_where_the_working_directory_was(
        self, unguarded: Worker, run_on: RunOn, tmp_path: Path
    ) -> None:
        (tmp_path / "kept").touch()
        assert sound(unguarded, run_on)
        (execution,) = run_on(unguarded, "import os\nprint(os.getcwd())", b"")
        folder = Path(execution.stdout.decode().strip())
        code = f"""
        import os
        here = os.getcwd()
        os.rmdir(here)
        os.symlink({str(tmp_path)!r}, here)
        """
        with pytest.raises(SandboxError):
            run_on(unguarded, code, b"")
        assert (tmp_path / "kept").exists()
        folder.unlink()


class TestForged:
    """The judged program finds the runner's socket and writes on it what it likes."""

    FIND = """
import os, stat
def channel():
    for fd in range(3, 20):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode): return fd
        except OSError:
            pass
def regular(fd):
    try: return stat.S_ISREG(os.fstat(fd).st_mode)
    except OSError: return False
class control:
    send = lambda word: os.write(channel(), word)
    close = lambda: os.close(channel())
    unblock = lambda: os.set_blocking(channel(), False)
"""

    WORDS = ("x", "D", "E", "C", "R", "", "DDDD", "\x00")
    REPORTS = (
        "nonsense", "{", "null", "[]", "9" * 50_000, "[" * 50_000, '"status"', '{"status": []}',
        '{"status": "error", "error": 5}', '{"status": "exit", "code": "x"}', " " * 200_000,
        '{"status": "exit", "code": -1e999}', '{"status": "exit", "code": 100000}',
        '{"status": "ok"}', "\x00",
    )  # fmt: skip

    @for_each("word", WORDS)
    def test_forged_messages_are_no_verdict(self, word: str, worker: Worker, run_on: RunOn) -> None:
        code = f"{self.FIND}\nimport contextlib, time\nwith contextlib.suppress(OSError):\n"
        code += f"    control.send({word!r}.encode())\ntime.sleep(100)"
        executions = run_on(worker, code, b"1", b"2", wall=0.1)
        assert executions
        assert all(execution.stdout == b"" for execution in executions)
        finished = [each for each in executions if each.ending is Ending.FINISHED]
        assert not finished or word[:1] in {"D", "E"}
        assert sound(worker, run_on)

    @for_each("report", REPORTS)
    @for_each("word", ["D", "C"])
    def test_forged_reports_are_no_verdict(
        self, report: str, word: str, worker: Worker, run_on: RunOn
    ) -> None:
        code = f"""{self.FIND}
import time
os.write(max(n for n in range(3, 20) if regular(n)), {report!r}.encode())
control.send({word!r}.encode())
time.sleep(100)
"""
        executions = run_on(worker, code, b"1", b"2", wall=0.1)
        assert executions
        assert all(execution.stdout == b"" for execution in executions)
        finished = [each for each in executions if each.ending is Ending.FINISHED]
        assert not finished or "ok" in report
        assert sound(worker, run_on)

    def test_a_claim_to_have_finished_changes_nothing_that_was_written(
        self, worker: Worker, run_on: RunOn
    ) -> None:
        code = f"{self.FIND}\ncontrol.send(b'D')\nwhile True: pass"
        first, *_ = run_on(worker, code, b"1", b"2", cpu_s=0.3)
        assert (first.ending, first.stdout, first.result) == (Ending.FINISHED, b"", None)

    def test_many_claims_at_once(self, worker: Worker, run_on: RunOn) -> None:
        code = f"""{self.FIND}
control.unblock()
try:
    while True: control.send(b'D')
except OSError:
    pass
"""
        executions = run_on(worker, code, *[b"1"] * 5)
        assert all(execution.stdout == b"" for execution in executions)
        assert sound(worker, run_on)

    def test_a_closed_channel_ends_the_program(self, worker: Worker, run_on: RunOn) -> None:
        (execution,) = run_on(worker, f"{self.FIND}\ncontrol.close()\nprint(1)", b"")
        assert execution.ending in {Ending.EXIT, Ending.SIGNAL}
        assert sound(worker, run_on)

    def test_what_is_written_as_the_result_is_taken_as_it_is(
        self, worker: Worker, run_on: RunOn
    ) -> None:
        code = """
import os
def f():
    for fd in range(3, 20):
        try:
            if 'result' in os.readlink(f'/proc/self/fd/{fd}'):
                os.write(fd, b'{"d":[[]]} \\xff')
        except OSError:
            pass
    os._exit(0)
"""
        (execution,) = run_on(worker, code, b"", entry_point="f")
        assert execution.result == b'{"d":[[]]} \xff'


def test_what_is_written_after_the_last_test_reaches_no_other_run(fresh_worker: Worker) -> None:
    """By a thread that the interpreter does not know of, until its process is ended."""
    code = """
import ctypes
data = input()
print(data, flush=True)
write = ctypes.CDLL(None).write
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def late(_, write=write):
    while True: write(1, b"planted", 7)
if data == "last":
    import sys; sys.late = late
    ctypes.CDLL(None).pthread_create(ctypes.byref(ctypes.c_ulong()), None, late, None)
    import os
    while os.fstat(1).st_size < 100: pass
"""
    with Trial(Program(code), [b"first", b"last"], Limits(cpu_s=3)) as trial:
        for _ in range(5):
            fresh_worker.try_out(trial, [0, 1])
            assert fresh_worker.try_out(trial, [0])[0].stdout == b"first\n"
        fresh_worker.leave(trial)


def test_a_template_that_is_killed_between_two_runs_is_a_sandbox_error(
    fresh_worker: Worker,
) -> None:
    limits = Limits(cpu_s=3)
    with Trial(Program("print(input())"), [b"1"], limits) as trial:
        assert fresh_worker.try_out(trial, [0])[0].stdout == b"1\n"
        assert fresh_worker.process_id is not None
        (template,) = children(fork_server(fresh_worker.process_id))
        with watched(template) as ended:
            os.kill(template, signal.SIGKILL)
            assert ended()
        start = time.monotonic()
        with pytest.raises(SandboxError):
            fresh_worker.try_out(trial, [0])
        assert time.monotonic() - start < PATIENCE_S
        assert fresh_worker.try_out(trial, [0])[0].stdout == b"1\n"
        fresh_worker.leave(trial)


class TestStopping:
    def test_kill_ends_the_server_and_what_it_runs(
        self, fresh_worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                run_on(fresh_worker, marks.code + "while True: pass", b"")
            except SandboxError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        victim, server = marks.wait(), fresh_worker.process_id
        assert server is not None
        with watched(victim, server) as ended:
            fresh_worker.kill()
            thread.join(PATIENCE_S)
            assert errors
            assert ended()  # without namespaces of its own, the program ends soon after its server
        assert fresh_worker.process_id is None
        assert sound(fresh_worker, run_on)

    def test_a_stopped_worker_starts_no_more(
        self, fresh_worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                run_on(fresh_worker, marks.code + "while True: pass", b"")
            except WorkerStoppedError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        marks.wait()
        fresh_worker.stop()
        thread.join(PATIENCE_S)
        assert errors
        with pytest.raises(WorkerStoppedError):
            sound(fresh_worker, run_on)
        assert fresh_worker.process_id is None

    def test_a_stuck_server_is_killed(
        self, fresh_worker: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.fork_server_connection.LEAVE_S", 0.2)
        assert sound(fresh_worker, run_on)
        server = fresh_worker.process_id
        assert server is not None
        os.kill(server, signal.SIGSTOP)
        fresh_worker.kill()
        assert not is_alive(server)

    def test_kill_may_be_called_twice_and_before_the_start(self) -> None:
        worker = Worker()
        worker.kill()
        worker.kill()
        assert worker.process_id is None


def test_nothing_outlives_a_parent_that_is_killed(marks: Marks) -> None:
    script = """
import sys
from harness.sandbox.program import Program
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
worker = Worker()
worker.run(Program("print(1)"), [b""], Limits())
print(worker.process_id, flush=True)
worker.run(Program(sys.argv[1]), [b""], Limits(cpu_s=300))
"""
    program = marks.code + "while True: pass"
    with subprocess.Popen(
        [sys.executable, "-c", script, program], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        server, judged = int(parent.stdout.readline()), marks.wait()
        with watched(server, judged) as ended:
            parent.kill()
            assert ended()


def test_no_folder_outlives_a_parent_that_is_killed(marks: Marks) -> None:
    script = """
import sys
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
worker = Worker(Isolation(Level.LANDLOCK))
print(worker.run(Program("import os\\nprint(os.getcwd())"), [b""], Limits())[0].stdout.decode())
sys.stdout.flush()
worker.run(Program(sys.argv[1]), [b""], Limits(cpu_s=300))
"""
    program = marks.code + "while True: pass"
    with subprocess.Popen(
        [sys.executable, "-c", script, program], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        folder = Path(parent.stdout.readline().decode().strip())
        assert folder.is_dir()
        judged = marks.wait()
        server = int(Path(f"/proc/{judged}/stat").read_text().rpartition(")")[2].split()[1])
        with watched(server, judged) as ended:
            parent.kill()
            assert ended()
        assert not folder.exists()


def test_an_empty_list_of_inputs_is_an_error(worker: Worker) -> None:
    with pytest.raises(SandboxError, match="no test was run"):
        worker.run(Program("print(1)"), [], Limits())


def test_a_runner_that_cannot_be_set_up_is_the_sandbox_s_failure() -> None:
    worker = Worker()
    beyond = Limits(memory_bytes=1 << 80)
    try:
        with pytest.raises(SandboxError, match="set up"):
            worker.run(Program("print(1)"), [b""], beyond)
    finally:
        worker.kill()
