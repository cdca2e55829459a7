"""An agent's work on one problem: messages, tool calls, reminders, limits, end.

Requests are sent elsewhere: by the agent loop of an evaluation
(`harness.agent.strategies.agent_loop`), or by a trainer (`harness.Episode`). Both pass each answer
to `AgentEpisode.take`, so a model sees the same bytes in training and in evaluation.

Answers of a model, and their handling:

| answer | handling |
| --- | --- |
| several calls | carried out in order, a result each; after the 32nd, only an error each |
| broken JSON that can be repaired, arguments encoded twice | taken as the arguments |
| wrong or missing arguments | an error as the result that shows a right call |
| arguments that a tool does not take | left out, and the result says so |
| the same failing call again | an error in other words |
| an unknown tool | an error as the result that names the tools |
| a call cut off by the token limit | an error as the result that says so |
| no call, the newest solution failing or untested | a reminder; the second in a row: the end |
| no call, no solution written, or new code in prose | a reminder; the third in a row: the end |
| no call, an empty message or one cut off or filtered | the same; the reminder mentions it |
| no call, an answer written that has no tests | the model's end |
| a refusal, or filtered a second time | the model's end, `refused`; its solution is graded |
| no call in two turns, tools described in text | single shot: `fallback` |
| only failing calls in three turns in a row, no solution stored | the same |

Reminders are limited and counted (`nudges`). A reminder states the newest solution's result on the
public tests, or that it was not tested, the number of remaining turns, and how to give up. An
untested final solution is run on the public tests before the attempt ends. If none was written, the
final solution is the last code in the model's messages (`prose`) or failed calls (`failed_call`).
When and how tools are described in text is documented in
`harness.models.text_tools.instructions`.
"""

from collections.abc import Sequence

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, ToolProtocolUsed
from harness.agent.dialogue import Dialogue
from harness.agent.events import ToolProtocolChanged
from harness.agent.reminder import reminder
from harness.agent.said_code import FAILED_CALL, NOTHING, SaidCode
from harness.agent.templates.prompt_set import fallback_prompt
from harness.agent.tool_calls import ToolCalls
from harness.excerpts import shorten
from harness.models.protocol import ModelTurn, ToolMessage, UserMessage
from harness.models.text_tools.instructions import said_in_text
from harness.tools.workspace import Revision

MOST_REMINDERS = 10
"""Largest number of reminders in a sample."""
MOST_IN_A_ROW = 2
"""Largest number of reminders without a tool call between them."""

TURNS_WITHOUT_TOOLS = 2  # with tools in text, before assuming that the model cannot call any
FAILED_TURNS = 3  # in a row, with only calls that fail
LONGEST_REFUSAL = 1_000
SAME_SOLUTION = 3
CUT_OFF = "Your message was cut off by its token limit before any tool was called. Be brief."
FILTERED = "Your message was withheld by a content filter. Put it in other words and go on."


class AgentEpisode:
    """The state of one sample: its messages, tool calls, revisions and end.

    Args:
        session: everything the sample may use.
        conversation: a dialogue with the session's tools and no messages yet.

    Attributes:
        calls: executes tool calls.
        fallback: whether the model is asked once more, without tools.
        has_tools_to_the_end: whether failing calls never lead to that.
    """

    def __init__(self, session: Session, conversation: Dialogue) -> None:
        self.session = session
        self.conversation = conversation
        self.calls = ToolCalls(session, conversation)
        self.fallback = self.filtered = self.has_tools_to_the_end = False
        self._said = SaidCode(session)
        self._nudges = self._in_a_row = self._failed_turns = 0
        self._salvaged = NOTHING
        self._protocol: ToolProtocolUsed | None = None
        self._refusal: str | None = None

    def open(self) -> None:
        """Add the opening messages. Raises UsageError if a template fails."""
        session = self.session
        opening = session.prompt.render(
            session.problem, session.workspace.cpu_limit_s, session.limits.turns
        )
        self.conversation.add(*opening)

    def spent(self) -> StopReason | None:
        """Return the limit that is used up, or None; if used up, send no further request."""
        return self.calls.spent()

    async def take(self, turn: ModelTurn) -> StopReason | None:
        """Execute an answer's tool calls, or remind the model of its tools.

        Args:
            turn: the answer, already part of the conversation.

        Returns:
            Why the episode ended; None if it continues, unless a limit is used up.

        Raises:
            SandboxError: the public tests could not be run.
        """
        if self.fallback:
            self._said.add(turn)
            return StopReason.MODEL_STOPPED
        self._note_protocol("text" if said_in_text(turn) else "native")
        results = await self.calls.carry_out(turn)
        self._note_failures(turn, results)
        return self._look(turn)

    async def test_final(self, reason: StopReason) -> None:
        """Run an untested final solution on the public tests; without one, use prose.

        If passing tests ended the loop, a revision written later is not the final solution.

        Raises:
            SandboxError: the public tests could not be run.
        """
        workspace = self.session.workspace
        if workspace.latest is None and (solution := self._said.last()).code:
            self._salvaged = solution
            workspace.revisions.append(Revision(solution.code))
            self.calls.note_revisions()
        if reason is not StopReason.PUBLIC_TESTS_PASSED:
            await self.conversation.run_public_tests()

    def attempt(self, reason: StopReason, error: str = "") -> Attempt:
        """Return the final solution and how it was produced."""
        best = self.session.workspace.best
        if best is None:
            rule = ChosenBy.NONE
        elif self._salvaged.code:
            failed = self._salvaged.rule == FAILED_CALL
            rule = ChosenBy.FAILED_CALL if failed else ChosenBy.PROSE
        else:
            rule = ChosenBy.PASSED_PUBLIC_TESTS if best.passed else ChosenBy.NEWEST
        return Attempt(
            code="" if best is None else best.code,
            chosen_by=rule,
            extraction=self._salvaged.rule if self._salvaged.code else "",
            stop_reason=reason,
            usage=self.conversation.usage,
            usage_known=self.conversation.usage_known,
            model_calls=self.conversation.turns,
            tool_calls=self.calls.made,
            malformed_tool_calls=self.calls.malformed,
            nudges=self._nudges - (self._nudges > 0 and self.conversation.unsent),
            tool_protocol=self._protocol,
            fallback=self.fallback,
            refused=self._refusal is not None,
            revisions=self.calls.revisions(),
            error=error or self._refusal or "",
        )

    def _note_protocol(self, protocol: ToolProtocolUsed, cause: str = "") -> None:
        """Record the tool protocol when it is, or becomes, other than native."""
        if protocol not in {self._protocol, "native"}:
            turn = self.conversation.turns
            self.session.journal(ToolProtocolChanged(turn=turn, protocol=protocol, cause=cause))
        self._protocol = protocol

    def _look(self, turn: ModelTurn) -> StopReason | None:
        """Return why the episode ended with this answer; None if it continues."""
        session, best = self.session, self.session.workspace.best
        if session.workspace.submitted:
            return StopReason.SUBMITTED
        if best is not None and best.passed and session.options.stop_on_pass:
            return StopReason.PUBLIC_TESTS_PASSED
        return self._after_calls() if turn.tool_calls else self._after_words(turn)

    def _after_calls(self) -> StopReason | None:
        """Return why the episode ended with calls; None if it continues."""
        self._in_a_row = 0
        if self._calls_fail():
            return self._ask_without_tools(f"no call succeeded in {FAILED_TURNS} turns")
        if self._confirms():
            return StopReason.MODEL_STOPPED
        return StopReason.REPEATED_SOLUTION if self._repeats() else None

    def _after_words(self, turn: ModelTurn) -> StopReason | None:
        """Return why the episode ended with a message without calls; None if it continues."""
        if turn.stop.reason == "refusal" or (self.filtered and _filtered(turn)):
            message = turn.text.strip() or turn.stop.provider_word or turn.stop.reason
            self._refusal = shorten(message, LONGEST_REFUSAL)
            return StopReason.MODEL_STOPPED
        self.filtered = self.filtered or _filtered(turn)
        turns = self.conversation.turns
        if self._protocol == "text" and not self.calls.made and turns >= TURNS_WITHOUT_TOOLS:
            return self._fall_back()
        return self._remind(turn)

    def _remind(self, turn: ModelTurn) -> StopReason | None:
        """Answer a message without a tool call with a reminder, or end the episode.

        A message in plain words after a reminder ends it. Words without any solution, new code
        in prose, and empty, cut off or filtered messages get two reminders in a row.
        """
        workspace, code = self.session.workspace, self._said.in_text(turn.text).code.strip()
        latest, best = workspace.latest, workspace.best
        if best is not None and best.passed and latest is not None and latest.report is not None:
            return StopReason.MODEL_STOPPED
        new = bool(code) and (latest is None or code != latest.code.strip())
        silent = not turn.text.strip() or turn.cut_off or _filtered(turn)
        allowed = MOST_IN_A_ROW if latest is None or new or silent else 1
        if latest is not None and not (workspace.problem.public_tests or new or silent):
            return StopReason.MODEL_STOPPED
        if self._in_a_row >= allowed or self._nudges >= MOST_REMINDERS:
            unused = latest is None and self._protocol == "text"
            return self._fall_back() if unused else StopReason.MODEL_STOPPED
        if (spent := self.calls.spent()) is not None:
            return spent
        self._nudges += 1
        self._in_a_row += 1
        before = f"{CUT_OFF} " if turn.cut_off else f"{FILTERED} " if _filtered(turn) else ""
        message = reminder(
            self.session,
            turns_left=self.session.limits.turns - self.conversation.turns,
            code_in_text=new,
            further=max(1, MOST_IN_A_ROW + 1 - self._in_a_row) if latest is None else 1,
        )
        self.conversation.add(UserMessage(content=before + message))
        return None

    def _note_failures(self, turn: ModelTurn, results: Sequence[ToolMessage]) -> None:
        """Keep what the model said, and count turns in which every call failed."""
        self._said.add(turn, results)
        if results:
            failed = all(result.is_error for result in results)
            self._failed_turns = self._failed_turns + 1 if failed else 0

    def _calls_fail(self) -> bool:
        """Whether the model cannot hand in anything by calls; an old recording may go on."""
        handed_in = self.session.workspace.latest is not None
        tried = self._failed_turns >= FAILED_TURNS and not self.has_tools_to_the_end
        return tried and not handed_in and not self.session.journal.asks_next()

    def _fall_back(self) -> StopReason | None:
        """Switch to single shot: use code in messages, or send a request without tools."""
        cause = f"no tool was called in {max(TURNS_WITHOUT_TOOLS, self._in_a_row + 1)} turns"
        if not self._said.last().code:
            return self._ask_without_tools(cause)
        self.fallback = True
        self._note_protocol("none", cause)
        return StopReason.MODEL_STOPPED

    def _ask_without_tools(self, cause: str) -> StopReason | None:
        """Give the model the problem as single shot."""
        if (spent := self.calls.spent()) is not None:
            return spent
        self.fallback = True
        self._note_protocol("none", cause)
        session = self.session
        prompt = session.fallback_prompt or fallback_prompt(
            session.prompt.name, language=session.workspace.language
        )
        self.conversation.start_anew()
        self.conversation.add(*prompt.render(session.problem, session.workspace.cpu_limit_s))
        return None

    def _confirms(self) -> bool:
        """Whether the newest solution was handed in again, where no public test can fail it."""
        if self.session.workspace.problem.public_tests or self.session.journal.asks_next():
            return False
        *before, latest = self.session.workspace.revisions[-2:] or [Revision("")]
        return [each.code for each in before] == [latest.code]

    def _repeats(self) -> bool:
        """Whether the same failing solution was written several times in a row."""
        last = self.session.workspace.revisions[-SAME_SOLUTION:]
        return len(last) == SAME_SOLUTION and all(
            revision.code == last[0].code and revision.report is not None and not revision.passed
            for revision in last
        )


def _filtered(turn: ModelTurn) -> bool:
    return turn.stop.reason == "content_filter"
