"""A problem, a real sandbox, and a way to let a scripted model loose on them."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from open_gate import OpenGate

from harness.agent.attempt import Limits
from harness.agent.events import Event
from harness.agent.journal import Journal
from harness.agent.session import Gate, Session, Strategy
from harness.agent.strategies.options import StrategyOptions
from harness.agent.strategies.strategies import find_strategy
from harness.agent.templates.prompt_set import PromptSet, load_prompt
from harness.agent.tool_use import ToolUse
from harness.agent.written_tests import WrittenTestRunner
from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.languages import PYTHON
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import ToolProtocol
from harness.problem import ProblemView
from harness.run.plan.problem_kinds import in_language, rules_for
from harness.sandbox.execution import Execution
from harness.sandbox.limits import Limits as TestLimits
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Program
from harness.tools.toolbox import Tool, Toolbox
from harness.tools.workspace import Workspace

sys.path.append(str(Path(__file__).parent))

from scripted import Listening, Played, ScriptedModel, Sent, Step

PLAIN = ModelSettings()
BOUNDS = TestLimits(cpu_s=2.0, own_wall_s=60.0)  # on a machine with more to do
QUICK_S = 0.5
UNHURRIED = Limits()
USUAL = StrategyOptions()
Judged = tuple[ProblemView, str, str]
"""A problem, a language and a program in it."""


@pytest.fixture(scope="session")
def pool() -> Iterator[SandboxPool]:
    pool = SandboxPool(workers=1)
    loop = asyncio.new_event_loop()  # its worker starts now, and not within a test's time limit
    loop.run_until_complete(pool.call(lambda worker: worker.run(Program(""), [b""], BOUNDS)))
    loop.close()
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def all_judged() -> dict[Judged, Grade]:
    """Grades of programs, each judged once for real; one that takes its time is judged again."""
    return {}


@pytest.fixture
def play(
    pool: SandboxPool, problem: ProblemView, all_judged: dict[Judged, Grade]
) -> Callable[..., Awaitable[Played]]:
    """Plays a script through a strategy: real tools, real sandbox, real judge.

    `through` puts something between the strategy and the script, or in the script's place;
    `judged` has the grades of programs that are not judged again, in place of all known ones.
    """

    async def play(
        *script: Step,
        mode: str | Strategy = "agentic",
        prompt: str | PromptSet = "default",
        limits: Limits = UNHURRIED,
        settings: ModelSettings = PLAIN,
        tools: Sequence[Tool[Any]] | None = None,
        tool_use: ToolUse | ToolProtocol = "native",
        view: ProblemView = problem,
        through: Callable[[Model], Model] = lambda model: model,
        options: StrategyOptions = USUAL,
        recorded: Sequence[Event] = (),
        gate: Gate | None = None,
        judged: dict[Judged, Grade] | None = None,
        language: str = PYTHON,
    ) -> Played:
        async def run_public_tests(code: str) -> Grade:
            key, grades = (view, language, code), all_judged if judged is None else judged
            if key in grades:
                return grades[key]
            program = Program.of(view, code, language, "")
            task = Task(program, view.public_tests, BOUNDS)
            grade = await pool.call(lambda worker: judge(worker, task))
            if judged is not None or sum(test.wall_s for test in grade.tests) < QUICK_S:
                grades[key] = grade
            return grade

        async def run_code(code: str, stdin: str) -> Execution:
            program, data = Program(code, view.preamble), stdin.encode()
            return await pool.call(lambda worker: worker.run(program, [data], BOUNDS)[0])

        model, events, heard = ScriptedModel(*script), list[Event](), list[Sent]()
        warned: list[tuple[str, str]] = []
        if tools is None:
            has_tools = mode == "agentic" or callable(mode)
            tools = rules_for(view.kind).tools if has_tools else ()
        texts = (
            prompt
            if isinstance(prompt, PromptSet)
            else load_prompt(
                prompt, mode if isinstance(mode, str) else "agentic", view.kind, language
            )
        )
        workspace = Workspace(
            view, texts, run_public_tests, 2.0, BOUNDS.memory_bytes, run_code=run_code
        )
        workspace.language = language
        asked = Task(Program.of(view, "", language, ""), (), BOUNDS)
        workspace.written_tests = WrittenTestRunner(view, asked, pool, workspace, texts)
        session = Session(
            problem=view,
            model=Listening(through(model), heard),
            settings=settings,
            prompt=texts,
            toolbox=Toolbox(tools, texts, language),
            workspace=workspace,
            limits=limits,
            journal=Journal(events.append, recorded),
            options=options,
            gate=gate or OpenGate(),
            extract=in_language(rules_for(view.kind), language).extractor("harness"),
            tool_use=tool_use if isinstance(tool_use, ToolUse) else ToolUse(tool_use),
            warn=lambda kind, line: warned.append((kind, line)),
        )
        strategy = mode if callable(mode) else find_strategy(mode)
        return Played(await strategy(session), model, events, workspace, heard, warned)

    return play
