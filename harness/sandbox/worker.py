"""The trusted side of one fork server: starts it, hands it work, doubts what it carries."""

import array
import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from harness.sandbox.execution import (
    Ending,
    Execution,
    Program,
    SandboxError,
    WorkerStoppedError,
)
from harness.sandbox.limits import Limits

FORK_SERVER = Path(__file__).parent / "inside" / "fork_server.py"
ALLOWED_PACKAGES = ("numpy", "sortedcontainers")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
BATCH_INPUT_BYTES = 256 << 20
COLLECT_BYTES = 256 << 20
EXIT_CODES = 256
LEAVE_S = 2.0  # for a fork server that was hung up on to end what it runs
LOOK_S = 1.0  # between two looks at whether the fork server still runs
GRACE_S = 20.0  # for the fork server itself, beyond what the tests may take


class Worker:
    """One fork server, started when first needed.

    Not safe for use by two threads at a time; `kill` and `stop` may come from anywhere.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._lock = threading.Lock()  # of what follows
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._folder: str | None = None
        self._aside: Worker | None = None

    @property
    def aside(self) -> "Worker":
        """Another fork server, for what may not meet the programs that this one runs.

        What passed through a fork server lingers in the memory that it forks. This one's `stop`
        ends the other too.
        """
        with self._lock:
            if self._aside is None:
                self._aside = Worker()
                self._aside.stopped = self.stopped
            return self._aside

    def run(self, program: Program, inputs: Sequence[bytes], limits: Limits) -> list[Execution]:
        """Run tests in one process until one ends it, in the order given.

        Returns:
            The executions of the leading tests, at least one. Fewer than asked for when a test
            ended the process; the rest is for another call.

        Raises:
            SandboxError: the fork server failed; the next call starts a new one.
            WorkerStoppedError: `stop` was called.
        """
        with contextlib.ExitStack() as stack:
            spans, given = _write_inputs(inputs)
            stack.callback(os.close, given)
            taken = os.memfd_create("outputs")
            stack.callback(os.close, taken)
            try:
                answer = self._ask(program, spans, limits, (given, taken))
                return _read_answer(answer, taken, alone=len(inputs) == 1)
            except (OSError, EOFError, ValueError, KeyError, TypeError, OverflowError) as error:
                self.kill()
                if self.stopped:
                    raise WorkerStoppedError from error
                raise SandboxError(f"{type(error).__name__}: {error}") from error

    def _ask(
        self,
        program: Program,
        spans: list[tuple[int, int]],
        limits: Limits,
        descriptors: tuple[int, int],
    ) -> dict[str, Any]:
        request = {
            "code": program.code,
            "preamble": program.preamble,
            "entry_point": program.entry_point,
            "arguments": program.signature.arguments,
            "result": program.signature.result,
            "inputs": spans,
            "limits": {
                "cpu_s": limits.cpu_s,
                "wall_s": limits.wall_s,
                "memory_bytes": limits.memory_bytes,
                "output_bytes": limits.output_bytes,
                "collect_bytes": COLLECT_BYTES,
            },
        }
        data = json.dumps(request).encode()
        connection = self._connection()
        connection.settimeout((len(spans) + 1) * limits.wall_s + GRACE_S)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        connection.sendmsg([struct.pack(">I", len(data))], rights)
        connection.sendall(data)
        self._await(connection)
        length = struct.unpack(">I", _receive(connection, 4))[0]
        return json.loads(_receive(connection, length))

    def _await(self, connection: socket.socket) -> None:
        """Wait for the answer's first byte, unless somebody stopped who is to give it.

        Raises:
            OSError: it does not come in time, or the fork server was stopped.
        """
        end = time.monotonic() + (connection.gettimeout() or 0.0)
        ready = select.poll()
        ready.register(connection, select.POLLIN)
        while not ready.poll(1000 * LOOK_S):
            if time.monotonic() > end:
                raise TimeoutError("timed out")
            process = self._process
            if process is not None and _is_stopped(process.pid):
                raise InterruptedError("the fork server was stopped")

    def _connection(self) -> socket.socket:
        process = self._process
        if process is None or process.poll() is not None:
            self.kill()
        with self._lock:
            if self.stopped:
                raise WorkerStoppedError
            return self._socket or self._start()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        folder = tempfile.mkdtemp(prefix="harness-")
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
                [
                    os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
                    *("-s", "-S", "-P", "-B", str(FORK_SERVER)),
                    *(str(theirs.fileno()), json.dumps(_allowed_packages())),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**ENVIRONMENT, "HOME": folder, "TMPDIR": folder},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._folder, self._socket = folder, ours
        return ours

    @property
    def process_id(self) -> int | None:
        """The fork server's process, for those who watch or kill it; None when there is none."""
        process = self._process
        return process.pid if process else None

    def stop(self) -> None:
        """End the fork servers and start no other: what runs raises WorkerStoppedError."""
        with self._lock:
            self.stopped = True
            aside = self._aside
        self.kill()
        if aside is not None:
            aside.stop()

    def kill(self) -> None:
        """End the fork server and its children at once."""
        with self._lock:
            process, self._process = self._process, None
            connection, self._socket = self._socket, None
            folder, self._folder = self._folder, None
        if connection is not None:
            with contextlib.suppress(OSError):  # wakes a thread that waits for an answer
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        if process is not None:
            # Hung up on, it kills what it runs and leaves; what does not leave is killed.
            try:
                process.wait(timeout=LEAVE_S)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if folder is not None:
            with contextlib.suppress(RecursionError):  # folders in folders in folders
                shutil.rmtree(folder, ignore_errors=True)


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # gone: the connection will say so
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


def _allowed_packages() -> dict[str, str]:
    """Where the packages that solutions may import are installed, without importing them."""
    specs = {name: importlib.util.find_spec(name) for name in ALLOWED_PACKAGES}
    origins = {name: spec.origin for name, spec in specs.items() if spec and spec.origin}
    return {name: str(Path(origin).parent.parent) for name, origin in origins.items()}


def _write_inputs(inputs: Sequence[bytes]) -> tuple[list[tuple[int, int]], int]:
    """As many leading inputs as fit in one batch, in a memory file: their offsets and lengths."""
    file = os.memfd_create("inputs")
    spans: list[tuple[int, int]] = []
    offset = 0
    for data in inputs:
        if spans and offset + len(data) > BATCH_INPUT_BYTES:
            break
        spans.append((offset, len(data)))
        view = memoryview(data)
        while view:
            done = os.pwrite(file, view, offset)
            view, offset = view[done:], offset + done
    return spans, file


def _receive(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("the fork server hung up")
        data += part
    return bytes(data)


def _read_answer(answer: dict[str, Any], outputs: int, *, alone: bool) -> list[Execution]:
    peak = answer["peak_bytes"] if alone else None
    executions = [_read_record(record, outputs, peak) for record in answer["tests"]]
    if not executions:
        raise EOFError("no test was run")
    return executions


def _read_record(record: dict[str, Any], outputs: int, peak: int | None) -> Execution:
    def part(name: str) -> bytes:
        start, head, tail = record[name]
        kept = os.pread(outputs, head, start)
        return kept + b"\n...\n" + os.pread(outputs, tail, start + head) if tail else kept

    ending, code, error = _judge_ending(record)
    result = part("result")
    return Execution(
        ending=ending,
        stdout=part("stdout"),
        stderr=part("stderr").decode("utf-8", "replace"),
        result=result if result and ending is Ending.FINISHED else None,
        error=error,
        code=code,
        cpu_s=record["cpu_s"],
        wall_s=record["wall_s"],
        peak_bytes=peak,
    )


def _judge_ending(record: dict[str, Any]) -> tuple[Ending, int, str]:  # noqa: PLR0911 - one case a line
    """The ending, the exit code or signal number, and the error's text."""
    if record["too_much_output"]:
        return Ending.OUTPUT_LIMIT, 0, ""
    match record["end"]:
        case "cpu":
            return Ending.CPU_LIMIT, 0, ""
        case "wall":
            return Ending.WALL_LIMIT, 0, ""
        case "cannot_compile":
            return Ending.CANNOT_COMPILE, 0, _error(record["report"])
        case "done":
            return _judge_report(record["report"])
        case "broken":
            raise ValueError("the runner could not be set up")
        case "gone":
            status = record["exit"]
            if os.WIFSIGNALED(status):
                return Ending.SIGNAL, os.WTERMSIG(status), ""
            code = os.WEXITSTATUS(status)
            return (Ending.EXIT if code else Ending.FINISHED), code, ""
        case _:
            return Ending.ERROR, 0, "the program wrote on the judge's own channel"


def _judge_report(report: str) -> tuple[Ending, int, str]:
    """What the runner says of a test.

    Judged code may have forged it, so nothing hangs on it but what an ending is called: output and
    result are compared whatever it says.
    """
    match _claim(report).get("status"):
        case "ok":
            return Ending.FINISHED, 0, ""
        case "exit":
            code = _claim(report).get("code")
            return Ending.EXIT, code if type(code) is int and 0 < code < EXIT_CODES else 1, ""
        case "memory":
            return Ending.MEMORY_LIMIT, 0, ""
        case _:
            return Ending.ERROR, 0, _error(report)


def _error(report: str) -> str:
    error = _claim(report).get("error")
    return error if isinstance(error, str) else ""


def _claim(report: str) -> dict[str, Any]:
    try:
        claim = json.loads(report.encode("latin-1"))
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", claim) if isinstance(claim, dict) else {}
