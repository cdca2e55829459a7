"""One fork server: what it survives, what it does not, and what is said of that."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from harness.sandbox.execution import Ending, Execution, Program, SandboxError, WorkerStoppedError
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker

RunOn = Callable[..., list[Execution]]
PATIENCE_S = 10.0


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


class Marks(Protocol):
    """See the fixture."""

    code: str

    def wait(self) -> int: ...


def sound(worker: Worker, run_on: RunOn) -> bool:
    return run_on(worker, "print(input()[::-1])", b"abc")[0].stdout == b"cba\n"


class TestBroken:
    def test_a_fork_server_killed_amid_a_test_is_a_sandbox_error(
        self, worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        assert sound(worker, run_on)
        server = worker.process_id
        assert server is not None
        ends: list[bool] = []

        def kill() -> None:
            with watched(marks.wait()) as ended:
                os.kill(server, signal.SIGKILL)
                ends.append(ended())

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(SandboxError, match=r"hung up|reset"):
            run_on(worker, marks.code + "while True: pass", b"")
        killer.join()
        assert ends == [True]
        assert sound(worker, run_on)
        assert worker.process_id != server

    def test_a_fork_server_that_died_between_two_calls_is_replaced(
        self, worker: Worker, run_on: RunOn
    ) -> None:
        assert sound(worker, run_on)
        assert worker.process_id is not None
        with watched(worker.process_id) as ended:
            os.kill(worker.process_id, signal.SIGKILL)
            assert ended()
        assert sound(worker, run_on)

    def test_a_program_that_kills_the_fork_server(self, worker: Worker, run_on: RunOn) -> None:
        with pytest.raises(SandboxError):
            run_on(worker, "import os\nos.kill(os.getppid(), 9)", b"")
        assert sound(worker, run_on)

    def test_a_program_that_stops_the_fork_server(
        self, worker: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.worker.GRACE_S", 0.2)
        monkeypatch.setattr("harness.sandbox.worker.LEAVE_S", 0.2)
        code = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nwhile True: pass"
        with pytest.raises(SandboxError, match=r"timed out|Timeout"):
            run_on(worker, code, b"", wall=0.2, cpu_s=0.1)
        assert sound(worker, run_on)

    def test_a_program_that_removes_its_working_directory(
        self, worker: Worker, run_on: RunOn
    ) -> None:
        code = "import os\nos.rmdir(os.getcwd())\nprint('x')"
        with pytest.raises(SandboxError):
            run_on(worker, code, b"")
        assert sound(worker, run_on)

    def test_a_program_that_puts_a_link_where_its_working_directory_was(
        self, worker: Worker, run_on: RunOn, tmp_path: Path
    ) -> None:
        (tmp_path / "kept").touch()
        assert sound(worker, run_on)
        folder = Path(f"/proc/{worker.process_id}/cwd").readlink()
        code = f"""
        import os
        here = os.getcwd()
        os.rmdir(here)
        os.symlink({str(tmp_path)!r}, here)
        """
        with pytest.raises(SandboxError):
            run_on(worker, code, b"")
        assert (tmp_path / "kept").exists()
        folder.unlink()

    def test_a_program_that_moves_its_working_directory(
        self, worker: Worker, run_on: RunOn, tmp_path: Path
    ) -> None:
        (tmp_path / "kept").touch()
        code = f"""
        import os
        here = os.getcwd()
        open('left', 'w').close()
        os.rename(here, here + '-moved')
        os.symlink({str(tmp_path)!r}, here)
        """
        run_on(worker, code, b"")
        (moved,) = run_on(worker, "import os\nprint(os.getcwd(), os.listdir())", b"")
        folder, names = moved.stdout.decode().split()
        assert names == "[]"
        assert (tmp_path / "kept").exists()
        Path(folder).rmdir()
        Path(folder.removesuffix("-moved")).unlink()


class TestForged:
    """The judged program finds the runner's socket and writes on it what it likes."""

    FIND = """
import os, socket, stat
def channel():
    for fd in range(3, 20):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                return socket.socket(fileno=fd)
        except OSError:
            pass
control = channel()
"""

    @pytest.mark.parametrize(
        "word",
        [
            "b'nonsense'",
            "b'\\x00\\xff'",
            "b'D'",
            "b'D{'",
            "b'Dnull'",
            "b'D[]'",
            "b'D\"status\"'",
            "b'D{\"status\": []}'",
            'b\'D{"status": "error", "error": 5}\'',
            'b\'D{"status": "exit", "code": "x"}\'',
            'b\'D{"status": "exit", "code": -1e999}\'',
            'b\'D{"status": "exit", "code": 100000}\'',
            "b'D' + b'[' * 50000",
            "b'D' + b'9' * 50000",
            "b'D\\xff\\xfe'",
            "b'C{}'",
            "b'R'",
            "b'E'",
            "b'D' + b' ' * 200000",
        ],
    )
    def test_whatever_is_written_there(self, word: str, worker: Worker, run_on: RunOn) -> None:
        code = f"{self.FIND}\nimport contextlib, time\nwith contextlib.suppress(OSError):\n"
        code += f"    control.send({word})\ntime.sleep(100)"
        executions = run_on(worker, code, b"1", b"2", wall=0.1)
        assert executions
        endings = {execution.ending for execution in executions}
        assert endings <= {Ending.ERROR, Ending.EXIT, Ending.SIGNAL, Ending.WALL_LIMIT}
        assert all(execution.stdout == b"" for execution in executions)
        assert sound(worker, run_on)

    def test_a_claim_to_have_finished_changes_nothing_that_was_written(
        self, worker: Worker, run_on: RunOn
    ) -> None:
        code = f'{self.FIND}\ncontrol.send(b\'D{{"status": "ok"}}\')\nwhile True: pass'
        first, *_ = run_on(worker, code, b"1", b"2", cpu_s=0.3)
        assert (first.ending, first.stdout, first.result) == (Ending.FINISHED, b"", None)

    def test_many_claims_at_once(self, worker: Worker, run_on: RunOn) -> None:
        code = f"""{self.FIND}
control.setblocking(False)
try:
    while True: control.send(b'D{{"status": "ok"}}')
except OSError:
    pass
"""
        executions = run_on(worker, code, *[b"1"] * 5)
        assert all(execution.stdout == b"" for execution in executions)
        assert sound(worker, run_on)

    def test_the_channel_closed(self, worker: Worker, run_on: RunOn) -> None:
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


class TestStopping:
    def test_kill_ends_the_server_and_what_it_runs(
        self, worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                run_on(worker, marks.code + "while True: pass", b"")
            except SandboxError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        victim, server = marks.wait(), worker.process_id
        assert server is not None
        worker.kill()
        thread.join(PATIENCE_S)
        assert errors
        assert not _runs(victim)
        assert not _runs(server)
        assert worker.process_id is None
        assert sound(worker, run_on)

    def test_a_stopped_worker_starts_no_more(
        self, worker: Worker, run_on: RunOn, marks: Marks
    ) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                run_on(worker, marks.code + "while True: pass", b"")
            except WorkerStoppedError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        marks.wait()
        worker.stop()
        thread.join(PATIENCE_S)
        assert errors
        with pytest.raises(WorkerStoppedError):
            sound(worker, run_on)
        assert worker.process_id is None

    def test_a_stuck_server_is_killed(
        self, worker: Worker, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.worker.LEAVE_S", 0.2)
        assert sound(worker, run_on)
        server = worker.process_id
        assert server is not None
        os.kill(server, signal.SIGSTOP)
        worker.kill()
        assert not _runs(server)

    def test_kill_may_be_called_twice_and_before_the_start(self) -> None:
        worker = Worker()
        worker.kill()
        worker.kill()
        assert worker.process_id is None


def test_nothing_outlives_a_parent_that_is_killed(marks: Marks) -> None:
    script = """
import sys
from harness.sandbox.execution import Program
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
        folder = Path(f"/proc/{server}/cwd").readlink()
        with watched(server, judged) as ended:
            parent.kill()
            assert ended()
        assert not folder.exists()


def test_an_empty_list_of_inputs_is_an_error(shared_worker: Worker) -> None:
    with pytest.raises(SandboxError, match="no test was run"):
        shared_worker.run(Program("print(1)"), [], Limits())


def _runs(process: int) -> bool:
    """Whether it lives: a zombie that nobody has reaped yet does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def test_a_runner_that_cannot_be_set_up_is_the_sandbox_s_failure() -> None:
    worker = Worker()
    beyond = Limits(memory_bytes=1 << 80)
    try:
        with pytest.raises(SandboxError, match="set up"):
            worker.run(Program("print(1)"), [b""], beyond)
    finally:
        worker.kill()
