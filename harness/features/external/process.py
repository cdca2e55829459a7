"""Start an agent process in its sandbox for each sample, and end it.

The memory use of a process and its descendants is read from `/proc`. The sum has the private pages
of every process, in memory and swapped out, and the largest number of shared pages (`memfd`,
`/dev/shm`) mapped by one process. Shared pages that no process has mapped, and files in memory, are
not counted.
"""

import asyncio
import contextlib
import json
import os
import re
import signal
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.agent.attempt import StopReason
from harness.agent.events import AgentLeft
from harness.features.external.agent_sandbox import SCRATCH, AgentSandbox, handed_over, helper
from harness.features.external.http import ToolServer, new_key
from harness.features.external.session import McpSession
from harness.models.protocol import ModelError
from harness.registry import CONFIG_OF_AGENT, TASK_OF_AGENT
from harness.text import writable

OWN = ("RssAnon:", "VmSwap:")
SHARED = "RssShmem:"
KIB = 1024
CHILDREN = "children"
CONFIG = "mcp.json"
HEAD, TAIL = 64 << 10, 192 << 10  # bytes kept from the start and the end of an agent's output
CHUNK = 1 << 16
LONGEST_VARIABLE = 100_000  # bytes; Linux limits an environment variable to 128 KiB
GRACE_S = 2.0  # seconds for an agent to exit by itself after its sample has ended
ENDING_S = 5.0
SAMPLE_S = 0.25  # seconds between two measurements of an agent's memory
LAST_WORDS = 300
SHORTEST_SECRET = 6
_FIRST = asyncio.FIRST_COMPLETED
_PLACES = re.compile(r"\{(mcp_config|prompt)\}")


def tree_bytes(root: int) -> int:
    """Return the bytes that a process and its descendants use; 0 if it has ended."""
    own = shared = 0
    for pid in _tree(root):
        with contextlib.suppress(OSError, ValueError):
            lines = _counted(Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
            own += sum(lines.get(name, 0) for name in OWN)
            shared = max(shared, lines.get(SHARED, 0))
    return own + shared


def _counted(status: str) -> dict[str, int]:
    lines = (line.split() for line in status.splitlines() if line.startswith((*OWN, SHARED)))
    return {words[0]: int(words[1]) * KIB for words in lines}


def _tree(root: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    below = (
        _listed
        if Path(f"/proc/{os.getpid()}/task/{os.getpid()}/{CHILDREN}").exists()
        else _searched()
    )
    processes = [root]
    for pid in processes:
        processes += below(pid)
    return processes


def _listed(pid: int) -> list[int]:
    """Return the children of a process, as listed for its threads."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                children += map(int, (thread / CHILDREN).read_text(encoding="ascii").split())
    return children


def _searched() -> Callable[[int], list[int]]:
    """Return a function like `_listed`, for kernels without lists of children."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for pid, parent in _parents():
        below[parent].append(pid)
    return below.__getitem__


def _parents() -> Iterator[tuple[int, int]]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
            yield int(process.name), int(stat.rpartition(")")[2].split()[1])


class KeptOutput:
    """Keeps the start and the end of a stream of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def add(self, data: bytes) -> None:
        """Add data to the end."""
        self._size += len(data)
        room = HEAD - len(self._head)
        self._head += data[: max(0, room)]
        self._tail += data[max(0, room) :]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def text(self) -> str:
        """Return the kept text, with the number of bytes left out."""
        tail = self._tail[-TAIL:]
        left = self._size - len(self._head) - len(tail)
        gap = f"\n… {left:,} bytes left out …\n" if left else ""
        head, end = (part.decode("utf-8", "replace") for part in (self._head, tail))
        return writable(head + gap + end)


class ProcessHost(NamedTuple):
    """Starts an agent for each sample; a `Host` of `external/session.py`.

    Attributes:
        command: the program and its arguments; `{mcp_config}` and `{prompt}` are replaced.
        room: its sandbox.
        secrets: values of environment variables by name, which are masked in its stored output.
    """

    command: tuple[str, ...]
    room: AgentSandbox
    secrets: Mapping[str, str]

    @property
    def confined(self) -> bool:
        """Whether the agent is isolated from the data."""
        return self.room.confined

    async def attend(self, desk: McpSession) -> StopReason:
        """Start an agent and serve it until it ends.

        Raises:
            ModelError: the agent called no tool, and failed or never connected to the server.
        """
        async with ToolServer(desk, new_key()) as endpoint:
            with self._scratch() as scratch:
                left = await self._live(desk, scratch, endpoint)
        if left.exit_code is not None and not desk.calls and (left.exit_code or not desk.met):
            raise ModelError(_why(left, self.command[0]))
        return StopReason.MODEL_STOPPED

    @contextlib.contextmanager
    def _scratch(self) -> Generator[str]:
        """Yield the agent's working folder: in its sandbox, or else a temporary one."""
        if self.confined:
            yield SCRATCH
            return
        with tempfile.TemporaryDirectory(
            prefix="harness-agent-", ignore_cleanup_errors=True
        ) as folder:
            yield folder

    async def _live(self, desk: McpSession, scratch: str, endpoint: ToolServer) -> AgentLeft:
        """Run the agent to its end, even if an exception is raised meanwhile."""
        values = {"mcp_config": f"{scratch}/{CONFIG}", "prompt": desk.prompt}
        config = self.room.configuration(
            [_PLACES.sub(lambda place: values[place[1]], word) for word in self.command],
            scratch,
            {CONFIG: json.dumps(endpoint.mcp_config())},
        )
        config["env"][CONFIG_OF_AGENT] = values["mcp_config"]
        if len(desk.prompt.encode()) < LONGEST_VARIABLE:
            config["env"][TASK_OF_AGENT] = desk.prompt
        streams, left = (KeptOutput(), KeptOutput()), AgentLeft()
        with handed_over(config) as descriptor:
            process = await asyncio.create_subprocess_exec(
                *helper(descriptor),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=[descriptor],
                start_new_session=True,
                env={},
                cwd="/",
            )
        readers = [
            asyncio.create_task(_keep(stream, kept))
            for stream, kept in zip((process.stdout, process.stderr), streams, strict=True)
        ]
        exit_code: int | None = None
        try:
            exit_code = await self._left_by_itself(process, desk)
        finally:
            try:
                await self._end(process, readers)
            finally:
                stdout, stderr = (self._redacted(kept.text()) for kept in streams)
                left = AgentLeft(
                    confined=self.confined,
                    exit_code=exit_code,
                    stdout=stdout,
                    stderr=stderr,
                )
                desk.left(left)
        return left

    async def _left_by_itself(
        self, process: asyncio.subprocess.Process, desk: McpSession
    ) -> int | None:
        """Wait until the agent exits or its sample ends; return the exit code, if any.

        An agent over its memory limit gets no time to exit.
        """
        gone = asyncio.create_task(process.wait())
        full = asyncio.create_task(_use_too_much(process.pid, self.room.memory_bytes))
        try:
            await asyncio.wait({gone, full, desk.ended}, return_when=_FIRST)
            if full.done() and not gone.done():
                desk.end(StopReason.MEMORY_LIMIT)
            elif not gone.done():
                await asyncio.wait({gone, full}, timeout=GRACE_S, return_when=_FIRST)
        finally:
            gone.cancel()
            full.cancel()
        return process.returncode

    async def _end(
        self, process: asyncio.subprocess.Process, readers: Sequence[asyncio.Task[None]]
    ) -> None:
        """Kill the agent and all its processes."""
        gone = asyncio.create_task(process.wait())
        try:
            if process.returncode is None:
                # A namespace ends with its first process; without one the helper kills the rest.
                process.kill() if self.confined else process.terminate()
                await asyncio.wait({gone}, timeout=ENDING_S)
            await asyncio.wait(readers, timeout=ENDING_S)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            for task in (*readers, gone):
                task.cancel()

    def _redacted(self, text: str) -> str:
        for name, value in self.secrets.items():
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"[{name}]")
        return text


async def _use_too_much(root: int, most: int | None) -> None:
    """Wait until a process and its descendants exceed their memory limit."""
    while most is None or tree_bytes(root) <= most:  # noqa: ASYNC110 - Linux signals no change
        await asyncio.sleep(SAMPLE_S)


async def _keep(stream: asyncio.StreamReader | None, kept: KeptOutput) -> None:
    assert stream is not None
    while data := await stream.read(CHUNK):
        kept.add(data)


def _why(left: AgentLeft, program: str) -> str:
    """Return why an agent called no tool."""
    output = " ".join((left.stderr or left.stdout).split())[-LAST_WORDS:]
    if left.exit_code:
        return f"the agent ended with exit code {left.exit_code} and called no tool: {output}"
    return (
        f"the agent never reached the tools: does {program} read the file that {{mcp_config}} "
        f"stands for? {output}"
    ).strip()
