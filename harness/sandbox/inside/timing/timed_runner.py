"""The forked process that runs one solution repeatedly to time it.

A step consists of phases. The fork server starts each, receives a message at its end, and reads
this process's clock from outside, so that tampering with a clock in here gains nothing. `build`
makes fresh namespaces and `Solution()`s, before the inputs are available; `read` makes the
arguments; `call` is timed; `show` converts the results of every pass to bytes, and `pick` writes
those of one pass, named only then. Work a solution does in `read` and `show` is charged to it, see
`harness.features.efficiency`.

A pass calls a function, or executes a script, for every test of the step. Each pass of a function
and each execution of a script has its own namespace, which does not reach the next one.

`sys.monitoring` (Python 3.12 on) reports each jump and branch of Python code. The count is
reproducible, but does not include work done in C, such as sorting and long integers.

In an iteration of Mercury's protocol, the CPU time is user plus system time from `getrusage`. The
interval is that of wall times: it says nothing about the scored CPU time, and is here because the
protocol has it. The clocks are read in the timed process, so a solution could tamper with them.
"""

import contextlib
import copy
import gc
import marshal
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from inside import messages, values
from inside.runner import Runner, describe, find_entry_point
from inside.timing.scripts import Executions

DEEPEST = 1_000_000  # nodes of a linked list copied recursively
QUANTILE = 1.96  # of the standard normal distribution, for a 95 % interval
_EVENTS = ("BRANCH_LEFT", "BRANCH_RIGHT", "JUMP")  # from 3.14 on there are two branch events
_OLDER = ("BRANCH", "JUMP")


class CallOfCopies:
    """A function called with deep copies of its arguments."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        self.function = function
        self.original = arguments
        self.arguments = arguments
        self.result: Any = None

    def ready(self) -> None:
        """Copy the arguments."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(DEEPEST)
        self.arguments = copy.deepcopy(self.original)
        sys.setrecursionlimit(limit)

    def call(self) -> None:
        """Call the function."""
        self.result = self.function(*self.arguments)


def iterate(ready: Callable[[], None], call: Callable[[], None], times: int) -> dict[str, float]:
    """Time an action repeatedly.

    Args:
        ready: prepares an iteration, before the clocks are read.
        call: the action.
        times: number of iterations.

    Returns:
        `cpu_s`, the mean CPU time of an iteration; `low` and `high`, the 95 % interval of the mean
            wall time; all in seconds.
    """
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(times):
        ready()
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        call()
        end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        cpu.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        wall.append(end - start)
    mean = sum(wall) / times
    spread = math.sqrt(sum((each - mean) ** 2 for each in wall) / max(times - 1, 1))
    half = QUANTILE * spread / math.sqrt(times)
    return {"cpu_s": sum(cpu) / times, "low": mean - half, "high": mean + half}


@contextlib.contextmanager
def counting() -> Generator[Callable[[], int | None]]:
    """Count branches; yields a function returning the count, None if unsupported."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        yield lambda: None
        return
    count = 0

    def seen(*_: Any) -> None:
        nonlocal count
        count += 1

    known = monitoring.events
    names = _EVENTS if hasattr(known, "BRANCH_LEFT") else _OLDER
    tool = monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, "harness")
    chosen = 0
    for name in names:
        chosen |= getattr(known, name)
        monitoring.register_callback(tool, getattr(known, name), seen)
    monitoring.set_events(tool, chosen)
    try:
        yield lambda: count
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


# pyright: reportPrivateUsage=false

Call = tuple[Any, list[Any]]


class TimedExecution:
    """One execution of a script, including its final output, for Mercury's protocol."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.namespace: dict[str, Any] = {}
        self.report: dict[str, Any] = {"status": "ok"}
        self.over = False

    def ready(self) -> None:
        """Open a fresh namespace and fresh streams on the same input."""
        self.runner.renew()
        self.namespace = self.runner.open_namespace()

    def call(self) -> None:
        """Run the script."""
        try:
            exec(self.runner.solution.code, self.namespace)
        except BaseException as error:
            report = describe(error)
            if report["status"] != "exit":  # its output counts, whatever its exit code
                self.report = report
        self.over = self.runner.leave(self.namespace, self.report) or self.over


class TimedRunner(Runner):
    """Times passes of one solution in this process; see `Template` for the arguments."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.executions: Executions | None = None
        self.namespaces: list[dict[str, Any]] = []
        self.functions: list[list[Any]] = []
        self.calls: list[list[Call]] = []
        self.results: list[list[Any]] = []
        self.shown: list[list[bytes]] = []
        self.over = False
        self.phases: dict[str, Any] = {
            "build": self._build,
            "read": self._read,
            "call": self._call_all,
            "count": self._count,
            "iterate": self._iterate,
            "show": self._show,
            "pick": self._pick,
        }

    def run(self, go: bytes) -> None:
        """Carry out phases until the fork server hangs up.

        Args:
            go: prefix of each order; orders with another one are left over from an earlier
                process.
        """
        while order := os.read(self.control, messages.ORDER_BYTES):
            word, phase, *numbers = order.split()
            if word != go:
                continue
            try:
                report: dict[str, Any] = self.phases[phase.decode()](*map(int, numbers)) or {}
            except BaseException as error:
                report = describe(error)
                self.over = True
            if report:
                messages.write_report(self.report, report)
            os.write(self.control, messages.DONE_AND_OVER if self.over else messages.DONE)
            if self.over:
                return

    def _build(self, passes: int, tests: int) -> None:
        """Make fresh namespaces, and in each the function of every test."""
        self.functions, self.calls, self.results, self.shown = [], [], [], []
        self.renew()
        name = self.solution.entry_point
        if name is None:
            self.executions = Executions(self, passes, tests)
            return
        self.namespaces = [self.open_namespace() for _ in range(passes)]
        for namespace in self.namespaces:
            exec(self.solution.code, namespace)
            self.functions.append([find_entry_point(name, namespace) for _ in range(tests)])

    def _read(self) -> None:
        """Decode the arguments of every call; a script reads its input itself."""
        os.lseek(0, 0, os.SEEK_SET)
        if self.executions is not None:
            self.executions.read()
        else:
            data = os.pread(0, os.fstat(0).st_size, 0)
            texts = data.decode("utf-8", "surrogatepass").split(messages.BETWEEN_TESTS)
            for functions, copies in zip(self.functions, self._copies(texts), strict=True):
                self.calls.append(list(zip(functions, copies, strict=True)))
        gc.disable()

    def _copies(self, texts: list[str]) -> Iterator[list[list[Any]]]:
        """Yield the arguments of every test for each pass; plain JSON is parsed only once."""
        codecs, decoded = self.solution.arguments, b""
        if set(codecs) <= {"json"} and len(self.namespaces) > 1:
            with contextlib.suppress(ValueError):  # nested too deeply
                decoded = marshal.dumps(
                    [values.decode_arguments(text, codecs, {}) for text in texts]
                )
        for namespace in self.namespaces:
            if decoded:
                yield marshal.loads(decoded)  # noqa: S302 - written above
            else:
                yield [values.decode_arguments(text, codecs, namespace) for text in texts]

    def _call_all(self) -> dict[str, Any] | None:
        if self.executions is not None:
            report = self.executions.call()
            self.over = self.executions.over
            return report
        results = self.results
        for calls in self.calls:
            results.append([function(*arguments) for function, arguments in calls])
        return None

    def _count(self) -> dict[str, Any]:
        """Do the same as `call`, counting branches; see `inside.timing.timed_runner`."""
        with counting() as counted:
            report = self._call_all()
        return report or {"status": "ok", "branches": counted()}

    def _iterate(self, iterations: int) -> dict[str, Any]:
        """Run Mercury's protocol in place of `call`; see `inside.timing.timed_runner`."""
        gc.enable()
        if self.solution.entry_point is None:
            execution = TimedExecution(self)
            times = [iterate(execution.ready, execution.call, iterations)]
            self.over = execution.over
            if execution.report["status"] != "ok":
                return execution.report
            return {"status": "ok", "times": times}
        made = [CallOfCopies(function, arguments) for function, arguments in self.calls[0]]
        times = [iterate(each.ready, each.call, iterations) for each in made]
        self.calls = [[(each.function, each.arguments) for each in made]]
        self.results = [[each.result for each in made]]
        return {"status": "ok", "times": times}

    def _show(self) -> None:
        """Encode each pass's results now, so that lazily computed ones gain nothing."""
        gc.enable()
        codecs, kind = self.solution.arguments, self.solution.result
        for results, calls in zip(self.results, self.calls, strict=False):
            pairs = zip(results, calls, strict=True)
            self.shown.append(
                [values.encode(value, kind, given, codecs) for value, (_, given) in pairs]
            )

    def _pick(self, which: int) -> None:
        """Write one pass's results."""
        if self.executions is not None:
            self.executions.pick(which, self.descriptors[3])
        if self.shown:
            messages.write_all(
                self.descriptors[3], messages.BETWEEN_TESTS.encode().join(self.shown[which])
            )
