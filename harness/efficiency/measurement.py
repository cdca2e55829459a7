"""Timing solutions as pieces of work: scales of references, and places on them."""

import asyncio
import hashlib
import json
import os
import platform
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from harness.cache import cache_folder, write_whole
from harness.efficiency import (
    mercury_protocol,
    paired_timing,
    reference_times,
)
from harness.efficiency.expected import Expected
from harness.efficiency.scale import PROTOCOL, Efficiency, Scale
from harness.efficiency.timing_names import Timing
from harness.efficiency.turns import LapError
from harness.errors import DataError
from harness.grading.checkers import CheckerError
from harness.grading.jobs import Options, code_hash
from harness.grading.judge import Stop, Task, judge
from harness.problem import Problem, TestSuite
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.machine import processor
from harness.sandbox.program import SandboxError
from harness.sandbox.worker import Worker

MOST_REFERENCES = 40
"""Of a problem that has more the first so many are timed."""

REMARK = 200  # letters kept


@dataclass(frozen=True, slots=True)
class Calibration:
    """Makes the scale of a problem's references: those that pass all tests are timed.

    Attributes:
        task: how they are judged; its code and tests are none.
        suite: the tests.
        codes: of the references, by their hashes.
    """

    task: Task
    suite: Shared[TestSuite]
    codes: Mapping[str, str]
    timing: Timing

    def __call__(self, worker: Worker) -> Scale:
        """The scale.

        Raises:
            SandboxError: the sandbox failed.
            DataError: the tests cannot be decoded, or the checker fails on them.
        """
        task = replace(self.task, tests=self.suite.value.all(), stop=Stop.FAILURE)
        passing = {
            each: code
            for each, code in self.codes.items()
            if judge(worker, _with_code(task, code)).solved
        }
        failed = len(self.codes) - len(passing)
        if not passing:
            return Scale(timing=self.timing, unit_s=0.0, references=(), failed=failed)
        expected = _expected(worker, _with_code(task, next(iter(passing.values()))))
        if self.timing == "mercury":
            scale = mercury_protocol.calibrate(worker, expected, passing)
        else:
            scale = reference_times.calibrate(worker, expected, passing)
        return scale.model_copy(update={"failed": scale.failed + failed})


@dataclass(frozen=True, slots=True)
class Measurement:
    """Times a solution that passes all tests.

    Attributes:
        task: of that solution; its tests are none.
        suite: the tests.
        scale: of the problem.
        codes: of the anchors, by their hashes.
    """

    task: Task
    suite: Shared[TestSuite]
    scale: Scale
    codes: Mapping[str, str]

    def __call__(self, worker: Worker) -> Efficiency:
        """How fast it is. Raises SandboxError, DataError."""
        code = self.task.program.code
        expected = _expected(worker, replace(self.task, tests=self.suite.value.all()))
        if self.scale.timing == "mercury":
            found = mercury_protocol.measure(worker, expected, self.scale, code)
        else:
            try:
                found = paired_timing.measure(worker, expected, self.scale, dict(self.codes), code)
            except LapError as error:
                why = f"every reference failed when the solution was timed: {error}"
                raise DataError("efficiency", None, why) from error
        return found.model_copy(update={"remark": found.remark[:REMARK]})


def _expected(worker: Worker, task: Task) -> Expected:
    try:
        return Expected.of(worker, task)
    except CheckerError as error:
        raise DataError("checker", None, str(error)) from error


def _with_code(task: Task, code: str) -> Task:
    return replace(task, program=replace(task.program, code=code))


class Scales:
    """The scales of problems, made once a machine and data, and kept.

    Args:
        options: how references are judged.
        timing: how they are timed.
        folder: where scales are kept.
        fresh: make anew what is kept.
    """

    def __init__(
        self, options: Options, timing: Timing, folder: Path | None = None, *, fresh: bool = False
    ) -> None:
        self.timing: Timing = timing
        self._options = options
        self._folder = folder or default_folder()
        self._fresh = fresh
        self._made: dict[str, Scale] = {}
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, problem: Problem, executor: Executor) -> Scale:
        """A problem's: from memory, from disk, or made now.

        Raises:
            SandboxError: the sandbox failed.
            DataError: its references or its tests cannot be read.
        """
        async with self._locks[problem.id]:  # whoever comes first makes it for all
            scale = self._made.get(problem.id)
            if scale is None:
                scale = self._made[problem.id] = await self._get(problem, executor)
            return scale

    async def _get(self, problem: Problem, executor: Executor) -> Scale:
        codes = await asyncio.to_thread(references_of, problem)
        path = self.path(problem, codes)
        known = None if self._fresh else _read(path)
        if known is not None:
            return known
        task = self._options.task(problem, "", ())
        work = Calibration(task, Shared(problem.tests), codes, self.timing)
        scale = await executor.call(work)
        await asyncio.to_thread(write_whole, path, scale.model_dump_json())
        return scale

    def known(self, problem: Problem) -> Scale | None:
        """A problem's that is kept already. Raises DataError."""
        return None if self._fresh else _read(self.path(problem, references_of(problem)))

    def path(self, problem: Problem, codes: Mapping[str, str]) -> Path:
        """The file of a problem's scale: what it depends on is in the name."""
        limits = self._options.limits(problem)
        about = json.dumps(
            [
                *(PROTOCOL, self.timing, problem.id, problem.content_hash, sorted(codes)),
                *(limits.cpu_s, limits.memory_bytes, self._options.rule or problem.rule),
            ]
        )
        name = hashlib.sha256(about.encode()).hexdigest()[:32]
        return self._folder / machine().replace("/", "-") / f"{name}.json"

    async def measure(
        self, problem: Problem, code: str, executor: Executor, *, solved: bool
    ) -> Efficiency:
        """How fast a solution is; nothing of it is timed unless it passes all tests.

        Raises:
            SandboxError: the sandbox failed.
            DataError: references or tests cannot be read.
        """
        scale = await self.of(problem, executor)
        if not solved:
            return Efficiency.of_failure(scale)
        codes = await asyncio.to_thread(references_of, problem)
        chosen = {scale.references[index].code_hash for index in scale.anchors}
        anchors = {each: codes[each] for each in codes if each in chosen}
        task = self._options.task(problem, code, ())
        return await executor.call(Measurement(task, Shared(problem.tests), scale, anchors))


def unmeasured(timing: Timing, error: Exception) -> Efficiency:
    """Of a solution that infrastructure kept from being timed: its verdict stands."""
    return Efficiency(timing=timing, lack=f"cannot be measured: {error}"[:REMARK])


def references_of(problem: Problem) -> dict[str, str]:
    """A problem's references in Python by the hashes of their code; the first `MOST_REFERENCES`.

    Raises:
        DataError: they cannot be read.
    """
    codes = {code_hash(code): code for code in problem.programs()}
    return dict(list(codes.items())[:MOST_REFERENCES])


def default_folder() -> Path:
    """Where scales are kept, unless told otherwise."""
    return cache_folder() / "efficiency"


def machine() -> str:
    """What times hold for: the processor, how many of it, and the interpreter."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{processor()} x{os.cpu_count()}, {platform.python_implementation()} {python}"


def _read(path: Path) -> Scale | None:
    """A scale that is kept; None where there is none that can be read."""
    try:
        scale = Scale.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return scale if scale.protocol == PROTOCOL else None


@dataclass(frozen=True, slots=True)
class Timed:
    """A solution to be timed, if it passes; `number` is the caller's name for it."""

    number: int
    problem: Problem
    code: str
    solved: bool


async def time_all(
    pool: Executor,
    solutions: Sequence[Timed],
    scales: Scales,
    keep: Callable[[int, Efficiency], None],
) -> None:
    """Time solutions; what infrastructure keeps from being timed is said to be so.

    Args:
        pool: where they run.
        solutions: those of a problem should follow one another.
        scales: of the problems.
        keep: is given each as it is timed.
    """
    rest = iter(solutions)

    async def take_turns() -> None:
        for each in rest:
            try:
                found = await scales.measure(each.problem, each.code, pool, solved=each.solved)
            except (DataError, SandboxError) as error:
                found = unmeasured(scales.timing, error)
            keep(each.number, found)

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())
