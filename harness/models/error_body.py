"""The text, code and other facts in the body of a provider's error."""

import re
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from harness.models.clients.rate_limits import LONGEST_S

DEEPEST = 6  # errors within errors, as gateways wrap them
MOST_CHARACTERS = 2**16  # of the text; patterns search it
MOST_ITEMS = 10  # of a list of errors
TEXT_FIELDS = ("message", "msg", "detail", "error", "errors")
STATUS_FIELDS = ("code", "status_code", "status")
SECONDS_OF = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_PART = r"\d{1,9}(?:\.\d{1,9})?\s?(?:milli|ms|s|m|h|d)[a-z]{0,12}"
_WAIT = re.compile(
    rf"\b(?:try again|retry)(?: your request)? (?:in|after) ((?:{_PART}[ ,]{{0,2}})+)",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?(milli|ms|s|m|h|d)", re.IGNORECASE)

Json = dict[str, Any]


class ErrorBody(NamedTuple):
    """What a provider says about a failed request.

    Attributes:
        text: the error text; "" for none.
        code: the error code, or its type where the code is only a number; "" for none.
        status: the HTTP status that the body names; None if it names none.
        wait_s: seconds after which to try again; None if none are named.
        generation: the model's answer that the provider could not read as a tool call (Groq).
    """

    text: str
    code: str = ""
    status: int | None = None
    wait_s: float | None = None
    generation: str | None = None


def read_error(body: bytes) -> ErrorBody:
    """Return what the body of a failed response says.

    Understands `{"error": {"message", "code"}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail":
    …}`, lists of these, and errors in the texts and metadata of others; of an HTML page the title
    is kept, of anything else the text.
    """
    try:
        data = from_json(body)
    except ValueError:
        text = body.decode("utf-8", "replace")
        title = _TITLE.search(text)
        return ErrorBody((title.group(1) if title else text)[:MOST_CHARACTERS])
    text = _as_text(data)[:MOST_CHARACTERS]
    fields = _innermost(data)
    generation = fields.get("failed_generation")
    return ErrorBody(
        text,
        _code(fields) or (_code(cast("Json", data)) if isinstance(data, dict) else ""),
        _status(fields),
        _wait(fields, text),
        generation if isinstance(generation, str) else None,
    )


def _innermost(data: Any) -> Json:
    """Return the object that describes the error."""
    for _ in range(DEEPEST):
        if isinstance(data, list):
            entries: list[Any] = [
                each for each in cast("list[Any]", data) if isinstance(each, dict)
            ]
            data = entries[0] if entries else None
        if not isinstance(data, dict):
            return {}
        within: Any = cast("Json", data).get("error")
        if not isinstance(within, dict | list) or not within:
            break
        data = cast("Any", within)
    return cast("Json", data) if isinstance(data, dict) else {}


def _code(fields: Json) -> str:
    """Return the code; the type if there is none, or only a number."""
    code, kind = fields.get("code"), fields.get("type")
    if isinstance(kind, str) and kind and not (isinstance(code, str) and code):
        return kind
    return "" if code is None else str(code)


def _status(fields: Json) -> int | None:
    named = (str(fields.get(name)) for name in STATUS_FIELDS)
    return next((int(each) for each in named if _STATUS.fullmatch(each)), None)


def _wait(fields: Json, text: str) -> float | None:
    """Return the seconds of Google's `retryDelay`, or of a sentence such as "try again in 6s"."""
    details: Any = fields.get("details")
    delays = [
        cast("Json", each).get("retryDelay")
        for each in (cast("list[Any]", details) if isinstance(details, list) else [])
        if isinstance(each, dict)
    ]
    named = next((each for each in delays if isinstance(each, str)), None)
    sentence = _WAIT.search(text)
    message = named or (sentence[1] if sentence else "")
    seconds = sum(float(n) * SECONDS_OF[unit.lower()] for n, unit in _LENGTH.findall(message))
    return seconds if 0 < seconds <= LONGEST_S else None


def _as_text(value: Any, depth: int = 0) -> str:
    """Return an error's text in plain words, without the JSON around it."""
    if value is None or depth > DEEPEST:
        return ""
    if isinstance(value, str):
        return _unwrapped(value, depth)
    if isinstance(value, list):
        items = cast("list[Any]", value)[:MOST_ITEMS]
        return "; ".join(filter(None, (_as_text(each, depth + 1) for each in items)))
    if not isinstance(value, dict):
        return str(value)
    fields = cast("Json", value)
    text = next(filter(None, (_as_text(fields.get(n), depth + 1) for n in TEXT_FIELDS)), "")
    if not text:
        return repr(fields) if fields else ""
    return _place(fields.get("loc")) + text + _cause(fields.get("metadata"), depth)


def _unwrapped(text: str, depth: int) -> str:
    """Return the text of an error that a gateway sends as JSON in a string."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return _as_text(from_json(text), depth + 1) or text
    except ValueError:
        return text


def _place(loc: Any) -> str:
    """Return the field that a validator's error is about."""
    if not isinstance(loc, list):
        return ""
    return ".".join(map(str, cast("list[Any]", loc)[:MOST_ITEMS])) + ": "


def _cause(metadata: Any, depth: int) -> str:
    """Return the provider's own error, which OpenRouter sends beside its own words."""
    raw = cast("Json", metadata).get("raw") if isinstance(metadata, dict) else None
    text = _as_text(raw, depth + 1)
    return f": {text}" if text else ""
