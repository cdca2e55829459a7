"""`harness mcp`: a foreign client has the tools called, and a run comes of it."""

import asyncio
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest
from json_lines import json_lines
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from program import PROGRAM, Process, environment, finish, harness, results, start_with_input

from harness.run.store.transcripts import Transcripts

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
NEEDLE = "48151623420815"


@pytest.fixture
def two_sums(tmp_path: Path) -> Path:
    rows = [
        {
            "id": f"sum-{number}",
            "statement": "Read two integers and print their sum.",
            "tests": [
                {"input": "1 2\n", "output": "3\n", "public": True},
                {"input": f"{NEEDLE} 0\n", "output": f"{NEEDLE}\n", "public": False},
            ],
        }
        for number in range(2)
    ]
    (tmp_path / "own.jsonl").write_text(json_lines(rows))
    return tmp_path


def words(*flags: str, problem: str = "sum-0") -> list[str]:
    return ["mcp", "-b", "jsonl:own.jsonl", "--problem", problem, "--out", "r", *flags]


def message(method: str, number: int | None = 1, **params: Any) -> bytes:
    request: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(request | ({} if number is None else {"id": number})).encode() + b"\n"


HELLO = message(
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "by hand", "version": "2"},
) + message("notifications/initialized", None)


def call(name: str, number: int, **arguments: Any) -> bytes:
    return message("tools/call", number, name=name, arguments=arguments)


async def serving(folder: Path, *flags: str, problem: str = "sum-0", **env: str) -> Process:
    return await start_with_input(folder, *words(*flags, problem=problem), **env)


async def answers(process: Process, *numbers: int) -> dict[int, Any]:
    """The answers to these requests, whatever comes beside them."""
    assert process.stdout is not None
    responses: dict[int, Any] = {}
    async with asyncio.timeout(60):
        while not responses.keys() >= set(numbers):
            data = json.loads(await process.stdout.readline())
            if data.get("id") is not None:
                responses[data["id"]] = data
    return responses


async def leave(process: Process) -> tuple[int | None, str, str]:
    """The client goes: its exit code and the rest of what it says."""
    assert process.stdin is not None
    process.stdin.close()
    return await finish(process)


async def test_the_mcp_packages_own_client_solves_a_problem_over_stdio(two_sums: Path) -> None:
    server = StdioServerParameters(
        command=PROGRAM, args=words("-m", "somebody"), env=environment(), cwd=str(two_sums)
    )
    async with Client(stdio_client(server)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["read_problem", "write_solution", "run_tests", "submit"]
        assert tools["write_solution"].input_schema["required"] == ["code"]
        read = await client.call_tool("read_problem", {})
        assert "print their sum" in read.content[0].text
        assert (await client.call_tool("run_tests", {})).is_error
        await client.call_tool("write_solution", {"code": RIGHT})
        tested = await client.call_tool("run_tests", {})
        assert "All 1 public tests passed" in tested.content[0].text
        assert NEEDLE not in str([read, tested, tools])
    (result,) = results(two_sums / "r")  # it was graded before the client let go of the process
    assert (result["verdict"], result["hidden_passed"]) == ("accepted", 1)
    assert (result["stop_reason"], result["confined"]) == ("model_stopped", False)
    manifest = json.loads((two_sums / "r" / "run.json").read_text())
    assert (manifest["spec"]["mode"], manifest["spec"]["model"]) == ("mcp", "agent:somebody")


async def test_the_tools_are_told_in_the_words_of_the_named_set(two_sums: Path) -> None:
    mine = two_sums / "mine"
    mine.mkdir()
    (mine / "system.j2").write_text("Be brief.")
    (mine / "user.j2").write_text(
        "{{ problem.statement }} {{ problem.starter_code }} {{ problem.entry_point }} stdin stdout"
    )
    (mine / "describe.j2").write_text("My {{ tool }} {{ argument }}.")
    (mine / "report.j2").write_text("My report: {{ verdict }}.")
    process = await serving(two_sums, "--prompt", "mine")
    assert process.stdin is not None
    calls = call("write_solution", 3, code="print(1)") + call("run_tests", 4)
    process.stdin.write(HELLO + message("tools/list", 2) + calls)
    got = await answers(process, 1, 2, 3, 4)
    assert got[1]["result"]["instructions"].startswith("Be brief.")
    described = {each["name"]: each["description"] for each in got[2]["result"]["tools"]}
    assert described["run_tests"].strip() == "My run_tests ."
    assert "My report: wrong_answer." in str(got[4])
    assert (await leave(process))[0] == 0
    prompt = json.loads((two_sums / "r" / "run.json").read_text())["prompt"]
    assert prompt["parts"]["describe"] == "My {{ tool }} {{ argument }}."


async def test_what_a_client_does_is_an_ordinary_run_and_stdout_is_the_protocols(
    two_sums: Path,
) -> None:
    process = await serving(two_sums)
    assert process.stdin is not None
    process.stdin.write(HELLO + call("write_solution", 2, code=RIGHT) + call("submit", 3))
    responses = await answers(process, 1, 2, 3)
    assert "write_solution hands in your whole program" in responses[1]["result"]["instructions"]
    assert responses[3]["result"]["content"][0]["text"] == "Submitted."
    code, rest, err = await leave(process)
    assert (code, rest) == (0, "")
    assert "verdict: accepted, tests 2 of 2; stopped by: submitted" in err
    assert "run directory: r" in err
    shown = harness(two_sums, "show", "r")
    assert shown.returncode == 0, shown.stderr
    assert "1 sample by an agent not isolated from hidden tests" in shown.stdout
    transcripts = Transcripts(two_sums / "r")
    text = "".join(e.model_dump_json() for e in transcripts.events(transcripts.names()[0]))
    assert '"client":"by hand 2"' in text
    again = harness(two_sums, *words())
    assert again.returncode == 0, again.stderr
    assert "is graded already" in again.stderr
    assert "verdict: accepted" in again.stderr


async def test_a_run_may_get_another_problem(two_sums: Path) -> None:
    for problem in ("sum-0", "jsonl/sum-1"):
        process = await serving(two_sums, problem=problem)
        assert process.stdin is not None
        process.stdin.write(HELLO + call("write_solution", 2, code="print(0)"))
        await answers(process, 1, 2)
        code, out, err = await leave(process)
        assert (code, out) == (0, ""), err
    assert {each["problem_id"] for each in results(two_sums / "r")} == {
        "jsonl/sum-0",
        "jsonl/sum-1",
    }
    assert {each["verdict"] for each in results(two_sums / "r")} == {"wrong_answer"}
    assert harness(two_sums, "run", "--resume", "r").returncode == 0


@pytest.mark.thorough
def test_a_client_that_leaves_without_a_call_leaves_the_sample_pending(two_sums: Path) -> None:
    (two_sums / "script").write_bytes(HELLO + call("write_solution", 2, code=RIGHT))
    for number, name in enumerate(("/dev/null", two_sums / "script")):
        again = f"harness mcp --problem sum-{number} --out r"
        with Path(name).open("rb") as stdin:
            done = subprocess.run(
                [PROGRAM, *words(problem=f"sum-{number}")],
                cwd=two_sums, env=environment(), stdin=stdin, capture_output=True, timeout=60,
                check=False,
            )  # fmt: skip
        told = done.stderr.decode()
        assert done.returncode == (0 if number else 4), told
        assert (f"left without a tool call; go on with: {again}" in told) == (not number)
        assert done.stdout.count(b"\n") == 2 * number
    assert [each["verdict"] for each in results(two_sums / "r")] == ["accepted"]


def garbage() -> bytes:
    """What no client may send, and some do."""
    lines = [b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b"x" * (3 << 20), b"1e999", b""]
    lines += [b'{"jsonrpc": "2.0", "id": 7}', b'{"jsonrpc": "2.0", "method": 3, "id": {}}']
    return b"\n".join(lines) + b"\n" + message("no/such/method", 8)


@pytest.mark.thorough
async def test_garbage_on_stdin_hurts_nobody(two_sums: Path) -> None:
    process = await serving(two_sums)
    assert process.stdin is not None
    process.stdin.write(garbage() + HELLO + garbage())
    process.stdin.write(call("write_solution", 2, code=7) + call("write_solution", 3, code=RIGHT))
    responses = await answers(process, 1, 2, 3, 8)
    assert responses[2]["result"]["isError"] is True
    assert responses[8]["error"]["code"] == -32601
    code, _, err = await leave(process)
    assert code == 0, err
    assert results(two_sums / "r")[0]["verdict"] == "accepted"


@pytest.mark.thorough
async def test_a_client_that_never_reads_makes_nothing_grow(two_sums: Path) -> None:
    process = await serving(two_sums)
    assert process.stdin is not None
    process.stdin.write(HELLO + call("write_solution", 2, code=RIGHT))
    await answers(process, 1, 2)
    before = await asyncio.to_thread(_peak, process)
    flood = b"".join(message("ping", number) for number in range(3, 10_003))
    sent = asyncio.create_task(_flood(process.stdin, flood))
    await asyncio.wait({sent}, timeout=4)
    assert not sent.done()  # it is no longer read, so that it waits
    peak = await asyncio.to_thread(_peak, process)
    sent.cancel()
    process.terminate()
    code, _, err = await finish(process)
    assert code == 0, err  # what was written is graded
    assert peak - before < 30_000  # KiB; 60,000 are held ready for it
    assert results(two_sums / "r")[0]["verdict"] == "accepted"


def _peak(process: Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


async def _flood(stdin: asyncio.StreamWriter, data: bytes) -> None:
    for _ in range(100):
        stdin.write(data)
        await stdin.drain()


async def test_a_limit_of_calls_ends_the_session(two_sums: Path) -> None:
    process = await serving(two_sums, "--set", "max_tool_calls=1", "--no-submit-tool")
    assert process.stdin is not None
    process.stdin.write(HELLO + call("write_solution", 2, code=RIGHT) + call("run_tests", 3))
    responses = await answers(process, 1, 2, 3)
    assert "No more than 1 calls" in responses[3]["result"]["content"][0]["text"]
    code, _, err = await leave(process)
    assert (code, "stopped by: tool call limit" in err) == (0, True), err


@pytest.mark.thorough
async def test_a_limit_of_time_before_any_call_leaves_the_sample_pending(two_sums: Path) -> None:
    process = await serving(two_sums, "--sample-timeout", "0.5")
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(HELLO)
    async with asyncio.timeout(60):
        err = (await process.stderr.read()).decode()
    assert await process.wait() == 4
    assert "no tool was called before the time limit; go on with: harness mcp" in err
    assert not results(two_sums / "r")


@pytest.mark.thorough
async def test_a_limit_of_time_ends_the_session(two_sums: Path) -> None:
    process = await serving(two_sums, "--sample-timeout", "5")
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(HELLO + call("write_solution", 2, code="print(0)"))
    async with asyncio.timeout(60):
        err = (await process.stderr.read()).decode()
    assert await process.wait() == 0
    assert "stopped by: time limit" in err


async def _address(process: Process) -> dict[str, Any]:
    """The configuration that the server says for its clients."""
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while True:
            line = (await process.stderr.readline()).decode()
            assert line, "it has ended"
            if line.startswith("{"):
                return json.loads(line)["mcpServers"]["harness"]


@pytest.mark.thorough
async def test_over_http_a_client_needs_the_key_and_may_submit(two_sums: Path) -> None:
    process = await serving(two_sums, "--http")
    there = await _address(process)
    assert there["url"].startswith("http://127.0.0.1:")
    async with httpx2.AsyncClient(timeout=60) as stranger:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}):
            assert (
                await stranger.post(there["url"], json=body, headers=headers)
            ).status_code == 401
        other = {"Host": "example.org", **there["headers"]}
        assert (await stranger.post(there["url"], json=body, headers=other)).status_code == 421
    async with (
        httpx2.AsyncClient(headers=there["headers"], timeout=60) as http,
        Client(streamable_http_client(there["url"], http_client=http)) as client,
    ):
        many = [client.call_tool("read_problem", {}) for _ in range(8)]
        assert all("their sum" in each.content[0].text for each in await asyncio.gather(*many))
        await client.call_tool("write_solution", {"code": RIGHT})
        done = await client.call_tool("submit", {})
        assert done.content[0].text == "Submitted."
    code, out, err = await leave(process)
    assert (code, out) == (0, ""), err
    assert "verdict: accepted" in err
    assert results(two_sums / "r")[0]["tool_calls"] == 10


@pytest.mark.thorough
async def test_an_interrupt_is_the_end_of_the_work_if_there_is_any(two_sums: Path) -> None:
    key = "a-key-that-was-agreed-upon"
    process = await serving(two_sums, "--http", ":0", HARNESS_MCP_TOKEN=key)
    there = await _address(process)
    assert there["headers"] == {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=there["headers"], timeout=60) as http,
        Client(streamable_http_client(there["url"], http_client=http)) as client,
    ):
        await client.call_tool("write_solution", {"code": RIGHT})
    process.send_signal(signal.SIGINT)
    code, _, err = await leave(process)
    assert (code, "verdict: accepted" in err) == (0, True), err


@pytest.mark.thorough
async def test_an_interrupt_before_there_is_any_leaves_the_sample_pending(two_sums: Path) -> None:
    process = await serving(two_sums, "--http")
    there = await _address(process)
    async with httpx2.AsyncClient(timeout=60) as stranger:  # an answer says that it serves by now
        assert (await stranger.post(there["url"], json={})).status_code == 401
    process.send_signal(signal.SIGINT)
    code, _, err = await leave(process)
    assert code == 130
    assert "nothing is graded" in err
    assert results(two_sums / "r") == []
    resumed = harness(two_sums, "run", "--resume", "r")
    assert resumed.returncode == 4
    assert "no agent is connected" in resumed.stderr
    assert "--resume" not in resumed.stderr
    way = resumed.stderr.rpartition("connect an agent: harness ")[2].split()
    assert (way[0], way[-2:]) == ("mcp", ["--out", "r"])
    assert f"Connect an agent: harness {' '.join(way)}" in " ".join(
        harness(two_sums, "show", "r").stdout.split()
    )
    again = await start_with_input(two_sums, *way)
    assert again.stdin is not None
    again.stdin.write(HELLO + call("write_solution", 2, code=RIGHT) + call("submit", 3))
    await answers(again, 1, 2, 3)
    assert (await leave(again))[0] == 0
    assert [each["verdict"] for each in results(two_sums / "r")] == ["accepted"]


@pytest.mark.thorough
async def test_what_was_handed_in_before_a_crash_is_graded_without_an_agent(two_sums: Path) -> None:
    process = await serving(two_sums)
    assert process.stdin is not None
    process.stdin.write(HELLO + call("write_solution", 2, code=RIGHT) + call("submit", 3))
    await answers(process, 1, 2, 3)
    await leave(process)
    (two_sums / "r" / "results.jsonl").write_text("")  # as if it had been killed before
    resumed = harness(two_sums, "run", "--resume", "r")
    assert resumed.returncode == 0, resumed.stderr
    (result,) = results(two_sums / "r")
    assert (result["verdict"], result["stop_reason"]) == ("accepted", "submitted")


@pytest.mark.parametrize(
    ("flags", "error_text"),
    [
        (["--problem", "nonsense"], "nonsense"),
        (["--http", "127.0.0.1:99999"], "HOST:PORT"),
        (["--http", "256.0.0.1:80"], "--http 256.0.0.1:80"),
        (["--http", "nowhere:x"], "HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused(two_sums: Path, flags: list[str], error_text: str) -> None:
    done = harness(two_sums, *words(*flags))
    assert done.returncode in {2, 3}
    assert error_text in done.stderr.splitlines()[-1]
    assert done.stdout == ""
    assert not (two_sums / "r").exists()


def test_a_key_that_could_be_guessed_is_refused(two_sums: Path) -> None:
    done = harness(two_sums, *words("--http"), HARNESS_MCP_TOKEN="short")
    assert (done.returncode, done.stdout) == (2, "")
    assert "HARNESS_MCP_TOKEN" in done.stderr


def test_another_kind_of_run_is_none_to_add_to(two_sums: Path) -> None:
    assert harness(two_sums, "run", "-n", "1", "--out", "r").returncode == 0
    done = harness(two_sums, *words())
    assert (done.returncode, done.stdout) == (2, "")
    assert "none of `harness mcp`" in done.stderr
