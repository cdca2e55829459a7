"""Stored verdicts on references: a reference judged once need not be judged again.

A file of lines in the user's cache folder, each a JSON array that begins with the verdict's key.
Each line is appended with one write, so a killed process loses no written line, and two processes
at once do not corrupt each other's lines. A later line replaces an earlier one with the same key.
Incomplete lines are skipped.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from harness.cache import cache_folder
from harness.closing import Closing
from harness.excerpts import shorten
from harness.grading.jobs import Options
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.languages import PYTHON
from harness.languages.program_key import CODE_HASH
from harness.problem import Problem
from harness.sandbox.isolation import Level
from harness.version import __version__

SUBJECT, SETTINGS = 16, 12  # characters of a key; the code's hash follows
KEY = SUBJECT + SETTINGS + CODE_HASH
REASON = 300  # longest reason, in characters
_LONGEST_LINE = 8_192  # longer than any line written here, escapes included
_Place = Level | Literal[""]
_Line = tuple[str, Verdict, int, float, int | None, Any, _Place, int, float | None, bool, float]
_VALUES = TypeAdapter(_Line)
"""The values of a line: the key, and the fields of `Finding`, whose reason may be any text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of judging a reference.

    Attributes:
        tests: number of the problem's tests.
        slowest_s: CPU seconds of its slowest test.
        failed_test: number of the first failed test, from 1.
        reason: error of that test, at most `REASON` characters of it.
        isolation: isolation level of the sandbox; empty where nothing had to be run.
        hidden: number of the problem's hidden tests.
        points: its points, where the problem gives some.
        accepted_by_grader: whether the grader of such a problem accepts it.
        slowest_passed_s: CPU seconds of the slowest test that it passed.
    """

    verdict: Verdict
    tests: int
    slowest_s: float
    failed_test: int | None = None
    reason: str = ""
    isolation: str = ""
    hidden: int = 0
    points: float | None = None
    accepted_by_grader: bool = False
    slowest_passed_s: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", shorten(self.reason, REASON))


def subject(problem: Problem, options: Options, kind: str = "") -> str:
    """Hash what a verdict is about: the problem, its data, the rule, and the judge's versions.

    Args:
        problem: the problem.
        options: options for judging.
        kind: what sets solutions apart from the references in Python; empty for these.
    """
    rule = options.rule or ("checker" if problem.checker else problem.rule)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    kinds = (kind,) if kind else ()
    return _hash(problem.id, problem.content_hash, rule, __version__, python, *kinds)[:SUBJECT]


def keys_of(
    problem: Problem,
    codes: Collection[str],
    options: Options,
    kind: str = "",
    language: str = PYTHON,
) -> tuple[str, ...]:
    """Return the keys of verdicts on a problem's references.

    A key consists of the subject, the settings in force (limits of CPU and wall time, memory and
    output, isolation of tests, stop rule), and the hash of the code.

    Args:
        problem: problem of the references.
        codes: hash of the code of each reference.
        options: options for judging.
        kind: as in `subject`.
        language: their language.
    """
    limits = options.limits(problem, language)
    sizes = limits.memory_bytes, limits.output_bytes
    settings = _hash(limits.cpu_s, limits.wall_s, *sizes, options.isolate, str(options.stop))
    start = subject(problem, options, kind) + settings[:SETTINGS]
    return tuple(start + code for code in codes)


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def default_folder() -> Path:
    """Return the default folder of stored verdicts."""
    return cache_folder() / "verified"


class VerifiedCache(Closing):
    """Stored verdicts on the references of one source.

    Args:
        source: name of the source.
        folder: folder of the file; created when the first verdict is stored.
        warn: function called once where nothing can be stored or read; that is not a failure.
    """

    def __init__(self, source: str, folder: Path, warn: Callable[[str], None]) -> None:
        self.path = folder / f"{source}.jsonl"
        self._warn: Callable[[str], None] | None = warn
        self._file: int | None = None

    @property
    def keeps(self) -> bool:
        """Whether verdicts can be stored; false after an error."""
        return self._warn is not None

    def find(self, keys: Collection[str], least: Level) -> dict[str, Finding]:
        """Return the stored verdicts of these keys from sandboxes at least as strong as `least`."""
        findings = self._newest(set(keys).__contains__)
        return {
            key: finding
            for key, finding in findings.items()
            if not finding.isolation or Level(finding.isolation).rank >= least.rank
        }

    def quickest(self, subjects: Collection[str]) -> dict[str, float]:
        """Return the slowest test's CPU seconds of the quickest reference of each subject.

        Only accepted references count, under any limits.
        """
        wanted = set(subjects)
        best: dict[str, float] = {}
        for key, finding in self._newest(lambda key: key[:SUBJECT] in wanted).items():
            if finding.verdict is Verdict.ACCEPTED:
                about = key[:SUBJECT]
                best[about] = min(finding.slowest_s, best.get(about, math.inf))
        return best

    def add(self, key: str, finding: Finding) -> None:
        """Store a verdict, unless the infrastructure failed: that may pass the next time."""
        if finding.verdict in INFRASTRUCTURE or not self.keeps:
            return
        try:
            if self._file is None:
                self._file = _open(self.path)
            line = _encode(key, finding)
            if os.write(self._file, line) < len(line):
                raise OSError(f"{self.path} takes no more")  # noqa: TRY301
        except OSError as error:
            self._give_up("verdicts are not kept", error)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _newest(self, wanted: Callable[[str], bool]) -> dict[str, Finding]:
        findings: dict[str, Finding] = {}
        try:
            for line in self._lines():
                key = line[2 : 2 + KEY].decode("ascii", "replace")
                if wanted(key) and (finding := _decode(line)):
                    findings[key] = finding
        except OSError as error:
            self._give_up("stored verdicts cannot be read", error)
        return findings

    def _lines(self) -> Iterator[bytes]:
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            yield from iter(partial(file.readline, _LONGEST_LINE), b"")

    def _give_up(self, what: str, error: OSError) -> None:
        if self._warn is not None:
            self._warn(f"{what}: {self.path}: {error.strerror or error}")
        self._warn = None


def _open(path: Path) -> int:
    """Open the file for appending at the start of a line. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":  # a line cut off by a crash
        os.write(file, b"\n")
    return file


def _encode(key: str, finding: Finding) -> bytes:
    values = (key, *astuple(finding))
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def _decode(line: bytes) -> Finding | None:
    """Parse a line; return None where it is incomplete or not in this format."""
    if not line.endswith(b"]\n"):
        return None
    try:
        values: Any = _VALUES.validate_python(json.loads(line))
        finding = Finding(*values[1:])
    except (ValueError, TypeError, RecursionError):
        return None
    usable = 0 <= finding.slowest_passed_s <= finding.slowest_s < math.inf
    return finding if usable and finding.verdict not in INFRASTRUCTURE else None
