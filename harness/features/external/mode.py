"""Settings of runs with a user's own agent: checks, limits, notices."""

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from harness.agent.strategies.external_names import COMES, EXTERNAL, STARTED
from harness.errors import UsageError
from harness.models.providers import AGENT_PREFIX

if TYPE_CHECKING:
    from harness.run.spec.spec import RunSpec

SECONDS = 1_800.0
"""Of a sample, where none are said: an agent that hangs must not hang the run."""
TOOL_CALLS = 200
"""Of a sample, where none are said: each stands in its transcript."""
MEMORY = 4_096
"""MiB of an agent and all that it starts, where none are said."""
CLIENT = "mcp-client"


def check_external(spec: "RunSpec") -> None:
    """Refuse what makes no sense with an agent of one's own, or without one.

    Raises:
        UsageError: says what to leave out, or to give.
    """
    if spec.mode not in EXTERNAL:
        return
    if spec.mode == STARTED:
        command_of(spec)
    if spec.executor != "local":
        raise UsageError("--executor: agents of your own run on this machine; leave it out")


def command_of(spec: "RunSpec") -> tuple[str, ...]:
    """The words of the agent's command line.

    Raises:
        UsageError: there is none, or its quotes do not match.
    """
    try:
        words = tuple(shlex.split(spec.agent_command or ""))
    except ValueError as error:
        raise UsageError(f"--agent-command: {str(error).lower()}") from error
    if not words:
        raise UsageError(f"--mode {STARTED} needs the agent: give --agent-command 'PROGRAM …'")
    return words


def agent_name(spec: "RunSpec") -> str:
    """What results are filed under: what `-m` says of the agent, or its program's name."""
    if spec.model is not None:
        return AGENT_PREFIX + spec.model.removeprefix(AGENT_PREFIX)
    return AGENT_PREFIX + (PurePath(command_of(spec)[0]).name if spec.mode == STARTED else CLIENT)


def agent_facts(spec: "RunSpec") -> dict[str, Any]:
    """What `run.json` says of the agent; nothing where there is none."""
    if spec.mode not in EXTERNAL:
        return {}
    command = list(command_of(spec)) if spec.mode == STARTED else None
    limits: dict[str, Any] = {"seconds": seconds_of(spec), "tool_calls": tool_calls_of(spec)}
    if spec.mode == STARTED:
        limits["memory_mib"] = memory_of(spec)
    return {"agent": {"command": command, "confined": is_confined(spec), "limits": limits}}


def seconds_of(spec: "RunSpec") -> float | None:
    """The working seconds of a sample; None for no limit."""
    return spec.sample_timeout or (SECONDS if spec.mode == STARTED else None)


def tool_calls_of(spec: "RunSpec") -> int | None:
    """The tool calls of a sample; None for no limit."""
    return spec.max_tool_calls or (TOOL_CALLS if spec.mode in EXTERNAL else None)


def memory_of(spec: "RunSpec") -> int:
    """Return the MiB that an agent and all that it starts may use."""
    return spec.agent_memory or MEMORY


def told_of(spec: "RunSpec") -> str:
    """What is said of the agent before it begins; nothing where there is none."""
    if spec.mode not in EXTERNAL:
        return ""
    if spec.mode == COMES:
        return "a client of yours is the agent; it sees whatever it can, and the results say so"
    kept = "kept from the data" if is_confined(spec) else "NOT kept from the data"
    program = command_of(spec)[0]
    return f"an agent of yours for each sample, {kept}: {program}; what it asks is for you to pay"


def is_confined(spec: "RunSpec") -> bool:
    """Whether agents of the run are kept from the data."""
    return spec.mode == STARTED and not spec.agent_without_namespace
