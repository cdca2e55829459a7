"""What the native loop and the loop in text share: messages, revisions, the final solution."""

import re
from typing import Any

from harness.agent.attempt import Attempt, ChosenBy, LoopFacts, StopReason, ToolProtocolUsed
from harness.agent.dialogue import Dialogue
from harness.agent.events import ToolProtocolChanged
from harness.agent.extraction.code import Extraction
from harness.agent.session import Session
from harness.agent.tool_calls import ToolCalls, told_of
from harness.excerpts import shorten
from harness.languages.program_key import program_key
from harness.models.protocol import Message, ModelTurn, SystemMessage, UserMessage
from harness.tools.revision import Report

MOST_RESTARTS = 2
"""Times that a sample begins anew because the model repeats itself."""
LONGEST_REFUSAL = 1_000
_TOOLS = ("read_problem", "write_solution", "run_tests")
_TOOL = re.compile(rf"\b(?:{'|'.join(_TOOLS)})\b")


class SampleWork:
    """The state of one sample.

    Attributes:
        calls: executes tool calls.
        repeats: programs that were written before.
        restarts: times the sample began anew because of them.
        renewed: new conversations because the provider refused one.
        silent: messages without a program.
        fallback: whether native tools did not work, so that the loop in text went on.
    """

    def __init__(self, session: Session, conversation: Dialogue) -> None:
        self.session = session
        self.conversation = conversation
        self.calls = ToolCalls(session, conversation)
        self.repeats = self.restarts = self.renewed = self.silent = self.nudges = 0
        self.fallback = self.filtered = False
        self._protocol: ToolProtocolUsed | None = None
        self._refusal: str | None = None
        self._rules: dict[str, str] = {}  # of code found in messages

    def opening(self, *, native: bool = False) -> tuple[SystemMessage, UserMessage]:
        """Return the opening messages, with native tools or in text.

        Raises:
            UsageError: a template fails.
        """
        session = self.session
        return session.prompt.render(
            session.problem,
            session.workspace.cpu_limit_s,
            session.limits.turns,
            told_of(session.toolbox, native=native),
        )

    def say(self, part: str, **values: Any) -> UserMessage:
        """Return a message in the words of the prompt set."""
        session = self.session
        text = session.prompt.render_part(
            part,
            problem=session.problem,
            cpu_limit_s=session.workspace.cpu_limit_s,
            max_turns=session.limits.turns,
            **values,
        )
        return UserMessage(content=text)

    def repair(
        self,
        code: str,
        report: Report | None,
        number: int,
        *,
        native: bool = False,
        new: bool = True,
    ) -> tuple[Message, Message]:
        """Return the messages of a new conversation about the last program.

        Args:
            code: the program; empty for none.
            report: what it did on the public tests.
            number: number of such conversations so far, from 1.
            native: whether it has native tools.
            new: whether the latest answer held it.
        """
        system, user = self.opening(native=native)
        asked = self.say(
            "repair",
            opening=user.content,
            code=code,
            feedback=report.text if report is not None else "",
            round=number,
            tools=told_of(self.session.toolbox, native=True).native if native else (),
            new=new,
        )
        return system, asked

    def key(self, code: str) -> str:
        """Return what equal programs have in common."""
        return program_key(code, self.session.workspace.language)

    def found(self, turn: ModelTurn, text: str | None = None) -> Extraction:
        """Return the code in a message, and keep the rule that found it."""
        said = turn.text if text is None else text
        found = self.session.extract(said, self.session.problem.entry_point)
        if found.code:
            self._rules[found.code] = found.rule
        return found

    async def submit(self, code: str) -> Report | None:
        """Add a revision that was found in a message, and run the public tests if there are any."""
        self.session.workspace.write(code)
        return await self.conversation.run_public_tests()

    def may_restart(self) -> bool:
        """Count a new beginning; False if the sample has none left, or would be the same again."""
        if self.session.settings.temperature == 0 or self.restarts >= MOST_RESTARTS:
            return False
        self.restarts += 1
        return True

    def refuses(self, turn: ModelTurn) -> bool:
        """Whether the model, or its provider's filter for the second time, refused to go on."""
        if turn.stop.reason == "refusal" or (self.filtered and is_filtered(turn)):
            self.refused(turn)
            return True
        self.filtered = self.filtered or is_filtered(turn)
        return False

    def refused(self, turn: ModelTurn) -> None:
        """Keep an answer as the model's refusal."""
        message = turn.text.strip() or turn.stop.provider_word or turn.stop.reason
        self._refusal = shorten(message, LONGEST_REFUSAL)

    def not_refused(self) -> None:
        """Forget a refusal: another answer has a program."""
        self._refusal = None

    def note_protocol(self, protocol: ToolProtocolUsed, cause: str = "") -> None:
        """Record the tool protocol when it is, or becomes, other than native."""
        if protocol not in {self._protocol, "native"}:
            turn = self.conversation.turns
            self.session.journal(ToolProtocolChanged(turn=turn, protocol=protocol, cause=cause))
        self._protocol = protocol

    async def test_final(self, reason: StopReason) -> None:
        """Run the revisions that were never run, unless passing tests ended the sample.

        Raises:
            SandboxError: the public tests could not be run.
        """
        if reason is StopReason.PUBLIC_TESTS_PASSED:
            return
        for revision in self.session.workspace.revisions:
            await self.conversation.run_public_tests(revision)

    def _loop_facts(self) -> LoopFacts:
        revisions = self.session.workspace.revisions
        first: dict[str, int] = {}  # turn in which a program was written first
        for each in revisions:
            key = self.key(each.code) if len(revisions) > 1 else ""
            first.setdefault(key, each.turn)
        return LoopFacts(
            later=max(0, self.conversation.turns - 1),
            new_programs=len({turn for turn in first.values() if turn > 1}),
            named_tools=sum(_names_tool(each.code) for each in revisions),
            repeats=self.repeats,
            restarts=self.restarts,
            renewed=self.renewed,
            silent=self.silent,
            without_reasoning=int(self.conversation.reasoning_left_out is not None),
        )

    def attempt(self, reason: StopReason, error: str = "", **facts: Any) -> Attempt:
        """Return the final solution and how it was produced."""
        workspace, conversation = self.session.workspace, self.conversation
        best = workspace.best
        rule = "" if best is None else self._rules.get(best.code, "")
        if best is None:
            chosen = ChosenBy.NONE
        elif best.passed:
            chosen = ChosenBy.PASSED_PUBLIC_TESTS
        elif best.report is not None and len(workspace.revisions) > 1:
            chosen = ChosenBy.MOST_PUBLIC_TESTS
        else:
            chosen = ChosenBy.ANSWER if rule else ChosenBy.NEWEST
        values: dict[str, Any] = {
            "code": "" if best is None else best.code,
            "chosen_by": chosen,
            "extraction": rule,
            "stop_reason": reason,
            "usage": conversation.usage,
            "usage_known": conversation.usage_known,
            "model_calls": conversation.turns,
            "tool_calls": self.calls.made,
            "malformed_tool_calls": self.calls.malformed,
            "nudges": self.nudges - (self.nudges > 0 and conversation.unsent),
            "loop": self._loop_facts(),
            "tool_protocol": self._protocol,
            "fallback": self.fallback,
            "refused": self._refusal is not None,
            "revisions": tuple(workspace.revisions),
            "error": error or self._refusal or "",
        }
        return Attempt(**{**values, **facts})


def is_filtered(turn: ModelTurn) -> bool:
    """Whether the provider's content filter withheld an answer."""
    return turn.stop.reason == "content_filter"


def _names_tool(code: str) -> bool:
    """Whether a program holds the name of a tool; the search for words alone is 50 times slower."""
    return any(tool in code for tool in _TOOLS) and _TOOL.search(code) is not None
