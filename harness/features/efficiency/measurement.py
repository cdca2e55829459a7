"""Jobs that time solutions, and the stored time scales of problems."""

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
from typing import NamedTuple, cast, get_args

from pydantic import ValidationError

from harness.cache import cache_folder, write_whole
from harness.errors import DataError, UsageError
from harness.features.efficiency import mercury_protocol, paired_timing, reference_times
from harness.features.efficiency.scale import PROTOCOL, Efficiency, Scale
from harness.features.efficiency.turns import Expected, LapError
from harness.grading.answer_comparison import CheckerError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.languages.program_key import code_hash
from harness.problem import Problem, TestSuite
from harness.processor import processor
from harness.run.settings.execution_settings import Timing
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.worker import Worker

MOST_REFERENCES = 40
"""Largest number of a problem's references that are timed; the first ones are taken."""

REMARK = 200  # characters kept


def timing_of(word: str) -> Timing:
    """Return the timing method of a flag. Raises UsageError."""
    known = get_args(Timing)
    if word not in known:
        raise UsageError(f"--set timing={word}: known are {', '.join(known)}")
    return cast("Timing", word)


def asked_timing(word: str | None, *, efficiency: bool) -> Timing | None:
    """Return the timing method of the flags; None without timing. Raises UsageError."""
    if word is not None and not efficiency:
        raise UsageError("--set timing says how --efficiency measures; give that too")
    return timing_of(word or "paired") if efficiency else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Makes a problem's time scale from the references that pass all tests.

    Attributes:
        task: settings for judging; its code and tests are empty.
        suite: the tests.
        codes: code of each reference by its hash.
    """

    task: Task
    suite: Shared[TestSuite]
    codes: Mapping[str, str]
    timing: Timing

    def __call__(self, worker: Worker) -> Scale:
        """Return the scale.

        Raises:
            SandboxError: the sandbox failed.
            DataError: the tests cannot be decoded, or the checker fails on them.
        """
        task = self.task._replace(tests=self.suite.value.all(), stop=Stop.FAILURE)
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
        task: task of that solution; its tests are empty.
        suite: the tests.
        scale: time scale of the problem.
        codes: code of each anchor by its hash.
    """

    task: Task
    suite: Shared[TestSuite]
    scale: Scale
    codes: Mapping[str, str]

    def __call__(self, worker: Worker) -> Efficiency:
        """Return how fast the solution is.

        Raises:
            SandboxError: the sandbox failed.
            DataError: the tests or the checker failed, or every reference did.
        """
        code = self.task.program.code
        expected = _expected(worker, self.task._replace(tests=self.suite.value.all()))
        if self.scale.timing == "mercury":
            measured = mercury_protocol.measure(worker, expected, self.scale, code)
        else:
            try:
                measured = paired_timing.measure(
                    worker, expected, self.scale, dict(self.codes), code
                )
            except LapError as error:
                why = f"every reference failed when the solution was timed: {error}"
                raise DataError("efficiency", None, why) from error
        return measured.model_copy(update={"remark": measured.remark[:REMARK]})


def _expected(worker: Worker, task: Task) -> Expected:
    try:
        return Expected.of(worker, task)
    except CheckerError as error:
        raise DataError("checker", None, str(error)) from error


def _with_code(task: Task, code: str) -> Task:
    return task._replace(program=replace(task.program, code=code))


class Scales:
    """Time scales of problems, made once per machine and data, and stored.

    Args:
        options: settings for judging references.
        timing: timing method.
        folder: folder of the stored scales.
        fresh: whether to measure stored scales again.
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
        """Return a problem's scale: from memory, from disk, or measured now.

        Raises:
            SandboxError: the sandbox failed.
            DataError: its references or its tests cannot be read.
        """
        async with self._locks[problem.id]:  # the first caller measures it for all
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
        """Return a problem's stored scale, or None. Raises DataError."""
        return None if self._fresh else _read(self.path(problem, references_of(problem)))

    def path(self, problem: Problem, codes: Mapping[str, str]) -> Path:
        """Return the file of a problem's scale; its name is a hash of all the scale depends on."""
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
        """Return how fast a solution is; it is timed only if it passes all tests.

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
    """Return the efficiency of a solution that could not be timed; its verdict stands."""
    return Efficiency(
        timing=timing, protocol=PROTOCOL, lack=f"cannot be measured: {error}"[:REMARK]
    )


def references_of(problem: Problem) -> dict[str, str]:
    """Return a problem's first `MOST_REFERENCES` Python references by code hash.

    Raises:
        DataError: they cannot be read.
    """
    codes = {code_hash(code): code for code in problem.programs()}
    return dict(list(codes.items())[:MOST_REFERENCES])


def default_folder() -> Path:
    """Return the default folder of stored scales."""
    return cache_folder() / "efficiency"


def machine() -> str:
    """Describe what times depend on: the processor, its cores, and the interpreter."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{processor()} x{os.cpu_count()}, {platform.python_implementation()} {python}"


def _read(path: Path) -> Scale | None:
    """Return a stored scale; None where there is none that can be read."""
    try:
        scale = Scale.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return scale if scale.protocol == PROTOCOL else None


class TimedSolution(NamedTuple):
    """Solution to be timed if it passes; `number` is the caller's id for it."""

    number: int
    problem: Problem
    code: str
    solved: bool


async def time_all(
    pool: Executor,
    solutions: Sequence[TimedSolution],
    scales: Scales,
    keep: Callable[[int, Efficiency], None],
) -> None:
    """Time solutions; those that cannot be timed get a result saying so.

    Args:
        pool: executor that runs them.
        solutions: solutions; those of one problem should be adjacent.
        scales: time scales of the problems.
        keep: function called with the number and result of each.
    """
    rest = iter(solutions)

    async def take_turns() -> None:
        for each in rest:
            try:
                efficiency = await scales.measure(each.problem, each.code, pool, solved=each.solved)
            except (DataError, SandboxError) as error:
                efficiency = unmeasured(scales.timing, error)
            keep(each.number, efficiency)

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())
