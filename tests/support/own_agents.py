"""Agents of one's own as programs: what they are started with, and what came of them."""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.agent.attempt import Attempt
from harness.agent.events import AgentLeft, Event, Response, ToolResult
from harness.features.external.agent_sandbox import AgentSandbox, environment_for
from harness.features.external.process import ProcessHost
from harness.sandbox.file_view import interpreter

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Agents:
    """The test agents, where whoever is confined can be shown them.

    Attributes:
        folder: where they are.
        shows: what a room has to show them.
    """

    folder: Path
    shows: tuple[str, ...]

    def command(self, name: str, *arguments: str) -> tuple[str, ...]:
        """The command line of one."""
        return (interpreter(), "-E", "-s", str(self.folder / name), *arguments)

    def line(self, name: str, *arguments: str) -> str:
        """The same as one text."""
        return " ".join(self.command(name, *arguments))

    def host(
        self,
        *steps: str,
        confined: bool = True,
        name: str = "acts.py",
        memory_bytes: int | None = None,
    ) -> ProcessHost:
        """A host of one that takes these steps."""
        env = environment_for(ENVIRONMENT, ())
        shows = self.shows if confined else ()
        room = AgentSandbox(confined=confined, shows=shows, env=env, memory_bytes=memory_bytes)
        return ProcessHost(self.command(name, *steps), room, {})


@dataclass(frozen=True, slots=True)
class Attended:
    """What came of a sample."""

    attempt: Attempt
    events: Sequence[Event]

    @property
    def calls(self) -> list[str]:
        """The tools that were called."""
        turns = [event.response for event in self.events if isinstance(event, Response)]
        return [call.name for turn in turns for call in turn.tool_calls]

    @property
    def results(self) -> list[str]:
        """What they said."""
        return [event.result.content for event in self.events if isinstance(event, ToolResult)]

    @property
    def left(self) -> AgentLeft:
        """How the agent left, which is told once."""
        (event,) = [event for event in self.events if isinstance(event, AgentLeft)]
        return event


Attend = Callable[..., Awaitable[Attended]]


def alive(*words: str) -> list[str]:
    """The command lines of processes that hold all these words; a dying one is none."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if all(word in line for word in words) and state != "Z" and int(path.name) != os.getpid():
            found.append(line)
    return found
