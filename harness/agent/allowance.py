"""The line on remaining turns, tokens and dollars below a tool's result."""

from harness.agent.attempt import Session
from harness.agent.dialogue import Dialogue

MARK = "\n\n[Left: "


def with_allowance(content: str, session: Session, conversation: Dialogue) -> str:
    """Append the remaining turns, tokens and dollars to a tool's result.

    Tokens and dollars are included only if the sample has a limit of them.
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
    """Return a tool's result without the line added by `with_allowance`."""
    return content.rpartition(MARK)[0] or content
