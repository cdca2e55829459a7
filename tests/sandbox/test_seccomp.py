"""The filter's table is the kernel's, and its program says of every call what it is meant to."""

import errno
import json
import platform
import re
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.sandbox

SANDBOX = Path(harness.sandbox.__file__).parent
sys.path.append(str(SANDBOX))  # where what runs inside the sandbox finds itself

from inside.walls import linux, seccomp  # noqa: E402 - the folder must be known first

MACHINES = ("x86_64", "aarch64")
PID = 4242
ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
WORD = (1 << 32) - 1
THREAD = 0x10F00  # CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD

HEADERS = {
    "x86_64": ("asm/unistd_64.h", "x86_64-linux-gnu/asm/unistd_64.h", "asm-x86/unistd_64.h"),
    "aarch64": ("asm-generic/unistd.h",),
}
FOLDERS = (Path("/usr/include"), Path("/usr/x86_64-linux-gnu/include"))

# What nobody who judges a program wants it to have, whatever the arguments.
NEVER = """
execve execveat fork vfork ptrace socket connect bind listen accept accept4 shutdown sendmsg recvmsg
sendmmsg recvmmsg unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
fsconfig fspick mount_setattr memfd_create memfd_secret userfaultfd bpf perf_event_open
io_uring_setup io_uring_enter io_uring_register io_setup io_submit keyctl add_key request_key shmget
shmat shmctl msgget msgsnd msgrcv semget semop semctl mq_open mq_unlink open_by_handle_at
name_to_handle_at process_vm_readv process_vm_writev process_madvise pidfd_open pidfd_send_signal
pidfd_getfd kcmp init_module finit_module delete_module kexec_load kexec_file_load reboot swapon
swapoff sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex acct quotactl
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat link linkat symlink symlinkat mknod
mknodat setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
setpgid setsid personality ioperm iopl modify_ldt sched_setaffinity sched_setscheduler sched_setattr
setpriority ioprio_set tkill rt_sigqueueinfo rt_tgsigqueueinfo timer_create seccomp
landlock_create_ruleset landlock_add_rule landlock_restrict_self fanotify_init inotify_init
inotify_init1 inotify_add_watch setxattr lsetxattr fsetxattr removexattr utimensat flock mlock
mlockall mlock2 remap_file_pages mbind set_mempolicy migrate_pages move_pages vhangup syslog
lookup_dcookie nfsservctl vmsplice splice tee signalfd4
"""


def headers(machine: str) -> dict[str, int]:
    """The kernel's own numbers, by name. Skips where its headers are not installed."""
    paths = [folder / name for folder in FOLDERS for name in HEADERS[machine]]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        pytest.skip(f"the kernel's headers for {machine} are not installed")
    defined = re.findall(r"^#\s*define\s+(__NR\w*?_\w+)\s+(\w+)", path.read_text(), re.MULTILINE)
    plain = {name: int(value) for name, value in defined if value.isdigit()}
    aliases = {name: plain.get(value) for name, value in reversed(defined) if not value.isdigit()}
    numbers = plain | {name: value for name, value in aliases.items() if value is not None}
    prefix = "__NR_"
    return {name.removeprefix(prefix): n for name, n in numbers.items() if name.startswith(prefix)}


def table(machine: str) -> dict[str, int]:
    return linux.allowed(machine) | linux.own(machine)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_the_kernel_s(machine: str) -> None:
    known = headers(machine)
    assert len(known) > 290
    names = table("x86_64").keys() | table("aarch64").keys()
    assert len(names) > 140
    assert {name: table(machine).get(name) for name in names} == {
        name: known.get(name) for name in names
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_stands_in_the_table_twice(machine: str) -> None:
    allowed, checked = linux.allowed(machine), linux.checked(machine)
    assert not allowed.keys() & checked.keys()
    numbers = [*allowed.values(), *checked.values()]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_nobody_may_do_is_refused_whatever_the_arguments(machine: str) -> None:
    known = headers(machine)
    closed = {name: known[name] for name in NEVER.split() if name in known}
    assert len(closed) > 120
    for arguments in ([0] * 6, [1] * 6, [PID] * 6, [WORD << 32 | WORD] * 6):
        answers = {name: said(machine, number, arguments) for name, number in closed.items()}
        assert {name for name, answer in answers.items() if answer == ALLOW} == set()


@pytest.mark.parametrize("machine", MACHINES)
def test_headers_newer_than_the_table_bring_nothing_in(machine: str) -> None:
    for name, number in headers(machine).items():
        if number > seccomp.LAST_KNOWN:
            assert said(machine, number) == ENOSYS, name


class Program:
    """A classic BPF program, run on `struct seccomp_data`."""

    def __init__(self, packed: bytes) -> None:
        self.code = list(struct.iter_unpack("=HBBI", packed))

    def run(self, number: int, architecture: int, arguments: list[int]) -> int:
        data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments)
        accumulator, place = 0, 0
        for _ in self.code:  # there are no jumps back
            operation, if_true, if_false, value = self.code[place]
            place += 1
            match operation:
                case 0x20:
                    (accumulator,) = struct.unpack_from("<I", data, value)
                case 0x05:
                    place += value
                case 0x15:
                    place += if_true if accumulator == value else if_false
                case 0x35:
                    place += if_true if accumulator >= value else if_false
                case 0x45:
                    place += if_true if accumulator & value else if_false
                case 0x54:
                    accumulator &= value
                case 0x06:
                    return value
                case _:
                    raise AssertionError(f"operation {operation:#x}")
        raise AssertionError("no end")


def completed(machine: str, pid: int) -> bytes:
    """The filter's program as the process of this number installs it."""
    made = seccomp.Filter(machine)
    packed = bytearray(made.packed)
    for offset in made.own:
        struct.pack_into("=I", packed, offset, pid)
    return bytes(packed)


PROGRAMS = {machine: Program(completed(machine, PID)) for machine in MACHINES}


def said(machine: str, number: int, arguments: list[int] | None = None) -> int:
    return PROGRAMS[machine].run(number, ARCHITECTURES[machine], arguments or [0] * 6)


def wanted(machine: str, number: int, arguments: list[int]) -> int:  # noqa: C901, PLR0911, PLR0912 - one rule a line
    """What the filter is to say, told again in another way."""
    if machine == "x86_64" and number >= X32:
        return KILL
    if number > seccomp.LAST_KNOWN:
        return ENOSYS
    names = {at: name for name, at in linux.checked(machine).items()}
    low = [word & WORD for word in arguments]
    match names.get(number):
        case None:
            return ALLOW if number in linux.allowed(machine).values() else EPERM
        case "clone3":
            return ENOSYS
        case "recvfrom":
            return ALLOW
        case "clone":
            return ALLOW if low[0] & THREAD == THREAD else EPERM
        case "open" | "openat" as name:  # emptying what is opened to be read
            flags = low[1 if name == "open" else 2]
            return EPERM if flags & 0o1003 == 0o1000 else ALLOW
        case "kill" | "tgkill":
            return ALLOW if low[0] == PID else EPERM
        case "prlimit64":
            return ALLOW if low[0] in {0, PID} else EPERM
        case "prctl":
            return ALLOW if low[0] in {3, 15, 16, 0x53564D41} else EPERM
        case "ioctl":
            return ALLOW if low[1] in {0x5401, 0x541B, 0x5421, 0x5450, 0x5451} else EPERM
        case "fcntl":
            return ALLOW if low[1] in {0, 1, 2, 3, 4, 1030, 1032} else EPERM
        case "socketpair":
            stream = low[1] & ~0o2004000 == 1  # whether it blocks, and survives an exec
            return ALLOW if low[0] == 1 and stream else EPERM
        case "sendto":
            return ALLOW if arguments[4] == 0 else EPERM
        case name:
            raise AssertionError(name)


SOME = (
    0o1000,
    0o1001,
    0o1002,
    THREAD,
    0,
    1,
    2,
    PID,
    PID + 1,
    WORD,
    0x10000,
    0x10000000,
    0x5401,
    0x5413,
    0x541B,
    1030,
    1024,
    15,
    22,
)
_argument = st.one_of(
    st.sampled_from(SOME),
    st.sampled_from(SOME).map(lambda word: 1 << 32 | word),
    st.integers(0, 5000),
    st.integers(0, (1 << 64) - 1),
)
words_of_six = st.lists(_argument, min_size=6, max_size=6)


class TestProgram:
    @given(
        machine=st.sampled_from(MACHINES),
        number=st.one_of(
            st.integers(0, 600),
            st.sampled_from(sorted({*linux.checked("x86_64").values()})),
            st.sampled_from(sorted({*linux.checked("aarch64").values()})),
            st.sampled_from((470, 471, X32 - 1, X32, X32 + 1, WORD)),
            st.integers(0, WORD),
        ),
        words=words_of_six,
    )
    def test_the_filter_decides_each_call_as_wanted(
        self, machine: str, number: int, words: list[int]
    ) -> None:
        assert said(machine, number, words) == wanted(machine, number, words)

    @pytest.mark.parametrize("machine", MACHINES)
    def test_the_filter_decides_every_call_number_as_wanted(self, machine: str) -> None:
        for number in range(1024):
            for arguments in ([0] * 6, [PID] * 6, [1] * 6):
                assert said(machine, number, arguments) == wanted(machine, number, arguments), (
                    number
                )

    @given(
        machine=st.sampled_from(MACHINES),
        number=st.integers(0, 600),
        architecture=st.one_of(
            st.sampled_from((0x40000003, 0x40000028, 0, *ARCHITECTURES.values())),
            st.integers(0, WORD),
        ),
    )
    def test_calls_of_another_architecture_kill(
        self, machine: str, number: int, architecture: int
    ) -> None:
        if architecture != ARCHITECTURES[machine]:
            assert PROGRAMS[machine].run(number, architecture, [PID] * 6) == KILL

    @given(words=words_of_six, machine=st.sampled_from(MACHINES))
    def test_no_clone_but_a_thread_s(self, words: list[int], machine: str) -> None:
        clone = linux.checked(machine)["clone"]
        words[0] &= ~0x10000
        assert said(machine, clone, words) == EPERM
        words[0] |= THREAD
        assert said(machine, clone, words) == ALLOW

    @pytest.mark.parametrize("machine", MACHINES)
    def test_arguments_are_looked_at_one_by_one(self, machine: str) -> None:
        """Each checked call, with each of its arguments in turn at either half's edge."""
        for number in linux.checked(machine).values():
            for base in (0, 1, PID, 0x10000):
                for place in range(6):
                    for word in (*SOME, *(1 << 32 | word for word in SOME)):
                        arguments = [base] * 6
                        arguments[place] = word
                        assert said(machine, number, arguments) == wanted(
                            machine, number, arguments
                        )

    @pytest.mark.parametrize("machine", MACHINES)
    def test_the_filter_jumps_only_forward_and_within_itself(self, machine: str) -> None:
        code = PROGRAMS[machine].code
        assert len(code) <= 4096  # BPF_MAXINSNS
        for place, (operation, if_true, if_false, value) in enumerate(code):
            if operation == 0x06:
                assert value in {ALLOW, KILL, EPERM, ENOSYS}
                continue
            jumps = operation & 0x07 == 0x05
            steps = ([value] if operation == 0x05 else [if_true, if_false]) if jumps else [0]
            assert all(place + 1 + step < len(code) for step in steps)

    @pytest.mark.parametrize("machine", MACHINES)
    def test_only_the_process_s_own_number_differs_between_processes(self, machine: str) -> None:
        one, other = (Program(completed(machine, pid)).code for pid in (PID, 77))
        changed = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        assert {(a[:3] == b[:3], a[3], b[3]) for a, b in changed} == {(True, PID, 77)}
        assert len(changed) == 3  # kill, tgkill, prlimit64

    @pytest.mark.parametrize("machine", ["riscv64", "i686", "ppc64le", "armv7l", "s390x"])
    def test_a_machine_without_a_table_has_no_filter(self, machine: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            seccomp.Filter(machine)


INSTALLED = """
import ctypes, json, os, platform, socket, sys, threading
sys.path.append(sys.argv[1])
from inside.walls import linux
from inside.walls.seccomp import Filter
read, write = os.pipe()
parent = os.getpid()
if os.fork():
    os.close(write)
    with open(read) as file:
        text = file.read()
    print(json.dumps([os.wait()[1], text and json.loads(text)]))
    sys.exit()
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
lock = Filter()
lock.install()
found = {}
def attempt(name, act):
    try:
        value = act()
        found[name] = value if isinstance(value, int) else 0
    except OSError as error:
        found[name] = -error.errno
def kernel(number, *words):
    return lambda: linux.syscall(number, *words)
numbers = {number: name for name, number in json.loads(sys.argv[2]).items()}
for number, name in numbers.items():
    attempt(name, kernel(number, 0, 0, 0, 0, 0, 0))
own = os.getpid()
attempt("read", lambda: os.read(os.open("/dev/zero", 0), 1)[0])
attempt("own signal", lambda: os.kill(own, 0))
attempt("parent's signal", lambda: os.kill(parent, 0))
attempt("everybody's signal", lambda: os.kill(-1, 0))
attempt("own group's signal", lambda: os.kill(0, 0))
attempt("fork", os.fork)
attempt("execute", lambda: os.execv("/bin/true", ["true"]))
attempt("socket", socket.socket)
attempt("pair", socket.socketpair)
attempt("pair of datagrams", lambda: socket.socketpair(type=socket.SOCK_DGRAM))
attempt("own limits", lambda: linux.LIBC.prlimit(0, 7, None, ctypes.create_string_buffer(16)))
attempt("parent's limits",
    lambda: linux.check(linux.LIBC.prlimit(parent, 7, None, ctypes.create_string_buffer(16)), ""))
def thread():
    ran = []
    each = threading.Thread(target=ran.append, args=(1,))
    each.start()
    each.join()
    return len(ran)
attempt("thread", thread)
os.write(write, json.dumps(found).encode())
last = int(sys.argv[3])
if last:
    linux.syscall(last)
os._exit(0)
"""

CALLS_OF_NO_USE = ("unshare", "ptrace", "memfd_create", "setsid", "shmget", "io_uring_setup")


def installed(machine: str, last: int = 0) -> tuple[int, Any]:
    """What calls did in a child that really locked itself in, and how it ended."""
    numbers = headers(machine)
    asked = {name: numbers[name] for name in CALLS_OF_NO_USE} | {"newer": 9999}
    command = [sys.executable, "-c", INSTALLED, str(SANDBOX), json.dumps(asked), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


@pytest.fixture
def machine() -> str:
    """This machine, where filters can be installed."""
    if platform.machine() not in MACHINES:
        pytest.skip(f"no table of system calls for {platform.machine()}")
    return platform.machine()


def test_the_kernel_takes_it_and_does_as_it_says(machine: str) -> None:
    status, outcomes = installed(machine)
    assert status == 0
    refused = dict.fromkeys(CALLS_OF_NO_USE, -errno.EPERM)
    assert {name: outcomes[name] for name in refused} == refused
    assert outcomes["newer"] == -errno.ENOSYS
    for name in ("read", "own signal", "pair", "own limits"):
        assert outcomes[name] == 0, name
    assert outcomes["thread"] == 1
    for name in (
        *("parent's signal", "everybody's signal", "own group's signal", "fork", "execute"),
        *("socket", "pair of datagrams", "parent's limits"),
    ):
        assert outcomes[name] == -errno.EPERM, name


def test_the_calling_convention_of_32_bit_pointers_kills(machine: str) -> None:
    if machine != "x86_64":
        pytest.skip("x32 is there on x86-64 only")
    status, outcomes = installed(machine, last=X32 + linux.allowed("x86_64")["getpid"])
    assert outcomes["thread"] == 1
    assert status & 0x7F == signal.SIGSYS
