"""The trial of a compiled solution: every test is a process of its own.

The launcher, `launcher.cpp`, is the template: it starts the sealed program for each test, and the
fork server watches and ends that process. Nothing of the fork server's memory is in it.
"""

import contextlib
import errno
import fcntl
import os
import select
import signal
import struct
import time
from collections.abc import Iterator, Sequence
from typing import NoReturn

from inside import messages
from inside.child_process import Process, Waited
from inside.connection import close_all_but
from inside.processes import kill_strays
from inside.trial import NO_ROOM, SolutionTrial
from inside.walls import linux
from inside.walls.lockdown import Lockdown
from inside.working_directory import empty_working_directory

RUN, WAIT, ARGUMENTS, CLOSE = b"f", b"w", b"a", b"c"  # orders to the launcher
STARTED, ENDED, FAILED = b"P", b"W", b"X"
NOT_EXECUTED = "execveat"
OF_THE_PROGRAM = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP),
        *(errno.ENOEXEC, errno.EINVAL, errno.ELIBBAD, errno.E2BIG),
    }
)
"""Errors of a start that the program's file or its interpreter brings about, not the machine."""
ABOVE = 20  # first descriptor that is out of the way of these
PATIENCE_S = 20.0
_PROCESS, _END, _SIZE = struct.Struct("=i"), struct.Struct("=4q"), struct.Struct("=I")


class Started(Process):
    """A compiled program's process, a child of the launcher."""

    def end_group(self) -> None:
        """Kill it and its group."""
        self.signal(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self.handle)


def placed(low: Sequence[int], others: Sequence[int]) -> list[int]:
    """Give descriptors the numbers from 0 on, and close all but these and some others.

    Returns:
        The new numbers of the others, which end when a program is started.
    """
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, ABOVE) for each in (*low, *others)]
    for number in range(len(low)):
        os.dup2(high[number], number)
    kept = high[len(low) :]
    close_all_but(*range(3, len(low)), *kept)
    return kept


def is_unstarted(word: bytes) -> bool:
    """Return whether the launcher says that a program cannot be started by its own fault."""
    return failed_call(word) == NOT_EXECUTED and word[1] in OF_THE_PROGRAM


def failed_call(word: bytes) -> str:
    """Return the name of the call that failed in the launcher; empty if it says something else."""
    return word[2:].rstrip(b"\0").decode(errors="replace") if word[:1] == FAILED else ""


def failure(word: bytes) -> str:
    """Return what the launcher says when it cannot start a process."""
    if not (call := failed_call(word)):
        return "no process can be started: the launcher ended"
    return f"no process can be started: {call}: {os.strerror(word[1])}"


class CompiledTrial(SolutionTrial):
    """One compiled solution's launcher, and the runs made from it."""

    def _become_template(self, lockdown: Lockdown, orders: int, births: int) -> NoReturn:
        report = self.files[-1]
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            lockdown.restrict_files()
            places = [*self.files[:3], orders, births, self.job.program]
            places += [self.files[3]] * self.job.returns
            launcher, report = placed(places, (self.job.launcher, report))
            limits = self.job.limits
            lockdown.limit(limits["memory_bytes"], limits["output_bytes"])
            os.execve(launcher, ["launcher"], {})
        except Exception as error:
            messages.write_report(report, {"status": "error", "error": str(error)})
        finally:
            os._exit(1)

    def _start(self) -> None:
        os.write(self.orders, self.lockdown.filter_of_compiled())
        super()._start()

    def run(
        self, spans: list[tuple[int, int]], last: bool, full: int
    ) -> Iterator[messages.ProcessReport]:
        """Run the first of some tests; there is no process that others could share."""
        del last, full
        self.written = 0
        yield self._run_one(spans[0])

    def run_each(
        self, spans: list[tuple[int, int]], last: bool, full: int
    ) -> Iterator[messages.ProcessReport]:
        """Run tests, each in its process, until one does not end well or output is too large."""
        del last, full
        self.written = 0
        for span in spans:
            report = self._run_one(span)
            yield report
            (record,) = report.records
            well = record.end == "gone" and report.status == 0 and not record.too_much
            if not well or self.written > self.job.limits["collect_bytes"]:
                break

    def _run_one(self, span: tuple[int, int]) -> messages.ProcessReport:
        if self.refusal is not None:
            return self.refusal
        self.forget()
        if self.watch is not None and not self.watch.has_room():
            return self._broken(NO_ROOM)
        self.give(*span)
        if self.arguments:
            self._say_arguments()
        if not self.job.ends:
            os.lseek(self.files[0], 0, os.SEEK_SET)
        os.write(self.orders, RUN)
        born = self.wait(self.template, self.template.now(), self.births)
        if born.word[:1] != STARTED:
            return self._broken(failure(born.word))
        began = time.monotonic()
        process = Started(*_PROCESS.unpack_from(born.word, 1))
        if self.job.ends:
            self.forget_ends()
            os.write(self.orders, CLOSE)
        try:
            waited = self.wait(process, (0.0, began), self.births)
            if waited.missing == "gone" and self.watch is not None:
                waited = waited._replace(missing=self.watch.complaint(process.pid) or "gone")
        finally:
            process.end_group()
        said, (status, peak_bytes, user_us, system_us) = self._end()
        waited = waited._replace(word=waited.word or said)
        if waited.missing == "gone":
            waited = waited._replace(cpu_s=(user_us + system_us) / 1e6)
        self.keep_files()
        record = self.record(waited, self._end_of(waited.word) if waited.word else waited.missing)
        if self.can_fork:
            kill_strays(self.template.pid)
        empty_working_directory()
        return messages.ProcessReport(status, peak_bytes, user_us / 1e6, [record])

    def _end_of(self, word: bytes) -> str:
        """Return the end of a test at which the launcher spoke; the program itself cannot."""
        if is_unstarted(word):
            return "unstarted"
        messages.write_report(self.files[-1], {"status": "error", "error": failure(word)})
        return "broken"

    def _say_arguments(self) -> None:
        text = b"".join(word.encode("utf-8", "surrogatepass") + b"\0" for word in self.arguments)
        os.write(self.orders, ARGUMENTS + _SIZE.pack(len(text)) + text)

    def _broken(self, why: str) -> messages.ProcessReport:
        messages.write_report(self.files[-1], {"status": "error", "error": why})
        record = self.record(Waited(b"", "broken", 0.0, 0.0), "broken")
        return messages.ProcessReport(0, 0, 0.0, [record])

    def _end(self) -> tuple[bytes, tuple[int, int, int, int]]:
        """Return what was said before, and wait status, peak memory and microseconds."""
        os.write(self.orders, WAIT)
        poll = select.poll()
        poll.register(self.births, select.POLLIN)
        said, kind = b"", self._next_kind(poll)
        if kind == FAILED:
            said = kind + os.read(self.births, messages.WORD_BYTES - 1)
            kind = self._next_kind(poll)
        if kind != ENDED:
            raise EOFError("the launcher ended")
        return said, _END.unpack(os.read(self.births, _END.size))

    def _next_kind(self, poll: select.poll) -> bytes:
        if not poll.poll(PATIENCE_S * 1000):
            raise TimeoutError("a process does not end")
        return os.read(self.births, 1)
