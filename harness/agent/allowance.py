"""The line that tells the model how much it may still use (`--show-budget`)."""

from harness.agent.attempt import Session
from harness.agent.dialogue import Dialogue

MARK = "\n\n[Left: "


def with_allowance(content: str, session: Session, conversation: Dialogue) -> str:
    """Return a tool's result with the turns, tokens and dollars that are left after it.

    Tokens and dollars are told where the sample has a limit of them.
    """
    limits = session.limits
    turns = max(0, limits.turns - conversation.turns)
    parts = [f"{turns} turn{'s' * (turns != 1)}"]
    if limits.tokens is not None and conversation.usage_known:
        parts.append(f"{max(0, limits.tokens - conversation.usage.total_tokens):,} tokens")
    money = session.gate.dollars_left
    if money is not None:
        parts.append(f"${max(0.0, money):,.4f}")
    return f"{content}{MARK}{', '.join(parts)}]"


def without_allowance(content: str) -> str:
    """Return a tool's result as it was before `with_allowance`."""
    return content.rpartition(MARK)[0] or content
