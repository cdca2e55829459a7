"""Prepare a run with an external agent: its sandbox and the hidden files."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from harness.agent.strategies.external_names import STARTED
from harness.cache import cache_folder
from harness.features.external import mode
from harness.features.external.agent_sandbox import (
    AgentSandbox,
    checked_shows,
    environment_for,
    own_data,
    probe,
)
from harness.features.external.mode import command_of, is_confined, memory_of
from harness.features.external.session import External
from harness.run.plan.plan import Plan
from harness.run.store.directory import MANIFEST
from harness.sources.benchmarks import parse_spec
from harness.sources.files.lines import expand

RUNS = "runs"


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
    if spec.mode != STARTED:
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
            if (each / MANIFEST).is_file():
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
        found = expand(where)
    except Exception:  # noqa: BLE001 - a name on the hub, not a path
        return
    for file in found:
        if file.exists():
            yield file.absolute()
            yield file.resolve()


class ExternalMode:
    """The modes `external` and `mcp`; satisfies `harness.run.engine.extensions.AgentMode`."""

    check = staticmethod(mode.check_external)
    model_name = staticmethod(mode.agent_name)
    facts = staticmethod(mode.agent_facts)
    notice = staticmethod(mode.told_of)
    limits = staticmethod(mode.limits_of)
    with_agents = staticmethod(with_agents)


MODE = ExternalMode()
