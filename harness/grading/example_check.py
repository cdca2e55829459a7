"""Check of the examples read from statements, before they are used as tests.

A statement may be wrong, or be misread. Therefore the problem's own solution is run on each of its
examples, and the examples that it fails are dropped. The result is stored in a file, so that the
next run need not repeat it.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.cache import cache_folder
from harness.errors import HarnessError
from harness.grading.jobs import Job, Judged, Options
from harness.grading.stop import Stop
from harness.grading.verdict import INFRASTRUCTURE, LIMITS
from harness.problem import Frozen, Problem, TestSuite
from harness.sources.files.rows import content_hash
from harness.text import count
from harness.version import __version__

FILE = "examples.jsonl"
OPTIONS = Options(stop=Stop.NEVER)
"""Options for judging the solutions: every example, under each source's own limits."""


class VettingError(HarnessError):
    """Examples could not be checked; whether they are right stays unknown."""


class _Record(Frozen):
    """Result for one problem: indexes of the examples that were kept, from 0."""

    key: str
    problem: str
    kept: tuple[int, ...]


def default_folder() -> Path:
    """Return the default folder of stored checks."""
    return cache_folder() / "vetted"


class KnownChecks:
    """Results of earlier checks, in an append-only file.

    Args:
        folder: folder of the file; it need not exist yet.

    Attributes:
        warning: reason why the file cannot be read or written; empty where it can.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.warning = ""
        self._kept: dict[str, tuple[int, ...]] = {}
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            self._warn(error)
            return
        for line in filter(None, lines):
            try:
                record = _Record.model_validate_json(line)
            except ValidationError:  # a line cut off by a crash
                continue
            self._kept[record.key] = record.kept

    def get(self, key: str) -> tuple[int, ...] | None:
        """Return the examples that were kept; None where that is not known."""
        return self._kept.get(key)

    def add(
        self, key: str, problem_id: str, kept: tuple[int, ...], *, lasting: bool = True
    ) -> None:
        """Store a result; if the file cannot be written, for this process only.

        Args:
            key: key of the problem, its solution and its examples.
            problem_id: id of the problem, for people reading the file.
            kept: indexes of the right examples, from 0.
            lasting: whether to write it to the file.
        """
        self._kept[key] = kept
        if self.warning or not lasting:
            return
        record = _Record(key=key, problem=problem_id, kept=kept).model_dump_json()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                # One write call, so that no other process writes in between. A crash may have left
                # half a line before it.
                file.write(f"\n{record}\n".encode())
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        self.warning = (
            f"{self._path} cannot be used ({error.strerror}): "
            "the examples will be checked again the next time"
        )


@dataclass(frozen=True, slots=True)
class Vetted:
    """Problems whose examples are checked.

    Attributes:
        problems: all given problems, in order; none is `unchecked`. One without a good example has
            no tests.
        examples: number of examples checked, now or before.
        dropped: number of wrong examples.
        shortened: number of problems that lost any.
        emptied: number of problems that lost all.
    """

    problems: tuple[Problem, ...]
    examples: int
    dropped: int
    shortened: int
    emptied: int


class ExampleCheck:
    """Check of the examples of some problems: the jobs to judge, and their results.

    Args:
        problems: problems; those that are not `unchecked` are left as they are.
        memory: results of earlier checks.

    Attributes:
        jobs: own solutions still to be judged, by `OPTIONS`: the first Python solution of each
            problem without a stored result.

    Raises:
        DataError: a problem's row cannot be read again.
    """

    def __init__(self, problems: Sequence[Problem], memory: KnownChecks) -> None:
        self._problems = problems
        self._memory = memory
        self._keys: dict[str, str] = {}
        self.jobs: list[Job] = []
        for problem in problems:
            if problem.unchecked:
                self._add(problem)

    def _add(self, problem: Problem) -> None:
        code = next(iter(problem.programs()), "")
        self._keys[problem.id] = key = _key(problem, code)
        if self._memory.get(key) is not None:
            return
        if code:
            self.jobs.append(Job(len(self.jobs), problem, code))
        else:
            self._memory.add(key, problem.id, ())

    def keep(self, judged: Judged) -> None:
        """Store the result of a job.

        Raises:
            VettingError: the sandbox failed more than once.
        """
        problem = self.jobs[judged.number].problem
        if judged.grade.verdict in INFRASTRUCTURE:
            raise VettingError(
                f"the examples of {problem.id} could not be checked: {judged.cause}; "
                "try again, or leave the problem out"
            )
        tests = judged.grade.tests
        kept = tuple(test.index for test in tests if test.passed)
        # The machine may have caused a limit to be hit: the result counts now, and is checked again
        # next time.
        lasting = not any(test.verdict in LIMITS for test in tests)
        self._memory.add(self._keys[problem.id], problem.id, kept, lasting=lasting)

    def vetted(self) -> Vetted:
        """Return the problems with their good examples, once all jobs are kept."""
        problems = tuple(self._vetted(problem) for problem in self._problems)
        pairs = [
            (len(before.tests.public), len(after.tests.public))
            for before, after in zip(self._problems, problems, strict=True)
            if before.unchecked
        ]
        return Vetted(
            problems,
            examples=sum(before for before, _ in pairs),
            dropped=sum(before - after for before, after in pairs),
            shortened=sum(after < before for before, after in pairs),
            emptied=sum(not after for _, after in pairs),
        )

    def _vetted(self, problem: Problem) -> Problem:
        if not problem.unchecked:
            return problem
        kept = self._memory.get(self._keys[problem.id])
        if kept is None:
            raise RuntimeError(f"the examples of {problem.id} have not been checked")
        return problem.model_copy(
            update={
                "tests": TestSuite(
                    tuple(test for n, test in enumerate(problem.tests.public) if n in kept)
                ),
                "unchecked": False,
                "content_hash": content_hash(problem.content_hash, *map(str, kept)),
            }
        )


def _key(problem: Problem, code: str) -> str:
    """Return a hash of all the result depends on: problem, examples, solution and versions."""
    python = ".".join(map(str, sys.version_info[:2]))
    examples = (text for test in problem.tests.public for text in (test.input, test.output))
    return content_hash(problem.content_hash, __version__, python, code, *examples)


def dropped_examples(found: Vetted) -> str:
    """Return the line on dropped examples: dropped 3 of 41 examples, … (2 problems)."""
    of = count(found.shortened, "problem")
    if found.emptied:
        of += f", {found.emptied:,} of them left without tests"
    examples = count(found.examples, "example")
    return f"dropped {found.dropped:,} of {examples}, which their own solutions fail ({of})"
