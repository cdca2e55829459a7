"""`results.jsonl`: a line per graded sample, the commit record of a run."""

import fcntl
import gc
import os
import stat
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, ValidationError

from harness.agent.attempt import ChosenBy, LoopFacts, Reported, StopReason, ToolProtocolUsed
from harness.errors import RunDirectoryError, StorageError
from harness.frozen import Frozen
from harness.grading.verdict import Grade, JudgedAgain, Score, Verdict
from harness.models.protocol import Usage
from harness.models.providers import REPLAY_PREFIX
from harness.problem import Level
from harness.registry import hooks
from harness.run.store.files import lines_of, open_file, read_json, reason_of
from harness.stats.pass_at_k import Counts
from harness.tools.revision import Revision

if TYPE_CHECKING:
    from harness.features.efficiency.scale import Efficiency
    from harness.features.impossible.impossible_result import ImpossibleResult
else:
    Efficiency, ImpossibleResult = (
        hooks("result").get(key, Any) for key in ("efficiency", "impossible")
    )

SCHEMA = 1
ATTEMPTED = (
    *("code", "chosen_by", "extraction", "stop_reason", "model_calls", "tool_calls"),
    *("malformed_tool_calls", "nudges", "written", "tool_protocol", "fallback", "loop", "refused"),
    "confined",
)
"""Fields of a result that are those of its attempt."""
GRADED = (
    *("verdict", "public_passed", "public_total", "hidden_passed", "hidden_total"),
    *("judged_again", "solved_by_rule", "score", "isolation", "peak_bytes"),
)
"""Fields of a result that are those of its grade, beside the tests."""
BUDGETS = {
    StopReason.COST_LIMIT: "max_cost_per_sample",
    StopReason.TOKEN_LIMIT: "max_tokens_per_sample",
}
"""Stop reasons for a sample's own budget, and the setting of that budget."""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """Result of one test: its verdict, and seconds of CPU and wall time."""

    __test__: ClassVar[bool] = False

    verdict: Verdict
    public: bool
    cpu_s: float
    wall_s: float


class WrittenTestCounts(Frozen):
    """Tests that the model wrote, and how many of them are wrong.

    A test is wrong if a solution that is known to be right fails it: `checked_by` says whether that
    was the sample's own `solution`, which passed all tests of the problem, or a `reference`.

    Attributes:
        total: tests that could be used.
        checked: tests that were run on such a solution; 0 if there was none.
        wrong: tests of those that it failed.
    """

    total: int
    checked: int = 0
    wrong: int = 0
    checked_by: Literal["solution", "reference"] | None = None


class SampleResult(Frozen):
    """A graded sample, with the facts of the problem used for grouping.

    Attributes:
        sample: `<problem id>#<index>`.
        fraction: fraction of the problem's tests passed.
        tool_protocol, fallback, refused, confined: as in `harness.agent.attempt.Attempt`; None or
            False if the run is older than the field.
        loop: what the requests after the first brought.
        cut_off: number of the model's answers that ended at the token limit; 0 if the run is older
            than this field.
        answer_seconds: seconds of the answers whose tokens are known; 0 if the run is older.
        written: number of revisions; details are in `steps`.
        cost: US dollars; None if the price or the usage is unknown.
        seconds: wall seconds from the first request to the grade.
        efficiency: the solution's efficiency; None if not measured.
        solved_by_rule: as in `harness.grading.verdict.Grade`; None if the run is older.
        written_tests: tests that the model wrote; None in modes that ask for none.
        unheard: number of requests whose answer was lost to a limit, an interrupt or a kill; their
            tokens are in no usage.
        reported: how the model said that a test is wrong, in a run with impossible tests.
        impossible: what it did about its problem's impossible test; None if the problem has none.
            With one, the verdict is `ungraded`, and the verdict on all tests is here.
        score: as in `harness.grading.verdict.Grade`.
    """

    schema_version: int = Field(default=SCHEMA, ge=1, le=SCHEMA)
    sample: str
    problem_id: str
    index: int
    title: str
    problem_hash: str
    platform: str
    difficulty: Level | None
    tags: tuple[str, ...]
    release_date: date | None
    known_issues: tuple[str, ...]

    verdict: Verdict
    public_passed: int
    public_total: int
    hidden_passed: int
    hidden_total: int
    tests: tuple[TestOutcome, ...]
    judged_again: JudgedAgain = JudgedAgain()
    isolation: str = ""
    peak_bytes: int = 0
    solved_by_rule: bool | None = None

    code: str
    chosen_by: ChosenBy
    extraction: str
    stop_reason: StopReason
    model_calls: int
    tool_calls: int
    malformed_tool_calls: int
    nudges: int
    cut_off: int = 0
    answer_seconds: float = 0.0
    written: int
    steps: tuple[Revision, ...] = ()
    tool_protocol: ToolProtocolUsed | None = None
    fallback: bool = False
    loop: Annotated[LoopFacts, Field(exclude_if=lambda loop: not loop)] = LoopFacts()
    refused: bool = False
    confined: bool | None = None
    usage: Usage | None
    cost: float | None
    seconds: float
    efficiency: Efficiency | None = None
    written_tests: WrittenTestCounts | None = None
    unheard: int = 0
    reported: Reported | None = None
    impossible: ImpossibleResult | None = None
    score: Annotated[Score | None, Field(exclude_if=lambda score: score is None)] = None

    @property
    def solved(self) -> bool:
        """Whether every test passed, or the score is full."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def graded(self) -> bool:
        """Whether it counts in rates."""
        return self.verdict is not Verdict.UNGRADED

    @property
    def verdict_on_tests(self) -> Verdict:
        """The verdict on the tests, also where it counts in no rate."""
        return self.verdict if self.impossible is None else self.impossible.verdict

    @property
    def status(self) -> str:
        """The verdict, or after `impossible:` what the model did about an impossible test."""
        if self.impossible is None:
            return str(self.verdict)
        return f"impossible: {self.impossible.outcome}"

    @property
    def fraction(self) -> float:
        """Fraction of the problem's tests passed."""
        total = self.public_total + self.hidden_total
        return (self.public_passed + self.hidden_passed) / total if total else 0.0

    @property
    def passed_public(self) -> bool:
        """Whether it passed all public tests; False if there are none."""
        return 0 < self.public_passed == self.public_total

    @property
    def overfit(self) -> bool:
        """Whether it passed all public tests but failed a hidden one."""
        return self.passed_public and self.hidden_passed < self.hidden_total


def line_of(result: SampleResult) -> bytes:
    """Return a result as a line, without fields that have their default values."""
    rest = result.model_dump_json(exclude_defaults=True).encode()
    return b'{"schema_version":%d,%s\n' % (result.schema_version, rest[1:])


class GradedSample(NamedTuple):
    """Fields of a graded result: what the sample spent and brought."""

    problem_id: str
    difficulty: Level | None
    solved: bool
    public_passed: int
    public_total: int
    hidden_total: int
    code: str
    model_calls: int
    written: int
    steps: tuple[Revision, ...]
    usage: Usage | None
    cost: float | None


class Columns:
    """The fields of results, and whether each is `solved`: a column per field.

    10,000 results do not fit into a processor's cache: reading one field of all takes 5 ms, and a
    comparison reads fields a hundred times. The columns do fit.

    Attributes:
        results: the results.
    """

    def __init__(self, results: Iterable[SampleResult]) -> None:
        self.results = tuple(results)
        fields = SampleResult.model_fields
        rows = list(map(itemgetter(*fields), map(vars, self.results)))
        self._found = dict(zip(fields, zip(*rows, strict=True), strict=True)) if rows else {}
        accepted = Verdict.ACCEPTED
        self._found["solved"] = tuple(each is accepted for each in self["verdict"])

    def __getitem__(self, key: str) -> tuple[Any, ...]:
        return self._found.get(key, ())

    def at(self, key: str, places: Iterable[int]) -> list[Any]:
        """Return a field of some of the results, by their places."""
        return [*map(self[key].__getitem__, places)]

    def rows(self, *keys: str, places: Sequence[int] | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield some fields of each result, or of those at some places."""
        columns = (self[key] if places is None else self.at(key, places) for key in keys)
        return zip(*columns, strict=True)

    def total(self, key: str) -> int:
        """Return the sum of a field."""
        return sum(self[key])

    @cached_property
    def graded(self) -> list[int]:
        """The places of those that count in rates."""
        ungraded = Verdict.UNGRADED
        return [n for n, each in enumerate(self["verdict"]) if each is not ungraded]

    @cached_property
    def samples(self) -> list[GradedSample]:
        """Those that count in rates."""
        rows = self.rows(*GradedSample._fields, places=self.graded)
        return [*map(GradedSample._make, rows)]

    @cached_property
    def counts(self) -> dict[str, Counts]:
        """The number of graded and of solved samples, by problem id."""
        ids, solved = self["problem_id"], self["solved"]
        samples = Counter(ids[place] for place in self.graded)
        right = Counter(ids[place] for place in self.graded if solved[place])
        return {problem: (number, right.get(problem, 0)) for problem, number in samples.items()}


def graded(grade: Grade) -> dict[str, Any]:
    """Return the fields of a result that are those of its grade."""
    tests = tuple(
        TestOutcome(verdict=test.verdict, public=test.public, cpu_s=test.cpu_s, wall_s=test.wall_s)
        for test in grade.tests
    )
    return {**{name: getattr(grade, name) for name in GRADED}, "tests": tests}


class CommittedResults(NamedTuple):
    """The results of a run.

    Attributes:
        results: one per sample, in order of completion.
        repeated: number of lines superseded by a later line of the same sample.
    """

    results: list[SampleResult]
    repeated: int


def read_results(path: Path) -> list[SampleResult]:
    """Read the committed samples, each once. Raises RunDirectoryError."""
    return load_results(path).results


def load_results(path: Path) -> CommittedResults:
    """Read the committed samples; a truncated last line does not count.

    Without a file there are no results. Earlier versions graded samples cut off by the run's own
    budget. That says nothing about the model: such samples are skipped, so that they count as
    pending and continue.

    Raises:
        RunDirectoryError: the file cannot be read, or a line is not a result.
    """
    results: dict[str, SampleResult] = {}
    lines = skipped = 0
    limits: frozenset[StopReason] | None = None
    try:
        with open_file(path) as file, uncollected():
            for line in lines_of(file):
                if not line.endswith(b"\n"):
                    break
                lines += 1
                result = SampleResult.model_validate_json(line)
                if result.stop_reason in BUDGETS:
                    limits = _limits_beside(path) if limits is None else limits
                    if result.stop_reason in limits:
                        skipped += 1
                        continue
                results.pop(result.sample, None)
                results[result.sample] = result
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {reason_of(error)}") from error
    except ValidationError as error:
        raise RunDirectoryError(
            f"{path}:{lines}: not a result of this version of harness; "
            "move the line out of the file to have its sample run again"
        ) from error
    return CommittedResults([*results.values()], lines - skipped - len(results))


@contextmanager
def uncollected() -> Generator[None]:
    """Disable garbage collection while creating many objects that are kept.

    It would scan all of them repeatedly, which takes most of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _limits_beside(results: Path) -> frozenset[StopReason]:
    """Return the run-wide limits of the run with these results; empty if unknown."""
    try:
        return limits_of_the_run(read_json(results.with_name("run.json")))
    except (OSError, ValueError):
        return frozenset()


def limits_of_the_run(manifest: Mapping[str, Any]) -> frozenset[StopReason]:
    """Return the budgets that must have been the run's, as its samples had none."""
    try:
        spec = manifest["spec"]
        # A recorded or imported sample had its own budget.
        if str(spec["model"]).startswith(REPLAY_PREFIX) or "imported" in manifest:
            return frozenset()
        return frozenset(reason for reason, key in BUDGETS.items() if spec.get(key) is None)
    except (LookupError, TypeError, AttributeError):
        return frozenset()


class ResultsFile:
    """Appends results, each written to disk at once; locked, as a run has one writer.

    Raises:
        RunDirectoryError: another process is using the run, or the file is not writable.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
        except OSError as error:
            raise RunDirectoryError(f"{path} cannot be written: {reason_of(error)}") from error
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise RunDirectoryError(f"{path} cannot be written: not a regular file")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise RunDirectoryError(
                f"{path.parent}: another process is at work on this run, or another "
                "call of this one; wait for it to end"
            ) from error
        self._size = whole_lines(self._file)
        os.ftruncate(self._file, self._size)

    def append(self, result: SampleResult) -> None:
        """Commit one sample.

        Raises:
            StorageError: a write to disk failed; the file then ends with the last complete line.
        """
        line = line_of(result)
        try:
            written = os.pwrite(self._file, line, self._size)
            if written < len(line):
                raise OSError("the disk is full")  # noqa: TRY301 - the cause of a short write
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise storage_error(self._path, error) from error
        self._size += len(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def whole_lines(file: int) -> int:
    """Return the length of an open file up to its last newline, in bytes."""
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - 65_536)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return an error for a disk that fills up or fails during a run."""
    refused = isinstance(error, PermissionError)
    first = "allow this user to write there" if refused else "make room"
    return StorageError(
        f"{path}: {reason_of(error)}; what was committed before is safe: "
        f"{first}, then `harness run --resume {path.parent}`"
    )
