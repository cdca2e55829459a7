"""The forked process that runs one solution on its tests, one after another.

All tests of a solution share the process, its imported modules, and the memory and random state
that go with them. Each test has its own module namespace, standard streams and their descriptors,
`Solution()`, recursion limit, stack size of threads, state of `random`, `sys.path`, `sys.argv` and
built-ins. State that leaks nevertheless
can make a test fail that would pass alone; such a test is confirmed in a separate process. Rarely,
it can make one pass; therefore one test of every accepted solution is run again alone
(`harness.grading.judge`). Expected outputs are never in this process, so nothing done to it can
make a wrong answer right.
"""

import _thread
import atexit
import builtins
import contextlib
import gc
import io
import json
import os
import random
import signal
import stat
import sys
import threading
import traceback
from types import ModuleType
from typing import Any

from inside import messages, values
from inside.calls.session import CallSession
from inside.calls.tests import run_tests
from inside.python.preamble import Preamble
from inside.python.solution_facts import SolutionFacts

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

DEFAULT_RECURSION_LIMIT = 1_000
STREAM_NAMES = ("<stdin>", "<stdout>", "<stderr>")
_set_random_state, _set_stack_size = random.setstate, threading.stack_size


class Runner:
    """Runs the tests of one solution in this process; see `Template` for the arguments."""

    def __init__(
        self,
        solution: SolutionFacts,
        preamble: Preamble,
        control: int,
        files: list[int],
        directory: int,
    ) -> None:
        self.solution = solution
        self.preamble = preamble
        self.control = control
        *self.descriptors, self.report = files
        self.talks = stat.S_ISFIFO(os.fstat(files[0]).st_mode)  # by pipes, with another program
        self.directory = directory
        self.streams: tuple[io.TextIOWrapper, ...] = ()
        self.path = list(sys.path)
        self.stack_size = threading.stack_size()
        threading.stack_size(self.stack_size)  # reading it sets it back to the system's default
        self.builtins = dict(builtins.__dict__) if solution.meddles else {}
        if solution.seeds:
            random.seed()
        self.random_state = random.getstate() if solution.draws else None

    def run(self, go: bytes) -> None:
        """Run a test at each request of the fork server, until it hangs up.

        Args:
            go: the request; any other is left over from an earlier run and ignored.
        """
        while word := os.read(self.control, messages.WORD_BYTES):
            if word != go:
                continue
            report, over = self._run_test()
            if report["status"] != "ok":
                messages.write_report(self.report, report)
            os.write(self.control, messages.DONE_AND_OVER if over else messages.DONE)
            if over:
                return

    def rehearse(self) -> None:
        """Run a sample of the fork server; raises RuntimeError if it fails."""
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
        if "__del__" not in self.solution.text:
            return report, self.leave(namespace, report)
        over = self.leave(namespace, report, clears=False)
        del namespace
        self._finalize(report)
        return report, over

    def _finalize(self, report: dict[str, Any]) -> None:
        """Collect the finished program's objects: `__del__` finds all globals, as on exit."""
        with contextlib.suppress(BaseException):  # the program may have replaced them
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            for name in ("__main__", "solution"):
                sys.modules.pop(name, None)
            gc.collect()
        for stream in self.streams:
            flush(stream, report)

    def open_namespace(self) -> dict[str, Any]:
        """Return a fresh module's namespace with the preamble's names available."""
        module = ModuleType("__main__" if self.solution.entry_point is None else "solution")
        namespace = module.__dict__
        namespace["__file__"] = messages.FILE_NAME
        sys.modules[module.__name__] = module
        self.preamble.fill(namespace, self.solution)
        return namespace

    def leave(
        self, namespace: dict[str, Any], report: dict[str, Any], *, clears: bool = True
    ) -> bool:
        """Do what an interpreter does on exit.

        Args:
            namespace: namespace of the finished program.
            report: how it ended; changed to an error if output cannot be written.
            clears: whether to empty the namespace.

        Returns:
            Whether this process must run no further test.
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
        for stream in (sys.stdout, sys.stderr):  # the solution's own may need its globals
            flush(stream, report)
        if clears:
            namespace.clear()  # as an interpreter does before its last flush
        for stream in (sys.stdout, sys.stderr, *self.streams):
            flush(stream, report)
        return over

    def renew(self) -> None:
        """Give the next test its own streams and undo changes of the previous one."""
        os.lseek(self.descriptors[3], 0, os.SEEK_SET)
        if self.random_state is not None:
            _set_random_state(self.random_state)
        if self.streams and not self.solution.may_write:
            if os.lseek(2, 0, os.SEEK_CUR):  # a warning
                self._renew_streams()
            return
        self._renew_streams()
        self.renew_settings()
        gc.enable()

    def renew_settings(self) -> None:
        """Undo changes of the previous test to the interpreter's and the process's settings."""
        sys.argv = [messages.FILE_NAME]
        sys.path[:] = self.path
        sys.setrecursionlimit(DEFAULT_RECURSION_LIMIT)
        sys.set_int_max_str_digits(0)
        _set_stack_size(self.stack_size)
        if self.solution.meddles and builtins.__dict__ != self.builtins:
            builtins.__dict__.clear()
            builtins.__dict__.update(self.builtins)
        os.fchdir(self.directory)
        signal.alarm(0)

    def _renew_streams(self) -> None:
        for number, descriptor in enumerate(self.descriptors[:3]):
            if self.talks:
                os.dup2(descriptor, number)
                os.close(descriptor)  # so that closing a stream ends the other's input
                continue
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.dup2(descriptor, number)
        sys.stdin = sys.__stdin__ = open_stream(0, "r")
        sys.stdout = sys.__stdout__ = open_stream(1, "w")
        sys.stderr = sys.__stderr__ = open_stream(2, "w")
        self.streams = (sys.stdout, sys.stderr)

    def _call(self, name: str, namespace: dict[str, Any]) -> None:
        stdin = self.descriptors[0]
        text = os.pread(stdin, os.fstat(stdin).st_size, 0).decode("utf-8", "surrogatepass")
        if self.solution.result == "session":
            self._open_session(namespace).run(text)
            return
        if self.solution.result == "tests":
            report = run_tests(*map(json.loads, text.split("\n")))
            messages.write_all(self.descriptors[3], report.encode())
            return
        function = find_entry_point(name, namespace)
        codecs = self.solution.arguments
        arguments = values.decode_arguments(text, codecs, namespace)
        result = function(*arguments)
        encoded = values.encode(result, self.solution.result, arguments, codecs)
        messages.write_all(self.descriptors[3], encoded)

    def _open_session(self, namespace: dict[str, Any]) -> CallSession:
        return CallSession(
            lambda name: find_name(name, namespace),
            lambda error: describe(error).get("error", type(error).__name__),
            lambda line: messages.write_all(self.descriptors[3], line),
        )


class MissingEntryPointError(Exception):
    """The solution does not define the function the problem asks for."""


def find_entry_point(name: str, namespace: dict[str, Any]) -> Any:
    """Return the entry point: a method of a new `Solution()`, or a function.

    Raises:
        MissingEntryPointError: neither exists.
    """
    solution, function = namespace.get("Solution"), namespace.get(name)
    if isinstance(solution, type) and (hasattr(solution, name) or not callable(function)):
        made = solution()
        if hasattr(made, name):  # `__init__` may define it
            return getattr(made, name)
    if callable(function):
        return function
    raise MissingEntryPointError(f"the solution defines no function or Solution method {name!r}")


def find_name(name: str, namespace: dict[str, Any]) -> Any:
    """Return an object the solution defines: its entry point or a module-level value.

    Raises:
        NameError: the solution does not define the name.
    """
    solution = namespace.get("Solution")
    if name in namespace and not (isinstance(solution, type) and hasattr(solution, name)):
        return namespace[name]
    try:
        return find_entry_point(name, namespace)
    except MissingEntryPointError as error:
        raise NameError(str(error), name=name) from None


def open_stream(descriptor: int, mode: str) -> io.TextIOWrapper:
    """Open a standard stream with the name and mode an interpreter gives it."""
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
    """Classify a program's final exception: exit code, out of memory, or an error."""
    match error:
        case SystemExit(code=None):
            return {"status": "ok"}
        case SystemExit(code=int(code)):
            code = int.__and__(code, 0xFF)  # as a C program sees it, even for a subclass
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
            return {"status": "error", "error": messages.shorten(_format(error))}


def _format(error: BaseException) -> str:
    """Return the traceback as the interpreter prints it, without the runner's frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != messages.FILE_NAME:
        trace = trace.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, trace, limit=-12))
    except BaseException:
        return f"{type(error).__name__} (its text could not be made)"


def end_tracing() -> None:
    """Remove the solution's trace functions: the code that follows is not its own."""
    for module in (sys, threading):
        for end in (module.settrace, module.setprofile):
            with contextlib.suppress(BaseException):  # raised by an audit hook
                end(None)


def end_threads() -> bool:
    """Wait for threads as an interpreter does on exit.

    Returns whether this process must run no further test: a thread is still alive, or a pool was
    shut down and takes no more work.
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
    """Flush; a full disk or a hit limit is the program's error, as in a normal exit."""
    try:
        stream.flush()
    except OSError as error:
        if report["status"] == "ok":
            report.update(describe(error))
    except BaseException:  # closed, detached, or replaced by an object without flush
        return
