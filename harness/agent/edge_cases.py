"""Check turns: after the public tests have passed, the model names edge cases, and they are run.

A case whose answer is not the model's is a contradiction, and one more turn: the model says which
of the two is wrong. A program from there that passes the public tests and all cases so far takes
the place of its predecessor.
"""

from collections.abc import Sequence

from harness.agent.sample_work import SampleWork
from harness.models.protocol import ModelTurn, UserMessage
from harness.problem import TestCase
from harness.tools.revision import Revision


class EdgeCases:
    """The check turns of one sample.

    Attributes:
        open: whether an answer to a question is expected.
    """

    def __init__(self, work: SampleWork) -> None:
        self._work = work
        self._left = work.session.options.check_turns
        self._tests = tuple[TestCase, ...]()
        self._contradicted = False
        self.open = False

    def ask(self, tools: Sequence[str] = (), opening: str = "") -> UserMessage | None:
        """Return the question for edge cases; None if there is none to ask.

        Args:
            tools: names of the native tools.
            opening: the problem, for a conversation that does not have it.
        """
        session = self._work.session
        if not self._left or session.workspace.written_tests is None:
            return None
        if session.problem.judge == "dialogue" or not session.problem.public_tests:
            return None
        return self._question("", tools, opening)

    async def take(self, turn: ModelTurn, tools: Sequence[str] = ()) -> UserMessage | None:
        """Read an answer and run its cases; return the next question, or None at the end.

        Raises:
            SandboxError: the tests could not be run.
        """
        work, workspace = self._work, self._work.session.workspace
        self.open = False
        before = workspace.best
        assert before is not None
        runner = workspace.written_tests
        assert runner is not None
        program = before
        if self._contradicted:
            newer = await self._newer(turn, before)
            if newer is None:
                return None
            program = newer
        else:
            self._tests = tuple(dict.fromkeys((*self._tests, *runner.read(turn.text))))
        ran = await work.conversation.run_written_tests([program.code], self._tests)
        if all(ran.passed[0]):
            if program is not before:
                workspace.replaced = program
            return None
        self._contradicted = True
        return self._question(ran.report, tools, "") if self._left else None

    async def _newer(self, turn: ModelTurn, before: Revision) -> Revision | None:
        """Return the program that an answer hands in, if it passes the public tests."""
        work, workspace = self._work, self._work.session.workspace
        if workspace.latest is before and (found := work.found(turn)).code:
            if work.key(found.code) == work.key(before.code):
                return None
            await work.submit(found.code)
        if workspace.latest is before:
            return None
        await work.conversation.run_public_tests()
        newest = workspace.latest
        return newest if newest is not None and newest.passed else None

    def _question(self, report: str, tools: Sequence[str], opening: str) -> UserMessage:
        self._left -= 1
        self.open = True
        best = self._work.session.workspace.best
        code = "" if best is None else best.code
        return self._work.say("check", report=report, tools=tools, opening=opening, code=code)
