"""Estimated tokens of a request whose answer was not received.

A request cut off by a limit, an interrupt or a kill is billed, and the provider never says how
much. A budget books this estimate, which is meant to be too high rather than too low. It is not in
a run's totals: those hold what providers reported.
"""

from collections.abc import Iterable, Sequence

from harness.models.protocol import Message, ModelTurn, Usage

CHARACTERS_PER_TOKEN = 3  # fewer than any tokeniser's mean for English and code

LONG_ANSWER = 8_000  # tokens, where --max-tokens sets no limit


def unheard_usage(characters: int, max_tokens: int | None) -> Usage:
    """Estimate the tokens of a request that was sent but not answered.

    Args:
        characters: length of the conversation that was sent.
        max_tokens: token limit of the answer; None where the request set no limit.
    """
    sent = -(-characters // CHARACTERS_PER_TOKEN)
    return Usage(input_tokens=sent, output_tokens=max_tokens or LONG_ANSWER)


def characters_of(messages: Iterable[Message]) -> int:
    """Return the length of some messages as JSON."""
    return sum(len(message.model_dump_json()) for message in messages)


def estimated_usage(
    messages: Sequence[Message], turn: ModelTurn | None, max_tokens: int | None
) -> Usage | None:
    """Estimate the tokens of a request whose usage is unknown; None where it is known.

    Args:
        messages: the conversation, with the answer at its end if there is one.
        turn: the answer; None where it was not received.
        max_tokens: token limit of an answer.
    """
    if turn is None:
        return unheard_usage(characters_of(messages), max_tokens)
    if turn.usage is not None:
        return None
    *before, answer = messages
    written = -(-characters_of([answer]) // CHARACTERS_PER_TOKEN)
    return unheard_usage(characters_of(before), written)
