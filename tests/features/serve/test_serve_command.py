"""`harness serve`, as its users start and end it."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from for_each import for_each
from own_problems import DOUBLE, ECHO
from processes import children
from program import Process, harness, start_after

LISTENS = re.compile(r"listens at (http://\S+)")
RUN = {"code": "print(input())", "language": "python", "stdin": "1"}
TOKEN = "0123456789abcdef"


async def listening(folder: Path, *flags: str, first: str = "", **env: str) -> tuple[Process, str]:
    """The server's process, and its address."""
    command = ("serve", "--port", "0", "--workers", "1", *flags)
    process = await start_after(first, folder, *command, **env)
    assert process.stderr is not None
    output = ""
    while True:
        line = (await process.stderr.readline()).decode()
        assert line, output
        output += line
        if match := LISTENS.search(line):
            return process, match[1]


async def ended(process: Process, word: int = signal.SIGTERM) -> int | None:
    process.send_signal(word)
    async with asyncio.timeout(60):
        await process.communicate()
    return process.returncode


async def running(client: httpx2.AsyncClient) -> None:
    """Return once a worker is busy, which the server tells to those who ask."""
    async with asyncio.timeout(60):
        while not (await client.get("/health")).json()["running"]:  # noqa: ASYNC110 - its process
            await asyncio.sleep(0.05)


async def deaf(url: str) -> None:
    """Return once the server accepts no more."""
    host, _, port = url.removeprefix("http://").partition(":")
    with contextlib.suppress(OSError):
        while True:
            _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
            await asyncio.sleep(0.05)


class TestStartingAndEnding:
    @pytest.mark.thorough
    async def test_problems_from_several_places(self, tmp_path: Path) -> None:
        for name, row in (("a", ECHO), ("b", DOUBLE)):
            (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
        flags = ("--problems", "jsonl:a.jsonl", "--problems", "jsonl:b.jsonl")
        process, url = await listening(tmp_path, *flags)
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            body = {"problem": "double", "code": "def double(n): return 2 * n"}
            assert (await client.post("/grade", json=body)).json()["reward"] == 1.0
            health = (await client.get("/health")).json()
        assert (health["problems"], health["slots"]) == (2, 1)
        assert await ended(process) == 0

    @pytest.mark.thorough
    @pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
    async def test_requests_under_way_are_answered_at_the_end(
        self, tmp_path: Path, word: int
    ) -> None:
        process, url = await listening(tmp_path)
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            code = "import time; time.sleep(3); print(1)"
            asked = asyncio.create_task(client.post("/run_code", json={**RUN, "code": code}))
            await running(client)
            ending = asyncio.create_task(ended(process, word))
            assert (await asked).json()["run_result"]["stdout"] == "1\n"
        assert await ending == 0

    @pytest.mark.thorough
    async def test_a_second_interrupt_ends_it_at_once(self, tmp_path: Path) -> None:
        patient = "from harness.features.serve import server\nserver.GRACE_S = 1_000"
        process, url = await listening(tmp_path, first=patient)
        async with httpx2.AsyncClient(base_url=url, timeout=1_000) as client:
            code = "import time; time.sleep(1_000)"
            body = {**RUN, "code": code, "run_timeout": 1_000}
            asked = asyncio.create_task(client.post("/run_code", json=body))
            await running(client)
            process.send_signal(signal.SIGINT)
            await deaf(url)
            assert await ended(process, signal.SIGINT) == 0  # waited for much less long
            with contextlib.suppress(httpx2.HTTPError):  # closed at once, or told so
                assert (await asked).status_code == 503

    @pytest.mark.thorough
    async def test_what_its_grace_is_too_short_for_is_told_so(self, tmp_path: Path) -> None:
        short = "from harness.features.serve import server\nserver.GRACE_S = 1"
        process, url = await listening(tmp_path, first=short)
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            body = {**RUN, "code": "import time; time.sleep(1_000)", "run_timeout": 1_000}
            asked = asyncio.create_task(client.post("/run_code", json=body))
            await running(client)
            ending = asyncio.create_task(ended(process))
            answer = await asked
        assert answer.status_code == 503
        assert answer.json() == {"detail": "the server is shutting down; use another"}
        assert answer.headers["connection"] == "close"
        assert await ending == 0


class TestFlags:
    async def test_bounds_and_judging(self, tmp_path: Path) -> None:
        flags = ("--max-requests", "1", "--max-body", "1", "--queue-timeout", "60")
        process, url = await listening(tmp_path, *flags, "--memory", "64", "--rule", "tokens")
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            large = await client.post("/run_code", json={**RUN, "code": "#" * (1 << 20)})
            assert large.status_code == 413
            body = {"tests": [{"input": "", "output": "1 2"}], "code": "print('1\\n2')"}
            assert (await client.post("/grade", json=body)).json()["reward"] == 1.0
            memory = await client.post("/run_code", json={**RUN, "code": "x = ' ' * (1 << 28)"})
            assert "MemoryError" in memory.json()["run_result"]["stderr"]
            body = {**RUN, "code": "import time; time.sleep(60)", "run_timeout": 60}
            asked = asyncio.create_task(client.post("/run_code", json=body))
            await running(client)
            assert (await client.post("/run_code", json=RUN)).status_code == 503
            asked.cancel()
        assert await ended(process) == 0

    @pytest.mark.thorough
    async def test_the_token_is_in_an_environment_variable(self, tmp_path: Path) -> None:
        flags = ("--host", "0.0.0.0", "--token-env", "MINE", "--queue-timeout", "0")
        process, url = await listening(tmp_path, *flags, MINE=TOKEN)
        url = url.replace("0.0.0.0", "127.0.0.1")
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            assert (await client.post("/run_code", json=RUN)).status_code == 401
            headers = {"authorization": f"Bearer {TOKEN}", "host": "judge.example"}
            answer = await client.post("/run_code", json=RUN, headers=headers)
            assert answer.status_code in {200, 504}
        assert await ended(process) == 0


def test_the_command_is_there_before_any_server_is_imported() -> None:
    code = (
        "import sys, harness.features.serve.command\n"
        "print([n for n in ('starlette', 'uvicorn', 'harness.run.engine') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


class TestBadUsage:
    @for_each(
        ("flags", "env", "words"),
        [
            (("--host", "0.0.0.0"), {}, "HARNESS_SERVE_TOKEN"),
            ((), {"HARNESS_SERVE_TOKEN": "short"}, "at least 16"),
            (("--host", "no.such.host.invalid"), {"HARNESS_SERVE_TOKEN": TOKEN}, "choose another"),
            (("--problems", "nonsense"), {}, "nonsense"),
            (("--rule", "nearly"), {}, "nearly"),
            (("--max-requests", "0"), {}, "max-requests"),
        ],
    )
    def test_bad_serve_flags_are_refused_in_a_line(
        self, tmp_path: Path, flags: tuple[str, ...], env: dict[str, str], words: str
    ) -> None:
        done = harness(tmp_path, "serve", "--port", "0", *flags, **env)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_port_that_is_taken(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            done = harness(tmp_path, "serve", "--port", port)
        assert done.returncode == 2
        assert f"--port {port}" in done.stderr


@pytest.mark.thorough
async def test_workers_that_are_killed_cost_no_answer(tmp_path: Path) -> None:
    process, url = await listening(tmp_path, first="pass")  # a sandbox of its own, not a lent one
    (tmp_path / "own.jsonl").write_text(json.dumps(ECHO))
    over = asyncio.Event()
    killed = 0

    async def kill() -> None:
        nonlocal killed
        while not over.is_set():
            for pid in await asyncio.to_thread(children, process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    continue
            await asyncio.sleep(0.7)

    killing = asyncio.create_task(kill())
    async with httpx2.AsyncClient(base_url=url, timeout=120) as client:
        tests = [{"input": f"{n}", "output": f"{n}"} for n in range(5)]
        for number in range(12):
            body: dict[str, Any] = {"tests": tests, "code": f"print(input()) # {number}"}
            graded = (await client.post("/grade", json=body)).json()
            assert graded["reward"] in {1.0, None}, graded
            ran = (await client.post("/run_code", json=RUN)).json()
            assert ran["status"] in {"Success", "SandboxError"}, ran
        over.set()
        await killing
        assert killed
        assert (await client.post("/run_code", json=RUN)).json()["status"] == "Success"
    assert await ended(process) == 0
