"""The agent loop: the model calls tools until the public tests pass or a limit is hit."""

import time

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason
from harness.agent.conversation import Conversation
from harness.agent.events import ToolResult
from harness.agent.extraction import Extraction
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelTurn,
    ToolCall,
    ToolMessage,
    UserMessage,
)

MOST_NUDGES = 2
SAME_SOLUTION = 3
MOST_CALLS = 32  # of one message
NUDGE = (
    "No tool was called. Hand your solution in with write_solution, then call run_tests; code in "
    "a message is not run."
)


async def agentic(session: Session) -> Attempt:
    """Read, write, run, correct; the final solution is the newest that passed the public tests."""
    return await _Loop(session).run()


class _Loop:
    """One sample's loop: a turn, its tool calls, then whether to go on."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.conversation = Conversation(session, session.toolbox.specs)
        self.prose = Extraction(code="", rule="none")
        self.tool_calls = self.malformed = self.nudges = 0

    async def run(self) -> Attempt:
        session = self.session
        opening = session.prompt.render(session.problem, session.workspace.cpu_limit_s)
        self.conversation.add(*opening)
        error = ""
        try:
            reason = await self._converse()
        except TimeoutError:
            reason = StopReason.TIME_LIMIT
        except ContextOverflowError as overflow:
            reason, error = StopReason.CONTEXT_LIMIT, str(overflow)
        except ModelError as failure:
            reason, error = StopReason.MODEL_ERROR, str(failure)
        return self._attempt(reason, error)

    async def _converse(self) -> StopReason:
        while (spent := self._spent()) is None:
            turn = await self.conversation.ask()
            await self._call_tools(turn)
            reason = self._look(turn)
            if reason is not None:
                return reason
        return spent

    def _spent(self) -> StopReason | None:
        """The limit that is used up, if one is."""
        if self.conversation.turns >= self.session.limits.turns:
            return StopReason.TURN_LIMIT
        return StopReason.TIME_LIMIT if self._out_of_time() else None

    def _out_of_time(self) -> bool:
        limit = self.session.limits.seconds
        return limit is not None and self.conversation.seconds >= limit

    async def _call_tools(self, turn: ModelTurn) -> None:
        """Carry the calls out in the order asked; each gets exactly one result."""
        for number, call in enumerate(turn.tool_calls):
            started = time.monotonic()
            result = await self._call_tool(call, number)
            seconds = round(time.monotonic() - started, 6)
            self.tool_calls += 1
            self.malformed += result.malformed
            self.session.record(
                ToolResult(turn=self.conversation.turns, result=result, seconds=seconds)
            )
            self.conversation.add(result, recorded=True)

    async def _call_tool(self, call: ToolCall, number: int) -> ToolMessage:
        """One call; past the sample's time or a message's bound it is answered, but not run."""
        words = ""
        if self._out_of_time():
            words = "The time for this problem is up; the call was not carried out."
        elif number >= MOST_CALLS:
            words = f"Only {MOST_CALLS} calls of one message are carried out; this one was not."
        if words:
            return ToolMessage(call_id=call.id, name=call.name, content=words, is_error=True)
        return await self.session.toolbox.call(call, self.session.workspace)

    def _look(self, turn: ModelTurn) -> StopReason | None:
        """Whether that was the end."""
        workspace = self.session.workspace
        if workspace.latest is not None and workspace.latest.passed:
            return StopReason.PUBLIC_TESTS_PASSED
        found = self.session.extract(turn.text, self.session.problem.entry_point)
        if found.code:
            self.prose = found
        if turn.tool_calls:
            return StopReason.REPEATED_SOLUTION if self._repeats() else None
        return self._nudge(found)

    def _nudge(self, found: Extraction) -> StopReason | None:
        """What to do about a message without a tool call: remind the model, or take it as its end.

        Code in it, or nothing handed in yet, is worth a reminder, twice at the most.
        """
        if self.nudges < MOST_NUDGES and (found.code or self.session.workspace.latest is None):
            self.nudges += 1
            self.conversation.add(UserMessage(content=NUDGE))
            return None
        return StopReason.MODEL_STOPPED

    def _repeats(self) -> bool:
        """Whether the same failing solution was written several times running."""
        last = self.session.workspace.revisions[-SAME_SOLUTION:]
        return len(last) == SAME_SOLUTION and all(
            revision.code == last[0].code and revision.report is not None for revision in last
        )

    def _attempt(self, reason: StopReason, error: str) -> Attempt:
        best, prose = self.session.workspace.best, self.prose
        if best is not None:
            rule = ChosenBy.PASSED_PUBLIC_TESTS if best.passed else ChosenBy.NEWEST
        else:
            rule = ChosenBy.PROSE if prose.code else ChosenBy.NONE
        return Attempt(
            code=prose.code if best is None else best.code,
            chosen_by=rule,
            extraction=prose.rule if rule is ChosenBy.PROSE else "",
            stop_reason=reason,
            usage=self.conversation.usage,
            usage_known=self.conversation.usage_known,
            model_calls=self.conversation.turns,
            tool_calls=self.tool_calls,
            malformed_tool_calls=self.malformed,
            nudges=self.nudges,
            written=len(self.session.workspace.revisions),
            error=error,
        )
