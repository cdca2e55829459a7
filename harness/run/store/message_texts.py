"""The readable text of a message."""

from harness.models.protocol import AssistantMessage, Message


def message_text(message: Message) -> str:
    """Return a message's text."""
    return message.text if isinstance(message, AssistantMessage) else message.content
