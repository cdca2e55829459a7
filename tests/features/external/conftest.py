"""Agents of one's own as programs, and a sample to let them loose on."""

import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
from open_gate import OpenGate
from own_agents import Agents, Attend, Attended

from harness.agent.attempt import Limits
from harness.agent.events import Event
from harness.agent.journal import Journal
from harness.agent.session import Session
from harness.agent.templates.prompt_set import load_prompt
from harness.features.external.agent_sandbox import RoomError, probe
from harness.features.external.session import External, Host
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.models.protocol import ModelSettings
from harness.models.unasked import UnaskedModel
from harness.problem import ProblemView
from harness.sandbox.limits import Limits as TestLimits
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Program
from harness.tools.read_problem import ReadProblem
from harness.tools.run_tests import RunTests
from harness.tools.submit import Submit
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace
from harness.tools.write_solution import WriteSolution

BOUNDS = TestLimits(cpu_s=2.0)
UNHURRIED = Limits(turns=0, tool_calls=50)


@pytest.fixture(scope="session")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Agents:
    folder = tmp_path_factory.mktemp("agents")
    for path in (Path(__file__).parent / "agents").glob("*.py"):
        shutil.copy(path, folder)
    folder.chmod(0o755)
    return Agents(folder, (str(folder), str(Path(sys.base_prefix).resolve())))


@pytest.fixture(scope="session")
def namespaces(agents: Agents) -> None:
    """For tests that need rooms; where none can be made they are skipped."""
    try:
        probe(agents.host().room, agents.command("acts.py"))
    except RoomError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def pool() -> Iterator[SandboxPool]:
    pool = SandboxPool(workers=1)
    yield pool
    pool.close()


@pytest.fixture
def attend(pool: SandboxPool, problem: ProblemView) -> Attend:
    """Lets a host's agent work on the problem: real tools, real sandbox, real judge."""

    async def attend(
        host: Host,
        limits: Limits = UNHURRIED,
        *,
        recorded: Sequence[Event] = (),
        events: list[Event] | None = None,
        submit: bool = False,
        before_tests: Callable[[], Awaitable[None]] | None = None,
    ) -> Attended:
        async def run_public_tests(code: str) -> Grade:
            if before_tests is not None:
                await before_tests()
            task = Task(Program(code), problem.public_tests, BOUNDS)
            return await pool.call(lambda worker: judge(worker, task))

        events = [] if events is None else events
        tools = (ReadProblem(), WriteSolution(), RunTests(), *([Submit()] * submit))
        prompt = load_prompt("default", "agentic")
        session = Session(
            problem=problem,
            model=UnaskedModel("agent:test"),
            settings=ModelSettings(),
            prompt=prompt,
            toolbox=Toolbox(tools, prompt),
            workspace=Workspace(problem, prompt, run_public_tests, 2.0),
            limits=limits,
            journal=Journal(events.append, recorded),
            gate=OpenGate(),
        )
        if recorded:
            session.journal(recorded[0])
        return Attended(await External(host)(session), events)

    return attend
