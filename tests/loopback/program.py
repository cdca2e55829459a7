"""The program as its users run it: a process of its own, in a folder of its own."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("harness"))
Done = subprocess.CompletedProcess[str]


def environment(**extra: str) -> dict[str, str]:
    """No key, no model, no proxy: what a fresh machine has."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **extra}


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
