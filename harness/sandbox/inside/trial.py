"""The trial of one solution in the fork server: its processes, clocks and ends.

A template process reads and compiles the program but does not run it. For each run it makes a copy
of itself, which is locked in permanently and runs the tests. So every run starts from the same
clean state without another start or compilation.
"""

import _socket
import fcntl
import os
import select
import signal
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from inside import messages
from inside.child_process import Process, TimeAllowance, Waited, Waiting, hear
from inside.connection import Connection, close_all_but, copy
from inside.folder import keep_folder, place_files, read_head
from inside.processes import kill_strays
from inside.python.preamble import Preamble
from inside.runner import Runner
from inside.template import Template
from inside.timing.timed_runner import TimedRunner
from inside.walls import linux
from inside.walls.lockdown import Lockdown
from inside.watch import Watch
from inside.working_directory import empty_working_directory

EXCERPT_BYTES = 16_000
REPORT_BYTES = 128_000  # a runner's longest error with every character escaped
NOTHING = messages.Kept(0, 0, 0)
NO_ROOM = "there is no room for the working directory"


class TrialJob(NamedTuple):
    """A program to run, as far as the fork server knows it.

    Later forks could find anything the fork server has read in its memory. So it does not read the
    program, which the template reads from a file, nor the input and output of tests, which are
    copied from file to file.

    Attributes:
        limits: limits of each test.
        preamble: the compiled preamble.
        program, inputs, outputs: descriptors of memory files.
        timed: whether the run is timed, see `inside.timing`, and not judged.
        launcher: descriptor of the launcher of a compiled program.
        has_folder: whether inputs are tests with files and arguments, see `inside.folder`.
        returns: whether a compiled program writes a result, to a descriptor of its own.
        ends: descriptors of pipes in place of the files of stdin and stdout, in a dialogue.
    """

    limits: dict[str, Any]
    preamble: Preamble
    program: int
    inputs: int
    outputs: int
    timed: bool = False
    launcher: int = -1
    has_folder: bool = False
    returns: bool = False
    ends: tuple[int, ...] = ()


class Outputs:
    """The memory files that a process writes to, and the output file that keeps their content."""

    def __init__(self, limits: dict[str, Any], outputs: int) -> None:
        self.output_bytes: int = limits["output_bytes"]
        self.outputs = outputs
        self.written = 0
        self.files = [os.memfd_create(name) for name in messages.FILES]

    def record(self, waited: Waited, end: str) -> messages.TestRecord:
        """Keep what was written, and return the record of a test."""
        sizes = [os.fstat(descriptor).st_size for descriptor in self.files[1:]]
        limit = self.output_bytes
        too_much = max(sizes) >= limit
        kept = (
            self.keep(1, sizes[0], EXCERPT_BYTES if too_much else limit),
            self.keep(2, sizes[1], EXCERPT_BYTES),
            self.keep(3, sizes[2], 0 if too_much else limit),
            self.keep(4, sizes[3], REPORT_BYTES),
        )
        return messages.TestRecord(end, too_much, waited.cpu_s, waited.wall_s, kept)

    def keep(self, which: int, size: int, most: int) -> messages.Kept:
        """Move a memory file to the output file: only head and tail if it is too long."""
        if not size:
            return NOTHING
        head, tail = (size, 0) if size <= most else (most // 2, most // 2)
        start, file = self.written, self.files[which]
        os.lseek(self.outputs, start, os.SEEK_SET)
        head = copy(file, 0, head, self.outputs)
        tail = copy(file, size - tail, tail, self.outputs)
        self.written += head + tail
        os.ftruncate(file, 0)
        return messages.Kept(start, head, tail)


class SolutionTrial(Outputs):
    """One solution's template process and the runs made from it."""

    def __init__(
        self,
        job: TrialJob,
        lockdown: Lockdown,
        watch: Watch | None,
        connection: Connection,
        cores: list[int] | None = None,
    ) -> None:
        super().__init__(job.limits, job.outputs)
        self.job = job
        self.arguments: list[str] = []  # of the test
        self.kept = ""  # folder whose files are kept
        for number, end in enumerate(job.ends):
            os.close(self.files[number])
            self.files[number] = end
        self.lockdown = lockdown
        self.watch = watch
        self.connection = connection
        limits = job.limits
        self.whole = TimeAllowance("", limits["grace_s"], limits["wall_s"], limits["longest_s"])
        wall_s = limits["beside_wall_s"]
        self.beside = TimeAllowance("cut", limits["beside_cpu_s"], wall_s, wall_s)
        self.runs = 0
        self.refusal: messages.ProcessReport | None = None
        self.over = False  # whether the template has ended
        self.apart = False  # whether a process runs one test only
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
        """Become the template in the forked process; never returns."""
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
            messages.write_report(self.files[-1], {"status": "error", "error": str(error)})
        finally:
            os._exit(0)

    def _start(self) -> None:
        """Wait until the program is compiled or fails to compile."""
        waited = self.wait(self.template, self.template.now(), self.births)
        self.apart = waited.word == messages.READY_APART
        if waited.word not in {messages.READY, messages.READY_APART}:
            end = (
                "cannot_compile"
                if waited.word == messages.CANNOT_COMPILE
                else waited.missing or "broken"
            )
            end = "broken" if end == "gone" else end  # no judged code has run yet
            record = self.record(waited, end)
            self.over = True
            self.refusal = messages.ProcessReport(*self._end_template(), [record])

    def run(
        self, spans: list[tuple[int, int]], last: bool, full: int
    ) -> Iterator[messages.ProcessReport]:
        """Run tests in one fresh process until it ends or its output is too large.

        Args:
            spans: offset and length of each test's input.
            last: whether nothing follows, so that the template itself may run them.
            full: number of leading tests that may use their full time limits.

        Raises:
            WorkerGoneError: the worker has hung up.
        """
        self.written = 0
        yield self._run(spans, last=last, full=full)

    def run_each(
        self, spans: list[tuple[int, int]], last: bool, full: int
    ) -> Iterator[messages.ProcessReport]:
        """Run tests, each in a fresh process, until one does not end well or output is too large.

        Raises:
            WorkerGoneError: the worker has hung up.
        """
        self.written = 0
        for number, span in enumerate(spans, 1):
            report = self._run([span], last=last and number == len(spans), full=full)
            yield report
            # One that needs its whole time limit may end the judging.
            if report.records[-1].end != "done" or self.written > self.job.limits["collect_bytes"]:
                break

    def _run(
        self, spans: list[tuple[int, int]], *, last: bool, full: int
    ) -> messages.ProcessReport:
        if self.refusal is not None:
            return self.refusal
        self.forget()
        if self.watch is not None and not self.watch.has_room():
            waited = Waited(b"", "broken", 0.0, 0.0)
            messages.write_report(self.files[-1], {"status": "error", "error": NO_ROOM})
            return messages.ProcessReport(0, 0, 0.0, [self.record(waited, "broken")])
        runner = self.bear(last=last)
        if isinstance(runner, Waited):
            return messages.ProcessReport(0, 0, 0.0, [self.record(runner, "broken")])
        go = messages.go_word(self.runs)
        records: list[messages.TestRecord] = []
        for number, span in enumerate(spans):
            self.give(*span)
            start = runner.now()  # while it still waits: its work from here on counts
            try:
                self.control.send(go)
            except OSError:  # it died between two tests: retried in the next process
                break
            allowed = self.whole if number < full else self.beside
            waited = self._looked_after(runner, self.wait(runner, start, allowed=allowed))
            done = waited.word in {messages.DONE, messages.DONE_AND_OVER}
            ended = None if done else runner.end()
            self.keep_files()
            record = self.record(waited, "done" if done else waited.missing or "garbage")
            records.append(record)
            if ended is not None:
                return self._reported(ended, records)
            # Output that a stream could not write would appear in the next test.
            if waited.word != messages.DONE or record.too_much:
                break
            # The last: check separately whether it caused this.
            if self.apart or waited.cpu_s > self.job.limits["cpu_s"]:
                break
            if self.written > self.job.limits["collect_bytes"]:
                break
        return self._reported(runner.end(), records)

    def bear(self, *, last: bool = False) -> Process | Waited:
        """Start a fresh, locked-in process of the program; return why if that fails.

        Args:
            last: whether to use the template itself.
        """
        self.runs += 1
        os.write(self.orders, messages.RUN_LAST if last else messages.RUN)
        born = self.wait(self.template, self.template.now(), self.births)
        if born.word[:1] != messages.READY:
            return born
        self.over = last
        self.forget_ends()
        return self.template if last else Process(int(born.word[1:]))

    def forget_ends(self) -> None:
        """Close the pipes of a dialogue here: the program's are its only ends."""
        for number in range(len(self.job.ends)):
            nothing = os.memfd_create("nothing")
            os.dup2(nothing, self.files[number])
            os.close(nothing)

    def _reported(
        self, ended: tuple[int, int, float], records: list[messages.TestRecord]
    ) -> messages.ProcessReport:
        if self.can_fork:
            kill_strays(0 if self.over else self.template.pid)
        empty_working_directory()
        return messages.ProcessReport(*ended, records)

    def _looked_after(self, runner: Process, waited: Waited) -> Waited:
        """Check its resources once more: short programs end before the first check."""
        complaint = self.watch.complaint(runner.pid) if self.watch and waited.word else ""
        return waited._replace(word=b"", missing=complaint) if complaint else waited

    def unhear(self) -> None:
        """Discard messages sent before the next request."""
        left = select.poll()
        left.register(self.control, select.POLLIN)
        while left.poll(0) == [(self.control.fileno(), select.POLLIN)]:  # and the other end is open
            hear(self.control.fileno())

    def forget(self) -> None:
        """Discard everything an earlier run sent or wrote after its last test."""
        self.unhear()
        for file in self.files[len(self.job.ends) :]:  # offsets and flags are shared by all holders
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            fcntl.fcntl(file, fcntl.F_SETFL, os.O_RDWR)

    def give(self, offset: int, length: int) -> None:
        """Copy a span of the inputs to the next test's stdin, and to its files if it has some."""
        if self.job.has_folder:
            head, offset = read_head(self.job.inputs, offset, length)
            length = head["stdin"]
            place_files(self.job.inputs, offset + length, head["files"])
            self.arguments, self.kept = head["arguments"], head["kept"]
            if self.kept:
                os.makedirs(self.kept, 0o700, exist_ok=True)
        if self.job.ends:
            return
        if length:  # overwrite: existing pages are cheaper than new ones
            os.lseek(self.files[0], 0, os.SEEK_SET)
            copy(self.job.inputs, offset, length, self.files[0])
        os.ftruncate(self.files[0], length)

    def keep_files(self) -> None:
        """Keep the files that the test left in the folder for them."""
        if self.kept:
            keep_folder(self.kept, self.files[3], self.output_bytes)

    def wait(
        self,
        process: Process,
        start: tuple[float, float],
        channel: int | None = None,
        allowed: TimeAllowance | None = None,
    ) -> Waited:
        """Wait for a process's message, see `Waiting`; default limits: a lone test's."""
        channel = self.control.fileno() if channel is None else channel
        return self.waiting.wait(process, start, channel, allowed or self.whole)

    def _end_template(self) -> tuple[int, int, float]:
        ended = self.template.end()
        if not self.job.timed:  # in timed runs others are beside it
            kill_strays()
        return ended

    def close(self) -> None:
        """End all its processes and close its files."""
        if not self.over:
            self._end_template()
        self.control.close()
        for descriptor in (self.orders, self.births, *self.files):
            os.close(descriptor)
        for descriptor in (self.job.program, self.job.inputs, self.job.outputs):
            os.close(descriptor)
