"""Hostile and unusual programs: none gets a verdict that it should not, none leaves anything.

The programs lie in `hostile/<category>/<name>.py`; `hostile/manifest.toml` says of each what it
tries, how it is run and what the judge must say. A program that tries to escape and gets away says
so, which is a wrong answer; where it is refused it solves the problem, which is accepted. What
forgeries would have to print is a secret, another one for every test.
"""

import contextlib
import io
import json
import os
import platform
import secrets
import signal
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pydantic
import pytest
from _pytest.mark import ParameterSet
from processes import resting

import harness
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.problem import Codec, Signature, TestCase
from harness.sandbox.isolation import PROMISED, Isolation, Level
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import probe_isolation
from harness.sandbox.worker import Worker

ISOLATIONS = (
    Isolation(Level.NAMESPACES, "direct"),
    Isolation(Level.NAMESPACES, "bubblewrap"),
    Isolation(Level.LANDLOCK),
    Isolation(Level.SECCOMP),
)
FOLDER = Path(__file__).parent / "hostile"
CATEGORIES = {"escapes", "exhaustion", "survival", "forgery", "denominator", "unusual"}
LAYERED = {"escapes", "survival"}
"""What is held by layers that the levels differ in; the rest is held by what all levels have."""
PATIENCE_S = 60.0

Pairs = list[tuple[str, str]]
WorkerOf = Callable[[Isolation | None], Worker]


class LimitChanges(pydantic.BaseModel):
    """What differs from the usual limits."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    cpu_s: float = 2.0
    wall_s: float = 10.0
    memory_mb: int = 256
    output_mb: int = 16


class Entry(pydantic.BaseModel):
    """What the manifest says of a program; its head explains the keys."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    tries: str
    verdict: Verdict | tuple[Verdict, ...]
    reason: str = ""
    function: str | None = None
    result: Codec = Codec.JSON
    tests: str | tuple[tuple[str, str], ...] = "double"
    limits: LimitChanges = LimitChanges()
    before: str | None = None
    built: bool = False
    needs: tuple[str, ...] = ()
    machine: str | None = None
    layer: str = ""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return (self.verdict,) if isinstance(self.verdict, Verdict) else self.verdict


MANIFEST = {
    name: Entry.model_validate(values)
    for name, values in tomllib.loads((FOLDER / "manifest.toml").read_text("utf-8")).items()
}


@dataclass(frozen=True)
class Surroundings:
    """What lies around the sandbox for programs to find.

    Attributes:
        folder: the judge's folder for temporary files, and nobody else's.
        planted: a file that everybody on the machine may read and write.
        secret: a word that a forger would have to print.
    """

    folder: Path
    planted: Path
    secret: str = field(default_factory=lambda: f"wanted:{secrets.token_hex(16)}")

    def plant(self) -> None:
        self.planted.write_text("planted")
        self.planted.chmod(0o666)
        os.utime(self.planted, (10**9, 10**9))

    @property
    def harvest(self) -> tuple[object, ...]:
        """All that a program might have changed about the planted file."""
        status, parent = self.planted.stat(), self.planted.parent.stat()
        return (
            self.planted.read_text(),
            *(status.st_mode, status.st_uid, status.st_nlink, status.st_mtime),
            *(parent.st_mode, parent.st_uid),
            os.listxattr(self.planted),
            sorted(self.planted.parent.iterdir()),
        )


def _doubles(count: int) -> Pairs:
    return [(str(n), str(n * 2)) for n in range(count)]


def _same(text: object, *, times: int = 2) -> Pairs:
    """Tests of programs that say `denied` where they found nothing."""
    return [(str(text), "denied")] * times


FATAL_SIGNALS = sorted(
    signal.valid_signals()
    - {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
    - {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
    - set(range(signal.SIGRTMIN + 1, signal.SIGRTMAX))
)
LINE = "0123456789" * 10 + "\n"

MAKERS: dict[str, Callable[[Surroundings], Pairs]] = {
    "one": lambda _: _doubles(2)[1:],
    "double": lambda _: _doubles(4)[1:],
    "many": lambda _: _doubles(40),
    "sum": lambda _: [("3\n4\n", "7"), ("10\n-2", "8"), ("5\n", "5")],
    "secret": lambda s: [("1", s.secret), ("2", s.secret), ("3", s.secret)],
    "first_only": lambda s: [("1", "2"), ("2", s.secret), ("3", s.secret)],
    "marked": lambda s: [("1", s.secret), ("2", s.secret)],
    "own_word": lambda s: [(s.secret[::-1], s.secret)] * 2,
    "later_input": lambda s: [("first", "nothing"), (s.secret, s.secret)],
    "signals": lambda s: [(str(int(number)), s.secret) for number in FATAL_SIGNALS],
    "planted": lambda s: _same(s.planted),
    "home": lambda _: _same(Path.home()),
    "harness": lambda _: _same(Path(harness.__file__).parent),
    "packages": lambda _: _same(Path(pydantic.__file__).parents[1]),
    "judge": lambda _: _same(os.getpid()),
    "thirty_megabytes": lambda _: [("300000", LINE * 300_000)],
    "large_input": lambda _: [(LINE * 200_000, str(len(LINE) * 200_000))],
    "large_result": lambda _: [("300000", json.dumps(list(range(300_000))))],
}
SECRETS = {"secret", "first_only", "marked", "signals"}


def cases_of(name: str, surroundings: Surroundings) -> list[TestCase]:
    entry = MANIFEST[name]
    pairs = MAKERS[entry.tests](surroundings) if isinstance(entry.tests, str) else entry.tests
    quote = json.dumps if entry.function and entry.tests in SECRETS else str
    return [
        TestCase(input=given, output=quote(wanted), public=number == 0)
        for number, (given, wanted) in enumerate(pairs)
    ]


def source_of(name: str, surroundings: Surroundings) -> str:
    source = (FOLDER / f"{name}.py").read_bytes().decode()
    if MANIFEST[name].built:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, name, "exec"), {})
        source = printed.getvalue()
    return source.replace("@SECRET@", surroundings.secret)


def judge_program(worker: Worker, name: str, surroundings: Surroundings, *, isolate: bool) -> Grade:
    entry = MANIFEST[name]
    limits = Limits(
        cpu_s=entry.limits.cpu_s,
        own_wall_s=entry.limits.wall_s,
        memory_bytes=entry.limits.memory_mb * MEBIBYTE,
        output_bytes=entry.limits.output_mb * MEBIBYTE,
    )
    program = Program(
        source_of(name, surroundings),
        entry_point=entry.function,
        signature=Signature(result=entry.result),
    )
    tests = cases_of(name, surroundings)
    return judge(worker, Task(program, tests, limits, isolate=isolate))


# What was there before, and what is there afterwards.


def _parents() -> dict[int, int]:
    """Every process of the machine and its parent, zombies included."""
    parents: dict[int, int] = {}
    with os.scandir("/proc") as entries:
        for name in (entry.name for entry in entries):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    file = os.open(f"/proc/{name}/stat", os.O_RDONLY)
                    try:
                        stat = os.read(file, 1 << 12)
                    finally:
                        os.close(file)
                    parents[int(name)] = int(stat.rpartition(b")")[2].split()[1])
    return parents


def _tree(root: int, parents: dict[int, int], strangers: frozenset[int]) -> set[int]:
    """The descendants of a process, without strangers and their descendants."""
    descendants: set[int] = set()
    edge = {root}
    while edge:
        edge = {child for child, parent in parents.items() if parent in edge} - strangers
        descendants |= edge
    return descendants


def _command(process: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def _orphans(commands: set[bytes], parents: dict[int, int]) -> set[int]:
    """Processes with these command lines that nobody started who still lives."""
    return {
        process
        for process, parent in parents.items()
        if parent <= 1 and process > 1 and _command(process) in commands
    }


PLACES = (
    *("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/usr"),
    *("/usr/lib", str(Path.home()), str(Path.cwd()), str(Path(os.__file__).parent)),
)
LEFT_MODULE = "hostile_left"
KEY = str(0x686F7374)  # of what `escapes/system_v` would leave


def _left_in_places() -> list[str]:
    files: list[str] = []
    for folder in PLACES:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            files += [e.path for e in entries if "hostile-left" in e.name or LEFT_MODULE in e.name]
    for kind in ("shm", "msg", "sem"):
        table = Path(f"/proc/sysvipc/{kind}")
        if table.exists():
            files += [
                f"{kind} {row}" for row in table.read_text().splitlines() if KEY in row.split()
            ]
    return files


@dataclass(frozen=True)
class Standing:
    """How many processes and temporary files there are, and what the planted file is like.

    Attributes:
        strangers: processes that were there before and are no worker's, as another test's browser;
            what they start and end is not counted.
    """

    processes: int
    files: int
    planted: tuple[object, ...]
    strangers: frozenset[int]

    @classmethod
    def of(cls, worker: Worker, surroundings: Surroundings) -> "Standing":
        """Return what there is while a worker runs nothing."""
        assert worker.process_id is not None
        resting(worker.process_id)
        parents = _parents()
        ours = {child for child, parent in parents.items() if parent == os.getpid()}
        return cls._now(surroundings, parents, frozenset(ours - {worker.process_id}))

    def again(self, surroundings: Surroundings, parents: dict[int, int]) -> "Standing":
        """Return the same a while later."""
        return self._now(surroundings, parents, self.strangers)

    @classmethod
    def _now(
        cls, surroundings: Surroundings, parents: dict[int, int], strangers: frozenset[int]
    ) -> "Standing":
        return cls(
            processes=len(_tree(os.getpid(), parents, strangers)),
            files=sum(1 for _ in surroundings.folder.rglob("*")),
            planted=surroundings.harvest,
            strangers=strangers,
        )


HONEST = "import os\nn = int(input())\nprint(os.listdir() or n * 2)"


def assert_nothing_is_left(worker: Worker, before: Standing, surroundings: Surroundings) -> None:
    tests = [TestCase(input="1", output="2", public=True)]
    honest = judge(worker, Task(Program(HONEST), tests, Limits(cpu_s=5.0)))
    assert honest.solved, [test.got or test.error for test in honest.tests]
    assert (honest.judged_again.confirmed, honest.judged_again.retried) == ((0, 0), 0)
    parents = _parents()
    tree = _tree(os.getpid(), parents, before.strangers)
    commands = {_command(process) for process in tree} - {b""}
    end = time.monotonic() + PATIENCE_S
    while before.again(surroundings, parents) != before or _orphans(commands, parents):
        if time.monotonic() > end:
            assert before.again(surroundings, parents) == before
            assert _orphans(commands, parents) == set()
        time.sleep(0.02)  # what was killed takes a moment to go
        parents = _parents()
    assert _left_in_places() == []


# The fixtures.


@pytest.fixture(scope="module")
def surroundings() -> Iterator[Surroundings]:
    """Planted before the worker starts, in a folder that any user may enter."""
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as name,
        pytest.MonkeyPatch.context() as patch,
    ):
        root = Path(name)
        for folder in (root, root / "temporary", root / "planted"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777 if folder != root else 0o755)
        patch.setattr(tempfile, "tempdir", str(root / "temporary"))
        patch.setenv("HARNESS_HOSTILE_KEY", "planted")
        patch.setenv("OPENAI_API_KEY", "sk-planted")
        around = Surroundings(root / "temporary", root / "planted" / "file")
        around.plant()
        with around.planted.open() as inherited:
            os.set_inheritable(inherited.fileno(), True)
            yield around


STRONGEST = None
"""The strongest sandbox that can be had here."""
EVERY = 6
"""One program in so many runs with a process for each test; in thorough runs all do."""


def sandboxes_of(name: str) -> Iterator[ParameterSet]:
    """Where a program is run: in the strongest, and in thorough runs in others.

    These are all others where layers hold it that they differ in, else one, taking turns.
    """
    yield pytest.param(STRONGEST, name)
    if MANIFEST[name].verdict is Verdict.TIME_LIMIT:  # the clock ends it, in all of them alike
        return
    others = ISOLATIONS[1:]
    if name.partition("/")[0] not in LAYERED:
        others = (others[list(MANIFEST).index(name) % len(others)],)
    for other in others:
        yield pytest.param(other, name, marks=pytest.mark.thorough)


@pytest.fixture(scope="module")
def worker_of(surroundings: Surroundings) -> Iterator[WorkerOf]:
    """One a sandbox for all: each program must leave it as the next one needs it."""
    del surroundings  # only has to be there first
    broken: dict[Isolation, str] = {}
    workers: dict[Isolation, Worker] = {}

    def why_not(isolation: Isolation) -> str:
        if isolation not in broken:
            broken[isolation] = probe_isolation(isolation).broken
        return broken[isolation]

    def worker_of(isolation: Isolation | None) -> Worker:
        isolation = isolation or next((i for i in ISOLATIONS if not why_not(i)), ISOLATIONS[0])
        if why_not(isolation):
            pytest.skip(f"cannot be had here: {broken[isolation]}")
        if isolation not in workers:
            workers[isolation] = Worker(isolation)
            # Its processes are there before they are counted.
            workers[isolation].run(Program(HONEST), [b"1"], Limits())
        return workers[isolation]

    yield worker_of
    for worker in workers.values():
        worker.stop()


def check(
    name: str,
    isolation: Isolation | None,
    worker_of: WorkerOf,
    surroundings: Surroundings,
    *,
    isolate: bool,
) -> None:
    entry, worker = MANIFEST[name], worker_of(isolation)
    for package in entry.needs:
        pytest.importorskip(package)
    if entry.machine not in {None, platform.machine()}:
        pytest.skip(f"written for {entry.machine}")
    if entry.layer and entry.layer not in PROMISED[worker.isolation.level]:
        pytest.skip(f"{worker.isolation} does not promise to hold: {entry.layer}")
    around = Surroundings(surroundings.folder, surroundings.planted)  # with a secret of its own
    before = Standing.of(worker, around)
    try:
        if entry.before is not None:
            judge_program(worker, entry.before, around, isolate=isolate)
        grade = judge_program(worker, name, around, isolate=isolate)
        first = next((test for test in grade.tests if not test.passed), None)
        assert grade.verdict in entry.verdicts, first
        assert_nothing_is_left(worker, before, around)
    except BaseException:
        worker.kill()  # so that the next program is not blamed for this one
        surroundings.plant()
        worker.run(Program(HONEST), [b"1"], Limits())
        raise


@pytest.mark.parametrize(
    ("isolation", "name"),
    [parameters for name in MANIFEST for parameters in sandboxes_of(name)],
    ids=lambda value: str(value or "strongest"),
)
def test_the_verdict_is_right_and_nothing_is_left(
    isolation: Isolation | None, name: str, worker_of: WorkerOf, surroundings: Surroundings
) -> None:
    check(name, isolation, worker_of, surroundings, isolate=False)


OF_SEVERAL_TESTS = [name for name, entry in MANIFEST.items() if entry.tests != "one"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if number % EVERY else [])
        for number, name in enumerate(OF_SEVERAL_TESTS)
    ],
)
def test_a_hostile_program_with_a_process_for_every_test_gets_its_verdict(
    name: str, worker_of: WorkerOf, surroundings: Surroundings
) -> None:
    check(name, STRONGEST, worker_of, surroundings, isolate=True)


def test_a_level_that_holds_can_be_had() -> None:
    """Where none can, all of the above is skipped and says nothing."""
    assert any(probe_isolation(isolation).holds for isolation in ISOLATIONS)


def test_every_program_is_in_the_manifest_and_every_entry_has_a_program() -> None:
    files = {str(p.relative_to(FOLDER).with_suffix("")) for p in FOLDER.rglob("*.py")}
    assert files == set(MANIFEST)
    assert {name.partition("/")[0] for name in MANIFEST} == CATEGORIES


def test_entries_of_the_hostile_manifest_make_sense() -> None:
    for name, entry in MANIFEST.items():
        assert len(set(entry.verdicts)) == len(entry.verdicts), name
        assert bool(entry.reason) == (len(entry.verdicts) > 1), name
        assert not isinstance(entry.tests, str) or entry.tests in MAKERS, name
        assert entry.before is None or entry.before in MANIFEST, name
        if entry.tests in SECRETS:
            assert Verdict.ACCEPTED not in entry.verdicts, name
        if name.startswith("unusual/"):
            assert entry.verdict is Verdict.ACCEPTED, name
