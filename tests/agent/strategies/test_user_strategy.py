"""Strategies and tools of the user's own: what they may do, and what comes of their faults."""

import itertools
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from open_gate import Broke
from scripted import NEVER, USAGE, Played, call, read, turn, write

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.session import BudgetSpentError, RunStoppedError
from harness.agent.strategies.strategies import find_strategy, own_tool
from harness.errors import UsageError
from harness.models.protocol import ContextOverflowError, ModelError, Retry, Usage
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Tool
from harness.tools.write_solution import WriteSolution

Play = Callable[..., Awaitable[Played]]
Module = Callable[[str], str]

RIGHT = "print(sum(map(int, input().split())))\n"
_numbers = itertools.count(1)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Writes a module into the working directory; gives its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def written(source: str) -> str:
        name = f"own_code_{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text(dedent(source))
        return name

    return written


ASKING = """
    from harness.agent.attempt import (Attempt, ChosenBy, StopReason)
    from harness.agent.conversation import Conversation

    async def solve(session):
        session.workspace.write("print(1)")
        conversation = Conversation(session)
        while True:
            conversation.add(*session.prompt.render(session.problem, 1.0))
            await conversation.ask()
"""

ASKING_ANEW = ASKING.replace("    while True:", "    while conversation := Conversation(session):")

SILENT = """
    from harness.agent.attempt import (Attempt, ChosenBy, StopReason)
    from harness.agent.conversation import Conversation
    from harness.models.protocol import Usage

    async def solve(session):
        for _ in range({asked}):
            conversation = Conversation(session)
            conversation.add(*session.prompt.render(session.problem, 1.0))
            await conversation.ask()
        stop = StopReason.MODEL_STOPPED
        return Attempt(code="", chosen_by=ChosenBy.NONE, stop_reason=stop, {reports})
"""
MORE = Usage(output_tokens=500)


class TestStrategies:
    async def test_a_user_strategy_may_call_the_agent_loop(
        self, play: Play, module: Module
    ) -> None:
        name = module(
            """
            from harness.agent.strategies.agent_loop import agentic

            async def twice(session):
                first = await agentic(session)
                return first.model_copy(update={"extraction": "mine"})
            """
        )
        played = await play(
            turn(write(RIGHT), call("run_tests")), mode=find_strategy(f"{name}:twice")
        )
        assert (played.attempt.code, played.attempt.extraction) == (RIGHT, "mine")
        assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_a_user_strategy_may_be_a_class(self, play: Play, module: Module) -> None:
        name = module(
            """
            from harness.agent.strategies.shots import single_shot

            class Solve:
                async def __call__(self, session):
                    return await single_shot(session)
            """
        )
        answer = turn(text=f"```python\n{RIGHT}```")
        played = await play(answer, mode=find_strategy(f"{name}:Solve"))
        assert played.attempt.code == RIGHT.strip()

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            ("raise ValueError('one\\ntwo')", "raised ValueError: one two"),
            ("raise SystemExit(3)", "raised SystemExit: 3"),
            ("raise TimeoutError('their own')", "raised TimeoutError: their own"),
            ("return 'print(1)'", "returned a str, not an Attempt"),
            ("return None", "returned a NoneType, not an Attempt"),
        ],
    )
    async def test_faults_of_a_user_strategy_leave_the_sample_pending(
        self, play: Play, module: Module, body: str, fault: str
    ) -> None:
        name = module(f"async def solve(session):\n        {body}\n")
        played = await play(mode=find_strategy(f"{name}:solve"))
        assert played.attempt.stop_reason is StopReason.MODEL_ERROR
        assert played.attempt.error == f"strategy {name}:solve {fault}"

    async def test_a_user_strategy_that_is_not_async_is_a_fault(
        self, play: Play, module: Module
    ) -> None:
        name = module("def solve(session): return None")
        played = await play(mode=find_strategy(f"{name}:solve"))
        assert played.attempt.stop_reason is StopReason.MODEL_ERROR
        assert "\n" not in played.attempt.error

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("end", "limits", "reason"),
        [
            (ModelError("HTTP 503: down"), Limits(), StopReason.MODEL_ERROR),
            (ContextOverflowError("HTTP 400"), Limits(), StopReason.CONTEXT_LIMIT),
            (NEVER, Limits(seconds=1), StopReason.TIME_LIMIT),
            (NEVER, Limits(wall_seconds=1), StopReason.WALL_LIMIT),
        ],
        ids=["provider", "context", "working seconds", "wall seconds"],
    )
    async def test_a_limit_or_error_leaves_the_workspace_of_a_user_strategy_as_its_solution(
        self, play: Play, module: Module, end: Exception | str, limits: Limits, reason: StopReason
    ) -> None:
        solve = find_strategy(f"{module(ASKING)}:solve")
        played = await play(turn(text="Hm."), end, mode=solve, limits=limits)
        attempt = played.attempt
        assert attempt.stop_reason is reason
        assert (attempt.code, attempt.chosen_by) == ("print(1)", ChosenBy.NEWEST)
        assert (attempt.model_calls, attempt.usage) == (1, USAGE)
        assert attempt.usage_known == (end != NEVER)

    async def test_the_cost_limit_ends_a_user_strategy(self, play: Play, module: Module) -> None:
        solve = find_strategy(f"{module(ASKING)}:solve")
        gate = Broke(0, BudgetSpentError(StopReason.COST_LIMIT))
        played = await play(mode=solve, gate=gate)
        assert played.attempt.stop_reason is StopReason.COST_LIMIT

    @pytest.mark.parametrize(
        ("limits", "reason", "asked"),
        [
            (Limits(turns=2), StopReason.TURN_LIMIT, 2),
            (Limits(tokens=300), StopReason.TOKEN_LIMIT, 3),
        ],
    )
    @pytest.mark.parametrize("source", [ASKING, ASKING_ANEW], ids=["one", "many"])
    async def test_turns_and_tokens_bind_a_user_strategy_in_one_conversation_and_in_many(
        self,
        play: Play,
        module: Module,
        *,
        limits: Limits,
        reason: StopReason,
        asked: int,
        source: str,
    ) -> None:
        solve = find_strategy(f"{module(source)}:solve")
        played = await play(*[turn(text="Hm.")] * 5, mode=solve, limits=limits)
        assert (played.attempt.stop_reason, len(played.heard)) == (reason, asked)
        assert (played.attempt.code, played.attempt.model_calls) == ("print(1)", asked)

    async def test_turns_of_a_resumed_user_strategy_count_with_the_recorded_ones(
        self, play: Play, module: Module
    ) -> None:
        solve, limits = find_strategy(f"{module(ASKING_ANEW)}:solve"), Limits(turns=3)
        first = await play(turn(text="Hm."), ModelError("HTTP 503"), mode=solve, limits=limits)
        again = await play(
            *[turn(text="Ha.")] * 5, mode=solve, recorded=first.events[:2], limits=limits
        )
        assert again.attempt.stop_reason is StopReason.TURN_LIMIT
        assert (len(again.heard), again.attempt.model_calls) == (2, 3)

    @pytest.mark.parametrize(
        ("reports", "answers", "usage", "known", "calls"),
        [
            ("", [USAGE, USAGE], USAGE + USAGE, True, 2),
            ("usage=Usage(output_tokens=5)", [USAGE, USAGE], USAGE + USAGE, True, 2),
            ("usage=Usage(output_tokens=500), model_calls=3", [USAGE], MORE, True, 3),
            ("", [USAGE, None], Usage(), False, 2),
            ("model_calls=3", [USAGE], USAGE, False, 3),
            ("usage_known=False", [USAGE], USAGE, False, 1),
            ("", [], Usage(), True, 0),
        ],
        ids=["none", "less", "more", "uncounted", "other calls", "unknown", "nothing asked"],
    )
    async def test_what_a_user_strategy_does_not_report_is_counted_from_its_answers(
        self,
        play: Play,
        module: Module,
        *,
        reports: str,
        answers: list[Usage | None],
        usage: Usage,
        known: bool,
        calls: int,
    ) -> None:
        solve = find_strategy(f"{module(SILENT.format(asked=len(answers), reports=reports))}:solve")
        script = [turn(text="Hm.").model_copy(update={"usage": each}) for each in answers]
        attempt = (await play(*script, mode=solve)).attempt
        assert (attempt.usage, attempt.usage_known) == (usage, known)
        assert attempt.model_calls == calls

    async def test_a_user_strategy_that_does_not_report_a_billed_failure_pays_for_it(
        self, play: Play, module: Module
    ) -> None:
        solve = find_strategy(f"{module(SILENT.format(asked=1, reports=''))}:solve")
        retry = Retry(cause="half an answer", wait_s=0.0, attempt=1, usage=USAGE)
        played = await play(retry, turn(text="Hm."), mode=solve)
        assert played.attempt.usage == USAGE + USAGE
        again = await play(mode=solve, recorded=played.events)
        assert again.attempt.usage == USAGE + USAGE

    async def test_a_stopped_run_is_no_fault_of_a_user_strategy(
        self, play: Play, module: Module
    ) -> None:
        solve = find_strategy(f"{module(ASKING)}:solve")
        with pytest.raises(RunStoppedError):
            await play(mode=solve, gate=Broke(0, RunStoppedError()))

    @pytest.mark.thorough
    async def test_a_user_strategy_that_heeds_the_wall_limit_hands_in_its_solution(
        self, play: Play, module: Module
    ) -> None:
        name = module("from harness.agent.strategies.agent_loop import agentic as solve")
        played = await play(
            turn(write("print(1)")),
            NEVER,
            mode=find_strategy(f"{name}:solve"),
            limits=Limits(wall_seconds=1),
        )
        assert played.attempt.stop_reason is StopReason.WALL_LIMIT
        assert played.attempt.written == 1

    async def test_resume_of_a_user_strategy_does_not_ask_recorded_answers_again(
        self, play: Play, module: Module
    ) -> None:
        solve = find_strategy(f"{module(ASKING)}:solve")
        first = await play(turn(text="Hm."), ModelError("HTTP 503"), mode=solve)
        again = await play(
            turn(text="Ha."), ModelError("HTTP 503"), mode=solve, recorded=first.events[:2]
        )
        assert (len(again.heard), again.attempt.model_calls) == (2, 2)
        assert again.attempt.usage == USAGE + USAGE

    def test_a_user_strategy_that_is_none_is_refused_in_one_line(self, module: Module) -> None:
        name = module("class Fussy:\n        def __init__(self): raise OSError('no')\nnumber = 3")
        for path, message in {
            f"{name}:number": f"{name}:number is a int; a strategy is an async function",
            f"{name}:Fussy": f"{name}:Fussy() raised OSError: no",
            f"{name}:absent": "has no attribute 'absent'",
            "no_such_module_here:solve": "does not import",
            "agentik": "mode 'agentik' is unknown; there are: agentic, single_shot",
        }.items():
            with pytest.raises(UsageError) as caught:
                find_strategy(path)
            assert message in str(caught.value)
            assert "\n" not in str(caught.value)


TOOL = """
    from harness.tools.toolbox import NoArguments, ToolError

    class Tool:
        name = "mine"
        description = "Mine."
        arguments = NoArguments

        async def call(self, workspace, arguments):
            {body}
"""


class TestTools:
    @pytest.fixture
    def tool(self, module: Module) -> Callable[[str], str]:
        return lambda body: f"{module(TOOL.format(body=body))}:Tool"

    @staticmethod
    def box(path: str) -> tuple[Tool[Any], ...]:
        return (WriteSolution(), RunTests(), own_tool(path))

    async def test_the_text_of_a_user_tool_goes_to_the_model(
        self, play: Play, tool: Callable[[str], str]
    ) -> None:
        box = self.box(tool("return 'hello \\ud800'"))
        played = await play(turn(call("mine")), turn(text="."), tools=box, limits=Limits(turns=1))
        (result,) = played.results
        assert (result.content, result.is_error) == ("hello \\ud800", False)
        assert [spec.name for spec in played.heard[0].tools] == [
            "write_solution",
            "run_tests",
            "mine",
        ]

    async def test_a_revision_written_by_a_user_tool_is_one_again_on_resume(
        self, play: Play, tool: Callable[[str], str]
    ) -> None:
        box = self.box(tool(f"workspace.write({RIGHT!r}); return 'ok'"))
        script = (turn(call("mine")), turn(call("run_tests")))
        first = await play(*script, tools=box)
        assert first.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        assert (first.attempt.code, first.attempt.written) == (RIGHT, 1)
        again = await play(script[1], tools=box, recorded=first.events[:3])
        assert (again.attempt.code, len(again.heard)) == (RIGHT, 1)

    async def test_a_tool_error_of_a_user_tool_reaches_the_model(
        self, play: Play, tool: Callable[[str], str]
    ) -> None:
        box = self.box(tool("raise ToolError('Not now.')"))
        played = await play(turn(call("mine")), tools=box, limits=Limits(turns=1))
        (result,) = played.results
        assert (result.content, result.is_error, result.malformed) == ("Not now.", True, False)

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            ("raise KeyError('x')", "raised KeyError: 'x'"),
            ("raise SystemExit(3)", "raised SystemExit: 3"),
            ("raise TimeoutError", "raised TimeoutError"),
            ("return 5", "returned a int, not a str"),
        ],
    )
    async def test_faults_of_a_user_tool_leave_the_sample_pending(
        self, play: Play, tool: Callable[[str], str], body: str, fault: str
    ) -> None:
        path = tool(body)
        played = await play(turn(call("mine")), tools=self.box(path), limits=Limits(seconds=60))
        assert played.attempt.stop_reason is StopReason.MODEL_ERROR
        assert played.attempt.error.startswith(f"tool {path} {fault}")

    async def test_an_unfinished_call_of_a_user_tool_is_carried_out_again_on_resume(
        self, play: Play, tool: Callable[[str], str]
    ) -> None:
        limits = Limits(turns=1)
        broken = self.box(tool("return 5"))
        first = await play(turn(call("mine"), read()), tools=broken, limits=limits)
        mended = self.box(tool("return 'five'"))
        again = await play(recorded=first.events, tools=mended, limits=limits)
        assert again.results[0].content == "five"

    def test_a_user_tool_that_is_none_is_refused_in_one_line(self, module: Module) -> None:
        name = module(
            """
            class Bare: pass

            class Odd:
                name = "odd"
                description = "Odd."
                arguments = dict
                async def call(self, workspace, arguments): return ""
            """
        )
        with pytest.raises(UsageError) as caught:
            own_tool(f"{name}:Bare")
        assert str(caught.value) == (
            f"{name}:Bare is not a tool: missing name, description, arguments (a subclass of "
            "harness.tools.toolbox.Arguments), call"
        )
        with pytest.raises(UsageError, match=r"missing arguments \(a subclass of"):
            own_tool(f"{name}:Odd")
