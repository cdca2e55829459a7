"""Runs with an external agent: checks, limits, notices, its sandbox and the hidden files."""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from harness.cache import cache_folder
from harness.errors import UsageError
from harness.features.external.agent_sandbox import (
    AgentSandbox,
    checked_shows,
    environment_for,
    own_data,
    probe,
)
from harness.features.external.modes import EXTERNAL, MCP
from harness.features.external.session import External
from harness.models.providers import AGENT_PREFIX
from harness.run.plan.plan import Plan
from harness.run.store.directory import MANIFEST
from harness.sources.benchmarks import parse_spec
from harness.sources.files.paths import expand

if TYPE_CHECKING:
    from harness.run.settings.spec import RunSpec


SECONDS = 1_800.0
"""Default time limit of a sample in seconds, in case an agent hangs."""
TOOL_CALLS = 200
"""Default limit of tool calls in a sample; each is stored in the transcript."""
MEMORY = 4_096
"""Default memory limit in MiB of an agent and all its child processes."""
CLIENT = "mcp-client"
RUNS = "runs"


def check_external(spec: "RunSpec") -> None:
    """Refuse settings that cannot be combined with an external agent.

    Raises:
        UsageError: a setting is missing or not allowed; the message states which.
    """
    if spec.known_mode.asks:
        return
    if spec.mode == EXTERNAL.name:
        command_of(spec)
    if spec.executor != "local":
        raise UsageError("--set executor: agents of your own run on this machine; leave it out")


def command_of(spec: "RunSpec") -> tuple[str, ...]:
    """Return the words of the agent's command line.

    Raises:
        UsageError: the command is missing, or its quotes do not match.
    """
    try:
        command = tuple(shlex.split(spec.agent_command or ""))
    except ValueError as error:
        raise UsageError(f"--agent-command: {str(error).lower()}") from error
    if not command:
        raise UsageError(
            f"--mode {EXTERNAL.name} needs the agent: give --agent-command 'PROGRAM …'"
        )
    return command


def agent_name(spec: "RunSpec") -> str:
    """Return the agent's name in the results, from `-m` or its program."""
    if spec.model is not None:
        return AGENT_PREFIX + spec.model.removeprefix(AGENT_PREFIX)
    return AGENT_PREFIX + (
        PurePath(command_of(spec)[0]).name if spec.mode == EXTERNAL.name else CLIENT
    )


def agent_facts(spec: "RunSpec") -> dict[str, Any]:
    """Return the agent's entry in `run.json`; empty without an external agent."""
    if spec.known_mode.asks:
        return {}
    command = list(command_of(spec)) if spec.mode == EXTERNAL.name else None
    tool_calls, seconds = limits_of(spec)
    limits: dict[str, Any] = {"seconds": seconds, "tool_calls": tool_calls}
    if spec.mode == EXTERNAL.name:
        limits["memory_mib"] = memory_of(spec)
    return {"agent": {"command": command, "confined": is_confined(spec), "limits": limits}}


def memory_of(spec: "RunSpec") -> int:
    """Return the memory limit in MiB of an agent and all its child processes."""
    return spec.agent_memory or MEMORY


def told_of(spec: "RunSpec") -> str:
    """Return the notice shown before the run starts; empty without an external agent."""
    if spec.known_mode.asks:
        return ""
    if spec.mode == MCP.name:
        return (
            "the agent is your MCP client; it is not isolated from hidden tests, "
            "and the results say so"
        )
    kept = "isolated from hidden tests" if is_confined(spec) else "NOT isolated from hidden tests"
    program = command_of(spec)[0]
    return f"starts {program} for each sample, {kept}; costs of its own model are not counted"


def is_confined(spec: "RunSpec") -> bool:
    """Return whether the run's agents are isolated from the data."""
    return spec.mode == EXTERNAL.name and not spec.agent_without_namespace


def limits_of(spec: "RunSpec") -> tuple[int | None, float | None]:
    """Return the limits of tool calls and seconds of a sample; None for no limit."""
    tool_calls = spec.max_tool_calls or (TOOL_CALLS if not spec.known_mode.asks else None)
    return tool_calls, spec.sample_timeout or (SECONDS if spec.mode == EXTERNAL.name else None)


def with_agents(plan: Plan, path: Path, environ: Mapping[str, str] = os.environ) -> Plan:
    """Return the plan with a strategy that starts agents; other plans are unchanged.

    Args:
        plan: the run's plan.
        path: the run directory, which need not exist yet.
        environ: environment variables; the agent gets a safe subset and those the spec names.

    Raises:
        UsageError: the agent's program, or a file or variable for it, does not exist.
        RoomError: the agent cannot be isolated from the data here.
    """
    spec = plan.spec
    if spec.mode != EXTERNAL.name:
        return plan
    hides = tuple(hidden(plan, path))
    from harness.features.external.process import ProcessHost

    confined = is_confined(spec)
    room = AgentSandbox(
        confined=confined,
        shows=checked_shows(spec.agent_read, hides) if confined else (),
        hides=hides if confined else (),
        env=environment_for(environ, spec.agent_env),
        memory_bytes=memory_of(spec) << 20,
    )
    first, *rest = command_of(spec)
    command = (str(Path(first).expanduser().absolute()) if "/" in first else first, *rest)
    probe(room, command)
    secrets = {name: environ[name] for name in spec.agent_env}
    return replace(plan, strategy=External(ProcessHost(command, room, secrets)))


def hidden(plan: Plan, path: Path) -> Iterator[str]:
    """Yield the paths of data of all runs and of the harness, existing or not."""
    yield from own_data()
    yield from (str(folder) for folder in _caches())
    yield from (str(file) for file in _problem_files(plan.spec.benchmark))
    path = path.resolve()
    yield str(path)
    yield str(Path(RUNS).resolve())
    if path.parent.is_dir():
        for each in path.parent.iterdir():
            if os.path.isfile(each / MANIFEST):  # noqa: PTH113 - False where we may not look
                yield str(each.resolve())
    if plan.spec.prompt and Path(plan.spec.prompt).is_dir():
        yield str(Path(plan.spec.prompt).resolve())


def _caches() -> Iterator[Path]:
    from huggingface_hub import constants

    names = ("HF_HOME", "HF_HUB_CACHE", "HF_ASSETS_CACHE", "HF_XET_CACHE")
    places = [Path(str(getattr(constants, name))) for name in names if hasattr(constants, name)]
    places.append(Path(os.environ.get("HF_DATASETS_CACHE", places[0] / "datasets")))
    places += [cache_folder(), Path("~/.cache/harness"), Path("~/.cache/huggingface")]
    for place in places:
        yield place.expanduser().resolve()


def _problem_files(benchmark: str | None) -> Iterator[Path]:
    """Yield problem files given by path; those of the hub are in its cache."""
    where = parse_spec(benchmark or "fixture").where
    if where is None:
        return
    try:
        files = expand(where)
    except Exception:  # noqa: BLE001 - a name on the hub, not a path
        return
    for file in files:
        if file.exists():
            yield file.absolute()
            yield file.resolve()


class ExternalAgent:
    """The user's own agent; satisfies `harness.run.plan.target.OwnAgent`."""

    check = staticmethod(check_external)
    model_name = staticmethod(agent_name)
    facts = staticmethod(agent_facts)
    notice = staticmethod(told_of)
    limits = staticmethod(limits_of)
    with_agents = staticmethod(with_agents)


AGENT = ExternalAgent()
