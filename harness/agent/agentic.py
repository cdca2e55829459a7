"""The agent loop: the model calls tools until the public tests pass or a limit is hit.

What a model may answer, and what comes of it:

| answer | what happens |
| --- | --- |
| several calls | carried out in order, a result each; beyond 32 answered, not carried out |
| broken JSON, wrong or missing arguments | an error as the result that says what is wrong |
| a JSON string that holds the arguments | taken for the arguments |
| an unknown tool | an error as the result that names the tools |
| a call cut off by the token limit | an error as the result that says so |
| a message cut off by it before any call | a nudge that says so |
| nothing at all | a nudge |
| words, nothing handed in yet | a nudge |
| code in words | a nudge; it is the solution if none is ever written (`prose`) |
| words, something handed in | the model's end |
| a refusal | the model's end, `refused`; what was handed in is graded |
| nothing, by a content filter | a nudge that says so; the second time as a refusal |
| no call in two turns, tools told in text | single shot: `fallback` |

Nudges are two at most, of whatever kind. How tools are told in text, and when, stands in
`harness.models.tool_protocol`.
"""

import time

from harness.agent.attempt import (
    Attempt,
    BudgetSpentError,
    ChosenBy,
    Session,
    StopReason,
    ToolProtocolUsed,
)
from harness.agent.conversation import Conversation
from harness.agent.events import ToolProtocolChanged, ToolResult
from harness.agent.extraction import Extraction
from harness.agent.prompts import fallback_prompt
from harness.grading.excerpts import shorten
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelTurn,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from harness.models.text_tools import said_in_text

MOST_NUDGES = 2
TURNS_WITHOUT_TOOLS = 2  # in text, until the model is taken for one that cannot call any
LONGEST_REFUSAL = 1_000
SAME_SOLUTION = 3
MOST_CALLS = 32  # of one message
NUDGE = (
    "No tool was called. Hand your solution in with write_solution, then call run_tests; code in "
    "a message is not run."
)
CUT_OFF = "Your message was cut off by its token limit before any tool was called. Be brief."
FILTERED = "Your message was withheld by a content filter. Put it in other words and go on."
CUT_OFF_CALL = (
    "The call was cut off by the token limit of a message, and not carried out. Call {name} again, "
    "with a shorter message."
)
CUT_OFF_NAME = "The message was cut off by its token limit."


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
        self.protocol: ToolProtocolUsed | None = None
        self.fallback = self.filtered = False
        self.refusal: str | None = None

    async def run(self) -> Attempt:
        session = self.session
        opening = session.prompt.render(session.problem, session.workspace.cpu_limit_s)
        self.conversation.add(*opening)
        error = ""
        try:
            reason = await self._converse()
        except TimeoutError:
            reason = StopReason.TIME_LIMIT
        except BudgetSpentError as spent:
            reason = spent.reason
        except ContextOverflowError as overflow:
            reason, error = StopReason.CONTEXT_LIMIT, str(overflow)
        except ModelError as failure:
            reason, error = StopReason.MODEL_ERROR, str(failure)
        return self._attempt(reason, error)

    async def _converse(self) -> StopReason:
        while (spent := self._spent()) is None:
            turn = await self.conversation.ask()
            self._note_protocol("text" if said_in_text(turn) else "native")
            await self._call_tools(turn)
            reason = await self._look(turn)
            if reason is not None:
                return reason
        return spent

    def _note_protocol(self, protocol: ToolProtocolUsed, cause: str = "") -> None:
        """How tools are called; said where it is not, or no longer, natively."""
        if protocol not in {self.protocol, "native"}:
            turn = self.conversation.turns
            self.session.record(ToolProtocolChanged(turn=turn, protocol=protocol, cause=cause))
        self.protocol = protocol

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
            if result.malformed and call is turn.tool_calls[-1] and _cut_off(turn):
                result = self._cut_off_call(result)
            seconds = round(time.monotonic() - started, 6)
            self.tool_calls += 1
            self.malformed += result.malformed
            self.session.record(
                ToolResult(turn=self.conversation.turns, result=result, seconds=seconds)
            )
            self.conversation.add(result, recorded=True)

    def _cut_off_call(self, result: ToolMessage) -> ToolMessage:
        """The error of a call of which the end is missing, for the reason that it is."""
        known = result.name in {spec.name for spec in self.session.toolbox.specs}
        if known:
            words = CUT_OFF_CALL.format(name=result.name)
        else:
            words = f"{CUT_OFF_NAME} {result.content}"
        return result.model_copy(update={"content": words})

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

    async def _look(self, turn: ModelTurn) -> StopReason | None:
        """Whether that was the end."""
        workspace = self.session.workspace
        if workspace.latest is not None and workspace.latest.passed:
            return StopReason.PUBLIC_TESTS_PASSED
        found = self.session.extract(turn.text, self.session.problem.entry_point)
        if found.code:
            self.prose = found
        if turn.tool_calls:
            return StopReason.REPEATED_SOLUTION if self._repeats() else None
        if turn.stop.reason == "refusal" or (self.filtered and _filtered(turn)):
            words = turn.text.strip() or turn.stop.provider_word or turn.stop.reason
            self.refusal = shorten(words, LONGEST_REFUSAL)
            return StopReason.MODEL_STOPPED
        turns = self.conversation.turns
        if self.protocol == "text" and not self.tool_calls and turns >= TURNS_WITHOUT_TOOLS:
            return await self._fall_back()
        return self._nudge(turn, found)

    def _nudge(self, turn: ModelTurn, found: Extraction) -> StopReason | None:
        """What to do about a message without a tool call: remind the model, or take it as its end.

        Code in it, nothing in it, or nothing handed in yet is worth a reminder, twice at the most.
        """
        nothing = not turn.text.strip() or self.session.workspace.latest is None
        cut_off, self.filtered = _cut_off(turn), self.filtered or _filtered(turn)
        if self.nudges < MOST_NUDGES and (found.code or nothing or cut_off or _filtered(turn)):
            self.nudges += 1
            before = f"{CUT_OFF} " if cut_off else f"{FILTERED} " if _filtered(turn) else ""
            self.conversation.add(UserMessage(content=before + NUDGE))
            return None
        return StopReason.MODEL_STOPPED

    async def _fall_back(self) -> StopReason:
        """Single shot, where tools cannot be called: the code said last, else one more request."""
        if not self.prose.code and (spent := self._spent()) is not None:
            return spent
        self.fallback = True
        self._note_protocol("none", f"no tool was called in {self.conversation.turns} turns")
        if not self.prose.code:
            session = self.session
            prompt = session.fallback_prompt or fallback_prompt(session.prompt.name)
            self.conversation.start_anew()
            self.conversation.add(*prompt.render(session.problem, session.workspace.cpu_limit_s))
            turn = await self.conversation.ask()
            self.prose = session.extract(turn.text, session.problem.entry_point)
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
            tool_protocol=self.protocol,
            fallback=self.fallback,
            refused=self.refusal is not None,
            written=len(self.session.workspace.revisions),
            error=error or self.refusal or "",
        )


def _cut_off(turn: ModelTurn) -> bool:
    return turn.stop.reason == "max_tokens"


def _filtered(turn: ModelTurn) -> bool:
    return turn.stop.reason == "content_filter"
