"""Failures of providers, sorted by whether retrying can help."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.models.clients.rate_limits import THROTTLED, retry_after
from harness.models.error_body import ErrorBody, read_error
from harness.models.history_refusals import refuses_history
from harness.models.protocol import (
    ContextOverflowError,
    HistoryRefusedError,
    ModelError,
    ModelStop,
    ModelTurn,
    Usage,
)
from harness.models.tool_refusals import LONGEST, lacks_tools, refuses_tools

SUCCESS = 200
MAX_WORDS = 400  # characters kept of a provider's error text

# Request timeout, lock timeout and rate limit; every 5xx is retried as well.
RETRYABLE_STATUSES = frozenset({408, 409, 429})

# A rate limit, and Anthropic's status for an overloaded server. A 503 belongs to these only if it
# names a wait; otherwise it is any gateway's status for a server that is down.
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

# A wrong key or an empty account, which some providers report with status 400 (Gemini, xAI,
# Anthropic, DashScope) or 403.
ACCOUNT_STATUSES = frozenset({400, 401, 402, 403})
ACCOUNT_WORDS = re.compile(
    r"\bapi[ _-]?key\b.{0,40}\b(?:not valid|invalid|incorrect|expired|missing|revoked|disabled)\b"
    r"|\b(?:invalid|incorrect|expired|wrong|missing)\b.{0,20}\bapi[ _-]?key\b"
    r"|\bcredit balance is too low\b|\b(?:out of|no|not enough) credits\b"
    r"|\binsufficient (?:account )?(?:balance|credits?|funds|quota)\b"
    r"|\baccount\b.{0,40}\b(?:good standing|suspended|deactivated|overdue)\b",
    re.IGNORECASE,
)
# A single request that is larger than the account's tokens a minute: waiting does not help.
BEYOND_RATE_STATUSES = frozenset({413, 429})
BEYOND_RATE = re.compile(r"\bLimit:? ?(\d{1,12}), Requested:? ?(\d{1,12})\b")

# A server that has started, but cannot answer yet (llama.cpp, Hugging Face).
LOADING_WORDS = re.compile(
    r"\bloading (?:the )?model\b|\bmodel\b.{0,120}\b(?:is|still)\b.{0,20}\b(?:loading|loaded)\b",
    re.IGNORECASE | re.DOTALL,
)
# A call that the provider could not read (Groq).
FAILED_CALL_CODE = "tool_use_failed"

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
ASKED_TOO_MUCH = " (the token limit of an answer: see --max-tokens)"
BEYOND_RATE_HINT = (
    " (one request is larger than the account's tokens a minute: lower --max-tokens, or raise the "
    "account's limit)"
)
LACKS_TOOLS = " (start the server with tool calls enabled, or give --tool-protocol text)"

SHORTEST_SECRET = 7  # the placeholders of keyless servers are shorter, and common words

_KEY_LIKE = re.compile(r"\b(?:Bearer|Basic)\s+\S+|\bsk-[A-Za-z0-9_-]{8,}", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


class TransientError(Exception):
    """Failure that may be transient.

    Args:
        cause: one line for the transcript.
        retry_after_s: seconds the provider asked to wait, or None.
        status: the HTTP status; None without an answer, or for an error under a successful status.
        cut: whether an answer was under way and is lost, by a timeout of the harness or a broken
            connection; the provider may bill it.
        loading: whether the server is loading its model.

    Attributes:
        usage: tokens that were billed all the same, if the provider reported any.
        streamed: whether it came while an answer was read, which in one piece might arrive.
    """

    usage: Usage | None = None
    streamed: bool = False

    def __init__(
        self,
        cause: str,
        *,
        retry_after_s: float | None = None,
        status: int | None = None,
        cut: bool = False,
        loading: bool = False,
    ) -> None:
        self.cause = cause
        self.retry_after_s = retry_after_s
        self.status = status
        self.cut = cut
        self.loading = loading
        super().__init__(cause)

    @property
    def throttled(self) -> bool:
        """Whether the provider asked for fewer requests: rate limited or overloaded."""
        if self.status == UNAVAILABLE:
            return self.retry_after_s is not None and not self.loading
        return self.status in THROTTLING_STATUSES


class MalformedAnswerError(TransientError):
    """The body violates the protocol: worth retrying, but not many times."""


class RejectedError(ModelError):
    """The provider refused the request as it is.

    Args:
        text: one line with the provider's error text.
        status: the HTTP status.
        hopeless: whether every other request would be refused as well: no such model, or a
            setting that it does not allow.
        account: whether the key is wrong or no money is left, which ends a run that had answers.
    """

    def __init__(
        self, text: str, *, status: int, hopeless: bool = False, account: bool = False
    ) -> None:
        self.status = status
        self.hopeless = hopeless or account
        self.account = account
        super().__init__(text)


class AnsweredError(RejectedError):
    """An error that counts as an answer of the model; the provider does not say what it bills."""

    def turn(self) -> ModelTurn:
        """Return it as an answer."""
        raise NotImplementedError


class PolicyRefusedError(AnsweredError):
    """The provider's content filter refused the request."""

    def turn(self) -> ModelTurn:
        """Return it as an answer."""
        return ModelTurn(stop=ModelStop(reason="content_filter", provider_word=str(self)))


class FailedCallError(AnsweredError):
    """The provider could not read the model's tool call.

    Args:
        text: one line with the provider's error text.
        status: the HTTP status.
        generation: what the model wrote.
    """

    def __init__(self, text: str, *, status: int, generation: str) -> None:
        self.generation = generation
        super().__init__(text, status=status)

    def turn(self) -> ModelTurn:
        """Return what the model wrote as an answer in text, which may hold a call."""
        stop = ModelStop(reason="other", provider_word=FAILED_CALL_CODE)
        return ModelTurn(text=self.generation, stop=stop)


class ToolsRefusedError(RejectedError):
    """The endpoint refuses tools, or tools for this model; without them it may answer."""


class UntrustedServerError(RejectedError):
    """The server's certificate cannot be verified; no request would be sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=0, hopeless=True)


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
        long, HistoryRefusedError for one that is refused for its own reasoning or calls, another
        RejectedError for a content filter, refused tools or the wrong protocol, RejectedError for
        the rest.
    """
    error = read_error(body)
    cause = f"HTTP {status}" + (f": {redact(error.text)}" if error.text else "")
    return (
        _answer(status, error, cause)
        or _history(error, cause)
        or _too_long(status, error, cause)
        or _refusal(status, headers, error, cause)
        or _transient(status, headers, error, cause, now=now)
    )


def failed_answer(
    body: bytes,
    headers: Mapping[str, str],
    redact: Redactor,
    *,
    now: float,
    statuses: Mapping[str, int],
) -> TransientError | ModelError:
    """Return the error of an answer with HTTP 200 that is an error.

    Args:
        body: body of the response.
        headers: response headers, looked up in lower case.
        redact: function that masks secrets in the provider's text.
        now: current Unix time.
        statuses: the HTTP status of each error type.
    """
    error = read_error(body)
    status = error.status or statuses.get(error.code)
    if status is not None:
        return failed_status(status, headers, body, redact, now=now)
    cause = f"an error instead of an answer: {redact(error.text)}"
    from harness.models.overflow import Excess, excess  # few runs need it

    if excess(None, error.text, error.code) is Excess.CONVERSATION:
        return ContextOverflowError(cause)
    return _answer(SUCCESS, error, cause) or _history(error, cause) or MalformedAnswerError(cause)


def _answer(status: int, error: ErrorBody, cause: str) -> AnsweredError | None:
    """Return the error if it counts as an answer."""
    if POLICY.search(f"{error.code} {error.text}"):
        return PolicyRefusedError(cause, status=status)
    if error.code == FAILED_CALL_CODE or error.generation is not None:
        return FailedCallError(cause, status=status, generation=error.generation or "")
    return None


def _history(error: ErrorBody, cause: str) -> HistoryRefusedError | None:
    """Return the error if the conversation's own reasoning or calls are refused."""
    return HistoryRefusedError(cause) if refuses_history(error.text, error.code) else None


def _too_long(status: int, error: ErrorBody, cause: str) -> ModelError | None:
    """Return the error if the request is too long for the model, or for the account."""
    from harness.models.overflow import Excess, excess  # few runs need it

    match excess(status, error.text, error.code):
        case Excess.CONVERSATION:
            return ContextOverflowError(cause)
        case Excess.ASKED:
            return RejectedError(cause + ASKED_TOO_MUCH, status=status, hopeless=True)
        case None:
            pass
    rate = BEYOND_RATE.search(error.text[:LONGEST]) if status in BEYOND_RATE_STATUSES else None
    if rate is not None and int(rate[2]) > int(rate[1]):
        return RejectedError(cause + BEYOND_RATE_HINT, status=status)
    return None


def _refusal(
    status: int, headers: Mapping[str, str], error: ErrorBody, cause: str
) -> RejectedError | None:
    """Return the error if retrying cannot help."""
    message = error.text
    api = other_api(status, message)
    if api:
        return WrongApiError(f"{cause}; give --api {api}", status=status)
    if refuses_tools(status, message):
        return ToolsRefusedError(cause, status=status)
    if lacks_tools(status, message):
        return RejectedError(cause + LACKS_TOOLS, status=status)
    if _of_account(status, error):
        return RejectedError(cause, status=status, account=True)
    advice = headers.get("x-should-retry")
    worth_it = status in RETRYABLE_STATUSES or status >= 500  # noqa: PLR2004 - server errors
    permanent = BROKEN_HISTORY_WORDS.search(message) is not None or advice == "false"
    if not permanent and (worth_it or advice == "true"):
        return None
    unknown = _unknown_model(status, error.code, message)
    return RejectedError(cause + _hint(status), status=status, hopeless=unknown)


def _transient(
    status: int, headers: Mapping[str, str], error: ErrorBody, cause: str, *, now: float
) -> TransientError:
    loading = status == UNAVAILABLE and LOADING_WORDS.search(error.text[:LONGEST]) is not None
    wait_s = retry_after(headers, now=now, status=status, body_s=error.wait_s)
    return TransientError(cause, retry_after_s=wait_s, status=status, loading=loading)


def _of_account(status: int, error: ErrorBody) -> bool:
    """Return whether the key is wrong, or no money is left."""
    if error.code in HOPELESS_CODES or status == NO_MONEY:
        return True
    return status in ACCOUNT_STATUSES and ACCOUNT_WORDS.search(error.text[:LONGEST]) is not None


def other_api(status: int, message: str) -> str:
    """Return the `--api` value that a provider says to use instead; "" for none."""
    match = OTHER_API_WORDS.search(message) if status in OTHER_API_STATUSES else None
    return next(filter(None, match.groups()), "").lower() if match else ""


def _unknown_model(status: int, code: str, message: str) -> bool:
    """Return whether a request failed because its model is unknown."""
    if status not in UNKNOWN_MODEL_STATUSES:
        return False
    return code in UNKNOWN_MODEL_CODES or UNKNOWN_MODEL_WORDS.search(message) is not None


def _hint(status: int) -> str:
    if 300 <= status < 400:  # noqa: PLR2004 - redirections
        return " (a redirect, which is not followed; give the final address as the base URL)"
    return ""
