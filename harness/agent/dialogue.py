"""The messages of one sample and their token counts; it sends no requests itself.

A strategy without tools has its solutions tested here, too.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from harness.agent.attempt import StopReason
from harness.agent.events import (
    NewConversation,
    PublicTests,
    RanWrittenTests,
    ReasoningLeftOut,
    Request,
    Response,
    Tested,
)
from harness.agent.session import Session
from harness.models import protocol
from harness.models.text_tools.thoughts import only_thoughts
from harness.problem import TestCase
from harness.text import writable, writable_copy
from harness.tools.revision import Report, Revision, Spent

LENGTH_OF_HASH = 16  # hex digits of 64: enough to distinguish conversations
CUT_OFF = (
    "the provider counted {now:,} prompt tokens after {before:,}, though the conversation had "
    "grown: it may have cut off the beginning. Ollama does so beyond its context length; raise "
    "OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile, and start the run anew"
)
ONLY_THOUGHTS = (
    "an answer of the model holds thoughts and nothing else, so nothing can be taken from it. If "
    "there are many, the server takes its answers for thoughts: set another reasoning parser "
    "there, or a lower --reasoning-effort"
)


class Dialogue:
    """An append-only list of messages, and their cost.

    The hash of a request covers the settings, the tools and every message in order. Each request's
    hash continues the previous one, so a conversation is hashed only once.

    Attributes:
        turns: number of requests so far.
        usage: tokens of all answers, and of failed answers that are billed.
        usage_known: whether every answer reported its tokens.
        reasoning_left_out: turn up to which no reasoning is sent, since the provider refused it.
    """

    def __init__(self, session: Session, tools: tuple[protocol.ToolSpec, ...] = ()) -> None:
        self._session = session
        session.workspace.spent = self._so_far
        self._begin(tools)
        self._started = self.clock()
        self._waited = 0.0
        self.usage: protocol.Usage = protocol.Usage()
        self.usage_known = True
        self.turns = 0
        self.reasoning_left_out: int | None = None

    @property
    def messages(self) -> tuple[protocol.Message, ...]:
        """The messages of the next request."""
        return tuple(self._messages)

    @property
    def tools(self) -> tuple[protocol.ToolSpec, ...]:
        """The tools of the next request."""
        return self._tools

    def answered(self, turn: protocol.ModelTurn) -> None:
        """Add an answer to a request that the caller sent itself."""
        request = self._request()
        self._sent(request)
        self._session.journal(request)
        self._session.journal(Response(turn=self.turns, response=turn))
        self._hear(turn)

    def add(self, *messages: protocol.Message, recorded: bool = False) -> None:
        """Add messages; the next request's event includes those not yet in any event."""
        for message in messages:
            try:
                encoded = to_json(message)
            except ValueError:  # lone surrogates of the user's own code
                message = writable_copy(message)  # noqa: PLW2901
                encoded = to_json(message)
            if not recorded:
                self._unrecorded.append(message)
            self._messages.append(message)
            self._digest.update(encoded)

    def start_anew(self, tools: tuple[protocol.ToolSpec, ...] = (), cause: str = "") -> None:
        """Drop the messages and set new tools; turns, seconds and usage continue."""
        if self._messages:
            self._session.journal(NewConversation(turn=self.turns, cause=cause))
        self._begin(tools)

    def not_answered(self) -> None:
        """Uncount the last request, which was refused: another one takes its place."""
        self.turns -= 1

    def leave_out_reasoning(self) -> bool:
        """Send no reasoning of the answers so far any more; False if there is none."""
        if not any(
            isinstance(each, protocol.AssistantMessage) and each.reasoning
            for each in self._messages
        ):
            return False
        self._session.journal(ReasoningLeftOut(turn=self.turns))
        self._messages = [
            each.model_copy(update={"reasoning": ()})
            if isinstance(each, protocol.AssistantMessage)
            else each
            for each in self._messages
        ]
        self._digest = self._hash_of(self._tools, self._messages)
        self._prompt_tokens = None
        self.reasoning_left_out = self.turns
        return True

    @property
    def answered_here(self) -> bool:
        """Whether the conversation has an answer, so that a new one is a shorter one."""
        return any(isinstance(each, protocol.AssistantMessage) for each in self._messages)

    def _begin(self, tools: tuple[protocol.ToolSpec, ...]) -> None:
        self._tools = tools
        self._prompt_tokens: int | None = None  # of the latest answered request
        self._messages: list[protocol.Message] = []
        self._unrecorded: list[protocol.Message] = []
        self._digest = self._hash_of(tools, ())

    def _hash_of(
        self, tools: Sequence[protocol.ToolSpec], messages: Sequence[protocol.Message]
    ) -> Any:
        digest = hashlib.sha256(self._session.settings.model_dump_json().encode())
        for tool in tools:
            digest.update(tool.encoded)
        for message in messages:
            digest.update(to_json(message))
        return digest

    @property
    def seconds(self) -> float:
        """Working seconds so far, including those of a resumed earlier attempt."""
        return self.clock() - self._started - self._waited

    def clock(self) -> float:
        """Return monotonic seconds without the time tests waited for a sandbox worker."""
        return time.monotonic() - self._session.workspace.queued_s

    def _so_far(self) -> Spent:
        usage = self.usage if self.usage_known else None
        return Spent(self.turns, usage, round(self.seconds, 3))

    @property
    def unsent(self) -> bool:
        """Whether messages were added that no request has included yet."""
        return bool(self._unrecorded)

    @property
    def out_of_time(self) -> bool:
        """Whether the sample's working seconds are used up."""
        limit = self._session.limits.seconds
        return limit is not None and self.seconds >= limit

    def spent(self) -> StopReason | None:
        """Return the limit that is used up (turns, tokens or working seconds), or None.

        The sample's other conversations count as well.
        """
        limits, journal = self._session.limits, self._session.journal
        if max(self.turns, len(journal.answers)) >= limits.turns:
            return StopReason.TURN_LIMIT
        if limits.tokens is not None:
            usage = journal.usage if self.usage_known else None
            if usage is None or usage.total_tokens >= limits.tokens:
                return StopReason.TOKEN_LIMIT
        return StopReason.TIME_LIMIT if self.out_of_time else None

    def recall_seconds(self, seconds: float) -> None:
        """Add the working seconds of an earlier attempt."""
        self._waited -= seconds

    async def run_public_tests(self, revision: Revision | None = None) -> Report | None:
        """Run the public tests on a revision, by default the newest; None without tests.

        They run once. A result recorded by an earlier attempt is reused.

        Raises:
            SandboxError: the tests could not be run.
        """
        session, workspace = self._session, self._session.workspace
        revision = revision or workspace.latest
        if revision is None or not session.problem.public_tests:
            return None
        if revision.report is not None:
            return revision.report
        recorded = session.journal.tested(self.turns)
        if recorded is not None:
            workspace.recorded = Report(**dict(recorded.tests), text=recorded.report)
            self.recall_seconds(recorded.seconds)
            return await workspace.test(revision)
        started = self.clock()
        report = await workspace.test(revision)
        seconds, tests = round(self.clock() - started, 3), PublicTests.of(report)
        event = Tested(turn=self.turns, tests=tests, report=report.text, seconds=seconds)
        session.journal(event)
        return report

    async def run_written_tests(
        self, codes: Sequence[str], tests: tuple[TestCase, ...]
    ) -> RanWrittenTests:
        """Run solutions on tests that the model wrote, or return what was recorded of it.

        Without tests nothing is run or recorded.

        Raises:
            SandboxError: the tests could not be run.
        """
        runner = self._session.workspace.written_tests
        if runner is None or not tests:
            return RanWrittenTests(turn=self.turns, tests=(), passed=((),) * len(codes))
        recorded = self._session.journal.written_tests(self.turns)
        if recorded is not None:
            self.recall_seconds(recorded.seconds)
            return recorded
        started = self.clock()
        results = [await runner.run(code, tests) for code in codes]
        event = RanWrittenTests(
            turn=self.turns,
            tests=tests,
            passed=tuple(each.passed for each in results),
            report=writable(results[-1].report),
            seconds=round(self.clock() - started, 3),
        )
        self._session.journal(event)
        return event

    def _request(self) -> Request:
        return Request(
            turn=self.turns + 1,
            hash=self._digest.hexdigest()[:LENGTH_OF_HASH],
            messages=tuple(self._unrecorded),
        )

    def _sent(self, request: Request) -> None:
        self.turns = request.turn
        self._unrecorded = []

    def _hear(self, turn: protocol.ModelTurn) -> None:
        self._look_for_a_cut(turn)
        if only_thoughts(turn):
            self._session.warn("only thoughts", ONLY_THOUGHTS)
        self.add(turn.message(), recorded=True)
        self.usage_known = self.usage_known and turn.usage is not None
        self.usage += turn.usage or protocol.Usage()

    def _look_for_a_cut(self, turn: protocol.ModelTurn) -> None:
        """Warn if a request had fewer tokens than the shorter one before it.

        One such request is expected: after a new user message, chat templates drop the reasoning
        of earlier turns.
        """
        now, before = turn.usage.input_tokens if turn.usage else None, self._prompt_tokens
        self._prompt_tokens = now
        if now is None or before is None or now >= before:
            return
        answers = [each for each in self._messages if isinstance(each, protocol.AssistantMessage)]
        dropped = answers and answers[-1].reasoning
        if not (dropped and isinstance(self._messages[-1], protocol.UserMessage)):
            self._session.warn("prompt cut off", CUT_OFF.format(now=now, before=before))


def writable_turn(turn: protocol.ModelTurn) -> protocol.ModelTurn:
    """Return the turn with lone surrogates escaped, which a transcript cannot hold."""
    texts = [turn.text]
    for call in turn.tool_calls:
        texts += call.name, call.arguments
    if all(text.isascii() or writable(text) == text for text in texts):
        return turn
    calls = tuple(
        call.model_copy(update={"name": writable(call.name), "arguments": writable(call.arguments)})
        for call in turn.tool_calls
    )
    return turn.model_copy(update={"text": writable(turn.text), "tool_calls": calls})
