"""Single shot: one request, and the code in the answer."""

from harness.agent.attempt import Attempt, BudgetSpentError, ChosenBy, Session, StopReason
from harness.agent.conversation import Conversation
from harness.agent.extraction import Extraction
from harness.models.protocol import ContextOverflowError, ModelError


async def single_shot(session: Session) -> Attempt:
    """Ask once, without tools, and take the code from the answer."""
    conversation = Conversation(session)
    conversation.add(*session.prompt.render(session.problem, session.workspace.cpu_limit_s))
    found, reason, error = Extraction(code="", rule="none"), StopReason.MODEL_STOPPED, ""
    refused = False
    try:
        turn = await conversation.ask()
        found = session.extract(turn.text, session.problem.entry_point)
        refused = turn.stop.reason in {"refusal", "content_filter"} and not found.code
    except TimeoutError:
        reason = StopReason.TIME_LIMIT
    except BudgetSpentError as spent:
        reason = spent.reason
    except ContextOverflowError as overflow:
        reason, error = StopReason.CONTEXT_LIMIT, str(overflow)
    except ModelError as failure:
        reason, error = StopReason.MODEL_ERROR, str(failure)
    return Attempt(
        code=found.code,
        chosen_by=ChosenBy.ANSWER if found.code else ChosenBy.NONE,
        extraction=found.rule,
        stop_reason=reason,
        usage=conversation.usage,
        usage_known=conversation.usage_known,
        model_calls=conversation.turns,
        written=int(bool(found.code)),
        tool_protocol="none",
        refused=refused,
        error=error,
    )
