"""The fork server's answer read: the execution of each test."""

import json
import os
from collections.abc import Sequence
from typing import Any, cast

from harness.sandbox.execution import Ending, Execution
from harness.sandbox.inside.messages import Kept, ProcessReport, TestRecord, unpack
from harness.sandbox.limits import Limits

EXIT_CODES = 256
SMALL = 1 << 16  # bytes
STARVED = 0.5  # CPU seconds per wall second; below this it slept or the machine was busy
_ENDINGS = {
    "cpu": (Ending.CPU_LIMIT, ""),
    "wall": (Ending.WALL_LIMIT, ""),
    "asleep": (Ending.WALL_LIMIT, ""),
    "memory": (Ending.MEMORY_LIMIT, ""),
    "cut": (Ending.CUT_SHORT, ""),
    "room": (Ending.ERROR, "the program filled its working directory"),
    "threads": (Ending.ERROR, "the program started too many threads"),
    "unstarted": (Ending.ERROR, "the program could not be started"),
    "garbage": (Ending.ERROR, "the program wrote on the judge's own channel"),
}
"""Ending and error text of tests whose process was ended."""


def read_answer(data: bytes, outputs: int, limits: Limits) -> list[list[Execution]]:
    """Parse the fork server's answer into the executions of tests in each process.

    Args:
        data: the fork server's answer.
        outputs: descriptor of the memory file with the tests' output.
        limits: the limits of each test.

    Raises:
        EOFError, ValueError, struct.error, IndexError: the answer is malformed.
    """
    if data.startswith(b"{"):
        raise ValueError(json.loads(data).get("failed", "no answer"))
    reports = unpack(data)
    if not reports or not all(report.records for report in reports):
        raise EOFError("no test was run")
    return [_executions(report, _Output(outputs, report.records), limits) for report in reports]


def _executions(report: ProcessReport, output: "_Output", limits: Limits) -> list[Execution]:
    alone = len(report.records) == 1
    return [_read(record, report, output, limits, alone=alone) for record in report.records]


class _Output:
    """The retained output of tests; a small one is read at once."""

    def __init__(self, file: int, records: Sequence[TestRecord]) -> None:
        self._file = file
        end = max(kept.start + kept.head + kept.tail for each in records for kept in each.kept)
        self._whole = os.pread(file, end, 0) if end <= SMALL else None

    def part(self, kept: Kept) -> bytes:
        """Return a retained part, with a mark where its middle is missing."""
        if not kept.head:
            return b""
        head = self._at(kept.start, kept.head)
        if not kept.tail:
            return head
        return head + b"\n...\n" + self._at(kept.start + kept.head, kept.tail)

    def _at(self, start: int, size: int) -> bytes:
        if self._whole is not None:
            return self._whole[start : start + size]
        return os.pread(self._file, size, start)


def _read(
    record: TestRecord, report: ProcessReport, output: _Output, limits: Limits, *, alone: bool
) -> Execution:
    stdout, stderr, result, claim = map(output.part, record.kept)
    ending, code, error = _ending(record, report.status, _claim(claim))
    cpu, wall, peak = record.cpu_s, record.wall_s, report.peak_bytes
    borderline = ending is Ending.WALL_LIMIT and cpu < STARVED * wall
    if ending in {Ending.OUTPUT_LIMIT, Ending.CUT_SHORT}:  # the limit that was hit first counts
        pass
    elif alone and peak > limits.memory_bytes:  # of two limits, the one independent of load
        ending, code, error, borderline = Ending.MEMORY_LIMIT, 0, "", False
    elif cpu > limits.cpu_s:
        # It finished within the grace period, or the kernel may have taken the time: memory that a
        # virtual machine never had before costs several times as much as memory in use.
        borderline = record.end != "cpu" or report.user_s <= limits.cpu_s
        ending, code, error = Ending.CPU_LIMIT, 0, ""
    return Execution(
        ending=ending,
        stdout=stdout,
        stderr=stderr.decode("utf-8", "replace"),
        result=result if result and ending is Ending.FINISHED else None,
        error=error,
        code=code,
        cpu_s=cpu,
        wall_s=wall,
        peak_bytes=peak,
        alone=alone,
        borderline=borderline,
        asleep=borderline and record.end == "asleep",
        partial=b"" if ending is Ending.FINISHED else result,
    )


def _ending(record: TestRecord, status: int, claim: dict[str, Any]) -> tuple[Ending, int, str]:
    """Return the ending, the exit code or signal number, and the error text."""
    if record.too_much:
        return Ending.OUTPUT_LIMIT, 0, ""
    match record.end:
        case "cannot_compile":
            return Ending.CANNOT_COMPILE, 0, _error(claim)
        case "done":
            return _claimed_ending(claim)
        case "broken":
            raise ValueError(f"the runner could not be set up: {_error(claim) or 'it ended'}")
        case "gone":
            if os.WIFSIGNALED(status):
                return Ending.SIGNAL, os.WTERMSIG(status), ""
            code = os.WEXITSTATUS(status)
            error = f"its process ended with exit code {code}" if code else ""
            return Ending.EXIT if code else Ending.FINISHED, code, error
        case other:
            ending, error = _ENDINGS[other]
            return ending, 0, error


def _claimed_ending(claim: dict[str, Any]) -> tuple[Ending, int, str]:
    """Return the ending that the runner claims for a test.

    Judged code may have forged the claim, so it only decides how an ending is called: output and
    result are compared in any case.
    """
    match claim.get("status", "ok"):
        case "ok":
            return Ending.FINISHED, 0, ""
        case "exit":
            code = claim.get("code")
            return Ending.EXIT, code if type(code) is int and 0 < code < EXIT_CODES else 1, ""
        case "memory":
            return Ending.MEMORY_LIMIT, 0, ""
        case _:
            return Ending.ERROR, 0, _error(claim)


def _error(claim: dict[str, Any]) -> str:
    error = claim.get("error")
    return error if isinstance(error, str) else ""


def _claim(report: bytes) -> dict[str, Any]:
    if not report:
        return {}
    try:
        claim = json.loads(report)
    except (ValueError, RecursionError):
        return {"status": "error"}
    return cast("dict[str, Any]", claim) if isinstance(claim, dict) else {"status": "error"}
