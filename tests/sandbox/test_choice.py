"""Which sandbox is chosen: as root, as an ordinary user, in a container, on other machines."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest
from other_user import PACKAGES, ROOT, readable_by_all, skip_unless_readable_by_all
from processes import children

from harness.sandbox import launch, strongest
from harness.sandbox.isolation import (
    CANDIDATES,
    MISSING,
    PROMISED,
    UNSAFE,
    Findings,
    Isolation,
    IsolationError,
    Level,
)
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import choose, choose_early
from harness.sandbox.worker import Worker

SOMEBODY = 12345  # who has no account and no files

# What a child finds: the candidates that hold, the choice, what a program gets judged and sees.
LOOK = """
import functools, json, os, sys
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.strongest import choose, probe_isolation
from harness.sandbox.program import Program
from harness.sandbox.isolation import CANDIDATES, IsolationError, Level
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
secret, unsafe = sys.argv[1], len(sys.argv) > 2
found = {"user": os.getuid()}
found["why"] = {str(each): probe_isolation(each).broken for each in CANDIDATES}
reader = f"try: print(len(open({secret!r}).read()))\\nexcept OSError: print('no')"
test = TestCase(input="20\\n", output="40", public=True)
@functools.cache
def judged(isolation):
    worker = Worker(isolation)
    try:
        right, wrong = (
            judge(worker, Task(Program(f"print(int(input()) * {n})"), [test] * 3, Limits()))
            for n in (2, 3)
        )
        read = worker.run(Program(reader), [b""], Limits())[0]
        return [str(right.verdict), str(wrong.verdict), right.isolation, read.stdout.decode()]
    finally:
        worker.stop()
for least in Level:
    if least is Level.NONE:
        continue
    try:
        choice = choose(least, unsafe=unsafe)
    except IsolationError as error:
        found[least] = str(error)
    else:
        found[least] = [choice.isolation.level, choice.isolation.means]
        found["notice"] = choice.notice
        found["judged"] = judged(choice.isolation)
found["each"] = {str(each): judged(each) for each in CANDIDATES if not found["why"][str(each)]}
print(json.dumps(found))
"""

# As in a container with Docker's profile: nobody makes a user namespace, nor any other.
AS_IN_A_CONTAINER = """
import ctypes, os, platform, struct, sys
clone, clone3, *others = {
    "x86_64": (56, 435, 272, 308, 165, 155), "aarch64": (220, 435, 97, 268, 40, 41)
}[platform.machine()]
ALLOW, EPERM, ENOSYS = (6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50001), (6, 0, 0, 0x50026)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, clone3), ENOSYS]
for number in others:
    code += [(0x15, 0, 1, number), EPERM]
code += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, 0x7E020000), EPERM, ALLOW]
body = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in code))
program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(body))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""

# In a user namespace that may have none of its own, as whoever one was.
WITHOUT_NAMESPACES = """
import ctypes, os, sys
user, group = os.getuid(), os.getgid()
inner = user or 1000
if ctypes.CDLL(None).unshare(0x10000000):
    sys.exit(77)
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
write("/proc/self/setgroups", "deny")
write("/proc/self/uid_map", f"{inner} {user} 1")
write("/proc/self/gid_map", f"{inner} {group} 1")
write("/proc/sys/user/max_user_namespaces", "0")
os.execv(sys.argv[1], sys.argv[1:])
"""

# Where `uname` names a machine that there is no table for.
ON_ANOTHER_MACHINE = """
import ctypes, os, sys
assert ctypes.CDLL(None).personality(0x0008) >= 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def public_interpreter() -> str:
    """One that everybody can run, with the packages that are needed. Skips where there is none."""
    skip_unless_readable_by_all()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if Path(path).exists() and readable_by_all(Path(path)):
            return path
    pytest.skip(f"no {version} here that everybody may read")


def become(user: int) -> list[str]:
    """The words that make a command another user's. Skips where that cannot be."""
    setpriv = shutil.which("setpriv")
    if user == os.getuid():
        return []
    if os.getuid() != 0 or setpriv is None:
        pytest.skip("only root, with setpriv, becomes another user")
    command = [setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user namespace has no such user")
    return command


def look(
    secret: Path,
    *words: str,
    before: Sequence[str] = (),
    user: int | None = None,
    python: str = sys.executable,
) -> dict[str, Any]:
    """What a child finds, begun by one of the programs above."""
    command = [python, "-c", LOOK, str(secret), *words]
    for program in before:
        command = [python, "-c", program, *command]
    done = subprocess.run(
        [*(become(user) if user is not None else []), *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{PACKAGES}", "HOME": "/"},
    )
    if done.returncode == 77:
        pytest.skip("no user namespace can be made here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file that everybody may read, if files' own rights were all.

    It is not below pytest's folder, which every session that starts closes to others.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        path.write_text("planted")
        for parent in path.parents:
            if parent.stat().st_uid == os.getuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o055)
        yield path


RIGHT = ["accepted", "wrong_answer"]


def has(report: dict[str, Any], level: Level) -> None:
    """Asserts that this level is the strongest, and that programs are judged right in it."""
    assert report["judged"][:3] == [*RIGHT, level], report
    assert report["judged"][3] == "no\n"
    for least in Level:
        if least is not Level.NONE and least.rank <= level.rank:
            assert report[least][0] == level
    for least in Level:
        if least.rank > level.rank:
            assert isinstance(report[least], str)
            refused_in_one_line(report[least], least)


def refused_in_one_line(message: str, least: Level) -> None:
    assert len(message.splitlines()) == 1
    assert f"no sandbox of level {least} or above" in message
    for isolation in CANDIDATES:
        if isolation.level.rank >= least.rank:
            assert f"{isolation}: " in message


class TestLevels:
    def test_isolation_levels_are_ordered(self) -> None:
        ranks = [level.rank for level in Level]
        assert ranks == [0, 1, 2, 3]
        assert [*Level] == ["none", "seccomp", "landlock", "namespaces"]

    def test_the_strongest_is_tried_first_and_none_is_no_candidate(self) -> None:
        ranks = [isolation.level.rank for isolation in CANDIDATES]
        assert ranks == sorted(ranks, reverse=True)
        assert UNSAFE not in CANDIDATES
        assert {isolation.level for isolation in CANDIDATES} == {*Level} - {Level.NONE}

    def test_each_promises_no_less_than_the_one_before(self) -> None:
        for weaker, stronger in zip(Level, [*Level][1:], strict=False):
            assert PROMISED[weaker] <= PROMISED[stronger] | {"landlock"}
        assert PROMISED[Level.SECCOMP] - {"seccomp"} <= PROMISED[Level.NAMESPACES]

    def test_what_is_missing_is_said_of_all_but_the_strongest(self) -> None:
        assert {*MISSING} == {*Level} - {Level.NAMESPACES}

    def test_a_layer_that_is_promised_and_broken_or_absent_breaks_a_sandbox(self) -> None:
        for level in Level:
            isolation = Isolation(level)
            whole = dict.fromkeys(PROMISED[level], "")
            assert Findings(isolation, whole).holds
            assert Findings(isolation, whole | {"something more": "open"}).holds
            for layer in PROMISED[level]:
                open_ = Findings(isolation, whole | {layer: "it got out"})
                assert not open_.holds
                assert open_.broken == f"{layer}: it got out"
                absent = {name: "" for name in whole if name != layer}
                assert not Findings(isolation, absent).holds
            assert not Findings(isolation, whole, "it does not start").holds


def forget_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be known of sandboxes, as in a process that has just started."""
    monkeypatch.setattr(strongest, "_held", {})
    monkeypatch.setattr(strongest, "spare_servers", {})
    monkeypatch.setattr(strongest, "_early", [])


class TestRefusals:
    @pytest.fixture(autouse=True)
    def nothing_held_before(self, monkeypatch: pytest.MonkeyPatch) -> None:
        forget_choices(monkeypatch)

    def test_below_what_is_asked_for_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(isolation: Isolation) -> tuple[None, Findings]:
            return None, Findings(isolation, {}, "taken away")

        monkeypatch.setattr("harness.sandbox.strongest.start", fail)
        for least in (Level.SECCOMP, Level.LANDLOCK, Level.NAMESPACES):
            with pytest.raises(IsolationError) as caught:
                choose(least)
            refused_in_one_line(str(caught.value), least)
            assert caught.value.exit_code == 2
            weaker = [each for each in CANDIDATES if each.level.rank < least.rank]
            assert not any(f"{each}: " in str(caught.value) for each in weaker)

    def test_what_is_asked_for_or_stronger_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried: list[Isolation] = []

        def hold_landlock(isolation: Isolation) -> tuple[None, Findings]:
            tried.append(isolation)
            if isolation.level.rank <= Level.LANDLOCK.rank:
                return None, Findings(isolation, dict.fromkeys(PROMISED[isolation.level], ""))
            return None, Findings(isolation, {}, "taken away")

        monkeypatch.setattr("harness.sandbox.strongest.start", hold_landlock)
        for least in (Level.SECCOMP, Level.LANDLOCK):
            for unsafe in (False, True):
                choice = choose(least, unsafe=unsafe)
                assert choice.isolation == Isolation(Level.LANDLOCK)
                assert "namespaces (direct): taken away" in choice.why
                assert MISSING[Level.LANDLOCK] in choice.notice
                assert len(choice.notice.splitlines()) == 1
        assert UNSAFE not in tried
        with pytest.raises(IsolationError):
            choose(Level.NAMESPACES)

    @pytest.mark.parametrize("name", ["darwin", "win32", "freebsd14"])
    def test_elsewhere_than_on_linux(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", name)
        with pytest.raises(IsolationError) as caught:
            choose()
        message = str(caught.value)
        assert len(message.splitlines()) == 1
        for word in (name, "Linux", "namespaces", "Landlock", "seccomp"):
            assert word in message


class TestPlaces:
    """The same questions, asked in processes that have more or fewer rights."""

    def test_the_chosen_isolation_holds_for_this_user(self, secret: Path) -> None:
        report = look(secret)
        assert report["judged"][:2] == RIGHT
        for each in report["each"].values():
            assert each[:2] == RIGHT

    @pytest.mark.thorough
    @pytest.mark.parametrize("user", [0, SOMEBODY], ids=["root", "an ordinary user"])
    def test_every_isolation_holds_for_every_user(self, user: int, secret: Path) -> None:
        """Both ways to make namespaces, Landlock, and the filter alone."""
        if user == 0 and os.getuid() != 0:
            pytest.skip("only root is root")
        report = look(secret, user=user, python=public_interpreter())
        assert report["user"] == user
        direct = report["why"]["namespaces (direct)"]
        if "Operation not permitted" in direct or "No space left" in direct:
            pytest.skip(f"no user namespaces here: {direct}")
        if shutil.which("bwrap") is None:
            assert report["why"].pop("namespaces (bubblewrap)") == "bwrap is not installed"
        assert set(report["why"].values()) == {""}, report["why"]
        has(report, Level.NAMESPACES)
        for name, each in report["each"].items():
            assert each[:2] == RIGHT, name
            assert each[2] in name
            assert each[3] == ("no\n" if each[2] != "seccomp" else "7\n"), name

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        "how", [AS_IN_A_CONTAINER, WITHOUT_NAMESPACES], ids=["filter", "limit"]
    )
    def test_without_user_namespaces(self, how: str, secret: Path) -> None:
        if how == AS_IN_A_CONTAINER and platform.machine() not in {"x86_64", "aarch64"}:
            pytest.skip("the filter is not written for this machine")
        report = look(secret, before=[how])
        has(report, Level.LANDLOCK)
        assert MISSING[Level.LANDLOCK] in report["notice"]
        assert len(report["notice"].splitlines()) == 1
        for name, why in report["why"].items():
            assert bool(why) == name.startswith("namespaces") or name == "seccomp", why

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("user", "how"),
        [(0, AS_IN_A_CONTAINER), (SOMEBODY, WITHOUT_NAMESPACES)],
        ids=["root, by a filter", "an ordinary user, by a limit"],
    )
    def test_without_user_namespaces_and_with_an_interpreter_for_all(
        self, user: int, how: str, secret: Path
    ) -> None:
        if user == 0 and os.getuid() != 0:
            pytest.skip("only root is root")
        report = look(secret, user=user, python=public_interpreter(), before=[how])
        has(report, Level.LANDLOCK)
        assert report["each"].keys() == {"landlock", "seccomp"}
        assert report["each"]["seccomp"][:3] == [*RIGHT, "seccomp"]

    def test_on_another_machine(self, secret: Path) -> None:
        if platform.machine() != "x86_64":
            pytest.skip("only this machine can say that it is another")
        report = look(secret, before=[ON_ANOTHER_MACHINE])
        for least in (Level.SECCOMP, Level.LANDLOCK, Level.NAMESPACES):
            refused_in_one_line(report[least], least)
        assert "judged" not in report
        assert "i686" in report[Level.SECCOMP]
        assert "tuple.index" not in report[Level.SECCOMP]

    @pytest.mark.thorough
    def test_on_another_machine_without_a_sandbox(self, secret: Path) -> None:
        if platform.machine() != "x86_64":
            pytest.skip("only this machine can say that it is another")
        report = look(secret, "unsafe", before=[ON_ANOTHER_MACHINE])
        assert report[Level.SECCOMP] == ["none", None]
        assert report["judged"][:3] == [*RIGHT, "none"]
        assert MISSING[Level.NONE] in report["notice"]
        assert len(report["notice"].splitlines()) == 1

    def test_as_root_of_a_namespace_of_one_user(self, secret: Path) -> None:
        """As in a container without root on its machine: there is nobody else to become."""
        as_root = WITHOUT_NAMESPACES.replace("user or 1000", "0")
        report = look(secret, before=[as_root])
        assert report["judged"][:2] == RIGHT
        assert report["judged"][2] == Level.LANDLOCK
        assert report["judged"][3] == "no\n"

    @pytest.mark.thorough
    def test_as_root_of_a_container_with_an_interpreter_of_its_own(self, secret: Path) -> None:
        """Docker gives root fourteen capabilities; the one to read any file is not among them."""
        setpriv = shutil.which("setpriv")
        if os.getuid() != 0 or setpriv is None:
            pytest.skip("only root, with setpriv, gives capabilities up")
        given = (
            "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw "
            "sys_chroot mknod audit_write setfcap"
        )
        bounds = ",".join(["-all", *(f"+{name}" for name in given.split())])
        drop = f"import os, sys\nos.execv({setpriv!r}, [{setpriv!r}, '--inh-caps=-all', "
        drop += f"'--bounding-set={bounds}', *sys.argv[1:]])"
        report = look(secret, before=[AS_IN_A_CONTAINER, drop])
        has(report, Level.LANDLOCK)


class TestSpare:
    """The fork server that was started to choose a sandbox becomes the first worker's."""

    @pytest.fixture(autouse=True)
    def nothing_started(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        forget_choices(monkeypatch)
        yield
        for server, _ in strongest.spare_servers.values():
            server.end()

    @pytest.mark.parametrize("early", [False, True])
    def test_the_first_worker_takes_it_and_the_second_starts_its_own(self, *, early: bool) -> None:
        if early:
            choose_early()
        isolation = choose().isolation
        (spare, findings) = strongest.spare_servers[isolation]
        assert findings.holds
        first, second = Worker(isolation), Worker(isolation)
        try:
            for worker in (first, second):
                assert worker.run(Program("print(1)"), [b""], Limits())[0].stdout == b"1\n"
            assert first.process_id == spare.process.pid
            assert second.process_id != spare.process.pid
        finally:
            first.stop()
            second.stop()
        assert spare.process.returncode is not None

    def test_of_two_choices_at_a_time_one_keeps_a_fork_server(self) -> None:
        before = children()
        with ThreadPoolExecutor(4) as threads:
            chosen = {done.isolation for done in threads.map(lambda _: choose(), range(4))}
        assert set(strongest.spare_servers) == chosen
        assert len(children() - before) == len(chosen) == 1

    def test_one_that_has_ended_is_replaced(self) -> None:
        isolation = choose().isolation
        spare = strongest.spare_servers[isolation][0].process
        os.killpg(spare.pid, signal.SIGKILL)
        os.waitid(os.P_PID, spare.pid, os.WEXITED | os.WNOWAIT)
        worker = Worker(isolation)
        try:
            assert worker.run(Program("print(1)"), [b""], Limits())[0].stdout == b"1\n"
            assert worker.process_id != spare.pid
        finally:
            worker.stop()

    def test_a_forked_process_leaves_it_to_its_parent(self) -> None:
        isolation = choose().isolation
        pid = os.fork()
        if pid == 0:
            os._exit(len(strongest.spare_servers))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        worker = Worker(isolation)
        spare = strongest.spare_servers[isolation][0].process
        try:
            assert worker.run(Program("print(1)"), [b""], Limits())[0].stdout == b"1\n"
            assert worker.process_id == spare.pid
        finally:
            worker.stop()

    def test_a_program_that_judges_nothing_leaves_no_process(self) -> None:
        code = """
import harness.sandbox.strongest as strongest
isolation = strongest.choose().isolation
print(strongest.spare_servers[isolation][0].process.pid)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stderr == b""
        assert not Path(f"/proc/{int(done.stdout)}").exists()


def test_the_bytecode_of_what_runs_inside_is_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing can be written inside: without it, each fork server compiles its modules again."""
    there = tmp_path / "inside"
    shutil.copytree(launch.INSIDE, there, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(launch, "INSIDE", there)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    launch.compile_inside.__wrapped__()
    sources = [*there.rglob("*.py")]
    assert len(sources) > 20
    assert all(Path(cache_from_source(source)).exists() for source in sources)


def test_the_bytecode_of_packages_is_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without it, each solution that imports one compiles it, in its own CPU time."""
    package = tmp_path / "small"
    package.mkdir()
    (package / "__init__.py").write_text("from small import part")
    (package / "part.py").touch()
    monkeypatch.setattr(launch, "package_folders", lambda: {"small": str(tmp_path)})
    for written in (False, True):
        monkeypatch.setattr(sys, "dont_write_bytecode", not written)
        launch.compile_inside.__wrapped__()
        assert Path(cache_from_source(package / "part.py")).exists() is written
