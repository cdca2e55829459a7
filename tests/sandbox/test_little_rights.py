"""Systems that grant less than usual: root without capabilities, kernels that refuse a call."""

import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from harness.sandbox.execution import SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
PR_CAPBSET_DROP, LAST_CAPABILITY = 24, 63
PIDFD_OPEN, ENOSYS = 434, 38


def without_capabilities() -> None:
    """As a container that is started with --cap-drop=ALL."""
    library = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY + 1):
        library.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def without_pidfd_open() -> None:
    """As a kernel before Linux 5.3, or a container's filter that does not know it."""
    code = ((0x20, 0, 0, 0), (0x15, 0, 1, PIDFD_OPEN), (0x06, 0, 0, 0x50000 | ENOSYS))
    packed = b"".join(struct.pack("=HBBI", *each) for each in (*code, (0x06, 0, 0, 0x7FFF0000)))
    body = ctypes.create_string_buffer(packed)
    program = struct.pack("HxxxxxxP", 4, ctypes.addressof(body))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if library.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def doctor(before: Callable[[], None]) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=before,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="it is about root")
def test_root_without_capabilities_has_landlock() -> None:
    code, report, errors = doctor(without_capabilities)
    assert code == 0, errors
    assert report["level"] in {"landlock", "namespaces"}
    sandboxes = report["sandboxes"]
    (landlock,) = [each for each in sandboxes if each["level"] == "landlock"]
    assert landlock["holds"], landlock["why_not"]


@pytest.mark.skipif(os.geteuid() != 0, reason="it is about root")
def test_a_worker_judges_with_few_rights() -> None:
    code = """
from harness.sandbox.worker import Worker
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
worker = Worker(Isolation(Level.LANDLOCK))
print(worker.run(Program("print(open('/etc/passwd').read())"), [b""], Limits())[0].error)
print(worker.run(Program("print(input()[::-1])"), [b"abc"], Limits())[0].stdout)
worker.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=without_capabilities,
    )
    assert "PermissionError" in done.stdout
    assert done.stdout.endswith("b'cba\\n'\n"), done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter is this machine's")
def test_without_pidfd_open_doctor_says_so() -> None:
    code, report, errors = doctor(without_pidfd_open)
    assert code == 2
    assert report["level"] is None
    sandboxes = report["sandboxes"]
    reasons = {each["level"]: each["why_not"] for each in sandboxes}
    assert "pidfd_open" in reasons["landlock"]
    assert "pidfd_open" in reasons["none"]
    assert "no sandbox" in errors


def test_what_a_fork_server_says_as_it_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that greets, and fails at the first program."""

    def broken(limits: Limits, collect_bytes: int) -> dict[str, str]:
        return {"cpu_s": f"{limits} {collect_bytes}"}

    worker = Worker()
    try:
        worker.run(Program(""), [b""], Limits())
        monkeypatch.setattr("harness.sandbox.lazy_fork_server._plain", broken)
        with pytest.raises(SandboxError, match=r"hung up.*KeyError"):
            worker.run(Program(""), [b""], Limits())
    finally:
        worker.stop()


ROOT_OF_A_NAMESPACE = """
import ctypes, os, sys
user, group = os.getuid(), os.getgid()
if ctypes.CDLL(None).unshare(0x10000000):
    sys.exit(77)
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
write("/proc/self/setgroups", "deny")
write("/proc/self/uid_map", f"0 {user} 1")
write("/proc/self/gid_map", f"0 {group} 1")
write("/proc/sys/user/max_user_namespaces", "0")
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""
RIGHTS = """
from harness.sandbox.worker import Worker
from harness.sandbox.execution import SandboxError
from harness.sandbox.program import Program
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
worker = Worker(Isolation(Level.SECCOMP))
code = '''
for line in open("/proc/self/status"):
    if line[:3] == "Cap" and line[:6] != "CapBnd":
        print(int(line.split()[1], 16))
open(f"/proc/{__import__('os').getppid()}/mem", "rb")
'''
try:
    execution = worker.run(Program(code), [b""], Limits())[0]
except SandboxError as error:
    print(f"no sandbox: {error}")
else:
    print(execution.stdout.split(), execution.error.splitlines()[-1:])
worker.stop()
"""


def test_root_of_a_user_namespace_has_no_rights_in_the_weakest_sandbox() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ROOT_OF_A_NAMESPACE, RIGHTS],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "no sandbox" in done.stdout:
        pytest.skip("there is no such sandbox in a user namespace here")
    assert done.stdout.startswith("[b'0', b'0', b'0', b'0'] "), done
    assert "PermissionError" in done.stdout
