"""An agent of the user's own: a program that calls our tools over MCP, and asks its own model.

To the harness it is a strategy. Its calls go the way of a model's, through the same limits and into
the same transcript, each as an answer with one call; what it thinks, and what that costs, nobody
here knows. It cannot be taken up again where it was interrupted: the sample begins anew with a new
agent, and the transcript says so. An agent whose work had ended (`WorkEnded`) is not asked twice:
what it wrote is read back, run on the public tests if that is still to be done, and graded.
"""

import asyncio
import time
from typing import Protocol

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.dialogue import LENGTH_OF_HASH
from harness.agent.events import (
    AgentLeft,
    Request,
    Response,
    SampleEnd,
    SampleStart,
    ToolResult,
    WorkEnded,
)
from harness.agent.strategies.public_tests import run_public_tests
from harness.agent.tool_calls import ToolCalls
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

MOST_WAITING = 32  # calls at once; an agent that has more of them is told to wait
MOST_BYTES = 32 << 20  # of arguments in a sample, which stand in its transcript
LONGEST_NAME = 200
CANNOT_GO_ON = "an agent of one's own cannot be taken up again where it was: another one begins"
OVER = "The time for this problem is up, or it is handed in: the call was not carried out."
WAIT = f"More than {MOST_WAITING} calls are under way: this one was not carried out."


class McpSession:
    """Where one sample's agent has its tools called.

    Attributes:
        opening: what the agent is to be told.
        ended: why the sample is over, once it is; or what went wrong.
        client: how the agent calls itself.
        met: whether it ever spoke.
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
            session.problem, session.workspace.cpu_limit_s, None
        )
        self.ended: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()
        self.client = ""
        self.met = False

    @property
    def prompt(self) -> str:
        """The opening as one text."""
        return "\n\n".join(str(getattr(said, "content", "")) for said in self.opening)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools."""
        return self._session.toolbox.specs

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return self._calls.made

    @property
    def wrote(self) -> bool:
        """Whether there is a solution."""
        return self._session.workspace.latest is not None

    def open(self) -> None:
        """Begin: what the agent is told stands in the transcript."""
        self._conversation.add(*self.opening)
        shown = Request(turn=1, hash="0" * LENGTH_OF_HASH, messages=self.opening)
        self._session.journal(shown)
        self._opened = self._heard = time.monotonic()

    def meet(self, client: str) -> None:
        """An agent has spoken, and said what it is called."""
        self.met = True
        self.client = self.client or writable(client)

    def end(self, reason: StopReason) -> None:
        """The sample is over; no further call is carried out."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def leave(self) -> bool:
        """End it as if the agent had left; False if it has written nothing."""
        if self.wrote:
            self.end(StopReason.MODEL_STOPPED)
        return self.wrote

    async def call(self, name: str, arguments: str) -> ToolMessage:
        """Carry one call out, after those that came before it.

        It is carried out to its end even if the agent no longer waits for it.

        Args:
            name: of the tool.
            arguments: as JSON.
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
            self._session.journal(Response(turn=conversation.turns, response=turn))
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

    def left(self, event: AgentLeft) -> None:
        """The agent is no more."""
        seconds = round(time.monotonic() - self._opened, 6)
        told = {"client": self.client, "seconds": seconds}
        self._session.journal(event.model_copy(update=told))

    async def close(self) -> None:
        """Carry nothing further out."""
        self.end(StopReason.MODEL_STOPPED)
        if not self.ended.cancelled():
            self.ended.exception()  # it is told where it matters
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def finished(self) -> SampleEnd | WorkEnded | None:
        """How an agent's work ended earlier, where only tests or the grade are missing."""
        recorded = reversed(self._session.journal.recorded)
        end = next((each for each in recorded if isinstance(each, SampleEnd | WorkEnded)), None)
        return None if end is None or end.stop_reason == StopReason.MODEL_ERROR else end

    async def play(self) -> None:
        """Do again what an earlier attempt left behind; its tests are not run again."""
        journal, conversation = self._session.journal, self._conversation
        conversation.add(*self.opening)
        for event in journal.recorded[1:]:
            match event:
                case SampleEnd():
                    return
                case WorkEnded():
                    journal(event)
                    return
                case Response():
                    conversation.turns = event.turn
                    conversation.recall_seconds(event.response.latency_s)
                    journal(event)
                    await self._calls.carry_out(event.response)
                case ToolResult() | SampleStart():
                    pass  # the call before it has taken it, or it was compared before
                case _:
                    journal(event)

    def work_ended(self, reason: StopReason, error: str) -> None:
        """Record the end, so that a later failure or interrupt does not lose the work."""
        self._session.journal(WorkEnded(stop_reason=reason, error=error))

    async def attempt(self, reason: StopReason, error: str, *, confined: bool) -> Attempt:
        """What the agent came to. A final solution that it did not test is tested first.

        Raises:
            SandboxError: it could not be run.
        """
        if reason is not StopReason.MODEL_ERROR:  # such a sample is given to another agent
            await run_public_tests(self._session, self._conversation)
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
            revisions=self._calls.revisions(),
            error=error,
            confined=confined,
        )


class Host(Protocol):
    """Lets an agent in, one for each sample."""

    @property
    def confined(self) -> bool:
        """Whether the agent is kept from the data."""
        ...

    async def attend(self, desk: McpSession) -> StopReason:
        """Serve an agent until it leaves, or soon after the desk has ended.

        Whatever ends this, a cancellation included, the agent is no more afterwards.

        Raises:
            ModelError: there was no agent, or none that ever began.
        """
        ...


class External:
    """The strategy of an agent of the user's own; satisfies `harness.agent.attempt.Strategy`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def __call__(self, session: Session) -> Attempt:
        """Have an agent work on the problem, unless one has done so already."""
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
        if reason is not StopReason.MODEL_ERROR:
            desk.work_ended(reason, error)
        return await desk.attempt(reason, error, confined=confined)

    async def _attended(self, desk: McpSession, session: Session) -> StopReason:
        async with asyncio.timeout(session.limits.seconds):
            reason = await self._host.attend(desk)
        return desk.ended.result() if desk.ended.done() else reason


class Absent:
    """The host of nobody: what was finished is graded, for the rest there is no agent."""

    def __init__(self, words: str, *, confined: bool = False) -> None:
        self._words = words
        self.confined = confined

    async def attend(self, desk: McpSession) -> StopReason:
        """Nobody comes. Raises ModelError."""
        del desk
        raise ModelError(self._words)


def _refused(call: ToolCall, words: str) -> ToolMessage:
    return ToolMessage(call_id=call.id, name=call.name, content=words, is_error=True)


NO_AGENT = "no agent is connected; start one with `harness mcp --problem ID --out RUN`"


def unconnected() -> External:
    """Return the strategy of a run whose agent is not there: every sample stays pending."""
    return External(Absent(NO_AGENT))
