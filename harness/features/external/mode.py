"""Settings of runs with an external agent: checks, limits, notices."""

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from harness.agent.strategies.external_names import COMES, EXTERNAL, STARTED
from harness.errors import UsageError
from harness.models.providers import AGENT_PREFIX

if TYPE_CHECKING:
    from harness.run.spec.spec import RunSpec

SECONDS = 1_800.0
"""Default time limit of a sample in seconds, in case an agent hangs."""
TOOL_CALLS = 200
"""Default limit of tool calls in a sample; each is stored in the transcript."""
MEMORY = 4_096
"""Default memory limit in MiB of an agent and all its child processes."""
CLIENT = "mcp-client"


def check_external(spec: "RunSpec") -> None:
    """Refuse settings that cannot be combined with an external agent.

    Raises:
        UsageError: a setting is missing or not allowed; the message states which.
    """
    if spec.mode not in EXTERNAL:
        return
    if spec.mode == STARTED:
        command_of(spec)
    if spec.executor != "local":
        raise UsageError("--executor: agents of your own run on this machine; leave it out")


def command_of(spec: "RunSpec") -> tuple[str, ...]:
    """Return the words of the agent's command line.

    Raises:
        UsageError: the command is missing, or its quotes do not match.
    """
    try:
        words = tuple(shlex.split(spec.agent_command or ""))
    except ValueError as error:
        raise UsageError(f"--agent-command: {str(error).lower()}") from error
    if not words:
        raise UsageError(f"--mode {STARTED} needs the agent: give --agent-command 'PROGRAM …'")
    return words


def agent_name(spec: "RunSpec") -> str:
    """Return the agent's name in the results, from `-m` or its program."""
    if spec.model is not None:
        return AGENT_PREFIX + spec.model.removeprefix(AGENT_PREFIX)
    return AGENT_PREFIX + (PurePath(command_of(spec)[0]).name if spec.mode == STARTED else CLIENT)


def agent_facts(spec: "RunSpec") -> dict[str, Any]:
    """Return the agent's entry in `run.json`; empty without an external agent."""
    if spec.mode not in EXTERNAL:
        return {}
    command = list(command_of(spec)) if spec.mode == STARTED else None
    limits: dict[str, Any] = {"seconds": seconds_of(spec), "tool_calls": tool_calls_of(spec)}
    if spec.mode == STARTED:
        limits["memory_mib"] = memory_of(spec)
    return {"agent": {"command": command, "confined": is_confined(spec), "limits": limits}}


def seconds_of(spec: "RunSpec") -> float | None:
    """Return the time limit of a sample in seconds; None for no limit."""
    return spec.sample_timeout or (SECONDS if spec.mode == STARTED else None)


def tool_calls_of(spec: "RunSpec") -> int | None:
    """Return the limit of tool calls in a sample; None for no limit."""
    return spec.max_tool_calls or (TOOL_CALLS if spec.mode in EXTERNAL else None)


def memory_of(spec: "RunSpec") -> int:
    """Return the memory limit in MiB of an agent and all its child processes."""
    return spec.agent_memory or MEMORY


def told_of(spec: "RunSpec") -> str:
    """Return the notice shown before the run starts; empty without an external agent."""
    if spec.mode not in EXTERNAL:
        return ""
    if spec.mode == COMES:
        return (
            "the agent is your MCP client; it is not isolated from hidden tests, "
            "and the results say so"
        )
    kept = "isolated from hidden tests" if is_confined(spec) else "NOT isolated from hidden tests"
    program = command_of(spec)[0]
    return f"starts {program} for each sample, {kept}; costs of its own model are not counted"


def is_confined(spec: "RunSpec") -> bool:
    """Return whether the run's agents are isolated from the data."""
    return spec.mode == STARTED and not spec.agent_without_namespace


def limits_of(spec: "RunSpec") -> tuple[int | None, float | None]:
    """Return the limits of tool calls and seconds of a sample; None for no limit."""
    return tool_calls_of(spec), seconds_of(spec)
