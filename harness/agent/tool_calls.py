"""Tool calls of a sample: each is carried out once, and recorded with its result."""

import time
from typing import Any

from harness.agent import events
from harness.agent.allowance import with_allowance, without_allowance
from harness.agent.attempt import Session, StopReason, Written
from harness.agent.dialogue import Dialogue
from harness.models import protocol
from harness.models.text_tools.arguments import End
from harness.models.text_tools.calls import sole_text
from harness.models.text_tools.instructions import said_in_text
from harness.models.text_tools.salvage import text_in_call
from harness.models.text_tools.wording import told_again, without_code
from harness.tools.run_code import RunCode
from harness.tools.run_tests import RunTests, report_text
from harness.tools.workspace import Report

MOST_CALLS = 32  # in one message

CUT_OFF_CALL = (
    "The call was cut off by the token limit of a message, and not carried out. Call {name} again, "
    "with a shorter message."
)

CUT_OFF_NAME = "The message was cut off by its token limit."


class ToolCalls:
    """The tool calls of one sample.

    Attributes:
        made: number of calls.
        malformed: number of calls that could not be parsed.
    """

    def __init__(self, session: Session, conversation: Dialogue) -> None:
        self._session = session
        self._conversation = conversation
        self._marks: list[dict[str, Any]] = []  # turn, usage and seconds of each revision
        self._failed: set[tuple[str, str]] = set()  # names and arguments of calls with an error
        self.made = self.malformed = 0

    def spent(self) -> StopReason | None:
        """Return the limit that is used up, or None."""
        limit = self._session.limits.tool_calls
        if limit is not None and self.made >= limit:
            return StopReason.TOOL_CALL_LIMIT
        return self._conversation.spent()

    async def carry_out(self, turn: protocol.ModelTurn) -> tuple[protocol.ToolMessage, ...]:
        """Execute the calls in order; each gets exactly one result."""
        results: list[protocol.ToolMessage] = []
        for number, call in enumerate(turn.tool_calls):
            self.made += 1
            recorded = self._session.journal.result(call.id)
            if recorded is None:
                recorded = await self._carry_out(turn, call, number)
                self._session.journal(recorded)
            else:
                await self._recall(call, recorded, last=call is turn.tool_calls[-1])
            self.malformed += recorded.result.malformed
            self._conversation.add(recorded.result, recorded=True)
            results.append(recorded.result)
        self._failed |= {
            (call.name, call.arguments)
            for call, result in zip(turn.tool_calls, results, strict=True)
            if result.is_error
        }
        return tuple(results)

    def revisions(self) -> tuple[Written, ...]:
        """Return the revisions, with their times and test results."""
        return tuple(
            Written(
                code=revision.code,
                tests=events.PublicTests.of(revision.report) if revision.report else None,
                **mark,
            )
            for revision, mark in zip(self._session.workspace.revisions, self._marks, strict=False)
        )

    async def _carry_out(
        self, turn: protocol.ModelTurn, call: protocol.ToolCall, number: int
    ) -> events.ToolResult:
        started = self._conversation.clock()
        tested = self._report()
        cut = turn.cut_off and call is turn.tool_calls[-1]
        result = await self._call(call, number, in_text=said_in_text(turn), cut=cut)
        if result.malformed and cut:
            result = self._cut_off_call(result)
        if self._session.options.show_budget and call is turn.tool_calls[-1]:
            content = with_allowance(result.content, self._session, self._conversation)
            result = result.model_copy(update={"content": content})
        now = self._report()
        return events.ToolResult(
            turn=self._conversation.turns,
            result=result,
            seconds=round(self._conversation.clock() - started, 3),
            tests=None if now is None or now is tested else events.PublicTests.of(now),
        )

    async def _recall(
        self, call: protocol.ToolCall, recorded: events.ToolResult, *, last: bool
    ) -> None:
        """Repeat the effects of a recorded call, without running its tests again.

        Tests of a user's own tool are run again, since its result need not be the report.
        """
        workspace, started = self._session.workspace, time.monotonic()
        if recorded.tests is not None and self._session.toolbox.named(call.name) == RunTests.name:
            text = recorded.result.content
            if last and self._session.options.show_budget:
                text = without_allowance(text)
            workspace.recorded = Report(**dict(recorded.tests), text=report_text(text, workspace))
        if (
            not recorded.result.is_error and self._session.toolbox.named(call.name) != RunCode.name
        ):  # which has no effects
            await self._session.toolbox.call(call, workspace)
            self.note_revisions()
        workspace.recorded = None
        self._conversation.recall_seconds(recorded.seconds - (time.monotonic() - started))

    async def _call(
        self, call: protocol.ToolCall, number: int, *, in_text: bool, cut: bool
    ) -> protocol.ToolMessage:
        """Execute one call; beyond a limit, return an error result instead."""
        limits = self._session.limits
        message = ""
        if self._conversation.out_of_time:
            message = "The time for this problem is up; the call was not carried out."
        elif limits.tool_calls is not None and self.made > limits.tool_calls:
            message = f"No more than {limits.tool_calls} calls are carried out; this one was not."
        elif number >= MOST_CALLS:
            message = f"Only {MOST_CALLS} calls of one message are carried out; this one was not."
        elif self._session.workspace.submitted:
            message = "The solution is submitted; the call was not carried out."
        if message:
            return protocol.ToolMessage(
                call_id=call.id, name=call.name, content=message, is_error=True
            )
        end = End.CUT_OFF if cut else End.MARKED
        workspace = self._session.workspace
        result = await self._session.toolbox.call(call, workspace, in_text=in_text, end=end)
        self.note_revisions()
        return self._in_other_words(call, result, in_text=in_text)

    def _in_other_words(
        self, call: protocol.ToolCall, result: protocol.ToolMessage, *, in_text: bool
    ) -> protocol.ToolMessage:
        """Return an error in other words where its own do not help.

        A call that failed before is answered with a call written right. A call without code, while
        a solution waits for its tests, is answered with the call that runs them.
        """
        toolbox = self._session.toolbox
        spec = toolbox.spec(call.name) if result.malformed else None
        test = toolbox.spec(RunTests.name) if self._waits_for_tests() else None
        key = None if spec is None else sole_text(spec)
        if spec and test and key and not text_in_call(call.arguments, key):
            message = without_code(spec, test, in_text=in_text)
            return result.model_copy(update={"content": message})
        if self._session.workspace.latest is None and spec is None:
            spec = next((each for each in toolbox.specs if sole_text(each)), None)
        if not result.is_error or spec is None or (call.name, call.arguments) not in self._failed:
            return result
        message = told_again(result.content, spec, in_text=in_text)
        return result.model_copy(update={"content": message})

    def _waits_for_tests(self) -> bool:
        """Whether the newest solution has not been run on the public tests."""
        latest = self._session.workspace.latest
        tests = self._session.workspace.problem.public_tests
        return latest is not None and latest.report is None and bool(tests)

    def note_revisions(self) -> None:
        """Record the current turn, usage and time for newly written revisions."""
        conversation = self._conversation
        usage = conversation.usage if conversation.usage_known else None
        mark: dict[str, Any] = {"turn": conversation.turns, "usage": usage}
        mark["seconds"] = round(conversation.seconds, 3)
        written = len(self._session.workspace.revisions)
        self._marks[written:] = [mark] * (written - len(self._marks))

    def _report(self) -> Report | None:
        """Return the newest revision's report, if its tests were run."""
        latest = self._session.workspace.latest
        return latest.report if latest is not None else None

    def _cut_off_call(self, result: protocol.ToolMessage) -> protocol.ToolMessage:
        """Return an error for a truncated call that names the cause."""
        spec = self._session.toolbox.spec(result.name)
        if spec is not None:
            message = CUT_OFF_CALL.format(name=spec.name)
        else:
            message = f"{CUT_OFF_NAME} {result.content}"
        return result.model_copy(update={"content": message})
