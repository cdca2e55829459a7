"""A dialogue: two programs in two sandboxes, each reading what the other writes.

What they write passes through here, bounded, and nothing else does. A program that has ended, or
has closed its output for a while, is the end of the other's input. For a while, as a program that
ends closes its output first: how it ended has to be known before the other can react.
"""

import math
import os
import select
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.closing import Closing
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.trial import Trial
from harness.sandbox.worker import MARGIN_S, Worker

PIECE = 1 << 16
KEPT_PIECES = 20  # of the start and of the end of a dialogue
KEPT_BYTES = 400  # of each
LONGEST_LOOK_MS = 1000
CLOSED_S = 1.0  # after which a closed output is an end
GRACE_S = 5.0  # in which an interactor has to end after a solution that broke a limit or crashed
_ENDED = frozenset({Ending.FINISHED, Ending.EXIT})


class DialogueLine(NamedTuple):
    """A piece of a dialogue; `mine` is whether the solution wrote it."""

    mine: bool
    text: bytes


@dataclass(slots=True)
class DialogueRecord:
    """First and last pieces of a dialogue."""

    first: list[DialogueLine] = field(default_factory=list[DialogueLine])
    last: deque[DialogueLine] = field(default_factory=lambda: deque(maxlen=KEPT_PIECES))
    left_out: int = 0

    def add(self, data: bytes, *, mine: bool) -> None:
        """Add a piece that was passed on."""
        line = DialogueLine(mine, data[:KEPT_BYTES])
        if len(self.first) < KEPT_PIECES:
            self.first.append(line)
            return
        self.left_out += len(self.last) == KEPT_PIECES
        self.last.append(line)

    def text(self) -> str:
        """Return it as lines, `>` before the solution's and `<` before the other's."""
        parts = [_marked(line) for line in self.first]
        if self.left_out:
            parts.append(f"… {self.left_out} more …")
        return "\n".join([*parts, *map(_marked, self.last)])


def _marked(line: DialogueLine) -> str:
    mark = ">" if line.mine else "<"
    text = line.text.decode("utf-8", "replace").rstrip("\n")
    return "\n".join(f"{mark}{each}" for each in text.split("\n"))


class Ended(NamedTuple):
    """The end of a dialogue.

    Attributes:
        solution, interactor: executions of the two.
        interactor_first: whether the interactor ended first.
        too_much: whether the solution wrote more than its output limit.
        record: first and last pieces.
    """

    solution: Execution
    interactor: Execution
    interactor_first: bool
    too_much: bool
    record: DialogueRecord


class _Pipe:
    """What one program writes to the other, and what is on its way."""

    def __init__(self, *, mine: bool) -> None:
        self.mine = mine
        self.out_of: int = -1  # read from the writer
        self.into: int = -1  # written to the reader
        self.writers_end: int = -1
        self.readers_end: int = -1
        self.waiting = b""
        self.passed = 0
        self.ended = False  # whether the writer has ended
        self.closed_s = math.inf  # when it closed its output
        self.out_of, self.writers_end = os.pipe()
        self.readers_end, self.into = os.pipe()
        for end in (self.out_of, self.into):
            os.set_blocking(end, False)

    def read(self) -> bytes:
        """Return what the writer wrote, if anything is there."""
        try:
            data = os.read(self.out_of, PIECE)
        except BlockingIOError:
            return b""
        if not data:
            self.out_of = _closed(self.out_of)
            self.closed_s = time.monotonic()
        return data

    def write(self) -> None:
        """Write to the reader what fits."""
        if not self.waiting or self.into < 0:
            return
        try:
            self.waiting = self.waiting[os.write(self.into, self.waiting) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.end()

    def end(self) -> None:
        """End the reader's input; what is written from now on goes nowhere."""
        self.waiting = b""
        self.into = _closed(self.into)

    def forget_ends(self) -> None:
        """Close the ends that the programs have."""
        self.writers_end, self.readers_end = map(_closed, (self.writers_end, self.readers_end))

    def close(self) -> None:
        """Close all ends."""
        self.forget_ends()
        self.out_of, self.into = map(_closed, (self.out_of, self.into))


def _closed(descriptor: int) -> int:
    if descriptor >= 0:
        os.close(descriptor)
    return -1


class InteractiveTest(Closing):
    """One test of an interactive problem.

    Args:
        worker: worker of the solution; the interactor runs on the one beside it.
        solution: prepared trial of the solution with one input, which is empty.
        interactor: prepared trial of the interactor with one input.
    """

    def __init__(self, worker: Worker, solution: Trial, interactor: Trial) -> None:
        self._worker = worker
        self._trials = (solution, interactor)
        self._said = _Pipe(mine=True)  # from the solution to the interactor
        self._heard = _Pipe(mine=False)
        self._record = DialogueRecord()
        self._too_much = False

    def run(self) -> Ended:
        """Let the two talk, and return how it ended.

        Raises:
            SandboxError, WorkerStoppedError: a sandbox failed, or the worker was stopped.
        """
        (solution, interactor), said, heard = self._trials, self._said, self._heard
        try:
            with self._worker.together():
                ends = (said.readers_end, heard.writers_end)
                other = self._worker.beside.begin(interactor, ends)
                own = self._worker.begin(solution, (heard.readers_end, said.writers_end))
                said.forget_ends()
                heard.forget_ends()
                return self._talk(own, other)
        except BaseException:
            self._worker.kill()  # both: the other one may have an answer to come
            raise

    def _talk(self, own: ForkServer, other: ForkServer) -> Ended:
        (solution, interactor), beside = self._trials, self._worker.beside
        executions: dict[int, Execution] = {}
        first, second = own.socket.fileno(), other.socket.fileno()
        waiting = {
            first: (self._worker, own, solution, self._said, self._heard),
            second: (beside, other, interactor, self._heard, self._said),
        }
        interactor_first = False
        seconds = [2 * trial.limits.longest_s + MARGIN_S for trial in self._trials]
        end = time.monotonic() + max(seconds)
        while waiting:
            events = self._events(waiting.keys())
            late = time.monotonic() > end
            for number in [number for number in waiting if late or number in events]:
                worker, server, trial, pipe, opposite = waiting.pop(number)
                if late and number not in events and trial is interactor and executions:
                    worker.kill()
                    why = "it goes on after its input has ended"
                    (done,) = executions.values()
                    executions[number] = done._replace(
                        ending=Ending.WALL_LIMIT, error=why, stderr=""
                    )
                    continue
                executions[number] = worker.finish(trial, server, 0 if late else max(seconds))
                if trial is solution and executions[number].ending not in _ENDED:
                    end = min(end, time.monotonic() + GRACE_S)
                interactor_first |= trial is interactor and bool(waiting)
                pipe.ended = True
                opposite.end()
            for pipe in (self._said, self._heard):
                self._pass_on(pipe)
        ends = executions[first], executions[second]
        return Ended(*ends, interactor_first, self._too_much, self._record)

    def _events(self, sockets: Iterable[int]) -> dict[int, int]:
        poll = select.poll()
        for number in sockets:
            poll.register(number, select.POLLIN)
        for pipe in (self._said, self._heard):
            if pipe.waiting:
                poll.register(pipe.into, select.POLLOUT)
            elif pipe.out_of >= 0:
                poll.register(pipe.out_of, select.POLLIN)
        closed = (pipe.closed_s for pipe in (self._said, self._heard) if not pipe.ended)
        left_s = min(closed, default=math.inf) + CLOSED_S - time.monotonic()
        return dict(poll.poll(min(LONGEST_LOOK_MS, max(0, 1000 * left_s))))

    def _pass_on(self, pipe: _Pipe) -> None:
        """Pass on what was written, as far as it is taken."""
        pipe.write()
        while pipe.out_of >= 0 and not pipe.waiting and (data := pipe.read()):
            pipe.passed += len(data)
            if pipe.mine and pipe.passed > self._trials[0].limits.output_bytes:
                self._too_much |= pipe.into >= 0  # and not after the interactor's end
                pipe.out_of = _closed(pipe.out_of)  # its next word ends it
                self._said.end()
                self._heard.end()
            elif pipe.into >= 0:
                self._record.add(data, mine=pipe.mine)
                pipe.waiting = data
                pipe.write()
        pipe.ended |= time.monotonic() >= pipe.closed_s + CLOSED_S
        if pipe.ended and not pipe.waiting:
            pipe.end()

    def close(self) -> None:
        """Close the pipes."""
        self._said.close()
        self._heard.close()
