"""Single shot: one request, and the code in the answer."""

from harness.agent.attempt import Attempt, ChosenBy, Session, StopReason, Written, run_until_stopped
from harness.agent.conversation import Conversation
from harness.agent.extraction.code import Extraction
from harness.models.protocol import ModelTurn


async def single_shot(session: Session) -> Attempt:
    """Send one request without tools and take the code from the answer."""
    conversation = Conversation(session)
    conversation.add(*session.prompt.render(session.problem, session.workspace.cpu_limit_s))
    found, refused = Extraction(code="", rule="none"), False

    async def ask() -> StopReason:
        nonlocal found, refused
        turn = await conversation.ask()
        found = session.extract(turn.text, session.problem.entry_point)
        refused = has_refused(turn, found)
        return StopReason.MODEL_STOPPED

    reason, error = await run_until_stopped(ask(), session.limits)
    return Attempt(
        code=found.code,
        chosen_by=ChosenBy.ANSWER if found.code else ChosenBy.NONE,
        extraction=found.rule,
        stop_reason=reason,
        usage=conversation.usage,
        usage_known=conversation.usage_known,
        model_calls=conversation.turns,
        revisions=(written(found.code, conversation),) if found.code else (),
        tool_protocol="none",
        refused=refused,
        error=error,
    )


def has_refused(turn: ModelTurn, found: Extraction) -> bool:
    """Whether the model, or its provider's filter, refused without giving code."""
    return turn.stop.reason in {"refusal", "content_filter"} and not found.code


def written(code: str, conversation: Conversation) -> Written:
    """Return a revision for code in a message, with the current counts."""
    return Written(
        code=code,
        turn=conversation.turns,
        usage=conversation.usage if conversation.usage_known else None,
        seconds=round(conversation.seconds, 3),
    )
