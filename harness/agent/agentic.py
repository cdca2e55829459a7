"""The agent loop: the model calls tools until the public tests pass or a limit is hit."""

import time

from harness.agent.attempt import Attempt, Session, StopReason
from harness.agent.conversation import Conversation
from harness.agent.events import ToolResult
from harness.agent.extraction import Extraction, extract
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelTurn,
    UserMessage,
)

MOST_NUDGES = 2
SAME_SOLUTION = 3
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
        self.conversation.say(*opening)
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
        limits, conversation = self.session.limits, self.conversation
        if conversation.turns >= limits.turns:
            return StopReason.TURN_LIMIT
        if limits.seconds is not None and conversation.seconds >= limits.seconds:
            return StopReason.TIME_LIMIT
        return None

    async def _call_tools(self, turn: ModelTurn) -> None:
        """Carry the calls out in the order asked; each gets exactly one result."""
        for call in turn.tool_calls:
            started = time.monotonic()
            result = await self.session.toolbox.call(call, self.session.workspace)
            seconds = round(time.monotonic() - started, 6)
            self.tool_calls += 1
            self.malformed += result.malformed
            self.session.record(
                ToolResult(turn=self.conversation.turns, result=result, seconds=seconds)
            )
            self.conversation.answer(result)

    def _look(self, turn: ModelTurn) -> StopReason | None:
        """Whether that was the end."""
        workspace = self.session.workspace
        if workspace.latest is not None and workspace.latest.passed:
            return StopReason.PUBLIC_TESTS_PASSED
        found = extract(turn.text, self.session.problem.entry_point)
        if found.code:
            self.prose = found
        if turn.tool_calls:
            return StopReason.REPEATED_SOLUTION if self._repeats() else None
        if self.nudges < MOST_NUDGES and (found.code or workspace.latest is None):
            self.nudges += 1
            self.conversation.say(UserMessage(content=NUDGE))
            return None
        return StopReason.MODEL_STOPPED

    def _repeats(self) -> bool:
        """Whether the same failing solution was written several times running."""
        last = self.session.workspace.revisions[-SAME_SOLUTION:]
        return len(last) == SAME_SOLUTION and all(
            revision.code == last[0].code and revision.report is not None for revision in last
        )

    def _attempt(self, reason: StopReason, error: str) -> Attempt:
        best = self.session.workspace.best
        if best is None:
            code, rule = self.prose.code, f"prose: {self.prose.rule}" if self.prose.code else "none"
        else:
            code, rule = best.code, "passed public tests" if best.passed else "newest"
        return Attempt(
            code=code,
            chosen_by=rule,
            stop_reason=reason,
            usage=self.conversation.usage,
            usage_known=self.conversation.usage_known,
            model_calls=self.conversation.turns,
            tool_calls=self.tool_calls,
            malformed_tool_calls=self.malformed,
            nudges=self.nudges,
            written=len(self.session.workspace.revisions),
            salvaged=best is None and bool(code),
            error=error,
        )
