"""Verdicts on references, kept between invocations: what was judged once is known.

A file of lines in the user's cache folder, each a JSON array that begins with the verdict's key.
Lines are appended with one write each, so that a process that is killed loses none that it wrote
and two at once do not tear each other's; a later line of a key stands for an earlier one. A line
that is not whole is passed over.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.cache import cache_folder
from harness.closing import Closing
from harness.grading.jobs import CODE_HASH, Options
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.problem import Problem
from harness.sandbox.isolation import Level
from harness.text import shorten
from harness.version import __version__

SUBJECT, SETTINGS = 16, 12  # letters of a key; the code's hash follows
KEY = SUBJECT + SETTINGS + CODE_HASH
REASON = 300  # letters kept of a reason
_LONGEST_LINE = 8_192  # a line of ours is shorter, escapes and all


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a reference.

    Attributes:
        tests: how many the problem has.
        slowest_s: CPU seconds of its slowest test.
        failed_test: the first that it fails, from 1.
        reason: what went wrong there, at most `REASON` letters of it.
        isolation: the level of the sandbox; empty where nothing had to be run.
    """

    verdict: Verdict
    tests: int
    slowest_s: float
    failed_test: int | None = None
    reason: str = ""
    isolation: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", shorten(self.reason, REASON))


def subject(problem: Problem, options: Options) -> str:
    """What a verdict is about: the problem, its data, the rule, and the versions that judge."""
    rule = options.rule or ("checker" if problem.checker else problem.rule)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return _hash(problem.id, problem.content_hash, rule, __version__, python)[:SUBJECT]


def keys_of(problem: Problem, codes: Collection[str], options: Options) -> tuple[str, ...]:
    """The keys of verdicts on a problem's references.

    Each is what it is about, the settings in force (limits of CPU and wall time, memory and output,
    a process for every test or not, where the judge leaves off), and the code.

    Args:
        problem: whose references they are.
        codes: the hash of each one's code.
        options: how they are judged.
    """
    limits = options.limits(problem)
    sizes = limits.memory_bytes, limits.output_bytes
    settings = _hash(limits.cpu_s, limits.wall_s, *sizes, options.isolate, str(options.stop))
    start = subject(problem, options) + settings[:SETTINGS]
    return tuple(start + code for code in codes)


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def default_folder() -> Path:
    """Where verdicts are kept, unless told otherwise."""
    return cache_folder() / "verified"


class VerifiedCache(Closing):
    """The verdicts on one source's references.

    Args:
        source: the name of the source.
        folder: made when the first verdict is kept.
        warn: is told, once, where nothing can be kept or read; that is no failure.
    """

    def __init__(self, source: str, folder: Path, warn: Callable[[str], None]) -> None:
        self.path = folder / f"{source}.jsonl"
        self._warn: Callable[[str], None] | None = warn
        self._file: int | None = None

    @property
    def keeps(self) -> bool:
        """Whether what was added until now is kept."""
        return self._warn is not None

    def find(self, keys: Collection[str], least: Level) -> dict[str, Finding]:
        """What is known of these keys, from sandboxes that were no weaker than `least`."""
        found = self._newest(set(keys).__contains__)
        return {
            key: finding
            for key, finding in found.items()
            if not finding.isolation or Level(finding.isolation).rank >= least.rank
        }

    def quickest(self, subjects: Collection[str]) -> dict[str, float]:
        """CPU seconds of the slowest test of each subject's reference where that is least.

        Of those alone that were accepted, under whatever limits.
        """
        wanted = set(subjects)
        best: dict[str, float] = {}
        for key, finding in self._newest(lambda key: key[:SUBJECT] in wanted).items():
            if finding.verdict is Verdict.ACCEPTED:
                about = key[:SUBJECT]
                best[about] = min(finding.slowest_s, best.get(about, math.inf))
        return best

    def add(self, key: str, finding: Finding) -> None:
        """Keep a verdict, unless it is of infrastructure: that says nothing the next time."""
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
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _newest(self, wanted: Callable[[str], bool]) -> dict[str, Finding]:
        found: dict[str, Finding] = {}
        try:
            for line in self._lines():
                key = line[2 : 2 + KEY].decode("ascii", "replace")
                if wanted(key) and (finding := _decode(line)):
                    found[key] = finding
        except OSError as error:
            self._give_up("no verdict is known", error)
        return found

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
    """The file to append to, at the start of a line. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":  # what a crash tore
        os.write(file, b"\n")
    return file


def _encode(key: str, finding: Finding) -> bytes:
    values = (
        key,
        str(finding.verdict),
        finding.tests,
        finding.slowest_s,
        finding.failed_test,
        finding.reason,
        finding.isolation,
    )
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def _decode(line: bytes) -> Finding | None:
    """What a line says; None where it is none of ours, or not whole."""
    if not line.endswith(b"]\n"):
        return None
    try:
        _, word, tests, slowest_s, failed, reason, level = json.loads(line)
        finding = Finding(Verdict(word), tests, float(slowest_s), failed, str(reason), level)
        sound = level == "" or Level(level) in Level
    except (ValueError, TypeError, RecursionError):
        return None
    whole = isinstance(tests, int) and (failed is None or isinstance(failed, int))
    usable = whole and 0 <= finding.slowest_s < math.inf
    return finding if sound and usable and finding.verdict not in INFRASTRUCTURE else None
