"""The public tests, run by a strategy rather than by the model; recorded like everything else."""

from harness.agent.attempt import Session
from harness.agent.conversation import Conversation
from harness.agent.events import PublicTests, Tested
from harness.tools.workspace import Report, Revision


async def try_out(session: Session, conversation: Conversation, code: str) -> Report | None:
    """How a solution does on the public tests; None where there are none.

    Where the conversation is taken up again and the tests were run before, they are not run again.

    Raises:
        SandboxError: it could not be run.
    """
    workspace = session.workspace
    workspace.revisions.append(Revision(code))
    if not session.problem.public_tests:
        return None
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
            seconds=round(conversation.clock() - started, 6),
        )
    )
    return report
