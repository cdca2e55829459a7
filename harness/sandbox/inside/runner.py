"""The forked process that runs one solution on its tests, one after another.

What the tests of a solution share here: the process, the modules they imported, and the memory and
random state that go with it. What each has of its own: the module namespace, the standard streams
and their descriptors, `Solution()`, the recursion limit, `sys.path`, `sys.argv` and the built-ins.
State that leaks nevertheless can only make a test fail that would pass alone, and such a test is
confirmed in a process of its own; or, rarely, make one pass, for which one test of every accepted
solution is run again alone (`harness.grading.judge`). Expected outputs are never in this process,
so nothing that is done to it can turn a wrong answer right.
"""

import _thread
import ast
import atexit
import builtins
import contextlib
import gc
import io
import json
import linecache
import os
import re
import signal
import sys
import threading
import traceback
from types import CodeType, ModuleType
from typing import Any

from inside import values

FILE_NAME = "solution.py"
DETAIL_BYTES = 6_000
DEFAULT_RECURSION_LIMIT = 1_000
STREAM_NAMES = ("<stdin>", "<stdout>", "<stderr>")

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

# The memory files between the fork server and the runner; the report says why a test failed.
FILES = ("stdin", "stdout", "stderr", "result", "report")

# What the runner says.
READY, CANNOT_COMPILE, DONE, DONE_AND_OVER = b"R", b"C", b"D", b"E"

# Modules whose names preambles take: importing them runs nothing that is not the interpreter's own.
WARM = frozenset(
    (
        *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
        *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
        *("typing", "cmath", "fractions", "decimal", "array", "queue", "threading", "time"),
        *("collections.abc", "dataclasses", "enum", "abc", "contextlib", "textwrap", "struct"),
    )
)


class Preamble:
    """Source that comes before a solution's.

    Imports of warm modules are run once; those of other packages, which take long to load and may
    not be installed, only for a solution whose text has a word that they bind (`input` has `np` in
    it, but not as a word); the rest of the source is run again for every test.
    """

    def __init__(self, text: str) -> None:
        self.imports: dict[str, Any] = {}
        warm: list[ast.stmt] = []
        rest: list[ast.stmt] = []
        self.packages: list[tuple[list[re.Pattern[str]], CodeType]] = []
        for node in ast.parse(text).body:
            if _is_warm(node):
                warm.append(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names = (alias.asname or alias.name.partition(".")[0] for alias in node.names)
                words = [re.compile(rf"\b{re.escape(name)}\b") for name in names]
                self.packages.append((words, _compile([node])))
            else:
                rest.append(node)
        exec(_compile(warm), self.imports)
        self.imports.pop("__builtins__", None)
        self.rest = _compile(rest) if rest else None
        self.streams = [
            (name, stream)
            for name in self.imports
            for stream in ("stdin", "stdout", "stderr")
            if self.imports[name] is getattr(sys, stream)
        ]

    def fill(self, namespace: dict[str, Any], solution: str) -> None:
        """Put the preamble's names into a solution's fresh namespace."""
        namespace.update(self.imports)
        for name, stream in self.streams:
            namespace[name] = getattr(sys, stream)
        for names, code in self.packages:
            if any(name.search(solution) for name in names):
                with contextlib.suppress(ImportError):
                    exec(code, namespace)
        if self.rest is not None:
            exec(self.rest, namespace)


def _compile(statements: list[ast.stmt]) -> CodeType:
    return compile(ast.Module(statements, []), "<preamble>", "exec")


def _is_warm(node: ast.stmt) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.name in WARM for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module in WARM
        case _:
            return False


class Runner:
    """Runs the tests of one solution in this process.

    Args:
        program: the file that holds `code`, `entry_point`, `arguments` and `result` as JSON.
        preamble: what comes before the code.
        control: the socket to the fork server.
        files: those that `FILES` names.
    """

    def __init__(self, program: int, preamble: Preamble, control: int, files: list[int]) -> None:
        self.job: dict[str, Any] = json.loads(os.pread(program, os.fstat(program).st_size, 0))
        os.close(program)
        self.preamble = preamble
        self.control = control
        *self.descriptors, self.report = files
        self.builtins = dict(builtins.__dict__)
        self.path = list(sys.path)
        self.directory = os.open(".", os.O_PATH | os.O_CLOEXEC)

    def run(self) -> None:
        """Compile, then run a test whenever the fork server says so, until it hangs up."""
        code = self._compile()
        while code is not None and os.read(self.control, 1):
            report, over = self._run_test(code)
            self._send(DONE_AND_OVER if over else DONE, report)
            if over:
                return

    def _send(self, word: bytes, report: dict[str, Any]) -> None:
        if report["status"] != "ok":
            os.lseek(self.report, 0, os.SEEK_SET)
            _write_all(self.report, json.dumps(report).encode())
        os.write(self.control, word)

    def _compile(self) -> CodeType | None:
        source = self.job["code"].removeprefix("\ufeff")  # as in a file
        try:
            code = compile(source, FILE_NAME, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            text = "".join(traceback.format_exception_only(error))
            self._send(CANNOT_COMPILE, {"status": "error", "error": _shorten(text)})
            return None
        lines = source.splitlines(keepends=True)
        linecache.cache[FILE_NAME] = (len(source), None, lines, FILE_NAME)
        os.write(self.control, READY)
        return code

    def _run_test(self, code: CodeType) -> tuple[dict[str, Any], bool]:
        self._renew()
        module = ModuleType("__main__" if self.job["entry_point"] is None else "solution")
        namespace = module.__dict__
        namespace["__builtins__"] = builtins
        namespace["__file__"] = FILE_NAME
        sys.modules[module.__name__] = module
        try:
            self.preamble.fill(namespace, self.job["code"])
            exec(code, namespace)
            if self.job["entry_point"] is not None:
                self._call(namespace)
            report = {"status": "ok"}
        except BaseException as error:
            report = _describe(error)
        over = _end_threads()
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter calls
        for stream in (sys.stdout, sys.stderr):  # the solution's own may need its globals to flush
            _flush(stream, report)
        namespace.clear()  # as an interpreter does before its last flush
        for stream in (sys.stdout, sys.stderr, *self.streams):
            _flush(stream, report)
        return report, over

    def _renew(self) -> None:
        """Give the coming test its own streams and undo what the last one changed."""
        stdin, stdout, stderr, result = self.descriptors
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for descriptor in (stdin, stdout, stderr, result):
            os.lseek(descriptor, 0, os.SEEK_SET)
        sys.stdin = sys.__stdin__ = _open_stream(0, "r")
        sys.stdout = sys.__stdout__ = _open_stream(1, "w")
        sys.stderr = sys.__stderr__ = _open_stream(2, "w")
        self.streams = (sys.stdout, sys.stderr)
        sys.argv = [FILE_NAME]
        sys.path[:] = self.path
        sys.setrecursionlimit(DEFAULT_RECURSION_LIMIT)
        if builtins.__dict__ != self.builtins:
            builtins.__dict__.clear()
            builtins.__dict__.update(self.builtins)
        os.fchdir(self.directory)
        signal.alarm(0)
        gc.enable()

    def _call(self, namespace: dict[str, Any]) -> None:
        name = self.job["entry_point"]
        function = _find(name, namespace)
        stdin = self.descriptors[0]
        text = os.pread(stdin, os.fstat(stdin).st_size, 0).decode("utf-8", "surrogatepass")
        arguments = values.decode_arguments(text, self.job["arguments"], namespace)
        result = function(*arguments)
        encoded = values.encode(result, self.job["result"], arguments, self.job["arguments"])
        _write_all(self.descriptors[3], encoded)


class MissingEntryPointError(Exception):
    """The solution does not define what the problem asks for."""


def _find(name: str, namespace: dict[str, Any]) -> Any:
    solution = namespace.get("Solution")
    if isinstance(solution, type) and hasattr(solution, name):
        return getattr(solution(), name)
    function = namespace.get(name)
    if callable(function):
        return function
    raise MissingEntryPointError(f"the solution defines no function or Solution method {name!r}")


def _open_stream(descriptor: int, mode: str) -> io.TextIOWrapper:
    """A standard stream, with the name and the mode that an interpreter gives it."""
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = STREAM_NAMES[descriptor]
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(
        buffered,
        encoding="utf-8",
        errors="backslashreplace" if descriptor == 2 else "surrogateescape",  # noqa: PLR2004
        newline=None if mode == "r" else "\n",
        line_buffering=descriptor == 2,  # noqa: PLR2004 - stderr
    )
    stream.mode = mode
    return stream


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _describe(error: BaseException) -> dict[str, Any]:
    """What a program's last exception means: an exit code, want of memory, or an error."""
    match error:
        case SystemExit(code=None):
            return {"status": "ok"}
        case SystemExit(code=int(code)):
            return {"status": "exit", "code": code & 0xFF} if code & 0xFF else {"status": "ok"}
        case SystemExit(code=code):
            with contextlib.suppress(BaseException):
                print(code, file=sys.stderr)
            return {"status": "exit", "code": 1}
        case MemoryError() | values.TooLargeError():
            error.__traceback__ = None
            return {"status": "memory"}
        case MissingEntryPointError():
            return {"status": "error", "error": str(error)}
        case _:
            return {"status": "error", "error": _shorten(_format(error))}


def _format(error: BaseException) -> str:
    """The traceback as the interpreter prints it, from the solution's first frame on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE_NAME:
        trace = trace.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, trace, limit=-12))
    except BaseException:
        return f"{type(error).__name__} (its text could not be made)"


def _shorten(text: str) -> str:
    if len(text) <= DETAIL_BYTES:
        return text
    head, tail = text[: DETAIL_BYTES // 4], text[-DETAIL_BYTES // 2 :]
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters left out …\n{tail}"


def _end_threads() -> bool:
    """Wait for threads as an interpreter does at its end.

    Returns whether this process must run no further test: a thread of this one lives on, or a pool
    was told of the exit and takes no more work.
    """
    over = False
    if threading.active_count() > 1:
        hooks = threading._threading_atexits  # noqa: SLF001 - as above
        over = bool(hooks)
        while hooks:
            with contextlib.suppress(BaseException):
                hooks.pop()()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
    return over or _thread._count() > 0  # noqa: SLF001 - raw threads have no other


def _flush(stream: Any, report: dict[str, Any]) -> None:
    """Flush; a full disk or a limit that is hit is the program's error, as at a real exit."""
    try:
        stream.flush()
    except OSError as error:
        if report["status"] == "ok":
            report.update(_describe(error))
    except BaseException:  # closed, detached, or replaced by something without a flush
        return
