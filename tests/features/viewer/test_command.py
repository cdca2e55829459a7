"""`harness view` as a program: it says where it is, ends at an interrupt, and refuses in a line."""

import asyncio
import re
import signal
import socket
from pathlib import Path

import httpx2
from for_each import for_each
from ports import free_port
from program import Process, finish, harness, start, start_after
from runs_made import result, write_run

# Connections that are kept would hold a server up for this long.
PATIENT = """
import functools, uvicorn
kept = functools.partialmethod(uvicorn.Config.__init__, timeout_keep_alive=10_000)
uvicorn.Config.__init__ = kept
"""


async def address_of(process: Process) -> str:
    """The address that it prints."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for line in process.stdout:
            if b"http" in line:
                return line.decode().strip()
    raise AssertionError("it has ended")


@for_each("sign", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupt_ends_it_at_once_and_well(tmp_path: Path, sign: signal.Signals) -> None:
    write_run(tmp_path / "runs" / "r", [result("p/a")])
    process = await start_after(PATIENT, tmp_path, "view")
    address = await address_of(process)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}", address)
    async with httpx2.AsyncClient(base_url=address.partition("/?")[0]) as client:
        assert (await client.get("/")).status_code == 403
        assert (await client.get(address)).status_code == 200
        assert ">r</a>" in (await client.get("/")).text
        process.send_signal(sign)  # while a connection is open
        code, _, err = await finish(process)
    assert (code, err) == (0, "")


async def test_a_port_of_ones_own(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        done = harness(tmp_path, "view", str(tmp_path), "--port", str(port))
        assert done.returncode == 2
        assert f"port {port} of 127.0.0.1" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    process = await start(tmp_path, "view", str(tmp_path), "--port", str(port))
    assert f":{port}/" in await address_of(process)
    process.send_signal(signal.SIGINT)
    assert (await finish(process))[0] == 0


def test_without_a_folder_it_says_so(tmp_path: Path) -> None:
    done = harness(tmp_path, "view")
    assert done.returncode == 2
    assert "runs is not a folder" in done.stderr


async def test_the_browser_is_opened_when_that_is_asked_for(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    process = await start(tmp_path, "view", str(tmp_path), "--open", BROWSER=f"{browser} %s")
    address = await address_of(process)
    async with asyncio.timeout(60):
        while not seen.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
    assert seen.read_text().strip() == address
    process.send_signal(signal.SIGINT)
    assert (await finish(process))[0] == 0
