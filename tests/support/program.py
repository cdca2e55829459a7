"""The program as users run it: in a separate process and folder.

The first few commands of a session are started like a user's; later ones by `imported`, in a fifth
of the time. The workers of a session share its process.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from imported import AT_IMPORT, Command, Imported, Running
from pydantic_core import to_jsonable_python

PROGRAM = str(Path(sys.executable).with_name("harness"))
Done = subprocess.CompletedProcess[str]
FROM_SCRATCH = 3
"""Number of commands of a session that start a new interpreter."""
SHARED = "HARNESS_TEST_IMPORTED"
"""Names, for the workers of a session, the process that all of them fork from."""
PATIENCE_S = 120

_lock = threading.Lock()
_started = 0
_imported: Imported | None = None
_handles: list[int] = []
"""Descriptors of the programs that the running test has started by itself."""


def environment(**extra: str) -> dict[str, str]:
    """Return an environment without keys, model, proxy, or state of other tests."""
    home = {"HOME": "/nonexistent", "HF_HOME": "/dev/null/none"}
    return {"PATH": os.environ["PATH"], **home, "LANG": "C.UTF-8", **extra}


def harness(folder: Path, *arguments: str | Path, **env: str) -> Done:
    """Run the program in a folder and wait for its end."""
    return harness_after("", folder, *arguments, **env)


def harness_after(first: str, folder: Path, *arguments: str | Path, **env: str) -> Done:
    """Do the same after some code of the test, in the program's process.

    The package may be imported before that code runs. Output in an encoding that `env` names has
    escapes for the bytes that are not UTF-8, see `bytes_of`.
    """
    given, surroundings = list(map(str, arguments)), environment(**env)
    errors = "surrogateescape" if "PYTHONIOENCODING" in env else "strict"
    imported = that_has_imported(env)
    if imported is None:
        return subprocess.run(
            command_after(first, *given),
            cwd=folder,
            env=surroundings,
            capture_output=True,
            text=True,
            errors=errors,
            timeout=PATIENCE_S,
            check=False,
        )
    begun = imported.begin(Command(str(folder), given, surroundings, first, lend=not first))
    return Done(given, *begun.finish(PATIENCE_S, errors))


def bytes_of(output: str) -> bytes:
    """Return the bytes of an output in an encoding that the command was given."""
    return output.encode(errors="surrogateescape")


def that_has_imported(env: dict[str, str]) -> Imported | None:
    """Return the process to fork from; None if the command needs a new interpreter."""
    global _started  # noqa: PLW0603 - one count for all tests
    with _lock:
        _started += 1
        of_session = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
        if (of_session and _started <= FROM_SCRATCH) or any(AT_IMPORT.match(name) for name in env):
            return None
    return the_one_imported()


def the_one_imported() -> Imported:
    """Return the process to fork from, which is started when first needed."""
    global _imported  # noqa: PLW0603 - one process for all tests
    with _lock:
        if _imported is None:
            shared = os.environ.get(SHARED)
            _imported = Imported(shared) if shared else Imported.started(PROGRAM, environment())
        return _imported


def command_after(first: str, *arguments: str | Path) -> list[str]:
    """Return the command that `harness_after` stands for."""
    if not first:
        return [PROGRAM, *map(str, arguments)]
    whole = f"{first}\nfrom harness.cli import main\nmain()"
    return [sys.executable, "-c", whole, *map(str, arguments)]


# A user that cannot make user namespaces, as in most containers.
WITHOUT_NAMESPACES = """
import ctypes, os, sys
user = os.getuid()
if ctypes.CDLL(None).unshare(0x10000000): sys.exit(77)
for name, text in (("self/setgroups", "deny"), ("self/uid_map", f"1000 {user} 1"),
                   ("sys/user/max_user_namespaces", "0")):
    with open(f"/proc/{name}", "w") as file: file.write(text)
os.execv(sys.argv[1], sys.argv[1:])
"""

# A machine, according to `uname`, without a table of system calls.
ON_ANOTHER_MACHINE = """
import ctypes, os, sys
assert ctypes.CDLL(None).personality(8) >= 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def run_by(folder: Path, *command: str, **env: str) -> Done:
    """Run a command; skip the test if the machine lacks what the command needs."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("no user namespace can be made here")
    return done


def started_by(program: str, folder: Path, *arguments: str) -> Done:
    """Run the program from another Python program."""
    return run_by(folder, sys.executable, "-c", program, PROGRAM, *arguments)


Process = asyncio.subprocess.Process | Running


async def start(folder: Path, *arguments: str | Path, **env: str) -> Process:
    """Start the program, for tests that interrupt it or serve it a model."""
    return await start_after("", folder, *arguments, **env)


async def start_after(first: str, folder: Path, *arguments: str | Path, **env: str) -> Process:
    """Do the same after some code of the test, as in `harness_after`."""
    given, surroundings = list(map(str, arguments)), environment(**env)
    imported = await asyncio.to_thread(that_has_imported, env)
    if imported is not None:
        begun = imported.begin(Command(str(folder), given, surroundings, first, lend=not first))
        return _noted(await Running.of(begun))
    process = await asyncio.create_subprocess_exec(
        *command_after(first, *given),
        cwd=folder,
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    return _noted(process)


async def start_with_input(folder: Path, *arguments: str | Path, **env: str) -> Process:
    """Start the program with a pipe to its stdin."""
    given, surroundings = list(map(str, arguments)), environment(**env)
    imported = await asyncio.to_thread(that_has_imported, env)
    if imported is None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            PROGRAM, *given, cwd=folder, env=surroundings, stdin=pipe, stdout=pipe, stderr=pipe
        )
        return _noted(process)
    theirs, ours = os.pipe()
    command = Command(str(folder), given, surroundings, lend=True)
    process = await Running.of(imported.begin(command, theirs))
    os.close(theirs)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(ours, "wb", 0)
    )
    process.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
    return _noted(process)


def _noted(process: Process) -> Process:
    """Return a program that the running test has started."""
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        _handles.append(os.pidfd_open(process.pid))
    return process


def let_go(*, kill: bool) -> None:
    """Forget the programs that the running test has started; `kill` those that still run."""
    while _handles:
        handle = _handles.pop()
        if kill:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)


async def finish(process: Process) -> tuple[int | None, str, str]:
    """Wait for its end; return exit code, stdout and stderr."""
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def heard(process: Process, words: str) -> str:
    """Wait for a line on stderr that contains these words."""
    assert process.stderr is not None
    output = ""
    async with asyncio.timeout(PATIENCE_S):
        while line := (await process.stderr.readline()).decode():
            if words in line:
                return line
            output += line
    raise AssertionError(f"the program ended without {words!r}: {output}")


async def run(folder: Path, *arguments: str | Path, **env: str) -> tuple[int | None, str, str]:
    """Run the program to its end, while this process can serve it."""
    done = await asyncio.to_thread(harness, folder, *arguments, **env)
    return done.returncode, done.stdout, done.stderr


@cache
def _left_out() -> dict[str, Any]:
    """Return the fields of a result that a line leaves out where they have these values."""
    from harness.run.store.results import SampleResult

    fields = SampleResult.model_fields.items()
    return {
        name: to_jsonable_python(field.get_default(call_default_factory=True))
        for name, field in fields
        if not field.is_required()
    }


def results(run_directory: Path) -> list[dict[str, Any]]:
    """Return the committed samples of a run, with the fields that their lines leave out."""
    lines = (run_directory / "results.jsonl").read_text().splitlines()
    return [{**_left_out(), **json.loads(line)} for line in lines]
