"""The program as its users run it: a process of its own, in a folder of its own."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = str(Path(sys.executable).with_name("harness"))
Done = subprocess.CompletedProcess[str]


def environment(**extra: str) -> dict[str, str]:
    """No key, no model, no proxy, and nothing kept of what other tests did."""
    home = {"HOME": "/nonexistent", "HF_HOME": "/dev/null/none"}
    return {"PATH": os.environ["PATH"], **home, "LANG": "C.UTF-8", **extra}


def harness(folder: Path, *arguments: str | Path, **env: str) -> Done:
    """Run the program in a folder and wait for its end."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# As a user who may make no user namespace, as in most containers.
WITHOUT_NAMESPACES = """
import ctypes, os, sys
user = os.getuid()
if ctypes.CDLL(None).unshare(0x10000000): sys.exit(77)
for name, text in (("self/setgroups", "deny"), ("self/uid_map", f"1000 {user} 1"),
                   ("sys/user/max_user_namespaces", "0")):
    with open(f"/proc/{name}", "w") as file: file.write(text)
os.execv(sys.argv[1], sys.argv[1:])
"""

# Where `uname` names a machine that there is no table of system calls for.
ON_ANOTHER_MACHINE = """
import ctypes, os, sys
assert ctypes.CDLL(None).personality(8) >= 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def run_by(folder: Path, *command: str, **env: str) -> Done:
    """What a command did; a test is skipped where the machine lacks what the command needs."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("no user namespace can be made here")
    return done


def started_by(program: str, folder: Path, *arguments: str) -> Done:
    """The program as another Python program starts it."""
    return run_by(folder, sys.executable, "-c", program, PROGRAM, *arguments)


async def start(folder: Path, *arguments: str | Path, **env: str) -> asyncio.subprocess.Process:
    """Start the program, for tests that meet it half-way or serve it a model."""
    return await asyncio.create_subprocess_exec(
        PROGRAM,
        *map(str, arguments),
        cwd=folder,
        env=environment(**env),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def finish(process: asyncio.subprocess.Process) -> tuple[int | None, str, str]:
    """Its exit code, stdout and stderr."""
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def run(folder: Path, *arguments: str | Path, **env: str) -> tuple[int | None, str, str]:
    """Run it to its end while this process serves it."""
    return await finish(await start(folder, *arguments, **env))


def results(run_directory: Path) -> list[dict[str, Any]]:
    """The committed samples of a run."""
    lines = (run_directory / "results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]
