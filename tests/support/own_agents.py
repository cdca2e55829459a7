"""A user's own agents as programs: their command lines, and results."""

import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.agent.attempt import Attempt
from harness.agent.events import AgentLeft, Event, Response, ToolResult
from harness.features.external.agent_sandbox import AgentSandbox, environment_for
from harness.features.external.process import ProcessHost
from harness.sandbox.launch import interpreter

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
PATIENCE_S = 30.0  # less than the minute that the test agents sleep


@dataclass(frozen=True, slots=True)
class Agents:
    """The test agents, visible to confined ones too.

    Attributes:
        folder: folder of the agents.
        shows: paths that a sandbox must show them.
    """

    folder: Path
    shows: tuple[str, ...]

    def command(self, name: str, *arguments: str) -> tuple[str, ...]:
        """Return the command line of an agent."""
        return (interpreter(), "-E", "-s", str(self.folder / name), *arguments)

    def line(self, name: str, *arguments: str) -> str:
        """Return the command line of an agent as one text."""
        return " ".join(self.command(name, *arguments))

    def host(
        self,
        *steps: str,
        confined: bool = True,
        name: str = "acts.py",
        memory_bytes: int | None = None,
    ) -> ProcessHost:
        """Return the host of an agent that takes these steps."""
        env = environment_for(ENVIRONMENT, ())
        shows = self.shows if confined else ()
        room = AgentSandbox(confined=confined, shows=shows, env=env, memory_bytes=memory_bytes)
        return ProcessHost(self.command(name, *steps), room, {})


@dataclass(frozen=True, slots=True)
class Attended:
    """Result of a sample."""

    attempt: Attempt
    events: Sequence[Event]

    @property
    def calls(self) -> list[str]:
        """Names of the tools that were called."""
        turns = [event.response for event in self.events if isinstance(event, Response)]
        return [call.name for turn in turns for call in turn.tool_calls]

    @property
    def results(self) -> list[str]:
        """Results of the tool calls."""
        return [event.result.content for event in self.events if isinstance(event, ToolResult)]

    @property
    def left(self) -> AgentLeft:
        """The single event of the agent's end."""
        (event,) = [event for event in self.events if isinstance(event, AgentLeft)]
        return event


Attend = Callable[..., Awaitable[Attended]]


def long_while() -> int:
    """Seconds for a process to sleep, by which no other test's process goes."""
    return 10**6 + secrets.randbelow(10**9)


def alive(*words: str) -> list[str]:
    """Return the command lines of live processes that contain all these words."""
    command_lines: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if all(word in line for word in words) and state != "Z" and int(path.name) != os.getpid():
            command_lines.append(line)
    return command_lines


def ends(*words: str) -> bool:
    """Return whether all processes whose command lines contain these words end soon."""
    end = time.monotonic() + PATIENCE_S
    while alive(*words) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(*words)
