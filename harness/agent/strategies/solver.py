"""Requests of a strategy that each begin a new conversation, and the solutions in the answers."""

from collections.abc import Sequence
from typing import Any

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, Written
from harness.agent.conversation import Conversation
from harness.agent.events import PublicTests, RanWrittenTests
from harness.agent.strategies.baselines import has_refused, written
from harness.models.protocol import ModelTurn, UserMessage
from harness.problem import TestCase
from harness.text import writable
from harness.tools.workspace import Report


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
        self._revisions: list[Written] = []
        self._rules: list[str] = []
        self._refused = False
        self._system, self._user = session.prompt.render(
            session.problem, session.workspace.cpu_limit_s, session.limits.turns
        )

    @property
    def codes(self) -> list[str]:
        """The solutions, oldest first."""
        return [each.code for each in self._revisions]

    @property
    def passed_public(self) -> list[int]:
        """The number of public tests that each solution passed."""
        return [each.tests.passed if each.tests else 0 for each in self._revisions]

    async def ask(self, part: str | None, *, alone: bool = False, **values: Any) -> ModelTurn:
        """Send a template of the prompt set; None for the user message of the problem.

        Args:
            part: name of the template.
            alone: whether to leave out the system message, which asks for a solution.
            values: values of the template's own names.
        """
        message = self._user
        if part is not None:
            session = self.session
            text = session.prompt.render_part(
                part,
                problem=session.problem,
                cpu_limit_s=session.workspace.cpu_limit_s,
                max_turns=session.limits.turns,
                opening=self._user.content.strip(),
                **values,
            )
            message = UserMessage(content=writable(text.strip()))
        self.conversation.start_anew()
        self.conversation.add(*(() if alone else (self._system,)), message)
        return await self.conversation.ask()

    async def solve(self, part: str | None, **values: Any) -> tuple[str, Report | None]:
        """Ask for a solution and run the public tests; return the code, and the report if any."""
        turn = await self.ask(part, **values)
        extraction = self.session.extract(turn.text, self.session.problem.entry_point)
        self._refused = has_refused(turn, extraction)
        if not extraction.code:
            return "", None
        revision = written(extraction.code, self.conversation)
        self._rules.append(extraction.rule)
        self._revisions.append(revision)  # counts even if its tests are interrupted
        report = await self.conversation.submit_and_test(extraction.code)
        tests = PublicTests.of(report) if report else None
        self._revisions[-1] = revision.model_copy(update={"tests": tests})
        return extraction.code, report

    async def write_tests(self) -> None:
        """Ask for tests, and keep those that can be used."""
        runner = self.session.workspace.written_tests
        turn = await self.ask("tests", alone=True)
        self.tests += runner.read(turn.text) if runner is not None else ()

    async def run_tests(self, codes: Sequence[str]) -> RanWrittenTests:
        """Run solutions on the written tests, or return what was recorded of it.

        Without tests nothing is run or recorded.

        Raises:
            SandboxError: the tests could not be run.
        """
        session, conversation = self.session, self.conversation
        turn, tests = conversation.turns, tuple(dict.fromkeys(self.tests))
        runner = session.workspace.written_tests
        if runner is None or not tests:
            return RanWrittenTests(turn=turn, tests=(), passed=((),) * len(codes))
        recorded = session.journal.written_tests(turn)
        if recorded is not None:
            conversation.recall_seconds(recorded.seconds)
            return recorded
        started = conversation.clock()
        results = [await runner.run(code, tests) for code in codes]
        event = RanWrittenTests(
            turn=turn,
            tests=tests,
            passed=tuple(each.passed for each in results),
            report=writable(results[-1].report),
            seconds=round(conversation.clock() - started, 3),
        )
        session.journal(event)
        return event

    def attempt(self, code: str, chosen_by: ChosenBy, reason: StopReason, error: str) -> Attempt:
        """Return the attempt with a final solution, one of `codes` or empty."""
        conversation, codes = self.conversation, self.codes
        return Attempt(
            code=code,
            chosen_by=chosen_by if code else ChosenBy.NONE,
            extraction=self._rules[codes.index(code)] if code else "none",
            stop_reason=reason,
            usage=conversation.usage,
            usage_known=conversation.usage_known,
            model_calls=conversation.turns,
            revisions=tuple(self._revisions),
            tool_protocol="none",
            refused=self._refused and not code,
            error=error,
            written_tests=tuple(dict.fromkeys(self.tests)),
        )

    def best(self, reason: StopReason, error: str) -> Attempt:
        """Return the attempt with the newest solution that passed the public tests, or newest."""
        best = self.session.workspace.best
        passed = best is not None and best.passed
        rule = ChosenBy.PASSED_PUBLIC_TESTS if passed else ChosenBy.NEWEST
        return self.attempt(best.code if best else "", rule, reason, error)
