"""The agent loop: ask the model, carry out its calls, until tests pass or a limit is reached.

`harness.agent.episode` decides what an answer leads to; the loop sends the requests. A conversation
that the provider refuses, for its length or for the reasoning in it, is not sent again unchanged:
the reasoning is left out once, else the sample goes on in a new conversation.
"""

from harness.agent.attempt import Attempt, StopReason
from harness.agent.conversation import Conversation
from harness.agent.episode import AgentEpisode
from harness.agent.events import Request, ToolProtocolChanged
from harness.agent.session import Session, run_until_stopped
from harness.models.faults import ToolsRefusedError
from harness.models.protocol import ContextOverflowError, HistoryRefusedError, ModelTurn

NO_TOOLS = (
    "the endpoint refuses tools ({cause}); samples go on without them: programs are taken from the "
    "text of answers"
)


async def agentic(session: Session) -> Attempt:
    """Run the loop; the final solution is the one that passes most public tests."""
    conversation = Conversation(session)
    native = bool(session.toolbox.specs) and await _begins_natively(session)
    episode = AgentEpisode(session, conversation, native=native)
    episode.open()
    reason, error = await run_until_stopped(_converse(episode, conversation), session.limits)
    if reason is not StopReason.MODEL_ERROR:  # such a sample is retried
        await episode.test_final(reason)
    return episode.attempt(reason, error)


async def _begins_natively(session: Session) -> bool:
    """Whether the sample begins with native tools: as before, if it is resumed."""
    if session.tool_use.may_change:
        for event in session.journal.recorded:
            if isinstance(event, Request | ToolProtocolChanged):
                return isinstance(event, Request)
    return await session.tool_use.is_native()


async def _converse(episode: AgentEpisode, conversation: Conversation) -> StopReason:
    while (spent := episode.spent()) is None:
        reason = await episode.take(await _ask(episode, conversation))
        if reason is not None:
            return reason
    return spent


async def _ask(episode: AgentEpisode, conversation: Conversation) -> ModelTurn:
    """Return the next answer, in another way where the provider refuses this one."""
    tool_use = episode.session.tool_use
    while True:
        has_tools = bool(conversation.tools)
        try:
            turn = await conversation.ask()
        except ToolsRefusedError as refused:
            tool_use.heard(refused=True)
            if not (has_tools and tool_use.may_change):
                raise
            conversation.not_answered()
            episode.session.warn("no tools", NO_TOOLS.format(cause=refused))
            episode.without_tools(str(refused))
        except (ContextOverflowError, HistoryRefusedError) as refused:
            if not conversation.answered_here:
                raise
            conversation.not_answered()
            too_long = isinstance(refused, ContextOverflowError)
            if too_long or not conversation.leave_out_reasoning():
                episode.renew(str(refused))
        else:
            if has_tools:
                tool_use.heard(refused=False)
            return turn
