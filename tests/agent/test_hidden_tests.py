"""What a strategy, a model or a tool can reach holds no hidden test and no reference solution."""

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType, FunctionType, ModuleType

import pytest
from json_lines import json_lines
from scripted import ScriptedModel, read, run, turn, write

from harness.agent.attempt import Attempt, StopReason
from harness.agent.events import Resumed, Retried
from harness.agent.journal import Journal
from harness.agent.session import Session
from harness.features.external.session import External, McpSession
from harness.problem import Problem, TestSuite
from harness.run.engine.engine import Engine
from harness.run.engine.manifest import manifest
from harness.run.observer import Failure
from harness.run.plan.plan import Plan, prepare
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import strongest
from harness.tools.mcp_server import server_of

MARKER = "48151623420815"
RIGHT = "print(input())\n"

# What every Python code can reach anyway, and what belongs to no one.
BOUNDARIES = (ModuleType, type, FrameType, asyncio.AbstractEventLoop, asyncio.Task)


def reachable(root: object) -> Iterator[object]:
    """All that is reachable from an object through attributes, items, closures and bound selves."""
    seen, ahead = {id(root)}, [root]
    while ahead:
        thing = ahead.pop()
        yield thing
        for held in _held(thing):
            if id(held) not in seen and not isinstance(held, BOUNDARIES):
                seen.add(id(held))
                ahead.append(held)


def _held(thing: object) -> list[object]:
    if isinstance(thing, FunctionType):  # all but its module's globals
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [*cells, thing.__defaults__, thing.__kwdefaults__, thing.__dict__]
    return gc.get_referents(thing)


def secrets(root: object) -> list[object]:
    return [
        thing
        for thing in reachable(root)
        if isinstance(thing, Problem | TestSuite)
        or (isinstance(thing, str) and MARKER in thing)
        or (isinstance(thing, bytes) and MARKER.encode() in thing)
    ]


class Silent:
    """An observer with nothing to say."""

    def started(self, sample: str) -> None: ...
    def finished(self, result: SampleResult) -> None: ...
    def failed(self, failure: Failure) -> None: ...
    def resumed(self, sample: str, event: Resumed) -> None: ...
    def retried(self, sample: str, retry: Retried) -> None: ...


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A run of two problems whose hidden tests and references carry the marker."""
    rows = [
        {
            "id": name,
            "statement": "Print the line.",
            "tests": [
                {"input": "1\n", "output": "1\n", "public": True},
                {"input": f"{MARKER}\n", "output": f"{MARKER}\n", "public": False},
            ],
            "references": [f"print(input())  # {MARKER}\n"],
        }
        for name in ("first", "second")
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text(json_lines(rows))
    spec = RunSpec(benchmark=f"jsonl:{path}", mode="agentic", concurrency=1, model="gpt-none")
    plan = prepare(spec, {"OPENAI_API_KEY": "none"})
    turns = [turn(read()), turn(write(RIGHT), run())]
    return replace(plan, model=ScriptedModel(*turns, *turns))


async def watched_run(
    plan: Plan, pool: SandboxPool, path: Path, look: Callable[[Engine, Session], None]
) -> list[SampleResult]:
    """Run a plan through the real engine; `look` is called before and after each sample.

    One sample after the other: what another is being graded on stands in the pool's queue.
    """
    agentic = plan.strategy

    async def strategy(session: Session) -> Attempt:
        look(engine, session)
        attempt = await agentic(session)
        look(engine, session)
        return attempt

    watched = replace(plan, strategy=strategy)
    directory = RunDirectory.create(path, manifest(watched, strongest()))
    engine = Engine(watched, directory, pool, Silent())
    try:
        for sample in plan.samples:
            assert await engine.run([sample]) == []
    finally:
        directory.close()
    return directory.committed()


async def test_a_session_of_the_engine_reaches_no_secret(
    plan: Plan, pool: SandboxPool, tmp_path: Path
) -> None:
    leaks: list[object] = []

    def look(engine: Engine, session: Session) -> None:
        del engine
        leaks.extend(secrets(session))
        leaks.extend(secrets(session.toolbox))

    results = await watched_run(plan, pool, tmp_path / "run", look)
    assert leaks == []
    assert [(r.solved, r.hidden_passed) for r in results] == [(True, 1), (True, 1)]


async def test_the_search_for_hidden_tests_finds_planted_ones(
    plan: Plan, pool: SandboxPool, tmp_path: Path
) -> None:
    counts: list[int] = []

    def look(engine: Engine, session: Session) -> None:
        holder = replace(session, journal=Journal(lambda _event: engine.stop()))
        counts.append(len(secrets(holder)))

    await watched_run(plan, pool, tmp_path / "run", look)
    assert len(counts) == 4
    assert all(counts)


async def test_what_serves_an_agent_of_ones_own_reaches_no_secret(
    plan: Plan, pool: SandboxPool, tmp_path: Path
) -> None:
    leaks: list[object] = []

    class Looking:
        confined = True

        async def attend(self, desk: McpSession) -> StopReason:
            server = server_of(desk.specs, desk.call, instructions=desk.prompt, met=desk.meet)
            await desk.call("read_problem", "{}")
            await desk.call("write_solution", json.dumps({"code": RIGHT}))
            await desk.call("run_tests", "{}")
            leaks.extend(secrets(server))
            leaks.extend(secrets(desk))
            return StopReason.MODEL_STOPPED

    alone = replace(plan, strategy=External(Looking()))
    results = await watched_run(alone, pool, tmp_path / "run", lambda _engine, _session: None)
    assert leaks == []
    assert [(r.solved, r.tool_calls) for r in results] == [(True, 3), (True, 3)]


def test_a_view_reaches_no_secret(plan: Plan) -> None:
    for problem in plan.problems:
        assert secrets(problem)
        assert secrets(problem.view()) == []


async def test_requests_hold_no_hidden_test(plan: Plan, pool: SandboxPool, tmp_path: Path) -> None:
    await watched_run(plan, pool, tmp_path / "run", lambda _engine, _session: None)
    assert isinstance(plan.model, ScriptedModel)
    assert MARKER not in repr(plan.model.sent)
