"""Failures of providers, sorted by whether retrying can help.

An endpoint that supports no tools says so with status 400, 404 or 422 (vLLM, Ollama, LiteLLM,
OpenRouter, OpenAI, Bedrock, Gemini, Mistral), or with 500 if the server was started without them
(llama.cpp, SGLang). Other server failures may be transient, and a refused value of `tool_choice`
does not mean that tools are refused.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pydantic_core import from_json

from harness.models.clients.rate_limits import reset_after
from harness.models.protocol import ContextOverflowError, ModelError, ModelStop, ModelTurn, Usage

STATUSES = frozenset({400, 404, 422})

_TOOLS = (
    r"(?:\btools?\b(?![ _-]choice)|\btools?[ _-](?:use|calls?|calling)\b"
    r"|\bfunction[ _-]?call(?:s|ing)?\b)"
)
_NOT = (
    r"(?:(?:\bnot|n't)\b.{0,12}\b(?:support|enable|permit|allow|accept|available)"
    r"|\bunsupported|\bextra_forbidden|\bextra inputs\b|\bunrecognized|\bunknown (?:field|param))"
)
_WORDS = re.compile(
    rf"{_NOT}.{{0,80}}?{_TOOLS}|{_TOOLS}.{{0,60}}?{_NOT}"
    rf"|\btools?\b.{{0,40}}\brequires --|\bno endpoints\b.{{0,40}}\bsupport\b.{{0,40}}\btool",
    re.IGNORECASE | re.DOTALL,
)
_UNSET = re.compile(
    r"\btools param requires --|\bunsupported param: tools\b|\bunsupported tool_call_parser\b",
    re.IGNORECASE,
)
FIRST_SERVER_STATUS = 500
LONGEST = 4_000  # characters of the error text that are searched


def refuses_tools(status: int, words: str) -> bool:
    """Return whether a request failed because of its tools.

    Args:
        status: the HTTP status.
        words: the provider's error text.
    """
    return status in STATUSES and _WORDS.search(words[:LONGEST]) is not None


def lacks_tools(status: int, words: str) -> bool:
    """Return whether a server failed because it was started without tools."""
    return status >= FIRST_SERVER_STATUS and _UNSET.search(words[:LONGEST]) is not None


MAX_WORDS = 400  # characters kept of a provider's error text

# Request timeout, lock timeout and rate limit; every 5xx is retried as well.
RETRYABLE_STATUSES = frozenset({408, 409, 429})

# A rate limit, and Anthropic's status for an overloaded server. A 503 belongs to these only if it
# names a wait; otherwise it is any gateway's status for a server that is down.
THROTTLED = 429
THROTTLING_STATUSES = frozenset({THROTTLED, 529})
UNAVAILABLE = 503

# A 429 that waiting does not cure: the account has no money left.
HOPELESS_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
NO_MONEY = 402

# An unknown model; most servers report it with status 404, some gateways with 400.
UNKNOWN_MODEL_STATUSES = frozenset({400, 404, 422})
UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "not_found_error"})
UNKNOWN_MODEL_WORDS = re.compile(
    r"\bmodel\b.{0,120}\b(not found|does not exist|doesn't exist|not exist)\b"
    r"|\b(no such|unknown|invalid) model\b(?! (setting|parameter|input|output))"
    r"|\binvalid model name\b|\bnot found\b.{0,40}\bmodel\b",
    re.IGNORECASE | re.DOTALL,
)

POLICY = re.compile(r"^content_(filter|policy_violation) |blocked by content filtering policy")
OVERFLOW_STATUSES = frozenset({400, 413, 422})
OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
OVERFLOW_WORDS = re.compile(
    r"maximum context length|context[ _](length|window|size)\b.{0,60}\bexceed"
    r"|exceed\w*\b.{0,60}\bcontext[ _](length|window|size)"
    r"|(prompt|input) is too long|reduce the length of the (messages|prompt|input)"
    r"|longer than the model's context|input tokens? exceeds?|exceeds? context limit",
    re.IGNORECASE,
)

# A --max-tokens too large for any conversation is an error of the user's settings.
TOO_MUCH_ASKED_WORDS = re.compile(
    r"max_(completion_|output_)?tokens\b.{0,60}\btoo large", re.IGNORECASE
)
# Anthropic has one sentence for both, "input length and `max_tokens` exceed context limit: 188240 +
# 21333 > 200000"; the second number is the --max-tokens.
INPUT_AND_ASKED = re.compile(r"context limit: (\d{1,12}) \+ (\d{1,12}) > (\d{1,12})")

# llama.cpp answers with status 500, permanently, when arguments in the history are not JSON.
BROKEN_HISTORY_WORDS = re.compile(r"parse tool call arguments", re.IGNORECASE)

# OpenAI's error for a model, or its use with tools, that needs the other protocol: "Please use
# /v1/responses instead", "only supported in v1/chat/completions and not in …".
OTHER_API_STATUSES = frozenset({400, 404})
OTHER_API_WORDS = re.compile(
    r"\b(?:use|try|(?<!not )supported in|available (?:in|through))\s+(?:the\s+)?[`'\"]?"
    r"(?:/?v1/(?:(responses)|(chat)/completions)|(responses)\s+api)\b",
    re.IGNORECASE,
)
LACKS_TOOLS = " (start the server with tool calls enabled, or give --tool-protocol text)"

SHORTEST_SECRET = 7  # the placeholders of keyless servers are shorter, and common words

_KEY_LIKE = re.compile(r"\b(?:Bearer|Basic)\s+\S+|\bsk-[A-Za-z0-9_-]{8,}", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class TransientError(Exception):
    """Failure that may be transient.

    Args:
        cause: one line for the transcript.
        retry_after_s: seconds the provider asked to wait, or None.
        status: the HTTP status; None without an answer, or for an error under a successful status.
        cut: whether a timeout of the harness ended a request that had been sent.

    Attributes:
        usage: tokens that were billed all the same, if the provider reported any.
    """

    usage: Usage | None = None

    def __init__(
        self,
        cause: str,
        *,
        retry_after_s: float | None = None,
        status: int | None = None,
        cut: bool = False,
    ) -> None:
        self.cause = cause
        self.retry_after_s = retry_after_s
        self.status = status
        self.cut = cut
        super().__init__(cause)

    @property
    def throttled(self) -> bool:
        """Whether the provider asked for fewer requests: rate limited or overloaded."""
        if self.status == UNAVAILABLE:
            return self.retry_after_s is not None
        return self.status in THROTTLING_STATUSES


class MalformedAnswerError(TransientError):
    """The body violates the protocol: worth retrying, but not many times."""


class RejectedError(ModelError):
    """The provider refused the request as it is.

    Args:
        text: one line with the provider's error text.
        status: the HTTP status.
        hopeless: whether every other request would be refused as well: no such model, or no money
            left.
    """

    def __init__(self, text: str, *, status: int, hopeless: bool = False) -> None:
        self.status = status
        self.hopeless = hopeless
        super().__init__(text)


class PolicyRefusedError(RejectedError):
    """The provider's content filter refused the request, which counts as an answer."""

    def turn(self) -> ModelTurn:
        """Return it as an answer; the provider does not say what it bills."""
        return ModelTurn(stop=ModelStop(reason="content_filter", provider_word=str(self)))


class ToolsRefusedError(RejectedError):
    """The endpoint refuses tools, or tools for this model; without them it may answer."""


class WrongApiError(RejectedError):
    """The endpoint has the model by another protocol only; every request would be refused."""


@dataclass(frozen=True, slots=True, repr=False)
class Redactor:
    """Makes external text one line of bounded length, without secrets.

    Attributes:
        secrets: strings that must never be shown, such as the API key. Very short ones are not
            masked, as that would garble the text.
    """

    secrets: tuple[str, ...] = ()

    def __call__(self, text: str) -> str:
        """Return the text with secrets masked, and white space and control characters collapsed."""
        for secret in self.secrets:
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "[redacted]")
        text = _USER_INFO.sub("", _KEY_LIKE.sub("[redacted]", text))[: 16 * MAX_WORDS]
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= MAX_WORDS else line[: MAX_WORDS - 1] + "…"


def failed_status(
    status: int, headers: Mapping[str, str], body: bytes, redact: Redactor, *, now: float
) -> TransientError | ModelError:
    """Return the error of a failed HTTP status.

    Args:
        status: the HTTP status.
        headers: response headers, looked up in lower case.
        body: body of the response, or its beginning.
        redact: function that masks secrets in the provider's text.
        now: current Unix time, for a `retry-after` that is a date.

    Returns:
        TransientError where retrying can help, ContextOverflowError for a conversation that is too
        long, another RejectedError for a content filter, refused tools or the wrong protocol,
        RejectedError for the rest.
    """
    words, code = provider_words(body)
    cause = f"HTTP {status}" + (f": {redact(words)}" if words else "")
    overflow = code in OVERFLOW_CODES or OVERFLOW_WORDS.search(words)
    if status in OVERFLOW_STATUSES and overflow and not _too_much_asked(words):
        return ContextOverflowError(cause)
    api = other_api(status, words)
    if api:
        return WrongApiError(f"{cause}; give --api {api}", status=status)
    withheld = POLICY.search(f"{code} {words}")
    if withheld or refuses_tools(status, words):
        return (PolicyRefusedError if withheld else ToolsRefusedError)(cause, status=status)
    if lacks_tools(status, words):
        return RejectedError(cause + LACKS_TOOLS, status=status)
    told = headers.get("x-should-retry")
    worth_it = status in RETRYABLE_STATUSES or status >= 500  # noqa: PLR2004 - server errors
    hopeless = code in HOPELESS_CODES or BROKEN_HISTORY_WORDS.search(words) or told == "false"
    if hopeless or not (worth_it or told == "true"):
        no_money = code in HOPELESS_CODES or status == NO_MONEY
        every = no_money or _unknown_model(status, code, words)
        return RejectedError(cause + _hint(status), status=status, hopeless=every)
    wait_s = retry_after(headers, now=now, status=status)
    return TransientError(cause, retry_after_s=wait_s, status=status)


def other_api(status: int, words: str) -> str:
    """Return the `--api` value that a provider says to use instead; "" for none."""
    found = OTHER_API_WORDS.search(words) if status in OTHER_API_STATUSES else None
    return next(filter(None, found.groups()), "").lower() if found else ""


def _unknown_model(status: int, code: str, words: str) -> bool:
    """Return whether a request failed because its model is unknown."""
    if status not in UNKNOWN_MODEL_STATUSES:
        return False
    return code in UNKNOWN_MODEL_CODES or UNKNOWN_MODEL_WORDS.search(words) is not None


def _too_much_asked(words: str) -> bool:
    """Return whether the requested answer is too long, and not the conversation."""
    told = INPUT_AND_ASKED.search(words)
    if told is not None:
        return int(told[2]) >= int(told[3])
    return TOO_MUCH_ASKED_WORDS.search(words) is not None


def _hint(status: int) -> str:
    if 300 <= status < 400:  # noqa: PLR2004 - redirections
        return " (a redirect, which is not followed; give the final address as the base URL)"
    return ""


def provider_words(body: bytes) -> tuple[str, str]:
    """Return a failed response's error text, and its error code ("" for none).

    Understands `{"error": {"message", "code"}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail":
    …}`; of an HTML page the title is kept, of anything else the text.
    """
    try:
        data = from_json(body)
    except ValueError:
        text = body.decode("utf-8", "replace")
        title = _TITLE.search(text)
        return (title.group(1) if title else text), ""
    return _words_of(data)


def _words_of(data: Any) -> tuple[str, str]:
    if not isinstance(data, dict):
        return _as_text(data), ""
    fields = cast("dict[str, Any]", data)
    error = fields.get("error")
    if isinstance(error, dict):
        fields = cast("dict[str, Any]", error)
    elif error:
        return _as_text(error), _as_text(fields.get("code"))
    words = fields.get("message") or fields.get("detail") or fields
    return _as_text(words), _as_text(fields.get("code") or fields.get("type"))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else repr(value)


def retry_after(
    headers: Mapping[str, str], *, now: float, status: int | None = None
) -> float | None:
    """Return the seconds that the provider asks to wait; None when no header says so.

    `retry-after-ms` comes first, then `retry-after`, which may be seconds or an HTTP date (RFC
    9110, section 10.2.3); for a rate limit (429) with neither, the time until it is reset.
    """
    named = _named_wait(headers, now=now)
    if named is None and status == THROTTLED:
        return reset_after(headers, now=now)
    return named


def _named_wait(headers: Mapping[str, str], *, now: float) -> float | None:
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _number(headers.get(name)) / per_second
        if seconds > 0:
            return seconds
    try:
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if seconds > 0 else None


def _number(text: str | None) -> float:
    try:
        number = float(text or "nan")
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan
