"""Strategies without tools: single shot, best of k by public tests, self-repair.

Best of k measures what sampling alone gives for the same money as iterating. The solution that
passes the most public tests is chosen, the earliest of equals; hidden tests are not used. It stops
at the first solution that passes all, or, without public tests to choose by, at the first answer
with code.

Self-repair follows LiveCodeBench's scenario of that name
(https://github.com/LiveCodeBench/LiveCodeBench, `lcb_runner/prompts/self_repair.py`): each round is
a new conversation that shows the last solution and its failure. Two things differ. Only failures of
public tests are shown: upstream shows the first failure of all tests, including hidden ones, and so
reveals their answers. And every verdict has a report, including those on which upstream fails (a
program that does not compile, a missing method, a judge that gave up).

The first solution comes from an earlier run, if given, or else from a single shot. It is kept if
it passes the public tests, or if there are none.
"""

from typing import Any

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, Written, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.events import PublicTests
from harness.agent.extraction.code import Extraction
from harness.models.protocol import Message, ModelTurn, UserMessage
from harness.text import writable
from harness.tools.workspace import Report

REPAIR = "repair"
NO_CODE = "There was no code in the answer, so nothing could be run."
NO_NEW_CODE = "There was no code in the latest answer; this is the solution before it."


async def single_shot(session: Session) -> Attempt:
    """Send one request without tools and take the code from the answer."""
    conversation = Conversation(session)
    conversation.add(*session.prompt.render(session.problem, session.workspace.cpu_limit_s))
    extraction, refused = Extraction(code="", rule="none"), False

    async def ask() -> StopReason:
        nonlocal extraction, refused
        turn = await conversation.ask()
        extraction = session.extract(turn.text, session.problem.entry_point)
        refused = has_refused(turn, extraction)
        return StopReason.MODEL_STOPPED

    reason, error = await run_until_stopped(ask(), session.limits)
    return _attempt(
        conversation,
        code=extraction.code,
        chosen_by=ChosenBy.ANSWER if extraction.code else ChosenBy.NONE,
        extraction=extraction.rule,
        stop_reason=reason,
        revisions=(written(extraction.code, conversation),) if extraction.code else (),
        refused=refused,
        error=error,
    )


def _attempt(conversation: Conversation, **facts: Any) -> Attempt:
    """Return an attempt without tools, with the conversation's cost."""
    return Attempt(
        usage=conversation.usage,
        usage_known=conversation.usage_known,
        model_calls=conversation.turns,
        tool_protocol="none",
        **facts,
    )


def has_refused(turn: ModelTurn, extraction: Extraction) -> bool:
    """Whether the model, or its provider's filter, refused without giving code."""
    return turn.stop.reason in {"refusal", "content_filter"} and not extraction.code


def written(code: str, conversation: Conversation) -> Written:
    """Return a revision for code in a message, with the current counts."""
    return Written(
        code=code,
        turn=conversation.turns,
        usage=conversation.usage if conversation.usage_known else None,
        seconds=round(conversation.seconds, 3),
    )


def feedback(report: str, *, new: bool) -> str:
    """Return what a model is told of its newest solution.

    Args:
        report: what came of that solution's tests; empty if there is no solution yet.
        new: whether the latest answer held it.
    """
    if not report:
        return NO_CODE
    return report if new else f"{NO_NEW_CODE}\n\n{report}"


async def best_of_k_public(session: Session) -> Attempt:
    """Send `best_of` independent requests."""
    return await _Shots(session).run()


class _Shots:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.conversation = Conversation(session)
        self.revisions: list[Written] = []
        self.rules: list[str] = []
        self.refused = 0

    async def run(self) -> Attempt:
        reason, error = await run_until_stopped(self._shoot(), self.session.limits)
        best = max(self.revisions, key=_passed, default=None)
        passed = best is not None and best.tests is not None and best.tests.solved
        return _attempt(
            self.conversation,
            code=best.code if best else "",
            chosen_by=_rule(best, passed=passed),
            extraction=self.rules[self.revisions.index(best)] if best else "none",
            stop_reason=reason,
            revisions=tuple(self.revisions),
            refused=bool(self.refused) and not self.revisions,
            error=error,
        )

    async def _shoot(self) -> StopReason:
        session, conversation = self.session, self.conversation
        opening = session.prompt.render(session.problem, session.workspace.cpu_limit_s)
        for _ in range(session.options.best_of):
            if (spent := conversation.spent()) is not None:
                return spent
            conversation.start_anew()
            conversation.add(*opening)
            turn = await conversation.ask()
            extraction = session.extract(turn.text, session.problem.entry_point)
            self.refused += has_refused(turn, extraction)
            if not extraction.code:
                continue
            revision = written(extraction.code, conversation)
            self.rules.append(extraction.rule)
            self.revisions.append(revision)  # counts even if its tests are interrupted
            report = await conversation.submit_and_test(extraction.code)
            if report is None:
                return StopReason.MODEL_STOPPED
            self.revisions[-1] = revision.model_copy(update={"tests": PublicTests.of(report)})
            if report.solved:
                return StopReason.PUBLIC_TESTS_PASSED
        return StopReason.MODEL_STOPPED


def _passed(revision: Written) -> int:
    return revision.tests.passed if revision.tests else 0


def _rule(best: Written | None, *, passed: bool) -> ChosenBy:
    if best is None:
        return ChosenBy.NONE
    if best.tests is None:
        return ChosenBy.ANSWER
    return ChosenBy.PASSED_PUBLIC_TESTS if passed else ChosenBy.MOST_PUBLIC_TESTS


async def self_repair(session: Session) -> Attempt:
    """Request a solution and up to `repair_rounds` repairs after failed public tests."""
    return await _Repairs(session).run()


class _Repairs:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.conversation = Conversation(session)
        self.revisions: list[Written] = []
        self.rule = "none"
        self.refused = False

    async def run(self) -> Attempt:
        reason, error = await run_until_stopped(self._work(), self.session.limits)
        best = self.session.workspace.best
        return _attempt(
            self.conversation,
            code=best.code if best else "",
            chosen_by=self._chosen_by(),
            extraction=self.rule,
            stop_reason=reason,
            revisions=tuple(self.revisions),
            refused=self.refused,
            error=error,
        )

    async def _work(self) -> StopReason:
        session = self.session
        opening = session.prompt.render(
            session.problem, session.workspace.cpu_limit_s, session.limits.turns
        )
        if session.earlier is None:
            code = await self._ask(*opening)
        else:
            code, self.rule = session.earlier, ""
        report, new = await self._test(code), True
        for number in range(1, session.options.repair_rounds + 1):
            if report is None and code:
                return StopReason.MODEL_STOPPED
            if report is not None and report.solved:
                return StopReason.PUBLIC_TESTS_PASSED
            if (spent := self.conversation.spent()) is not None:
                return spent
            told = feedback(report.text if report else "", new=new)
            answer = await self._ask(opening[0], self._repair(number, code, told))
            new = bool(answer)
            if new:
                code, report = answer, await self._test(answer)
        passed = report is not None and report.solved
        return StopReason.PUBLIC_TESTS_PASSED if passed else StopReason.MODEL_STOPPED

    def _repair(self, number: int, code: str, told: str) -> Message:
        session = self.session
        text = session.prompt.render_part(
            REPAIR,
            problem=session.problem,
            cpu_limit_s=session.workspace.cpu_limit_s,
            max_turns=session.limits.turns,
            code=code,
            feedback=told,
            round=number,
        )
        return UserMessage(content=writable(text.strip()))

    async def _ask(self, *messages: Message) -> str:
        """Send the messages; return the code of the answer, empty if there is none."""
        session = self.session
        self.conversation.start_anew()
        self.conversation.add(*messages)
        turn = await self.conversation.ask()
        extraction = session.extract(turn.text, session.problem.entry_point)
        self.refused = has_refused(turn, extraction)
        if extraction.code:
            self.rule = extraction.rule
        return extraction.code

    async def _test(self, code: str) -> Report | None:
        if not code:
            return None
        revision = written(code, self.conversation)
        self.revisions.append(revision)  # counts even if its tests are interrupted
        report = await self.conversation.submit_and_test(code)
        tests = PublicTests.of(report) if report else None
        self.revisions[-1] = revision.model_copy(update={"tests": tests})
        return report

    def _chosen_by(self) -> ChosenBy:
        best = self.session.workspace.best
        if best is None:
            return ChosenBy.NONE
        if best.passed:
            return ChosenBy.PASSED_PUBLIC_TESTS
        own = self.session.earlier is not None and len(self.revisions) == 1
        return ChosenBy.EARLIER if own else ChosenBy.NEWEST
