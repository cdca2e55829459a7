"""One solution under trial, seen from the fork server: its processes, their clocks, their ends.

A template process reads the program and compiles it; it runs none of it. Whenever tests are to be
run, it makes a copy of itself, and that copy, locked in for good, runs them. So every run starts
from the same state, which nothing has touched, and costs neither another start nor compilation.
"""

import _socket
import fcntl
import os
import select
import signal
from typing import Any, NamedTuple, NoReturn

from inside.child_process import Process, Waited
from inside.connection import Connection
from inside.descriptors import close_all_but, copy
from inside.preamble import Preamble
from inside.processes import (
    Watch,
    empty_working_directory,
    kill_strays,
)
from inside.records import Kept, Record, Report
from inside.runner import Runner
from inside.template import Template
from inside.timing.timed_runner import TimedRunner
from inside.waiting import Allowance, Waiting, hear
from inside.walls import linux
from inside.walls.lockdown import Lockdown
from inside.words import (
    CANNOT_COMPILE,
    DONE,
    DONE_AND_OVER,
    FILES,
    READY,
    RUN,
    RUN_LAST,
    go_word,
    write_report,
)

EXCERPT_BYTES = 16_000
REPORT_BYTES = 128_000  # a runner's longest error, every character of it escaped
NOTHING = Kept(0, 0, 0)
NO_ROOM = "there is no room for the working directory"


class Job(NamedTuple):
    """What is to be run, as far as the fork server knows it.

    What it has read, every process that it forks later could find in its memory: so the program
    goes past it, in a file that the template reads, and what a test reads and writes from file to
    file.

    Attributes:
        limits: of each test.
        preamble: compiled.
        program, inputs, outputs: memory files.
        timed: whether it is run to be timed, see `inside.timed`, and not to be judged.
    """

    limits: dict[str, Any]
    preamble: Preamble
    program: int
    inputs: int
    outputs: int
    timed: bool = False


class Trial:
    """One solution's template, and the runs made from it."""

    def __init__(
        self,
        job: Job,
        lockdown: Lockdown,
        watch: Watch | None,
        connection: Connection,
        cores: list[int] | None = None,
    ) -> None:
        self.job = job
        self.watch = watch
        self.connection = connection
        limits = job.limits
        self.whole = Allowance("", limits["grace_s"], limits["wall_s"], limits["longest_s"])
        wall_s = limits["beside_wall_s"]
        self.beside = Allowance("cut", limits["beside_cpu_s"], wall_s, wall_s)
        self.written = 0
        self.runs = 0
        self.refusal: Report | None = None
        self.over = False  # whether the template has ended
        self.files = [os.memfd_create(name) for name in FILES]
        self.control, self.far = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        orders, self.orders = os.pipe()
        self.births, births = os.pipe()
        os.set_blocking(self.births, False)
        self.can_fork = lockdown.filter is None
        pid = os.fork()
        if pid == 0:
            self._become_template(lockdown, orders, births)
        os.close(orders)
        os.close(births)
        self.far.close()
        self.template = Process(pid)
        self.waiting = Waiting(connection, watch, limits["memory_bytes"], pid, cores)
        self._start()

    def _become_template(self, lockdown: Lockdown, orders: int, births: int) -> NoReturn:
        """The forked side: never returns."""
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            control = self.far.detach()
            lockdown.restrict_files()
            close_all_but(orders, births, control, self.job.program, *self.files)
            runner = TimedRunner if self.job.timed else Runner
            template = Template(
                births, self.job.program, self.job.preamble, control, self.files, runner
            )
            limits = self.job.limits
            lockdown.limit(limits["memory_bytes"], limits["output_bytes"])
            template.serve(orders, lockdown.restrict_calls)
        except Exception as error:
            write_report(self.files[-1], {"status": "error", "error": str(error)})
        finally:
            os._exit(0)

    def _start(self) -> None:
        """Wait until the program is compiled, or cannot be."""
        waited = self.wait(self.template, self.now(self.template), self.births)
        if waited.word != READY:
            end = "cannot_compile" if waited.word == CANNOT_COMPILE else waited.missing or "broken"
            end = "broken" if end == "gone" else end  # no judged code has been run
            record = self._record(waited, end)
            self.over = True
            self.refusal = Report(*self._end_template(), [record])

    def run(self, spans: list[tuple[int, int]], *, last: bool, full: int) -> Report:
        """Run tests in a fresh process until one ends it, all are done, or output has piled up.

        Args:
            spans: the tests' inputs: offset and length.
            last: whether nothing is to follow, so that the template itself may run them.
            full: how many of the first may use all of their limits of time.

        Raises:
            WorkerGoneError: nobody waits for the records.
        """
        if self.refusal is not None:
            return self.refusal
        self.written = 0
        self.forget()
        if self.watch is not None and not self.watch.has_room():
            waited = Waited(b"", "broken", 0.0, 0.0)
            write_report(self.files[-1], {"status": "error", "error": NO_ROOM})
            return Report(0, 0, [self._record(waited, "broken")])
        runner = self.bear(last=last)
        if isinstance(runner, Waited):
            return Report(0, 0, [self._record(runner, "broken")])
        go = go_word(self.runs)
        records: list[Record] = []
        for number, span in enumerate(spans):
            self.give(*span)
            start = self.now(runner)  # while it still waits: what it does from here on counts
            try:
                self.control.send(go)
            except OSError:  # it died between two tests: the next process will tell
                break
            allowed = self.whole if number < full else self.beside
            waited = self._looked_after(runner, self.wait(runner, start, allowed=allowed))
            done = waited.word in {DONE, DONE_AND_OVER}
            ended = None if done else runner.end()
            record = self._record(waited, "done" if done else waited.missing or "garbage")
            records.append(record)
            if ended is not None:
                return self._reported(ended, records)
            # What a stream could not write would come out in the next test.
            if waited.word != DONE or record.too_much:
                break
            if waited.cpu_s > self.job.limits["cpu_s"]:  # it is to be seen whether by its doing
                break
            if self.written > self.job.limits["collect_bytes"]:
                break
        return self._reported(runner.end(), records)

    def bear(self, *, last: bool = False) -> Process | Waited:
        """A fresh process of the program, locked in; what was said instead where there is none.

        Args:
            last: let it be the template itself.
        """
        self.runs += 1
        os.write(self.orders, RUN_LAST if last else RUN)
        born = self.wait(self.template, self.now(self.template), self.births)
        if born.word[:1] != READY:
            return born
        self.over = last
        return self.template if last else Process(int(born.word[1:]))

    def _reported(self, ended: tuple[int, int], records: list[Record]) -> Report:
        if self.can_fork:
            kill_strays(0 if self.over else self.template.pid)
        empty_working_directory()
        return Report(*ended, records)

    def _looked_after(self, runner: Process, waited: Waited) -> Waited:
        """A last look at what it has taken: short programs are done before the first."""
        complaint = self.watch.complaint(runner.pid) if self.watch and waited.word else ""
        return waited._replace(word=b"", missing=complaint) if complaint else waited

    def unhear(self) -> None:
        """Let nothing that has been said already be an answer to what is asked next."""
        left = select.poll()
        left.register(self.control, select.POLLIN)
        while left.poll(0) == [(self.control.fileno(), select.POLLIN)]:  # nor hung up on
            hear(self.control.fileno())

    def forget(self) -> None:
        """Let nothing that an earlier run said or wrote after its last test reach this one."""
        self.unhear()
        for file in self.files:  # their offsets and flags are shared by all who hold them
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            fcntl.fcntl(file, fcntl.F_SETFL, os.O_RDWR)

    def give(self, offset: int, length: int) -> None:
        """Make a span of the inputs what the coming test reads."""
        if length:  # over what is there: pages that are there cost less than new ones
            os.lseek(self.files[0], 0, os.SEEK_SET)
            copy(self.job.inputs, offset, length, self.files[0])
        os.ftruncate(self.files[0], length)

    def now(self, process: Process) -> tuple[float, float]:
        """A process's CPU time and the wall's."""
        return self.waiting.now(process)

    def wait(
        self,
        process: Process,
        start: tuple[float, float],
        channel: int | None = None,
        allowed: Allowance | None = None,
    ) -> Waited:
        """Wait for a process's next word, see `Waiting`; by default as for a test that is alone."""
        channel = self.control.fileno() if channel is None else channel
        return self.waiting.wait(process, start, channel, allowed or self.whole)

    def _record(self, waited: Waited, end: str) -> Record:
        sizes = [os.fstat(descriptor).st_size for descriptor in self.files[1:]]
        limit = self.job.limits["output_bytes"]
        too_much = max(sizes) >= limit
        kept = (
            self.keep(1, sizes[0], EXCERPT_BYTES if too_much else limit),
            self.keep(2, sizes[1], EXCERPT_BYTES),
            self.keep(3, sizes[2], 0 if too_much else limit),
            self.keep(4, sizes[3], REPORT_BYTES),
        )
        return Record(end, too_much, waited.cpu_s, waited.wall_s, kept)

    def keep(self, which: int, size: int, most: int) -> Kept:
        """Move what a memory file holds to the answer: its head and tail, if it is too long."""
        if not size:
            return NOTHING
        head, tail = (size, 0) if size <= most else (most // 2, most // 2)
        start, file = self.written, self.files[which]
        os.lseek(self.job.outputs, start, os.SEEK_SET)
        head = copy(file, 0, head, self.job.outputs)
        tail = copy(file, size - tail, tail, self.job.outputs)
        self.written += head + tail
        os.ftruncate(file, 0)
        return Kept(start, head, tail)

    def _end_template(self) -> tuple[int, int]:
        ended = self.template.end()
        if not self.job.timed:  # others are beside it
            kill_strays()
        return ended

    def close(self) -> None:
        """End whatever runs and let go of all files."""
        if not self.over:
            self._end_template()
        self.control.close()
        for descriptor in (self.orders, self.births, *self.files):
            os.close(descriptor)
        for descriptor in (self.job.program, self.job.inputs, self.job.outputs):
            os.close(descriptor)
