"""The program, forked from a process that has already imported it.

Most tests check a command's output and files, and starting an interpreter that imports the package
costs more than the command itself. So one process per test session, whatever the number of its
workers, imports the package and what commands import later, finds the sandbox that holds, and forks
for every command: the child gets the command's arguments, folder, environment and pipes, and runs
the console script's own file. Settings that are read during the import (`PYTHON…` but the path and
the encoding, the locale) cannot be changed afterwards; `program` starts an interpreter for those.
"""

import asyncio
import atexit
import contextlib
import ctypes
import gc
import io
import json
import os
import re
import runpy
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LONGEST_REQUEST = 1 << 20
MADV_COLLAPSE = 25
AT_IMPORT = re.compile("(PYTHON(?!PATH$|IOENCODING$)|LANG|LC_|LD_|OPENAI_LOG|ANTHROPIC_LOG)")
"""Matches variables that an interpreter or a package reads only at start, and no child can heed."""
KEPT = "HARNESS_TEST_KEPT"
"""Names the session's folder for what takes seconds: the charts' program, C++ headers and programs.

A command that names no cache of its own has it.
"""
HEAVY = (
    *("altair", "anthropic", "anyio._backends._asyncio", "asyncio", "filelock", "fsspec"),
    *("httpcore2", "mcp", "multiprocess", "openai", "openai.resources.chat.chat"),
    *("openai.resources.chat.completions.completions", "openai.resources.responses.responses"),
    *("pandas", "pyarrow.parquet", "ray", "rich.status"),
    *("starlette.routing", "tqdm.auto", "typer.rich_utils", "uvicorn", "xxhash", "yaml"),
)
"""What commands import only when they need it."""


@dataclass(frozen=True)
class Begun:
    """A running program: its process, its pipes, and the socket of its exit code."""

    process: int
    out: io.FileIO
    err: io.FileIO
    ending: socket.socket

    def finish(self, timeout: float, errors: str = "strict") -> tuple[int, str, str]:
        """Wait for its end, like `subprocess.run`: exit code, stdout and stderr.

        Args:
            timeout: seconds.
            errors: what happens to bytes that are not UTF-8, as for `bytes.decode`.
        """
        outputs: dict[Any, bytearray] = {self.out: bytearray(), self.err: bytearray()}
        latest = time.monotonic() + timeout
        with self.out, self.err, self.ending, selectors.DefaultSelector() as selector:
            for pipe in outputs:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(latest - time.monotonic())
                if not ready:
                    os.kill(self.process, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(
                        "harness", timeout, *map(bytes, outputs.values())
                    )
                for key, _ in ready:
                    piece = os.read(key.fd, 1 << 16)
                    outputs[key.fileobj] += piece
                    if not piece:
                        selector.unregister(key.fileobj)
            code = int(self.ending.recv(64))
        out, err = (part.decode(errors=errors).replace("\r\n", "\n") for part in outputs.values())
        return code, out, err


class Running:
    """A running program on an event loop, with parts of `asyncio.subprocess.Process`."""

    stdin: asyncio.StreamWriter | None = None

    def __init__(self, begun: Begun, out: asyncio.StreamReader, err: asyncio.StreamReader) -> None:
        self.stdout, self.stderr = out, err
        self.pid = begun.process
        self.returncode: int | None = None
        self._ending = begun.ending
        self._ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._ending, self._end)

    @classmethod
    async def of(cls, begun: Begun) -> "Running":
        """Wrap a program; the running loop reads its pipes from now on."""
        loop, readers = asyncio.get_running_loop(), list[asyncio.StreamReader]()
        for pipe in (begun.out, begun.err):
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            await loop.connect_read_pipe(lambda to=protocol: to, pipe)
            readers.append(reader)
        return cls(begun, *readers)

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ending)
        self.returncode = int(self._ending.recv(64))
        self._ending.close()
        if self.stdin is not None:
            self.stdin.close()
        self._ended.set()

    def send_signal(self, word: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, word)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self) -> tuple[bytes, bytes]:
        """Read the remaining output."""
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        return out, err


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Attributes:
        folder: working directory.
        arguments: arguments of the command.
        env: environment.
        first: code to run before the program.
        lend: whether it may use a sandbox that is running, see `lent_servers`.
    """

    folder: str
    arguments: list[str]
    env: dict[str, str]
    first: str = ""
    lend: bool = False


class Imported:
    """A process that has imported the package, as used by tests."""

    def __init__(self, name: str) -> None:
        """Use the process that listens at this name: an abstract socket, so no file remains."""
        self.name = name

    @classmethod
    def started(cls, program: str, env: dict[str, str]) -> "Imported":
        """Start it; commands may be ordered at once and wait until it has imported everything."""
        name = f"harness-{secrets.token_hex(8)}"
        env = {**env, KEPT: os.environ.get("HF_HOME", os.devnull)}
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(f"\0{name}")
            listener.listen()
            process = subprocess.Popen(
                [sys.executable, __file__, program, str(listener.fileno())],
                env=env,
                stdin=subprocess.PIPE,  # closing it ends the process
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
            )
        atexit.register(_stop, process)
        return cls(name)

    def begin(self, command: Command, stdin: int | None = None) -> Begun:
        """Start the program on pipes; `stdin` is a descriptor to read from, default: nothing."""
        nothing = os.open(os.devnull, os.O_RDONLY)
        ends = [os.pipe(), os.pipe()]
        given = nothing if stdin is None else stdin
        process, ending = self.fork(command, [given, *(end[1] for end in ends)])
        for file in (nothing, *(end[1] for end in ends)):
            os.close(file)
        out, err = (os.fdopen(end[0], "rb", 0) for end in ends)
        return Begun(process, out, err, ending)

    def fork(
        self, command: Command, files: list[int], *, session: bool = False
    ) -> tuple[int, socket.socket]:
        """Start the program on three descriptors, perhaps in a session of its own.

        Returns:
            Its process id, and the socket that its exit code comes on.
        """
        order = json.dumps(asdict(command) | {"session": session}).encode()
        assert len(order) < LONGEST_REQUEST
        asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_REQUEST)
        asked.connect(f"\0{self.name}")
        socket.send_fds(asked, [order], files)
        return int(asked.recv(64)), asked


def _stop(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:  # it still imports: the machine is busy
        process.kill()
        process.wait()


# In the forked process.


def _import_all() -> None:
    import importlib
    import pkgutil

    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import harness

    for module in pkgutil.walk_packages(harness.__path__, "harness."):
        if not {"inside", "fixtures", "__main__"} & set(module.name.split(".")):
            with contextlib.suppress(ImportError):  # an extra that is not installed
                importlib.import_module(module.name)
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(ImportError):
        _shut_ray_down_where_it_was_started()
    assert "huggingface_hub" not in sys.modules, "it reads HF_HOME and more when it is imported"
    assert threading.active_count() == 1, "a fork has one thread alone"


def _shut_ray_down_where_it_was_started() -> None:
    """Ray does it at every exit after its import, which takes as long as a small command."""
    import ray

    atexit.unregister(ray.shutdown)
    atexit.register(lambda: ray.is_initialized() and ray.shutdown(_exiting_interpreter=True))


def _make_pages_large() -> None:
    """Collect memory in large pages, where the kernel can: a fork then takes half the time."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, *_ = fields = line.split()
        if rights.startswith("rw") and fields[5:] in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in place.split("-"))
            advise(start, end - start, MADV_COLLAPSE)


def _serve(program: str, descriptor: str) -> str:
    """Fork for every order; in the prepared child, return the code to run first."""
    from lent_servers import Lender

    lender = Lender()
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page
    _make_pages_large()
    listener = socket.socket(fileno=int(descriptor))
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(listener, selectors.EVENT_READ)
    running: dict[int, tuple[socket.socket, int, int | None]] = {}
    while True:
        for key, _ in selector.select():
            if key.fd == 0:
                os._exit(0)
            if key.fileobj is not listener:  # a child has ended
                asked, process, lent = running.pop(key.fd)
                _, status = os.waitpid(process, 0)
                selector.unregister(key.fd)
                os.close(key.fd)
                lender.ended(lent)
                with contextlib.suppress(OSError), asked:  # the other side may have timed out
                    asked.send(str(os.waitstatus_to_exitcode(status)).encode())
                continue
            asked, _ = listener.accept()
            order, files, _, _ = socket.recv_fds(asked, LONGEST_REQUEST, 3)
            command = json.loads(order)
            lent = lender.lend() if command["lend"] else None
            _try_compiler(command)
            process = os.fork()
            if process == 0:
                lender.take(lent)
                selector.close()
                for other, _, _ in running.values():
                    other.close()
                for other in running:
                    os.close(other)
                listener.close()
                asked.close()
                return _become(program, command, files)
            lender.forked(lent)
            for file in files:
                os.close(file)
            asked.send(str(process).encode())
            watched = os.pidfd_open(process)
            running[watched] = asked, process, lent
            selector.register(watched, selectors.EVENT_READ)


def _keep_in(kept: Path) -> None:
    from harness.features.report import page
    from harness.kinds.cpp import binaries, headers

    for module in (page, binaries, headers):
        module.__dict__["cache_folder"] = lambda: kept


def _try_compiler(order: dict[str, Any]) -> None:
    """Have the C++ compiler tried out, if a command will do it: once for all, in half a second."""
    from harness.errors import UsageError
    from harness.kinds.cpp import language
    from harness.run.plan.languages import check_compiler

    if _has_our_path(order) and any("cpp" in each for each in order["arguments"]):
        with contextlib.suppress(UsageError):
            check_compiler(language.LANGUAGE)


def _has_our_path(order: dict[str, Any]) -> bool:
    return order["env"].get("PATH") == os.environ["PATH"]


def _become(program: str, order: dict[str, Any], files: list[int]) -> str:
    """Set up this process like a newly started one."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if order["session"]:
        os.setsid()
    encoding = order["env"].get("PYTHONIOENCODING", "utf-8")
    given: dict[str, Any] = {"mode": "w", "encoding": encoding, "closefd": False}
    sys.stdout = open(1, buffering=1 if os.isatty(1) else -1, **given)  # noqa: SIM115
    sys.stderr = open(2, buffering=1, errors="backslashreplace", **given)  # noqa: SIM115
    os.chdir(order["folder"])
    if not _has_our_path(order):  # and another compiler, or none
        from harness.kinds.cpp import language
        from harness.run.plan import languages

        language.compiler.cache_clear()
        languages._fault.cache_clear()
    if order["env"].get("HF_HOME") == os.environ["HF_HOME"]:
        _keep_in(Path(os.environ[KEPT]) / "assets" / "harness")  # as in the tests' own processes
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    paths = order["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [str(Path(program).parent), *filter(None, paths)]
    sys.argv = [program, *order["arguments"]]
    return order["first"]


def _run(first: str) -> int:
    """Run a script like an interpreter, but without its cleanup at exit."""
    code: object = 0
    try:
        exec(first, {})
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - printed as an interpreter does
        traceback.print_exc()
        code = 1
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue] - as at every exit
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the program has closed it
            stream.flush()
    return code or 0


def _prepare(program: str) -> None:
    """Prepare what commands need: flags, plug-ins, certificates, bundled templates."""
    import lent_servers  # noqa: F401 # pyright: ignore[reportUnusedImport] - before its folder goes
    import typer

    from harness import plugins
    from harness.agent.templates import template
    from harness.agent.templates.prompt_set import load_prompt
    from harness.cli.app import app
    from harness.kinds.cpp import headers
    from harness.models.clients.connections import certificates
    from harness.registry import COMMANDS
    from harness.run.store import versions
    from harness.sandbox import pool

    pool.__dict__["usable_cores"] = lambda: 1  # to start a sandbox takes as long as most commands
    group: Any = typer.main.get_command(app)
    for command in COMMANDS:
        subcommand = group.get_command(None, command.name)
        subcommand.make_context(command.name, ["x"], resilient_parsing=True)
    sys.path[0] = str(Path(program).parent)
    plugins.installed("")
    versions.git_revision()
    certificates()
    headers.Headers.__init__.__defaults__ = (None, 1)  # precompiled for the first that can use it
    for part, source in load_prompt("default", "agentic").parts.items():
        template._compiled(source, f"{part}.j2")
    for mode in ("single_shot", "agentic"):
        group(["run", "-n", "1", "--dry-run", "--json", "--mode", mode], standalone_mode=False)


if __name__ == "__main__":
    os.set_inheritable(int(sys.argv[2]), False)
    _import_all()
    _prepare(sys.argv[1])
    os._exit(_run(_serve(*sys.argv[1:])))
