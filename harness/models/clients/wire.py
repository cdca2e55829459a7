"""JSON, settings and counts, as all providers' `*_wire` modules need them.

Servers send what no protocol allows. The functions here accept only what can be sent again: a
conversation that cannot be continued is lost, with all that was paid for it.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import from_json, to_json

from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    ModelError,
    ModelSettings,
    ModelTurn,
    Usage,
)

Json = dict[str, Any]

LONGEST_WORD = 200  # characters of ids and stop words
TICKS = 10**10  # of xAI in a dollar
MOST_DOLLARS = 10**6  # for one answer; more is an error
NO_WORDS = frozenset({"", "null", "none"})
MOST_TOKENS = 10**12  # a larger count is an error


# Fields of a request's body that extra fields must not set: the harness sets them, or they would
# change the form of the answer.
RESERVED = frozenset(
    {
        *("model", "messages", "input", "system", "tools", "functions", "n", "stream"),
        *("stream_options", "background", "conversation", "previous_response_id"),
    }
)


def with_settings(
    api: str, body: Json, settings: ModelSettings, fields: Mapping[str, str | None]
) -> Json:
    """Return the body with the given settings, and the extra fields last.

    Args:
        api: name of the API, for messages.
        body: body of the request.
        settings: settings of the model.
        fields: field of the body for each supported setting; None where the body already has the
            setting in another form.

    Raises:
        ModelError: the API does not support a setting; or an extra field is already in the body, or
            is set by the harness.
    """
    given: Json = {name: value for name, value in settings if value is not None}
    extra: Json = given.pop("extra_body", {})
    sent: Json = {}
    for name, value in given.items():
        if name not in fields:
            raise ModelError(
                f"{api} takes no {name}; leave it out, or give it in extra_body to a server that "
                "takes it there"
            )
        field = fields[name]
        if field is not None:
            sent[field] = list(cast("tuple[str, ...]", value)) if name == "stop" else value
    return _merged({**body, **sent}, extra)


def _merged(body: Json, extra: Json, above: str = "") -> Json:
    """Merge both, and objects within both. Raises ModelError."""
    merged = dict(body)
    for name, value in extra.items():
        own: Any = body.get(name)
        if not above and name in RESERVED:
            raise ModelError(f"extra_body: {name!r} is set by the harness; leave it out")
        if isinstance(own, dict) and isinstance(value, dict):
            merged[name] = _merged(cast("Json", own), cast("Json", value), f"{above}{name}.")
        elif name in body:
            raise ModelError(f"extra_body: {above + name!r} is in the request already")
        else:
            merged[name] = value
    return merged


def read_json(body: bytes) -> Json:
    """Return the JSON object of a response.

    Raises:
        MalformedAnswerError: the body is something else.
    """
    try:
        data = from_json(body)
    except ValueError:
        data = _read_json_with_lone_surrogates(body)
    if not isinstance(data, dict):
        raise MalformedAnswerError(f"the answer is a JSON {type(data).__name__}, not an object")
    return cast("Json", data)


def _read_json_with_lone_surrogates(body: bytes) -> Any:
    # An answer cut within an emoji holds half a surrogate pair, as an escape that strict parsers
    # refuse; retrying would not change it.
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
        return from_json(sendable(text))
    except (ValueError, RecursionError):
        raise MalformedAnswerError("the answer is not JSON") from None


def sendable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot carry, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_json(value: Any) -> bool:
    """Return whether a parsed value can be sent again; an infinite number cannot."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def as_arguments(value: Any) -> str:
    """Return a call's arguments as JSON text; some servers send the value itself."""
    if isinstance(value, str):
        return value
    return "{}" if value is None else to_json(value).decode()


def word(value: Any) -> str | None:
    """Return a provider's string, shortened; None for anything else."""
    return value[:LONGEST_WORD] if isinstance(value, str) and value else None


def stop_word(value: Any) -> str | None:
    """Return why an answer ended; None while it goes on.

    Some servers say so with an empty word, or with `"null"`, in every chunk.
    """
    given = word(value)
    return None if given is None or given.strip().lower() in NO_WORDS else given


def token_count(fields: Any, name: str) -> int | None:
    """Return a token count of a provider's usage; None where it is missing or invalid."""
    value = cast("Json", fields).get(name) if isinstance(fields, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        return None
    return value


def most_tokens(fields: Json, *names: str) -> int:
    """Return a token count that servers report under several names; 0 where there is none.

    Args:
        fields: a provider's usage.
        names: names of the count; `a.b` is the field `b` of the object `a`.
    """
    places = (name.rpartition(".") for name in names)
    counts = (
        token_count(fields.get(within) if within else fields, inner) for within, _, inner in places
    )
    return max((count for count in counts if count is not None), default=0)


def told_cost(fields: Json) -> float | None:
    """Return the US dollars that a provider's usage says the answer cost; None for none.

    OpenRouter tells a number, Perplexity an object with a total, xAI ticks.
    """
    cost: Any = fields.get("cost")
    if isinstance(cost, dict):
        cost = cast("Json", cost).get("total_cost")
    if cost is None and (ticks := token_count(fields, "cost_in_usd_ticks")) is not None:
        return ticks / TICKS
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if 0 <= cost <= MOST_DOLLARS else None


def counted_usage(turn: ModelTurn) -> Usage | None:
    """Return an answer's tokens; None where a server counts none for an answer with words."""
    silent = turn.usage is not None and not turn.usage.output_tokens
    return None if silent and (turn.text.strip() or turn.tool_calls) else turn.usage
