"""The agent loop: ask the model, carry out its calls, until tests pass or a limit is reached.

`harness.agent.episode` decides what an answer leads to; the loop sends the requests. If a
conversation becomes too long, old tool results are cleared before it is given up.
"""

from harness.agent.attempt import Attempt, Session, StopReason, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.episode import AgentEpisode
from harness.models.protocol import ContextOverflowError, ModelTurn


async def agentic(session: Session) -> Attempt:
    """Run the loop; the final solution is the newest that passed the public tests."""
    conversation = Conversation(session, session.toolbox.specs)
    episode = AgentEpisode(session, conversation)
    episode.open()
    reason, error = await run_until_stopped(_converse(episode, conversation), session.limits)
    if reason is not StopReason.MODEL_ERROR:  # such a sample is retried
        await episode.test_final(reason)
    return episode.attempt(reason, error)


async def _converse(episode: AgentEpisode, conversation: Conversation) -> StopReason:
    while (spent := episode.spent()) is None:
        reason = await episode.take(await _ask(conversation))
        if reason is not None:
            return reason
    return spent


async def _ask(conversation: Conversation) -> ModelTurn:
    """Return the next answer; clear old tool results if the conversation is too long."""
    while True:
        try:
            return await conversation.ask()
        except ContextOverflowError as overflow:
            if not conversation.clear_results(str(overflow)):
                raise
