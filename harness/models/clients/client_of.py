"""The client class of a protocol, imported when it is needed."""

from typing import TYPE_CHECKING

from harness.models.providers import Protocol

if TYPE_CHECKING:
    from harness.models.clients.client import Client


def client_of(protocol: Protocol) -> "type[Client]":
    """Return the client class of a protocol."""
    match protocol:
        case Protocol.CHAT_COMPLETIONS:
            from harness.models.clients.openai_chat import OpenAIChat as Client
        case Protocol.RESPONSES:
            from harness.models.clients.openai_responses import OpenAIResponses as Client
        case Protocol.MESSAGES:
            from harness.models.clients.anthropic_messages import AnthropicMessages as Client
    return Client
