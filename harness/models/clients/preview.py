"""Body of a request to a provider, made without sending one."""

from harness.models.clients.wire import Json
from harness.models.protocol import ModelSettings, UserMessage
from harness.models.providers import Protocol
from harness.models.route import Route

CONVERSATION = (UserMessage(content="Hello."),)


def preview(route: Route, settings: ModelSettings) -> Json:
    """Return the body of a request with a one-line conversation and no tools.

    Args:
        route: route of the request.
        settings: settings that `check_settings` accepts.
    """
    model = route.model
    match route.protocol:
        case Protocol.RESPONSES:
            from harness.models.clients import responses_wire

            return responses_wire.request_body(model, CONVERSATION, (), settings)
        case Protocol.MESSAGES:
            from harness.models.clients import anthropic_wire

            return anthropic_wire.request_body(model, CONVERSATION, (), settings)
        case Protocol.CHAT_COMPLETIONS:
            from harness.models.clients import openai_wire
            from harness.models.clients.openai_chat import max_tokens_field

            field = max_tokens_field(route.base_url)
            return openai_wire.request_body(
                model, CONVERSATION, (), settings, max_tokens_field=field
            )
