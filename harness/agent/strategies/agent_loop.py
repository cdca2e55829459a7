"""The agent loop: the model calls tools until the public tests pass or a limit is hit.

What an answer leads to is decided in `harness.agent.episode`; the loop asks the model. Where a
conversation has grown too long, old results of tools are left out of it
(`Conversation.clear_results`) before it is given up.
"""

from harness.agent.attempt import Attempt, Session, StopReason, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.episode import AgentEpisode
from harness.models.protocol import ContextOverflowError, ModelTurn


async def agentic(session: Session) -> Attempt:
    """Read, write, run, correct; the final solution is the newest that passed the public tests."""
    conversation = Conversation(session, session.toolbox.specs)
    episode = AgentEpisode(session, conversation)
    episode.open()
    reason, error = await run_until_stopped(_converse(episode, conversation), session.limits)
    if reason is not StopReason.MODEL_ERROR:  # such a sample is asked again
        await episode.test_final(reason)
    return episode.attempt(reason, error)


async def _converse(episode: AgentEpisode, conversation: Conversation) -> StopReason:
    while (spent := episode.spent()) is None:
        reason = await episode.take(await _ask(conversation))
        if reason is not None:
            return reason
    return spent


async def _ask(conversation: Conversation) -> ModelTurn:
    """Return the next answer; where the conversation is too long, without old results of tools."""
    while True:
        try:
            return await conversation.ask()
        except ContextOverflowError as overflow:
            if not conversation.clear_results(str(overflow)):
                raise
