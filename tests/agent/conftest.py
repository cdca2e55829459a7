"""A problem, a real sandbox, and a way to let a scripted model loose on them."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from harness.agent.attempt import Gate, Limits, Session, Strategy, StrategyOptions
from harness.agent.events import Event
from harness.agent.journal import Journal
from harness.agent.strategies.strategies import STRATEGIES
from harness.agent.templates.prompt_set import load_prompt
from harness.agent.written_tests import WrittenTestRunner
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.models.protocol import Model, ModelSettings
from harness.problem import ProblemView
from harness.sandbox.execution import Execution
from harness.sandbox.limits import Limits as TestLimits
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Program
from harness.tools.read_problem import ReadProblem
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace
from harness.tools.write_solution import WriteSolution

sys.path.append(str(Path(__file__).parent))

from scripted import Listening, Played, ScriptedModel, Sent, Step

TOOLBOX = Toolbox((ReadProblem(), WriteSolution(), RunTests()))
PLAIN = ModelSettings()
BOUNDS = TestLimits(cpu_s=2.0, own_wall_s=60.0)  # on a machine with more to do
UNHURRIED = Limits()
USUAL = StrategyOptions()


@pytest.fixture(scope="session")
def pool() -> Iterator[SandboxPool]:
    pool = SandboxPool(workers=1)
    loop = asyncio.new_event_loop()  # its worker starts now, and not within a test's time limit
    loop.run_until_complete(pool.call(lambda worker: worker.run(Program(""), [b""], BOUNDS)))
    loop.close()
    yield pool
    pool.close()


@pytest.fixture
def play(pool: SandboxPool, problem: ProblemView) -> Callable[..., Awaitable[Played]]:
    """Plays a script through a strategy: real tools, real sandbox, real judge.

    `through` puts something between the strategy and the script, or in the script's place;
    `judged` keeps verdicts, so that no program is judged twice on one problem.
    """

    async def play(
        *script: Step,
        mode: str | Strategy = "agentic",
        prompt: str = "default",
        limits: Limits = UNHURRIED,
        settings: ModelSettings = PLAIN,
        toolbox: Toolbox = TOOLBOX,
        view: ProblemView = problem,
        through: Callable[[Model], Model] = lambda model: model,
        options: StrategyOptions = USUAL,
        recorded: Sequence[Event] = (),
        earlier: str | None = None,
        gate: Gate | None = None,
        judged: dict[tuple[str, str], Grade] | None = None,
    ) -> Played:
        async def run_public_tests(code: str) -> Grade:
            if judged is None:
                return await judge_anew(code)
            if (view.id, code) not in judged:
                judged[view.id, code] = await judge_anew(code)
            return judged[view.id, code]

        async def judge_anew(code: str) -> Grade:
            program = Program(code, view.preamble, view.entry_point, view.signature)
            task = Task(program, view.public_tests, BOUNDS)
            return await pool.call(lambda worker: judge(worker, task))

        async def run_code(code: str, stdin: str) -> Execution:
            program, data = Program(code, view.preamble), stdin.encode()
            return await pool.call(lambda worker: worker.run(program, [data], BOUNDS)[0])

        model, events, heard = ScriptedModel(*script), list[Event](), list[Sent]()
        warned: list[tuple[str, str]] = []
        workspace = Workspace(view, run_public_tests, 2.0, run_code=run_code)
        asked = Task(Program(""), (), BOUNDS)
        workspace.written_tests = WrittenTestRunner(view, asked, pool, workspace)
        session = Session(
            problem=view,
            model=Listening(through(model), heard),
            settings=settings,
            prompt=load_prompt(prompt, mode if isinstance(mode, str) else "agentic"),
            toolbox=toolbox,
            workspace=workspace,
            limits=limits,
            journal=Journal(events.append, recorded),
            options=options,
            earlier=earlier,
            gate=gate or Gate(),
            warn=lambda kind, line: warned.append((kind, line)),
        )
        strategy = mode if callable(mode) else STRATEGIES[mode]
        return Played(await strategy(session), model, events, workspace, heard, warned)

    return play
