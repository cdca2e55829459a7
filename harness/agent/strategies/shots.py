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

Both are `harness.agent.text_loop` with a course of their own.
"""

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.conversation import Conversation
from harness.agent.sample_work import SampleWork
from harness.agent.session import Session, run_until_stopped
from harness.agent.text_loop import REFUSALS, Course, TextLoop


async def single_shot(session: Session) -> Attempt:
    """Send one request without tools and take the code from the answer."""
    conversation = Conversation(session)
    work = SampleWork(session, conversation)
    conversation.add(*work.opening())

    async def ask() -> StopReason:
        turn = await conversation.ask()
        found = work.found(turn)
        if found.code:
            session.workspace.write(found.code)
        elif turn.stop.reason in REFUSALS:
            work.refused(turn)
        return StopReason.MODEL_STOPPED

    reason, error = await run_until_stopped(ask(), session.limits)
    chosen = ChosenBy.ANSWER if session.workspace.revisions else ChosenBy.NONE
    return work.attempt(reason, error, tool_protocol="none", chosen_by=chosen)


async def best_of_k_public(session: Session) -> Attempt:
    """Send `best_of` independent requests."""
    return await _run(session, Course("shots", rounds=session.options.best_of))


async def self_repair(session: Session) -> Attempt:
    """Request a solution and up to `repair_rounds` repairs after failed public tests."""
    return await _run(session, Course("fresh", rounds=1 + session.options.repair_rounds))


async def _run(session: Session, course: Course) -> Attempt:
    conversation = Conversation(session)
    work = SampleWork(session, conversation)
    loop = TextLoop(work, course)

    async def ask() -> StopReason:
        loop.open()
        while (spent := conversation.spent()) is None:
            reason = await loop.take(await conversation.ask())
            if reason is not None:
                return reason
        return spent

    reason, error = await run_until_stopped(ask(), session.limits)
    return work.attempt(reason, error, tool_protocol="none")
