"""An external agent: a program that calls the tools over MCP.

To the harness it is a strategy. Its calls pass the same limits and go into the same transcript as a
model's, each as an answer with one call; its reasoning and its costs are unknown. An interrupted
agent cannot be resumed: the sample starts again with a new agent, and the transcript records this.
An agent whose work had ended (`WorkEnded`) is not started again: its solution is read back, run on
the public tests if that is still missing, and graded.
"""

import asyncio
import time
from typing import Protocol

from harness.agent import events
from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.conversation import Conversation
from harness.agent.dialogue import LENGTH_OF_HASH
from harness.agent.session import Session, run_until_stopped
from harness.agent.tool_calls import ToolCalls, told_of
from harness.models.protocol import (
    Message,
    ModelError,
    ModelStop,
    ModelTurn,
    ToolCall,
    ToolMessage,
    ToolSpec,
)
from harness.text import writable

MOST_WAITING = 32  # concurrent calls; further ones are refused
MOST_BYTES = 32 << 20  # bytes of arguments in a sample, as they are stored in its transcript
LONGEST_NAME = 200
CANNOT_GO_ON = "an interrupted external agent cannot be resumed: a new one starts"
OVER = "The time for this problem is up, or it is handed in: the call was not carried out."
WAIT = f"More than {MOST_WAITING} calls are under way: this one was not carried out."
NO_AGENT = "no agent is connected"


class McpSession:
    """Executes the tool calls of one sample's agent.

    Attributes:
        opening: opening messages for the agent.
        ended: future with the stop reason, or an exception.
        client: the agent's name for itself.
        met: whether the agent ever connected.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._conversation = Conversation(session)
        self._conversation.usage_known = False
        self._calls = ToolCalls(session, self._conversation)
        self._tasks: set[asyncio.Task[ToolMessage]] = set()
        self._line = asyncio.Lock()
        self._opened = self._heard = time.monotonic()
        self._bytes = 0
        self.opening: tuple[Message, ...] = session.prompt.render(
            session.problem,
            session.workspace.cpu_limit_s,
            None,
            told_of(session.toolbox, native=True),
        )
        self.ended: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()
        self.client = ""
        self.met = False

    @property
    def prompt(self) -> str:
        """The opening messages as one text."""
        return "\n\n".join(str(getattr(message, "content", "")) for message in self.opening)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools offered to the agent."""
        return self._session.toolbox.specs

    @property
    def calls(self) -> int:
        """Number of tool calls so far."""
        return self._calls.made

    @property
    def wrote(self) -> bool:
        """Whether the agent has written a solution."""
        return self._session.workspace.latest is not None

    def open(self) -> None:
        """Start the session and record the opening messages in the transcript."""
        self._conversation.add(*self.opening)
        shown = events.Request(turn=1, hash="0" * LENGTH_OF_HASH, messages=self.opening)
        self._session.journal(shown)
        self._opened = self._heard = time.monotonic()

    def meet(self, client: str) -> None:
        """Record that an agent has connected, with its name."""
        self.met = True
        self.client = self.client or writable(client)

    def end(self, reason: StopReason) -> None:
        """End the sample; no further call is executed."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def leave(self) -> bool:
        """End the sample as if the agent had left; return False if it wrote no solution."""
        if self.wrote:
            self.end(StopReason.MODEL_STOPPED)
        return self.wrote

    async def call(self, name: str, arguments: str) -> ToolMessage:
        """Execute one call after all earlier ones.

        The call is completed even if the agent no longer waits for it.

        Args:
            name: name of the tool.
            arguments: arguments as JSON text.
        """
        self.met = True
        call = ToolCall(id="none", name=writable(name)[:LONGEST_NAME], arguments=arguments)
        if self.ended.done():
            return _refused(call, OVER)
        if len(self._tasks) >= MOST_WAITING:
            return _refused(call, WAIT)
        self._bytes += len(arguments)
        if self._bytes > MOST_BYTES:
            self.end(StopReason.TOOL_CALL_LIMIT)
            return _refused(call, OVER)
        task = asyncio.create_task(self._in_turn(call))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def _in_turn(self, call: ToolCall) -> ToolMessage:
        async with self._line:
            if self.ended.done():
                return _refused(call, OVER)
            conversation = self._conversation
            conversation.turns += 1
            call = call.model_copy(update={"id": f"call_{conversation.turns}"})
            turn = ModelTurn(
                tool_calls=(call,),
                stop=ModelStop(reason="tool_use"),
                latency_s=round(time.monotonic() - self._heard, 6),
            )
            self._session.journal(events.Response(turn=conversation.turns, response=turn))
            (result,) = await self._calls.carry_out(turn)
            self._heard = time.monotonic()
            limit = self._session.limits.tool_calls
            if self._session.workspace.submitted:
                self.end(StopReason.SUBMITTED)
            elif limit is not None and self._calls.made > limit:
                self.end(StopReason.TOOL_CALL_LIMIT)
            return result

    def _done(self, task: asyncio.Task[ToolMessage]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.ended.done():
            self.ended.set_exception(error)

    def left(self, event: events.AgentLeft) -> None:
        """Record that the agent has left."""
        seconds = round(time.monotonic() - self._opened, 6)
        fields = {"client": self.client, "seconds": seconds}
        self._session.journal(event.model_copy(update=fields))

    async def close(self) -> None:
        """End the sample and cancel running calls."""
        self.end(StopReason.MODEL_STOPPED)
        if not self.ended.cancelled():
            self.ended.exception()  # mark as retrieved; `_attended` raises it
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def finished(self) -> events.SampleEnd | events.WorkEnded | None:
        """Return how the agent's work ended, if only tests or grading are missing."""
        recorded = reversed(self._session.journal.recorded)
        end = next(
            (each for each in recorded if isinstance(each, events.SampleEnd | events.WorkEnded)),
            None,
        )
        return None if end is None or end.stop_reason == StopReason.MODEL_ERROR else end

    async def play(self) -> None:
        """Replay an earlier attempt's calls, without running its tests again."""
        journal, conversation = self._session.journal, self._conversation
        conversation.add(*self.opening)
        for event in journal.recorded[1:]:
            match event:
                case events.SampleEnd():
                    return
                case events.WorkEnded():
                    journal(event)
                    return
                case events.Response():
                    conversation.turns = event.turn
                    conversation.recall_seconds(event.response.latency_s)
                    journal(event)
                    await self._calls.carry_out(event.response)
                case events.ToolResult() | events.SampleStart():
                    pass  # handled with the call before it, or compared before
                case _:
                    journal(event)

    def work_ended(self, reason: StopReason, error: str) -> None:
        """Record the end, so that a later failure or interrupt does not lose the work."""
        self._session.journal(events.WorkEnded(stop_reason=reason, error=error))

    async def attempt(self, reason: StopReason, error: str, *, confined: bool) -> Attempt:
        """Return the agent's attempt; test its solution first if it is untested.

        Raises:
            SandboxError: the solution could not be run.
        """
        if reason is not StopReason.MODEL_ERROR:  # such a sample is repeated with a new agent
            await self._conversation.run_public_tests()
        best = self._session.workspace.best
        rule = ChosenBy.NONE
        if best is not None:
            rule = ChosenBy.PASSED_PUBLIC_TESTS if best.passed else ChosenBy.NEWEST
        return Attempt(
            code="" if best is None else best.code,
            chosen_by=rule,
            stop_reason=reason,
            usage_known=False,
            tool_calls=self._calls.made,
            malformed_tool_calls=self._calls.malformed,
            revisions=tuple(self._session.workspace.revisions),
            error=error,
            confined=confined,
        )


class Host(Protocol):
    """Connects an agent to each sample, by starting it or waiting for it."""

    @property
    def confined(self) -> bool:
        """Whether the agent is isolated from the data."""
        ...

    async def attend(self, desk: McpSession) -> StopReason:
        """Serve an agent until it leaves, or until soon after the session has ended.

        Afterwards the agent no longer runs, even if this is cancelled.

        Raises:
            ModelError: there was no agent, or it never started to work.
        """
        ...


class External:
    """The strategy of an external agent; satisfies `harness.agent.session.Strategy`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def __call__(self, session: Session) -> Attempt:
        """Let an agent work on the problem, unless its work has already ended."""
        desk, confined = McpSession(session), self._host.confined
        end = desk.finished()
        if end is not None:
            await desk.play()
            await desk.close()
            return await desk.attempt(StopReason(end.stop_reason), end.error, confined=confined)
        session.journal.start_over(CANNOT_GO_ON)
        await session.gate.enter()
        session.gate.may_be_dropped()
        try:
            desk.open()
            reason, error = await run_until_stopped(self._attended(desk, session), session.limits)
        finally:
            session.gate.leave(None, billed=False)
            await desk.close()
        if not desk.calls and reason in {StopReason.TIME_LIMIT, StopReason.WALL_LIMIT}:
            # Perhaps the agent's own provider does not answer: that is no failure of the model.
            error = f"no tool was called before the {reason.replace('_', ' ')}"
            reason = StopReason.MODEL_ERROR
        if reason is not StopReason.MODEL_ERROR:
            desk.work_ended(reason, error)
        return await desk.attempt(reason, error, confined=confined)

    async def _attended(self, desk: McpSession, session: Session) -> StopReason:
        async with asyncio.timeout(session.limits.seconds):
            reason = await self._host.attend(desk)
        return desk.ended.result() if desk.ended.done() else reason


class Absent:
    """Host without an agent: finished work is graded, all other samples stay pending."""

    confined = False

    async def attend(self, desk: McpSession) -> StopReason:
        """Raise ModelError, because there is no agent."""
        del desk
        raise ModelError(NO_AGENT)


def _refused(call: ToolCall, message: str) -> ToolMessage:
    return ToolMessage(call_id=call.id, name=call.name, content=message, is_error=True)


def unconnected() -> External:
    """Return the strategy of a run without a connected agent."""
    return External(Absent())
