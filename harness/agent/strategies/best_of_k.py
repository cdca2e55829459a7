"""Several single shots, from which the public tests choose one.

Measures what sampling alone gives for the same money as iterating. The solution that passes the
most public tests is chosen, the earliest of equals; hidden tests are not used. It stops at the
first solution that passes all, or, without public tests to choose by, at the first answer with
code.
"""

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, Written, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.events import PublicTests
from harness.agent.strategies.public_tests import submit_and_test
from harness.agent.strategies.single_shot import has_refused, written


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
        conversation = self.conversation
        return Attempt(
            code=best.code if best else "",
            chosen_by=_rule(best, passed=passed),
            extraction=self.rules[self.revisions.index(best)] if best else "none",
            stop_reason=reason,
            usage=conversation.usage,
            usage_known=conversation.usage_known,
            model_calls=conversation.turns,
            revisions=tuple(self.revisions),
            tool_protocol="none",
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
            found = session.extract(turn.text, session.problem.entry_point)
            self.refused += has_refused(turn, found)
            if not found.code:
                continue
            revision = written(found.code, conversation)
            self.rules.append(found.rule)
            self.revisions.append(revision)  # counts even if its tests are interrupted
            report = await submit_and_test(session, conversation, found.code)
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
