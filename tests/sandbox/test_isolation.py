"""What a judged program can reach and what it cannot, in every sandbox that can be had here."""

import contextlib
import ctypes
import importlib.util
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

import harness
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.isolation import CANDIDATES, MISSING, PROMISED, Findings, Isolation, Level
from harness.sandbox.launch import HOME_BYTES, HOME_FILES, can_change_user, interpreters_view
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import probe_isolation
from harness.sandbox.worker import Worker

LIMITS = Limits(cpu_s=5.0, memory_bytes=1024 * MEBIBYTE, own_wall_s=20.0)
SITE = Path(pytest.__file__).parent.parent
HARNESS = Path(harness.__file__).parent


@dataclass
class Place:
    """A sandbox that holds, and a worker there."""

    found: Findings
    worker: Worker

    @property
    def level(self) -> Level:
        return self.found.isolation.level

    def run(self, code: str, data: bytes = b"", limits: Limits = LIMITS) -> Execution:
        return self.worker.run(Program(dedent(code)), [data], limits)[0]

    def prints(self, code: str, data: bytes = b"") -> str:
        """What a program that must come to a good end writes."""
        execution = self.run(code, data)
        assert (execution.ending, execution.error) == (Ending.FINISHED, "")
        return execution.stdout.decode()

    def outcome(self, code: str) -> str:
        """`went` when the statements run through, else the name of what they raise."""
        body = dedent(code).strip().replace("\n", "\n    ")
        return self.prints(
            f"try:\n    {body}\nexcept BaseException as error:\n"
            "    print(type(error).__name__)\nelse:\n    print('went')"
        ).strip()

    def must_promise(self, layer: str) -> None:
        if layer not in PROMISED[self.level]:
            pytest.skip(f"level {self.level} does not promise it: {layer}")


@pytest.fixture(scope="module")
def places() -> Iterator[Callable[[Isolation], Place]]:
    """Each sandbox is tried out once, and its worker kept."""
    findings: dict[Isolation, Findings] = {}
    kept: dict[Isolation, Place] = {}

    def place(isolation: Isolation) -> Place:
        if isolation not in findings:
            findings[isolation] = probe_isolation(isolation)
        if not findings[isolation].holds:
            pytest.skip(findings[isolation].broken)
        if isolation not in kept:
            kept[isolation] = Place(findings[isolation], Worker(isolation))
        return kept[isolation]

    yield place
    for each in kept.values():
        each.worker.stop()


@pytest.fixture(params=CANDIDATES, ids=str)
def place(request: pytest.FixtureRequest, places: Callable[[Isolation], Place]) -> Place:
    return places(request.param)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A user's file that everybody may read, as far as files' own rights say."""
    path = tmp_path / f"planted-{secrets.token_hex(4)}"
    path.write_text("private")
    path.chmod(0o644)
    return path


def test_what_a_level_promises_held(place: Place) -> None:
    assert set(place.found.in_force) >= PROMISED[place.level]
    assert place.found.failure == place.found.broken == ""


@pytest.mark.parametrize("isolation", CANDIDATES, ids=str)
def test_layers_that_need_nothing_of_the_system_hold_in_every_sandbox(isolation: Isolation) -> None:
    """What the probe itself leaves open must not look like an escape, in any Python."""
    findings = probe_isolation(isolation)
    if findings.failure:
        pytest.skip(findings.failure)
    layers = PROMISED[Level.NONE]
    assert {layer: findings.layers.get(layer, "absent") for layer in layers} == dict.fromkeys(
        layers, ""
    )


class TestFiles:
    def test_the_user_s_files_cannot_be_read(self, place: Place, planted: Path) -> None:
        place.must_promise("files")
        outcome = place.outcome(f"open({str(planted)!r}).read()")
        assert outcome in {"PermissionError", "FileNotFoundError"}

    def test_files_cannot_be_read_by_a_relative_path(self, place: Place, planted: Path) -> None:
        place.must_promise("files")
        around = "../" * 20 + str(planted)[1:]
        for path in (around, f"/proc/self/root{planted}", f"/proc/self/cwd/{around}"):
            assert place.outcome(f"open({path!r}).read()") in {
                "PermissionError",
                "FileNotFoundError",
            }

    @pytest.mark.parametrize(
        "path",
        [
            HARNESS / "grading" / "judge.py",
            HARNESS / "sandbox" / "worker.py",
            HARNESS.parent / "fixtures" / "problems.jsonl",
            Path("/etc/passwd"),
            Path(__file__),
            SITE / "pytest" / "__init__.py",
        ],
        ids=lambda path: path.name,
    )
    def test_nothing_but_the_interpreter_can_be_read(self, path: Path, place: Place) -> None:
        place.must_promise("files")
        assert path.exists()
        assert place.outcome(f"open({str(path)!r}, 'rb').read(1)") in {
            "PermissionError",
            "FileNotFoundError",
        }

    def test_folders_outside_show_nothing(self, place: Place, planted: Path) -> None:
        place.must_promise("files")
        folders = [*map(str, planted.parents), "/etc", "/home", "/root", "/var", "/proc", str(SITE)]
        code = f"""
        import json, os
        found = {{}}
        for folder in {folders!r}:
            try:
                found[folder] = os.listdir(folder)
            except OSError:
                pass
        print(json.dumps(found))
        """
        view = interpreters_view()
        shown = [*view.reads, *view.packages, *view.devices, view.home, "/proc"]
        for folder, names in json.loads(place.prints(code)).items():
            inside = {Path(each).relative_to(folder).parts[:1] for each in shown
                      if Path(each).is_relative_to(folder)}  # fmt: skip
            links = {(Path(link).name,) for link, _ in view.links}
            if folder == "/proc":
                assert str(os.getpid()) not in names
                continue
            assert {(name,) for name in names} <= inside | links, folder

    @pytest.mark.parametrize(
        "path", ["/tmp/{}", "/var/tmp/{}", "/dev/shm/{}", "/{}", "{planted}", "{beside}"]
    )
    def test_nothing_can_be_written_outside(self, path: str, place: Place, planted: Path) -> None:
        place.must_promise("files")
        name = f"planted-{secrets.token_hex(4)}"
        beside = planted.with_name(name)
        target = path.format(name, planted=planted, beside=beside)
        try:
            assert place.outcome(f"open({target!r}, 'w').write('x')") != "went"
            assert planted.read_text() == "private"
        finally:
            if target != str(planted):
                Path(target).unlink(missing_ok=True)

    def test_what_can_be_written_is_said(self, place: Place, planted: Path) -> None:
        """Where a level cannot keep a program from the files of its user, nobody is misled."""
        planted.chmod(0o666)
        for folder in planted.parents:
            if folder.stat().st_uid == os.getuid() and folder != Path("/"):
                folder.chmod(folder.stat().st_mode | 0o711)
        if place.outcome(f"open({str(planted)!r}, 'w')") == "went":
            assert "write" in MISSING[place.level]

    def test_the_interpreter_and_the_sandbox_cannot_be_changed(self, place: Place) -> None:
        place.must_promise("files")  # elsewhere a user's own checkout would be changed
        view = interpreters_view()
        for path in (os.__file__, f"{view.packages[-1]}/runner.py"):
            before = Path(path).read_bytes()
            outcomes = {
                place.outcome(f"open({path!r}, 'ab').write(b'#')"),
                place.outcome(f"import os\nos.unlink({path!r})"),
                place.outcome(f"import os\nos.rename({path!r}, {path + 'x'!r})"),
            }
            assert "went" not in outcomes
            assert Path(path).read_bytes() == before


class TestOthers:
    def test_a_server_on_this_machine_cannot_be_reached(self, place: Place) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0.0)
            address = server.getsockname()
            code = f"import socket\nsocket.create_connection({address!r}, 1)"
            assert place.outcome(code) == "PermissionError"
            with pytest.raises(BlockingIOError):
                server.accept()

    def test_the_judge_can_neither_be_seen_nor_signalled(self, place: Place) -> None:
        me = os.getpid()
        for number in (0, 15, 9):
            assert place.outcome(f"import os\nos.kill({me}, {number})") == "PermissionError"
        past_python = f"import ctypes\nprint(ctypes.CDLL(None).kill({me}, 0))"
        assert place.prints(past_python) == "-1\n"
        place.must_promise("files")
        for name in ("cmdline", "environ", "status", "maps", "mem", "fd"):
            path = f"/proc/{me}/{name}"
            code = f"import os\nos.stat({path!r}) and os.open({path!r}, 0)"
            assert place.outcome(code) in {"PermissionError", "FileNotFoundError"}

    def test_its_parent_keeps_its_memory_to_itself(self, place: Place) -> None:
        for name in ("mem", "environ", "maps"):
            code = f"import os\nopen(f'/proc/{{os.getppid()}}/{name}', 'rb').read(1)"
            assert place.outcome(code) in {"PermissionError", "FileNotFoundError"}

    def test_shared_memory_of_others_cannot_be_had(self, place: Place) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        key = secrets.randbelow(1 << 30) + 1
        segment = library.shmget(key, 4096, 0o1666)
        if segment < 0:
            pytest.skip("there is no System V shared memory here")
        try:
            code = f"""
            import ctypes
            library = ctypes.CDLL(None, use_errno=True)
            library.shmat.restype = ctypes.c_long
            print(library.shmget({key}, 0, 0), ctypes.get_errno())
            print(library.shmat({segment}, None, 0), ctypes.get_errno())
            """
            assert place.prints(code) == "-1 1\n-1 1\n"
        finally:
            library.shmctl(segment, 0, None)

    def test_no_secret_is_in_the_environment(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = f"sk-{secrets.token_hex(16)}"
        monkeypatch.setenv("OPENAI_API_KEY", secret)
        fresh = Place(place.found, Worker(place.found.isolation))
        code = """
        import ctypes, os
        print(dict(os.environ))
        for process in ('self', os.getppid(), 1):
            try:
                print(open(f'/proc/{process}/environ').read())
            except OSError:
                pass
        block = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
        for place in range(100):
            if block[place] is None:
                break
            print(block[place])
        """
        try:
            printed = fresh.prints(code)
        finally:
            fresh.worker.stop()
        assert "HOME" in printed
        assert secret not in printed
        assert "API_KEY" not in printed

    def test_no_descriptor_is_inherited(self, place: Place, planted: Path) -> None:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(planted.open())
            folder = os.open(planted.parent, os.O_RDONLY)
            stack.callback(os.close, folder)
            pipe = os.pipe()
            for end in pipe:
                stack.callback(os.close, end)
            ours = [file.fileno(), folder, *pipe]
            for descriptor in ours:
                os.set_inheritable(descriptor, True)
            known = {(s.st_dev, s.st_ino) for s in map(os.fstat, ours)}
            fresh = Place(place.found, Worker(place.found.isolation))
            stack.callback(fresh.worker.stop)
            code = """
            import json, os
            found = []
            for descriptor in range(1024):
                try:
                    state = os.fstat(descriptor)
                except OSError:
                    continue
                found.append((state.st_dev, state.st_ino))
            print(json.dumps(found))
            """
            seen = {(device, inode) for device, inode in json.loads(fresh.prints(code))}
        assert len(seen) >= 3
        assert not seen & known


LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
FAILED = "\nraise OSError(ctypes.get_errno(), '') if done < 0 else ValueError(done)"

REFUSED = {
    "fork": "import os\nos.fork()",
    "forkpty": "import os\nos.forkpty()",
    "exec": "import os\nos.execv('/bin/true', ['true'])",
    "posix_spawn": "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    "subprocess": "import subprocess\nsubprocess.run(['true'])",
    "multiprocessing": "import multiprocessing as m\nm.Process(target=print).start()",
    "a process pool": (
        "from concurrent.futures import ProcessPoolExecutor as P\nP(1).submit(print).result()"
    ),
    "fork past Python": f"{LIBC}done = libc.fork(){FAILED}",
    "a TCP socket": "import socket\nsocket.socket()",
    "a UDP socket": "import socket\nsocket.socket(type=socket.SOCK_DGRAM)",
    "a unix socket": "import socket\nsocket.socket(socket.AF_UNIX)",
    "a netlink socket": "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a packet socket": "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "a pair of datagram sockets": "import socket\nsocket.socketpair(type=socket.SOCK_DGRAM)",
    "descriptors sent through a pair": (
        "import socket\na, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [0])"
    ),
    "asking for a page": "import urllib.request as u\nu.urlopen('http://127.0.0.1:9', timeout=1)",
    "ptrace": f"{LIBC}done = libc.ptrace(0, 0, 0, 0){FAILED}",
    "a file in memory": "import os\nos.memfd_create('x')",
    "unshare": f"{LIBC}done = libc.unshare(0x10000000){FAILED}",
    "mount": f"{LIBC}done = libc.mount(b'none', b'/', None, 0x44000, None){FAILED}",
    "chroot": "import os\nos.chroot('.')",
    "chmod": "import os\nopen('f', 'w').close()\nos.chmod('f', 0o777)",
    "chown": "import os\nopen('f', 'w').close()\nos.chown('f', os.getuid(), os.getgid())",
    "a symbolic link": "import os\nos.symlink('/etc', 'link')",
    "a hard link": "import os\nopen('f', 'w').close()\nos.link('f', 'g')",
    "a named pipe": "import os\nos.mkfifo('pipe')",
    "a device": "import os\nos.mknod('device')",
    "extended attributes": "import os\nopen('f', 'w').close()\nos.setxattr('f', 'user.x', b'1')",
    "becoming another user": "import os\nos.setuid(0)",
    "becoming root past Python": f"{LIBC}done = libc.setresuid(0, 0, 0){FAILED}",
    "a session of its own": "import os\nos.setsid()",
    "a process group of its own": "import os\nos.setpgid(0, 0)",
    "choosing processors": "import os\nos.sched_setaffinity(0, {0})",
    "a higher priority": "import os\nos.setpriority(os.PRIO_PROCESS, 0, -5)",
    "a handle on a process": "import os\nos.pidfd_open(os.getppid())",
    "reading another's memory": (
        f"{LIBC}done = libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0){FAILED}"
    ),
    "a host name": f"{LIBC}done = libc.sethostname(b'x', 1){FAILED}",
    "another's limits": "import os, resource\nresource.prlimit(os.getppid(), 7, (0, 0))",
    "more open files": "import resource\nresource.setrlimit(7, (4096, 4096))",
    "a message queue": f"{LIBC}done = libc.msgget(0, 0o1600){FAILED}",
    "semaphores": f"{LIBC}done = libc.semget(0, 1, 0o1600){FAILED}",
    "typing into the terminal": "import fcntl\nfcntl.ioctl(0, 0x5412, b'x')",
    "locking memory": f"{LIBC}done = libc.mlockall(3){FAILED}",
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_a_forbidden_call_is_refused(code: str, place: Place) -> None:
    outcome = place.outcome(code)
    if "setrlimit" in code:
        assert outcome == "ValueError"  # as Python calls it
    elif any(word in code for word in ("forkpty", "ProcessPool", "urlopen")):
        assert outcome in {"PermissionError", "URLError", "FileNotFoundError"}
    else:
        assert outcome == "PermissionError"


def test_a_shell_does_not_run(place: Place) -> None:
    code = "import os\nprint(os.waitstatus_to_exitcode(os.system('echo planted')))"
    assert place.prints(code) == "127\n"


class TestPackages:
    @pytest.mark.parametrize("name", ["numpy", "sortedcontainers"])
    def test_the_allowed_ones_can_be_imported(self, name: str, place: Place) -> None:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
        work = {
            "numpy": "print(int(numpy.arange(4) @ numpy.ones(4, int)), numpy.linalg.det([[2.0]]))",
            "sortedcontainers": "print(list(sortedcontainers.SortedList([2, 1])))",
        }
        printed = {"numpy": "6 2.0\n", "sortedcontainers": "[1, 2]\n"}
        assert place.prints(f"import {name}\n{work[name]}") == printed[name]

    @pytest.mark.parametrize("name", ["pydantic", "pytest", "hypothesis", "harness", "pip"])
    def test_other_packages_cannot_be_imported(self, name: str, place: Place) -> None:
        assert place.outcome(f"import {name}") == "ModuleNotFoundError"

    @pytest.mark.parametrize("name", ["pydantic", "harness"])
    def test_other_packages_cannot_be_imported_by_their_folder(
        self, name: str, place: Place
    ) -> None:
        place.must_promise("files")
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = str(Path(spec.origin).parent.parent)
        code = f"import sys\nsys.path.insert(0, {folder!r})\nimport {name}"
        assert place.outcome(code) == "ModuleNotFoundError"


ORDINARY = {
    "threads": (
        "import threading\nfound = []\n"
        "threads = [threading.Thread(target=found.append, args=(n,)) for n in range(20)]\n"
        "for each in threads: each.start()\nfor each in threads: each.join()\n"
        "print(sorted(found) == list(range(20)))",
        "True\n",
    ),
    "a pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor as P\n"
        "with P(4) as pool: print(sum(pool.map(abs, range(-3, 3))))",
        "9\n",
    ),
    "a file of its own": (
        "import os\nwith open('a', 'w') as file: file.write('mine')\n"
        "os.rename('a', 'b')\nprint(open('b').read(), os.listdir())\nos.remove('b')",
        "mine ['b']\n",
    ),
    "folders of its own": (
        "import os, shutil\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\n"
        "print(sorted(os.walk('.'))[-1])\nshutil.rmtree('a')\nprint(os.listdir())",
        "('./a/b', [], ['c'])\n[]\n",
    ),
    "a temporary file": (
        "import os, tempfile\nwith tempfile.NamedTemporaryFile('w+') as file:\n"
        "    file.write('x')\n    file.flush()\n"
        "    print(os.path.dirname(file.name) == os.getcwd(), open(file.name).read())",
        "True x\n",
    ),
    "a temporary folder": (
        "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    open(folder + '/f', 'w').close()\n    print(os.listdir(folder))",
        "['f']\n",
    ),
    "an event loop": (
        "import asyncio\nasync def main():\n    loop = asyncio.get_running_loop()\n"
        "    print(await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.to_thread(abs, -2)))\n"
        "asyncio.run(main())",
        "[1, 2]\n",
    ),
    "devices": (
        "import os\nopen('/dev/null', 'w').write('x')\n"
        "print(len(open('/dev/urandom', 'rb').read(9)), len(os.urandom(5)),\n"
        "      open('/dev/zero', 'rb').read(2), open('/dev/null').read())",
        "9 5 b'\\x00\\x00' \n",
    ),
    "the standard input by its name": ("print(open('/dev/stdin').read())", "given\n\n"),
    "the standard input by its number": ("print(open(0).read())", "given\n\n"),
    "the standard output by its name": (
        "with open('/dev/stdout', 'w') as file: file.write('by name')",
        "by name",
    ),
    "a signal of its own": (
        "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *_: print('came'))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\nsignal.raise_signal(signal.SIGUSR1)",
        "came\ncame\n",
    ),
    "an alarm": (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *_: print('rang'))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01)\nsignal.pause()",
        "rang\n",
    ),
    "a recursion limit": (
        "import sys\nsys.setrecursionlimit(200_000)\n"
        "def f(n): return n and 1 + f(n - 1)\nprint(f(100_000))",
        "100000\n",
    ),
    "memory of its own, mapped": (
        "import mmap\nmemory = mmap.mmap(-1, 1 << 20)\nmemory[:2] = b'ab'\nprint(memory[:2])",
        "b'ab'\n",
    ),
    "a compressed file": (
        "import gzip\nwith gzip.open('f', 'wt') as file: file.write('packed')\n"
        "print(gzip.open('f', 'rt').read())",
        "packed\n",
    ),
    "a database": (
        "import sqlite3\nbase = sqlite3.connect(':memory:')\n"
        "print(base.execute('select 1 + 1').fetchone())",
        "(2,)\n",
    ),
    "random numbers": (
        "import random, secrets, uuid\n"
        "print(len({secrets.token_hex(8) for _ in range(9)}), 0 <= random.random() < 1,\n"
        "      len(str(uuid.uuid4())))",
        "9 True 36\n",
    ),
    "a guess at the user": (
        "import getpass, os, platform\nprint(os.getlogin.__name__, bool(platform.system()))",
        "getlogin True\n",
    ),
}


@pytest.mark.parametrize(("code", "printed"), ORDINARY.values(), ids=ORDINARY)
def test_ordinary_calls_work_in_the_sandbox(code: str, printed: str, place: Place) -> None:
    if "sqlite3" in code and importlib.util.find_spec("_sqlite3") is None:
        pytest.skip("this interpreter has no sqlite3")
    assert place.prints(code, b"given\n") == printed


def test_time_zones_work(place: Place) -> None:
    if not Path("/usr/share/zoneinfo/Asia/Tokyo").exists():
        pytest.skip("this machine has no time zones")
    code = """
    import datetime, os, time, zoneinfo
    summer = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Asia/Tokyo'))
    os.environ['TZ'] = 'Europe/Berlin'
    time.tzset()
    print(summer.utcoffset(), time.localtime(1719792000).tm_hour)
    """
    assert place.prints(code) == "9:00:00 2\n"


class TestRoom:
    """The working directory is bounded, and whoever goes over that has himself to blame."""

    STAY = "\nimport time\ntime.sleep(0.6)\nprint('all right')"

    @pytest.fixture(autouse=True)
    def _same_sandbox(self, place: Place) -> Iterator[None]:
        place.run("")
        before = place.worker.process_id
        yield
        assert place.prints("import os\nprint(os.listdir())") == "[]\n"
        assert place.worker.process_id == before

    @pytest.mark.thorough
    def test_the_working_directory_holds_a_large_file(self, place: Place) -> None:
        size = HOME_BYTES // 2
        code = f"open('f', 'wb').write(bytes({size}))\nimport os\nprint(os.stat('f').st_size)"
        assert place.prints(code + self.STAY) == f"{size}\nall right\n"

    @pytest.mark.thorough
    def test_the_working_directory_holds_many_files(self, place: Place) -> None:
        number = HOME_FILES // 2
        code = f"for n in range({number}): open(str(n), 'w').close()"
        assert place.prints(code + self.STAY) == "all right\n"

    @pytest.mark.parametrize("files", [1, 20])
    def test_more_bytes_than_the_working_directory_holds_are_an_error(
        self, files: int, place: Place
    ) -> None:
        each = (HOME_BYTES + (16 << 20)) // files
        code = f"for n in range({files}): open(str(n), 'wb').write(bytes({each}))"
        execution = place.run(code + self.STAY)
        assert execution.ending is Ending.ERROR
        assert "No space left" in execution.error or "filled" in execution.error
        assert execution.stdout == b""

    def test_more_files_than_the_working_directory_holds_are_an_error(self, place: Place) -> None:
        code = f"for n in range({HOME_FILES} + 200): open(str(n), 'w').close()"
        execution = place.run(code + self.STAY)
        assert execution.ending is Ending.ERROR
        assert "No space left" in execution.error or "filled" in execution.error

    def test_a_program_that_keeps_filling_the_working_directory_is_contained(
        self, place: Place
    ) -> None:
        """Tries again and again, and says that all is well."""
        code = """
        import time
        end = time.monotonic() + 0.6
        n = 0
        while time.monotonic() < end:
            n += 1
            try:
                open(str(n % 200), 'wb').write(bytes(1 << 20))
            except OSError:
                pass
        """
        assert place.run(code).ending in {Ending.ERROR, Ending.FINISHED}


def test_there_are_no_core_dumps(place: Place) -> None:
    code = "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))"
    assert place.prints(code) == "(0, 0)\n"
    crashed = place.run("import os\nos.abort()")
    assert (crashed.ending, crashed.code) == (Ending.SIGNAL, 6)
    assert place.prints("import os\nprint(os.listdir())") == "[]\n"


# What each does, and what is said of it: code, then verdicts on the tests "1 2", "2 4", "3 6".
SAME = {
    "right": ("print(int(input()) * 2)", "accepted accepted accepted"),
    "wrong once": ("n = int(input())\nprint(n * 2 + (n == 2))", "accepted wrong_answer accepted"),
    "raises": ("1 / 0", "runtime_error runtime_error runtime_error"),
    "leaves": ("print(int(input()) * 2)\nexit(3)", "accepted accepted accepted"),
    "leaves well": ("print(int(input()) * 2)\nexit(0)", "accepted accepted accepted"),
    "crashes": ("import os\nos.abort()", "runtime_error runtime_error runtime_error"),
    "is not a program": ("print(", "compile_error"),
    "spins once": ("n = int(input())\nwhile n == 2: pass\nprint(n * 2)", "accepted time_limit"),
    "takes memory": ("x = bytearray(300 << 20)", "memory_limit"),
    "writes too much": ("print('x' * (3 << 20))", "output_limit"),
    "forks": ("import os\nos.fork()\nprint(int(input()) * 2)", "runtime_error " * 3),
    "connects": ("import socket\nsocket.socket()\nprint(int(input()) * 2)", "runtime_error " * 3),
    "reads a file": (
        "try: open('/etc/shadow')\nexcept OSError: print(int(input()) * 2)",
        "accepted accepted accepted",
    ),
    "starts a thread": (
        "import threading\nt = threading.Thread(target=lambda: print(int(input()) * 2))\nt.start()",
        "accepted accepted accepted",
    ),
    "keeps a file": (
        "import os\nprint(int(input()) * 2 if not os.path.exists('f') else 0)\n"
        "open('f', 'w').close()\nos.remove('f')",
        "accepted accepted accepted",
    ),
    "goes deep": (
        "import sys\nsys.setrecursionlimit(10 ** 6)\ndef f(n): return n and 1 + f(n - 1)\n"
        "print(int(input()) * f(50_000) // 25_000)",
        "accepted accepted accepted",
    ),
    "goes too deep": ("def f(n): return f(n)\nf(1)", "runtime_error " * 3),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "verdicts"), SAME.values(), ids=SAME)
def test_verdicts_are_the_same_in_every_sandbox(code: str, verdicts: str, place: Place) -> None:
    if "shadow" in code and os.geteuid() == 0 and not can_change_user():
        place.must_promise("files")  # or else the program is root and may read everything
    tests = [TestCase(input=str(n), output=str(n * 2), public=True) for n in (1, 2, 3)]
    limits = Limits(cpu_s=0.5, memory_bytes=256 * MEBIBYTE, output_bytes=2 * MEBIBYTE)
    grade = judge(place.worker, Task(Program(code), tests, limits, stop=Stop.AUTO))
    assert [str(test.verdict) for test in grade.tests] == verdicts.split()
    assert grade.isolation == place.level
