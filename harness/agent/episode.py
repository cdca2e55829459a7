"""An agent's work on one problem: messages, tool calls, reminders, limits, end.

Requests are sent elsewhere: by the agent loop of an evaluation
(`harness.agent.strategies.agent_loop`), or by a trainer (`harness.Episode`). Both pass each answer
to `AgentEpisode.take`, so a model sees the same bytes in training and in evaluation.

Answers of a model with native tools, and their handling:

| answer | handling |
| --- | --- |
| several calls | carried out in order, a result each; after the 32nd, only an error each |
| a call written as text | carried out; its result is a user message |
| broken JSON that can be repaired, arguments encoded twice | taken as the arguments |
| wrong or missing arguments | an error as the result that shows a right call |
| arguments that a tool does not take | left out, and the result says so |
| the same failing call again | an error in other words |
| an unknown tool | an error as the result that names the tools |
| a call cut off by the token limit | an error as the result that says so |
| nothing but a program written before, or tests run already | a new beginning, twice at most |
| no call, the newest solution failing or untested | a reminder; the second in a row: the end |
| no call, no solution written, or new code in prose | a reminder; the third in a row: the end |
| no call, an empty message or one cut off or filtered | the same; the reminder mentions it |
| no call, an answer written that has no tests | the model's end |
| a refusal, or filtered a second time | the model's end, `refused`; its solution is graded |
| no call, or only failing calls, in two turns in a row, and nothing handed in | the loop in text |

Reminders are limited and counted (`nudges`). In the end, revisions and programs in messages that
were never run are run on the public tests; the final solution is the one that passes most of them,
of equals the earliest.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.dialogue import Dialogue
from harness.agent.edge_cases import EdgeCases
from harness.agent.extraction.code import NOTHING, Extraction
from harness.agent.sample_work import SampleWork, is_filtered
from harness.agent.session import Session
from harness.agent.text_loop import REPEATED, Course, TextLoop
from harness.models.protocol import Message, ModelTurn, ToolMessage, UserMessage
from harness.models.text_tools.salvage import text_in_call
from harness.text import writable
from harness.tools.revision import Report

FAILED_CALL = "failed call"
"""Rule of an extraction from a call."""
MOST_REMINDERS = 10
"""Largest number of reminders in a sample."""
MOST_IN_A_ROW = 2
"""Largest number of reminders without a tool call between them."""
FRUITLESS_TURNS = 2
"""Turns in a row without a call that succeeded, after which the loop in text goes on."""


class Said(NamedTuple):
    """A message of the model, or the arguments of a call that failed."""

    text: str
    call: bool = False


class SaidCode:
    """What the model said in one sample, and the last code in it.

    Args:
        session: the sample's session, with its tools and its rule of extraction.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._said: list[Said] = []
        specs = session.toolbox.specs
        self._tool = next((spec for spec in specs if spec.sole_text), None)
        self._key = (self._tool.sole_text if self._tool else None) or ""

    def add(self, turn: ModelTurn, results: Sequence[ToolMessage] = ()) -> None:
        """Keep an answer, and those of its calls that failed and may hold a solution."""
        self._said.append(Said(turn.text))
        for call, result in zip(turn.tool_calls, results, strict=False):
            spec = self._session.toolbox.spec(call.name)
            if result.malformed and spec in (None, self._tool):
                self._said.append(Said(call.arguments, call=True))

    def last(self) -> Extraction:
        """Return the last code; empty if there is none."""
        extractions = (self._code_in(turn) for turn in reversed(self._said))
        return next((each for each in extractions if each.code), NOTHING)

    def in_text(self, text: str) -> Extraction:
        """Return the code in a message."""
        return self._session.extract(text, self._session.problem.entry_point)

    def _code_in(self, turn: Said) -> Extraction:
        if turn.call:
            code = text_in_call(turn.text, self._key)
        else:
            from harness.models.text_tools.reader import read_calls  # few runs need it

            calls = read_calls(turn.text, self._session.toolbox.specs, known_only=True).calls
            own = [call for call in calls if self._tool and call.name == self._tool.name]
            code = text_in_call(own[-1].arguments, self._key) if own else ""
        if code.strip():
            return Extraction(code=writable(code.strip("\n")), rule=FAILED_CALL)
        return NOTHING if turn.call else self.in_text(turn.text)


class AgentEpisode:
    """The state of one sample: its messages, tool calls, revisions and end.

    Args:
        session: everything the sample may use.
        conversation: a dialogue without messages yet.
        native: whether the model gets its tools natively; else the loop in text works.

    Attributes:
        results: results of the latest answer's calls.
        by_caller: whether the caller holds the conversation and calls the tools itself, so that
            none begins anew and no failing call leads to the loop in text.
    """

    def __init__(self, session: Session, conversation: Dialogue, *, native: bool = True) -> None:
        self.session = session
        self.conversation = conversation
        self.by_caller = False
        self._work = SampleWork(session, conversation)
        self._cases = EdgeCases(self._work)
        self._said = SaidCode(session)
        self._native = native
        self._tools = tuple(spec.name for spec in session.toolbox.specs)
        self._in_a_row = self._fruitless = self._stuck = self._repairs = 0
        self._salvaged = NOTHING
        self._seen = 0  # revisions that were looked at
        self._text: TextLoop | None = None
        self.results: tuple[ToolMessage, ...] = ()

    @property
    def fallback(self) -> bool:
        """Whether native tools did not work, so that the loop in text goes on."""
        return self._work.fallback

    def open(self) -> None:
        """Add the opening messages. Raises UsageError if a template fails."""
        if self._native:
            self._begin(self._work.opening(native=True))
        else:
            self._work.note_protocol("text")
            self._in_text().open()

    def spent(self) -> StopReason | None:
        """Return the limit that is used up, or None; if used up, send no further request."""
        return self._work.calls.spent()

    async def take(self, turn: ModelTurn) -> StopReason | None:
        """Execute an answer's tool calls, or remind the model of its tools.

        Args:
            turn: the answer, already part of the conversation.

        Returns:
            Why the episode ended; None if it continues, unless a limit is used up.

        Raises:
            SandboxError: the public tests could not be run.
        """
        if self._text is not None:
            return await self._text.take(turn)
        work = self._work
        said = None if turn.tool_calls else work.calls.spoken(turn)
        work.note_protocol("native")
        if said is None or not said.calls:
            results = await work.calls.carry_out(turn)
        else:
            results = await work.calls.carry_out_spoken(turn, said.calls)
        self.results = results
        self._said.add(turn, results)
        return await self._look(turn, results)

    def without_tools(self, cause: str) -> None:
        """Go on with the loop in text, in a new conversation.

        It shows the best solution, if one was handed in. Where the endpoint refuses tools at once,
        nothing was tried, and it is no fallback.
        """
        self._work.fallback = self._native and self.conversation.answered_here
        self._work.note_protocol("text", cause)
        self._work.renewed += bool(self.conversation.answered_here)
        loop, best = self._in_text(), self.session.workspace.best
        if best is None:
            loop.open()
        else:
            loop.resume_from(best.code, best.report)

    def renew(self, cause: str) -> None:
        """Go on in a new conversation, which shows the newest solution and its result."""
        self._work.renewed += 1
        if self._text is not None:
            self._text.renew(cause)
            return
        latest = self.session.workspace.latest
        if latest is None:
            self._begin(self._work.opening(native=True), cause)
        else:
            self._begin(self._repair(latest.code, latest.report), cause)

    async def test_final(self, reason: StopReason) -> None:
        """Run on the public tests what was never run: revisions, and programs in messages.

        Raises:
            SandboxError: the public tests could not be run.
        """
        workspace = self.session.workspace
        if self._text is None and not (workspace.best is not None and workspace.best.passed):
            solution = self._said.last()
            written = [each.code for each in workspace.revisions]
            if (
                solution.code
                and solution.code not in written
                and self._work.key(solution.code) not in map(self._work.key, written)
            ):
                self._salvaged = solution
                workspace.write(solution.code)
        await self._work.test_final(reason)

    def attempt(self, reason: StopReason, error: str = "") -> Attempt:
        """Return the final solution and how it was produced."""
        best = self.session.workspace.best
        salvaged = self._salvaged
        if best is None or not salvaged.code or best.code != salvaged.code:
            return self._work.attempt(reason, error)
        rule = ChosenBy.FAILED_CALL if salvaged.rule == FAILED_CALL else ChosenBy.PROSE
        return self._work.attempt(reason, error, chosen_by=rule, extraction=salvaged.rule)

    def _in_text(self) -> TextLoop:
        options = self.session.options
        context = "fresh" if options.context == "auto" else options.context
        self._text = TextLoop(self._work, Course(context, repeats=options.repeats))
        return self._text

    async def _look(self, turn: ModelTurn, results: Sequence[ToolMessage]) -> StopReason | None:
        """Return why the episode ended with this answer; None if it continues."""
        session, best = self.session, self.session.workspace.best
        if session.workspace.submitted:
            return StopReason.SUBMITTED
        if self._cases.open:
            question = await self._cases.take(turn, self._tools)
            return self._ask(question) if question else StopReason.PUBLIC_TESTS_PASSED
        if best is not None and best.passed:
            if question := self._cases.ask(self._tools):
                return self._ask(question)
            if session.options.stop_on_pass:
                return StopReason.PUBLIC_TESTS_PASSED
        return self._after_calls(results) if results else self._after_words(turn)

    def _after_calls(self, results: Sequence[ToolMessage]) -> StopReason | None:
        """Return why the episode ended with calls; None if it continues."""
        self._in_a_row = 0
        workspace = self.session.workspace
        failed = all(result.is_error for result in results)
        self._fruitless = self._fruitless + 1 if failed else 0
        if self.by_caller:
            return None
        if self._fruitless >= FRUITLESS_TURNS and workspace.latest is None:
            return self._leave_tools(f"no call succeeded in {FRUITLESS_TURNS} turns")
        written = len(workspace.revisions) - self._seen
        repeated = self._repeated_since(self._seen)
        self._seen += written
        self._work.repeats += repeated
        if not workspace.problem.public_tests:
            return StopReason.MODEL_STOPPED if repeated else None  # nothing can fail it
        if written == repeated and (repeated or self._tested_again(results)):
            return self._is_stuck()
        report = workspace.latest.report if workspace.latest is not None else None
        if self.session.options.context == "fresh" and report is not None and not report.solved:
            assert workspace.latest is not None
            return self._begin(self._repair(workspace.latest.code, report))
        return None

    def _repeated_since(self, seen: int) -> int:
        """Return how many revisions after the first `seen` equal one of those."""
        revisions = self.session.workspace.revisions
        if not seen or len(revisions) == seen:
            return 0  # most samples have one program, whose key nobody needs
        known = {self._work.key(each.code) for each in revisions[:seen]}
        return sum(self._work.key(each.code) in known for each in revisions[seen:])

    def _tested_again(self, results: Sequence[ToolMessage]) -> bool:
        """Whether an answer did no more than run tests that had been run."""
        latest = self.session.workspace.latest
        if latest is None or latest.report is None:
            return False
        same = self.session.workspace.say(
            "unchanged", passed=latest.report.passed, total=latest.report.total
        )
        return all(result.content.startswith(same) for result in results)

    def _is_stuck(self) -> StopReason | None:
        """Begin anew after as many repeats as the settings say, or end the sample."""
        best = self.session.workspace.best
        if best is not None and best.passed:
            return StopReason.PUBLIC_TESTS_PASSED  # the model has nothing to change
        self._stuck += 1
        if self._stuck < self.session.options.repeats:
            return None
        self._stuck = 0
        if not self._work.may_restart():
            return StopReason.REPEATED_SOLUTION
        return self._begin(self._work.opening(native=True), REPEATED)

    def _after_words(self, turn: ModelTurn) -> StopReason | None:
        """Return why the episode ended with a message without calls; None if it continues.

        Without any solution, the second in a row leads to the loop in text. With one, plain words
        after a reminder end it; new code in prose, and empty, cut off or filtered messages get two
        reminders in a row.
        """
        work, workspace = self._work, self.session.workspace
        if work.refuses(turn):
            return StopReason.MODEL_STOPPED
        work.silent += 1
        latest, best = workspace.latest, workspace.best
        done = best is not None and best.passed
        self._fruitless += latest is None
        if latest is None and self._fruitless >= FRUITLESS_TURNS:
            return self._leave_tools(f"no call was made in {FRUITLESS_TURNS} turns")
        code = self._said.in_text(turn.text).code.strip()
        new = bool(code) and (latest is None or work.key(code) != work.key(latest.code))
        silent = not turn.text.strip() or turn.cut_off or is_filtered(turn)
        untested = latest is not None and not workspace.problem.public_tests
        done = done or (untested and not (new or silent))
        allowed = MOST_IN_A_ROW if new or silent else 1
        if done or self._in_a_row >= allowed or work.nudges >= MOST_REMINDERS:
            return StopReason.MODEL_STOPPED
        if (spent := self.spent()) is not None:
            return spent
        work.nudges += 1
        self._in_a_row += 1
        return self._ask(self._reminder(turn, new_code=new))

    def _reminder(self, turn: ModelTurn, *, new_code: bool) -> UserMessage:
        workspace = self.session.workspace
        report = workspace.latest.report if workspace.latest is not None else None
        return self._work.say(
            "reminder",
            cut_off=turn.cut_off,
            filtered=is_filtered(turn),
            new_code=new_code,
            handed_in=workspace.latest is not None,
            tests=bool(workspace.problem.public_tests),
            passed=report.passed if report is not None else None,
            total=report.total if report is not None else None,
            turns=self.session.limits.turns - self.conversation.turns,
        )

    def _leave_tools(self, cause: str) -> StopReason | None:
        """Go on in text, unless a limit is used up."""
        if (spent := self.spent()) is not None:
            return spent
        return self.without_tools(cause)

    def _repair(self, code: str, report: Report | None) -> tuple[Message, Message]:
        self._repairs += 1
        return self._work.repair(code, report, self._repairs, native=True)

    def _begin(self, messages: Sequence[Message], cause: str = "") -> StopReason | None:
        """Begin a new conversation, unless a limit is used up."""
        if (spent := self.spent()) is None:
            self.conversation.start_anew(self.session.toolbox.specs, cause)
            self.conversation.add(*messages)
        return spent

    def _ask(self, message: UserMessage) -> None:
        self.conversation.add(message)
