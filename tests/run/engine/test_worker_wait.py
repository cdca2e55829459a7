"""Waiting for a sandbox worker is none of a sample's working seconds."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from harness.agent.events import Resumed, Retried, ToolResult
from harness.models.protocol import ModelStop, ModelTurn, ToolCall
from harness.models.scripted import ScriptedModel
from harness.run.engine.engine import Engine
from harness.run.engine.manifest import manifest
from harness.run.observer import Failure
from harness.run.plan.plan import prepare
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.store.transcript import read_events
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import strongest
from harness.sandbox.worker import Worker

T = TypeVar("T")
HOUR_S = 3_600.0


class Crowded:
    """A pool that says an hour passed before it had a worker free; none did."""

    size = 1

    def __init__(self, pool: SandboxPool) -> None:
        self._pool = pool

    async def call(
        self,
        work: Callable[[Worker], T],
        *,
        urgent: bool = False,
        queued: Callable[[float], None] | None = None,
    ) -> T:
        if queued is not None:
            queued(HOUR_S)
        return await self._pool.call(work, urgent=urgent)


class Silent:
    def started(self, sample: str) -> None: ...
    def finished(self, result: SampleResult) -> None: ...
    def failed(self, failure: Failure) -> None: ...
    def put_off(self, sample: str) -> None: ...
    def resumed(self, sample: str, event: Resumed) -> None: ...
    def retried(self, sample: str, retry: Retried) -> None: ...


def turn(name: str, arguments: str = "{}") -> ModelTurn:
    call = ToolCall(id=name, name=name, arguments=arguments)
    return ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))


@pytest.mark.thorough
async def test_waiting_for_a_worker_is_not_part_of_a_tool_call_s_seconds(tmp_path: Path) -> None:
    spec = RunSpec(mode="agentic", sample_size=1, model="gpt-none", sample_timeout=HOUR_S)
    plan = prepare(spec, {"OPENAI_API_KEY": "none"})
    script = [turn("write_solution", '{"code": "print(0)"}'), turn("run_tests"), "Done."]
    plan = replace(plan, model=ScriptedModel(script))
    directory = RunDirectory.create(tmp_path / "r", manifest(plan, strongest()))
    async with SandboxPool(workers=1) as pool:
        await Engine(plan, directory, Crowded(pool), Silent()).run(plan.samples)
    directory.close()
    (path,) = (tmp_path / "r" / "transcripts").iterdir()
    written, tested = (each for each in read_events(path) if isinstance(each, ToolResult))
    assert written.seconds >= 0
    assert -HOUR_S < tested.seconds < 0, "wall seconds of the call, less the hour"
