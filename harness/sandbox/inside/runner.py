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
import atexit
import builtins
import contextlib
import gc
import io
import json
import os
import signal
import sys
import threading
import traceback
from types import ModuleType
from typing import Any

from inside import values
from inside.calls.session import Session
from inside.calls.tests import run_tests
from inside.preamble import Preamble, Solution
from inside.words import (
    DONE,
    DONE_AND_OVER,
    FILE_NAME,
    WORD_BYTES,
    shorten,
    write_all,
    write_report,
)

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

DEFAULT_RECURSION_LIMIT = 1_000
STREAM_NAMES = ("<stdin>", "<stdout>", "<stderr>")


class Runner:
    """Runs the tests of one solution in this process; see `Template` for the arguments."""

    def __init__(
        self,
        solution: Solution,
        preamble: Preamble,
        control: int,
        files: list[int],
        directory: int,
    ) -> None:
        self.solution = solution
        self.preamble = preamble
        self.control = control
        *self.descriptors, self.report = files
        self.directory = directory
        self.streams: tuple[io.TextIOWrapper, ...] = ()
        self.path = list(sys.path)
        self.builtins = dict(builtins.__dict__) if solution.meddles else {}

    def run(self, go: bytes) -> None:
        """Run a test whenever the fork server says so, until it hangs up.

        Args:
            go: its word; another is left over from an earlier run, which did not wait for it.
        """
        while word := os.read(self.control, WORD_BYTES):
            if word != go:
                continue
            report, over = self._run_test()
            if report["status"] != "ok":
                write_report(self.report, report)
            os.write(self.control, DONE_AND_OVER if over else DONE)
            if over:
                return

    def rehearse(self) -> None:
        """Run a sample of the fork server's own; RuntimeError where that fails."""
        report, _ = self._run_test()
        if report["status"] != "ok":
            raise RuntimeError(f"a sample failed: {report}")

    def _run_test(self) -> tuple[dict[str, Any], bool]:
        self.renew()
        namespace: dict[str, Any] = {}
        report: dict[str, Any] = {"status": "ok"}
        try:
            namespace = self.open_namespace()
            exec(self.solution.code, namespace)
            if self.solution.entry_point is not None:
                self._call(self.solution.entry_point, namespace)
        except BaseException as error:
            report = describe(error)
        return report, self.leave(namespace, report)

    def open_namespace(self) -> dict[str, Any]:
        """A fresh module's, with the preamble in it or beneath it."""
        module = ModuleType("__main__" if self.solution.entry_point is None else "solution")
        namespace = module.__dict__
        namespace["__file__"] = FILE_NAME
        sys.modules[module.__name__] = module
        self.preamble.fill(namespace, self.solution)
        return namespace

    def leave(self, namespace: dict[str, Any], report: dict[str, Any]) -> bool:
        """What an interpreter does at its end.

        Args:
            namespace: of the program that has ended.
            report: how it ended; what cannot be written makes an error of it.

        Returns:
            Whether this process must run nothing further.
        """
        if not self.solution.may_write:  # nor can it start a thread, or set a hook
            namespace.clear()
            for stream in self.streams:
                flush(stream, report)
            return False
        end_tracing()
        over = end_threads()
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter calls
        for stream in (sys.stdout, sys.stderr):  # the solution's own may need its globals to flush
            flush(stream, report)
        namespace.clear()  # as an interpreter does before its last flush
        for stream in (sys.stdout, sys.stderr, *self.streams):
            flush(stream, report)
        return over

    def renew(self) -> None:
        """Give the coming test its own streams and undo what the last one changed."""
        os.lseek(self.descriptors[3], 0, os.SEEK_SET)
        if self.streams and not self.solution.may_write:
            if os.lseek(2, 0, os.SEEK_CUR):  # a warning
                self._renew_streams()
            return
        self._renew_streams()
        sys.argv = [FILE_NAME]
        sys.path[:] = self.path
        sys.setrecursionlimit(DEFAULT_RECURSION_LIMIT)
        if self.solution.meddles and builtins.__dict__ != self.builtins:
            builtins.__dict__.clear()
            builtins.__dict__.update(self.builtins)
        os.fchdir(self.directory)
        signal.alarm(0)
        gc.enable()

    def _renew_streams(self) -> None:
        for number, descriptor in enumerate(self.descriptors[:3]):
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.dup2(descriptor, number)
        sys.stdin = sys.__stdin__ = _open_stream(0, "r")
        sys.stdout = sys.__stdout__ = _open_stream(1, "w")
        sys.stderr = sys.__stderr__ = _open_stream(2, "w")
        self.streams = (sys.stdout, sys.stderr)

    def _call(self, name: str, namespace: dict[str, Any]) -> None:
        stdin = self.descriptors[0]
        text = os.pread(stdin, os.fstat(stdin).st_size, 0).decode("utf-8", "surrogatepass")
        if self.solution.result == "session":
            self._open_session(namespace).run(text)
            return
        if self.solution.result == "tests":
            report = run_tests(*map(json.loads, text.split("\n")))
            write_all(self.descriptors[3], report.encode())
            return
        function = find_entry_point(name, namespace)
        codecs = self.solution.arguments
        arguments = values.decode_arguments(text, codecs, namespace)
        result = function(*arguments)
        encoded = values.encode(result, self.solution.result, arguments, codecs)
        write_all(self.descriptors[3], encoded)

    def _open_session(self, namespace: dict[str, Any]) -> Session:
        return Session(
            lambda name: find_name(name, namespace),
            lambda error: describe(error).get("error", type(error).__name__),
            lambda line: write_all(self.descriptors[3], line),
        )


class MissingEntryPointError(Exception):
    """The solution does not define what the problem asks for."""


def find_entry_point(name: str, namespace: dict[str, Any]) -> Any:
    """What is to be called: a method of a new `Solution()`, or a function.

    Raises:
        MissingEntryPointError: there is none.
    """
    solution = namespace.get("Solution")
    if isinstance(solution, type) and hasattr(solution, name):
        return getattr(solution(), name)
    function = namespace.get(name)
    if callable(function):
        return function
    raise MissingEntryPointError(f"the solution defines no function or Solution method {name!r}")


def find_name(name: str, namespace: dict[str, Any]) -> Any:
    """What the solution defines: as `find_entry_point`, or a value of its module.

    Raises:
        NameError: it defines nothing of that name.
    """
    solution = namespace.get("Solution")
    if name in namespace and not (isinstance(solution, type) and hasattr(solution, name)):
        return namespace[name]
    try:
        return find_entry_point(name, namespace)
    except MissingEntryPointError as error:
        raise NameError(str(error), name=name) from None


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


def describe(error: BaseException) -> dict[str, Any]:
    """What a program's last exception means: an exit code, want of memory, or an error."""
    match error:
        case SystemExit(code=None):
            return {"status": "ok"}
        case SystemExit(code=int(code)):
            code = int.__and__(code, 0xFF)  # as a C program sees it, whatever its class says
            return {"status": "exit", "code": code} if code else {"status": "ok"}
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
            return {"status": "error", "error": shorten(_format(error))}


def _format(error: BaseException) -> str:
    """The traceback as the interpreter prints it, from the solution's first frame on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE_NAME:
        trace = trace.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, trace, limit=-12))
    except BaseException:
        return f"{type(error).__name__} (its text could not be made)"


def end_tracing() -> None:
    """Take away what a solution had called on every line: what follows is not its own."""
    for module in (sys, threading):
        for end in (module.settrace, module.setprofile):
            with contextlib.suppress(BaseException):  # of an audit hook's
                end(None)


def end_threads() -> bool:
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


def flush(stream: Any, report: dict[str, Any]) -> None:
    """Flush; a full disk or a limit that is hit is the program's error, as at a real exit."""
    try:
        stream.flush()
    except OSError as error:
        if report["status"] == "ok":
            report.update(describe(error))
    except BaseException:  # closed, detached, or replaced by something without a flush
        return
