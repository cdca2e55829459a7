"""Requests of a strategy that each begin a new conversation, and the solutions in the answers."""

from collections.abc import Sequence
from typing import Any

from harness.agent.attempt import Attempt, StopReason
from harness.agent.conversation import Conversation
from harness.agent.events import RanWrittenTests
from harness.agent.sample_work import SampleWork
from harness.agent.session import BudgetSpentError, Session
from harness.agent.text_loop import REFUSALS
from harness.models.protocol import ModelTurn
from harness.problem import TestCase
from harness.tools.revision import Report, Revision


class Solver:
    """The requests, solutions and written tests of one sample.

    Attributes:
        conversation: the requests so far.
        tests: tests that the model wrote, in order, with repeats.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.conversation = Conversation(session)
        self.tests = list[TestCase]()
        self._work = SampleWork(session, self.conversation)
        self._refused = False
        self._system, self._user = self._work.opening()

    @property
    def revisions(self) -> Sequence[Revision]:
        """The solutions, oldest first."""
        return self.session.workspace.revisions

    async def ask(self, part: str | None, *, alone: bool = False, **values: Any) -> ModelTurn:
        """Send a template of the prompt set; None for the user message of the problem.

        Args:
            part: name of the template.
            alone: whether to leave out the system message, which asks for a solution.
            values: values of the template's own names.

        Raises:
            BudgetSpentError: a limit of the sample is used up; nothing was sent.
        """
        if (spent := self.conversation.spent()) is not None:
            raise BudgetSpentError(spent)
        message = self._user
        if part is not None:
            message = self._work.say(part, opening=self._user.content.strip(), **values)
        self.conversation.start_anew()
        self.conversation.add(*(() if alone else (self._system,)), message)
        return await self.conversation.ask()

    async def solve(self, part: str | None, **values: Any) -> tuple[str, Report | None]:
        """Ask for a solution and run the public tests; return the code, and the report if any."""
        turn = await self.ask(part, **values)
        code = self._work.found(turn).code
        self._refused = turn.stop.reason in REFUSALS and not code
        return code, await self._work.submit(code) if code else None

    async def write_tests(self) -> None:
        """Ask for tests, and keep those that can be used."""
        runner = self.session.workspace.written_tests
        turn = await self.ask("tests", alone=True)
        self.tests += runner.read(turn.text) if runner is not None else ()

    async def run_tests(self, codes: Sequence[str]) -> RanWrittenTests:
        """Run solutions on the written tests. Raises SandboxError."""
        tests = tuple(dict.fromkeys(self.tests))
        return await self.conversation.run_written_tests(codes, tests)

    def attempt(self, reason: StopReason, error: str, **facts: Any) -> Attempt:
        """Return the attempt with the best solution by public tests, but for some facts."""
        return self._work.attempt(
            reason,
            error,
            tool_protocol="none",
            refused=self._refused and not self.revisions,
            written_tests=tuple(dict.fromkeys(self.tests)),
            **facts,
        )


def end_of(report: Report | None) -> StopReason | None:
    """Return why a program ends the sample; None if it failed a public test."""
    if report is None:  # there are no public tests
        return StopReason.MODEL_STOPPED
    return StopReason.PUBLIC_TESTS_PASSED if report.solved else None
