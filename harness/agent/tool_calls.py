"""Tool calls of a sample: each is carried out once, and recorded with its result."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from harness.agent import events
from harness.agent.attempt import StopReason
from harness.agent.dialogue import Dialogue
from harness.agent.session import Session
from harness.agent.templates.prompt_set import Told
from harness.models import protocol
from harness.models.text_tools.arguments import End, without_fence
from harness.models.text_tools.salvage import text_in_call
from harness.registry import HAND_IN
from harness.tools.read_problem import ReadProblem
from harness.tools.revision import Report
from harness.tools.run_code import RunCode
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Toolbox, example_of

MOST_CALLS = 32  # in one message
OF_THE_LOOP = frozenset({ReadProblem.name, RunTests.name, *HAND_IN})
"""Tools whose work the loop in text does itself."""


def told_of(toolbox: Toolbox, *, native: bool) -> Told:
    """Return what a model is told of its tools: natively all, in text those beyond the loop's."""
    if native:
        return Told(native=tuple(spec.name for spec in toolbox.specs))
    return Told(
        in_text=tuple(
            {
                "name": spec.name,
                "description": spec.description,
                "arguments": spec.parameters if spec.parameters.get("properties") else None,
            }
            for spec in toolbox.specs
            if spec.name not in OF_THE_LOOP
        )
    )


class InText(NamedTuple):
    """A message whose calls, if any, are written in its text.

    Attributes:
        rest: the text without calls.
        program: what a call hands in; empty without such a call.
        calls: the calls.
    """

    rest: str
    program: str
    calls: tuple[protocol.ToolCall, ...]


class ToolCalls:
    """The tool calls of one sample.

    Attributes:
        made: number of calls.
        malformed: number of calls that could not be parsed.
    """

    def __init__(self, session: Session, conversation: Dialogue) -> None:
        self._session = session
        self._conversation = conversation
        self._failed: set[tuple[str, str]] = set()  # names and arguments of calls with an error
        self.made = self.malformed = 0

    def spent(self) -> StopReason | None:
        """Return the limit that is used up, or None."""
        limit = self._session.limits.tool_calls
        if limit is not None and self.made >= limit:
            return StopReason.TOOL_CALL_LIMIT
        return self._conversation.spent()

    def spoken(self, turn: protocol.ModelTurn) -> InText:
        """Return an answer with the calls of known tools that its text holds."""
        toolbox = self._session.toolbox
        from harness.models.text_tools.reader import read_calls  # not every run reads calls in text

        reading = read_calls(turn.text, toolbox.specs, known_only=True, cut_off=turn.cut_off)
        calls = turn.tool_calls or tuple(
            protocol.ToolCall(
                id=f"{events.CALL_IN_TEXT}{self._conversation.turns}-{number}",
                name=each.name,
                arguments=each.arguments,
            )
            for number, each in enumerate(reading.calls)
        )
        program = ""
        for call in calls:
            spec = toolbox.spec(call.name)
            key = spec.sole_text if spec is not None and spec.name in HAND_IN else None
            if key is not None:
                program = without_fence(text_in_call(call.arguments, key)) or program
        return InText(reading.text if reading.calls else turn.text, program, calls)

    async def carry_out_in_text(self, turn: protocol.ModelTurn) -> tuple[InText, str]:
        """Execute the calls of further tools in a text; return it, and their results as text."""
        said = self.spoken(turn)
        further = {
            str(each["name"]) for each in told_of(self._session.toolbox, native=False).in_text
        }
        named = self._session.toolbox.named
        calls = [each for each in said.calls if named(each.name) in further]
        return said, self.as_text(await self._carry_out_all(turn, calls))

    async def carry_out_spoken(
        self, turn: protocol.ModelTurn, calls: Sequence[protocol.ToolCall]
    ) -> tuple[protocol.ToolMessage, ...]:
        """Execute calls that stand in a text, natively; their results are one user message."""
        results = await self._carry_out_all(turn, calls)
        if results:
            self._conversation.add(protocol.UserMessage(content=self.as_text(results)))
        return results

    async def carry_out(self, turn: protocol.ModelTurn) -> tuple[protocol.ToolMessage, ...]:
        """Execute the native calls in order; each gets exactly one result."""
        results = await self._carry_out_all(turn, turn.tool_calls)
        for result in results:
            self._conversation.add(result, recorded=True)
        return results

    def as_text(self, results: Sequence[protocol.ToolMessage]) -> str:
        """Return results as text for a user message."""
        say = self._session.workspace.say
        return "\n\n".join(say("in_text", tool=each.name, result=each.content) for each in results)

    async def _carry_out_all(
        self, turn: protocol.ModelTurn, calls: Sequence[protocol.ToolCall]
    ) -> tuple[protocol.ToolMessage, ...]:
        results: list[protocol.ToolMessage] = []
        for number, call in enumerate(calls):
            self.made += 1
            is_last = number == len(calls) - 1
            recorded = self._session.journal.result(call.id)
            if recorded is None:
                recorded = await self._carry_out(turn, call, number, is_last=is_last)
                self._session.journal(recorded)
            else:
                await self._recall(call, recorded)
            self.malformed += recorded.result.malformed
            results.append(recorded.result)
        self._failed |= {
            (call.name, call.arguments)
            for call, result in zip(calls, results, strict=True)
            if result.is_error
        }
        return tuple(results)

    async def _carry_out(
        self, turn: protocol.ModelTurn, call: protocol.ToolCall, number: int, *, is_last: bool
    ) -> events.ToolResult:
        started = self._conversation.clock()
        tested = self._report()
        cut = turn.cut_off and is_last
        result = await self._call(call, number, cut=cut)
        if result.malformed and cut:
            result = self._cut_off_call(result)
        if self._session.options.show_budget and is_last:
            result = result.model_copy(update={"content": self._with_allowance(result.content)})
        now = self._report()
        now = None if now is tested else now
        begins = -1 if now is None else result.content.find(now.text)
        return events.ToolResult(
            turn=self._conversation.turns,
            result=result,
            seconds=round(self._conversation.clock() - started, 3),
            tests=None if now is None else events.PublicTests.of(now),
            report=None if now is None or begins < 0 else (begins, begins + len(now.text)),
        )

    async def _recall(self, call: protocol.ToolCall, recorded: events.ToolResult) -> None:
        """Repeat the effects of a recorded call, without running its tests again.

        Tests of a user's own tool are run again, since its result need not be the report.
        """
        workspace, started = self._session.workspace, time.monotonic()
        if recorded.tests is not None and recorded.report is not None:
            text = recorded.result.content[slice(*recorded.report)]
            workspace.recorded = Report(**dict(recorded.tests), text=text)
        if (
            not recorded.result.is_error and self._session.toolbox.named(call.name) != RunCode.name
        ):  # which has no effects
            await self._session.toolbox.call(call, workspace)
        workspace.recorded = None
        self._conversation.recall_seconds(recorded.seconds - (time.monotonic() - started))

    async def _call(
        self, call: protocol.ToolCall, number: int, *, cut: bool
    ) -> protocol.ToolMessage:
        """Execute one call; beyond a limit, return an error result instead."""
        limits, say = self._session.limits, self._session.workspace.say
        message = ""
        if self._conversation.out_of_time:
            message = say("time_up")
        elif limits.tool_calls is not None and self.made > limits.tool_calls:
            message = say("call_limit", limit=limits.tool_calls)
        elif number >= MOST_CALLS:
            message = say("message_limit", limit=MOST_CALLS)
        elif self._session.workspace.submitted:
            message = say("ended")
        if message:
            return protocol.ToolMessage(
                call_id=call.id, name=call.name, content=message, is_error=True
            )
        end = End.CUT_OFF if cut else End.MARKED
        workspace = self._session.workspace
        result = await self._session.toolbox.call(call, workspace, end=end)
        return self._in_other_words(call, result)

    def _in_other_words(
        self, call: protocol.ToolCall, result: protocol.ToolMessage
    ) -> protocol.ToolMessage:
        """Return an error in other words where its own do not help.

        A call that failed before is answered with a call written right. A call without code, while
        a solution waits for its tests, is answered with the call that runs them.
        """
        toolbox, say = self._session.toolbox, self._session.workspace.say
        spec = toolbox.spec(call.name) if result.malformed else None
        key = None if spec is None else spec.sole_text
        if spec and key and self._waits_for_tests() and not text_in_call(call.arguments, key):
            return result.model_copy(update={"content": say("test_it")})
        if self._session.workspace.latest is None and spec is None and self._conversation.tools:
            spec = next((each for each in toolbox.specs if each.sole_text), None)
        if not result.is_error or spec is None or (call.name, call.arguments) not in self._failed:
            return result
        message = say("again", error=result.content, tool=spec.name, example=example_of(spec))
        return result.model_copy(update={"content": message})

    def _with_allowance(self, content: str) -> str:
        """Return a result with the turns, tokens and dollars that are left.

        Tokens and dollars are included only if the sample has a limit of them.
        """
        limits, conversation = self._session.limits, self._conversation
        tokens = None
        if limits.tokens is not None and conversation.usage_known:
            tokens = max(0, limits.tokens - conversation.usage.total_tokens)
        money = self._session.gate.dollars_left
        return self._session.workspace.say(
            "left",
            result=content,
            turns=max(0, limits.turns - conversation.turns),
            tokens=tokens,
            dollars=None if money is None else max(0.0, money),
        )

    def _waits_for_tests(self) -> bool:
        """Whether the newest solution has not been run on the public tests."""
        latest = self._session.workspace.latest
        tests = self._session.workspace.problem.public_tests
        return latest is not None and latest.report is None and bool(tests)

    def _report(self) -> Report | None:
        """Return the newest revision's report, if its tests were run."""
        latest = self._session.workspace.latest
        return latest.report if latest is not None else None

    def _cut_off_call(self, result: protocol.ToolMessage) -> protocol.ToolMessage:
        """Return an error for a truncated call that names the cause."""
        spec = self._session.toolbox.spec(result.name)
        tool = "" if spec is None else spec.name
        message = self._session.workspace.say("cut_off", tool=tool, error=result.content)
        return result.model_copy(update={"content": message})
