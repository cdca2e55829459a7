"""Public tests run by a strategy without a tool call, and their recording."""

from harness.agent.attempt import Session
from harness.agent.dialogue import Dialogue
from harness.agent.events import PublicTests, Tested
from harness.tools.workspace import Report, Revision


async def submit_and_test(session: Session, conversation: Dialogue, code: str) -> Report | None:
    """Add a revision and run the public tests; None if there are none.

    Raises:
        SandboxError: the tests could not be run.
    """
    session.workspace.revisions.append(Revision(code))
    return await run_public_tests(session, conversation)


async def run_public_tests(session: Session, conversation: Dialogue) -> Report | None:
    """Run the public tests on the newest revision, unless done; None without tests.

    A result recorded by an earlier attempt is reused.

    Raises:
        SandboxError: the tests could not be run.
    """
    workspace = session.workspace
    if workspace.latest is None or not session.problem.public_tests:
        return None
    if workspace.latest.report is not None:
        return workspace.latest.report
    recorded = session.journal.tested(conversation.turns)
    if recorded is not None:
        workspace.recorded = Report(**dict(recorded.tests), text=recorded.report)
        conversation.recall_seconds(recorded.seconds)
        return await workspace.test()
    started = conversation.clock()
    report = await workspace.test()
    session.journal(
        Tested(
            turn=conversation.turns,
            tests=PublicTests.of(report),
            report=report.text,
            seconds=round(conversation.clock() - started, 3),
        )
    )
    return report
