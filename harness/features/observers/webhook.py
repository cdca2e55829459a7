"""`--notify URL`: tell a web server when a run has started, ended or failed.

The server may be that of a chat. The URL is a secret: it allows writing to the chat. It is never
shown or stored; error messages name only its host.
"""

import json
import time
from base64 import b64encode
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from harness.errors import UsageError
from harness.features.observers.observer_events import (
    Observed,
    RunEnded,
    RunEvent,
    RunFailed,
    RunStarted,
)
from harness.figures import count, dollars, interval, percent
from harness.run.summary.summary import Summary
from harness.text import printable_line
from harness.version import __version__

TRIES = 3
TIMEOUT_S = 2.5
"""Seconds of one try; all tries end before a run stops waiting for observers."""
PAUSE_S = 0.5
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST = 1_800
"""Most characters of a text; Discord accepts 2,000."""

SLACK = ("slack.com", "slack-gov.com")
DISCORD = ("discord.com", "discordapp.com")

Body = dict[str, Any]


class NotifyError(Exception):
    """The notification failed; the message names only the host of the URL."""


@dataclass(frozen=True, slots=True, repr=False)
class Webhook:
    """A URL that accepts JSON by POST.

    Attributes:
        host: host of the URL, which may be shown.
        pause_s: seconds before the second try; twice as long before the third.
    """

    parts: SplitResult
    host: str
    timeout_s: float = TIMEOUT_S
    pause_s: float = PAUSE_S

    @classmethod
    def of(cls, url: str) -> "Webhook":
        """Parse a URL. Raises UsageError."""
        url = url.strip()
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port  # raises on one out of range
            if usable and url.isascii() and url.isprintable() and " " not in url:
                return cls(parts, parts.netloc.rpartition("@")[2])
        except ValueError:
            pass
        raise UsageError(
            "--notify: the address cannot be used; write it as https://host/path (what was given "
            "is not shown, as it may be a secret)"
        )

    def __call__(self, event: Observed) -> None:
        """Send a notification of an event.

        Raises:
            NotifyError: the server does not accept it, or cannot be reached.
        """
        if not isinstance(event, RunEvent):
            return
        data = json.dumps(body_for(self.parts, event)).encode()
        opener = build_opener(_NoRedirect)
        for tries in range(1, TRIES + 1):
            try:
                self._send(opener, data)
            except HTTPError as error:
                error.close()
                if tries == TRIES or error.code not in TRANSIENT:
                    raise NotifyError(f"status {error.code}") from None
            except (OSError, ValueError, HTTPException) as error:
                if tries == TRIES:
                    raise NotifyError(_reason(error)) from None
            else:
                return
            time.sleep(self.pause_s * tries)

    def _send(self, opener: OpenerDirector, data: bytes) -> None:
        parts = self.parts
        headers = {"Content-Type": "application/json", "User-Agent": f"harness/{__version__}"}
        if "@" in parts.netloc:
            user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
        address = urlunsplit((parts.scheme, self.host, parts.path or "/", parts.query, ""))
        request = Request(address, data, headers, method="POST")  # noqa: S310 - http or https
        with opener.open(request, timeout=self.timeout_s):
            pass


class _NoRedirect(HTTPRedirectHandler):
    """Handler that makes redirects fail, so that nothing is sent to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def body_for(address: SplitResult, event: RunEvent) -> Body:
    """Return the body for a server: Slack's form, Discord's, or this program's own."""
    text = text_of(event)
    host = address.hostname or ""
    if _is_of(host, DISCORD) and not address.path.rstrip("/").endswith("/slack"):
        return {"content": text, "allowed_mentions": {"parse": []}}
    if _is_of(host, (*SLACK, *DISCORD)):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return {"text": escaped}
    return {"text": text, **event.model_dump(mode="json")}


def text_of(event: RunEvent) -> str:
    """Describe an event in one line."""
    match event:
        case RunStarted():
            problems, samples = count(event.problems, "problem"), count(event.samples, "sample")
            left = "" if event.left == event.samples else f", {event.left:,} pending"
            sentence = f"has begun: {event.mode}, {event.model}, {problems}, {samples}{left}"
        case RunEnded():
            outcome = {"done": "is done", "interrupted": "was interrupted"}
            sentence = f"{outcome.get(event.outcome, 'is incomplete')}: {_figures(event.summary)}"
        case RunFailed():
            sentence = f"failed: {event.cause}"
    return printable_line(f"harness: run {event.run} {sentence}")[:LONGEST]


def _figures(summary: Summary) -> str:
    rate = summary.pass_at_1
    figures = f"{summary.graded:,} of {count(summary.planned, 'sample')} graded"
    if rate is not None:
        figures = f"pass@1 {percent(rate.value)} ({interval(rate.low, rate.high)}), {figures}"
    pending = [f"{number:,} {why.replace('_', ' ')}" for why, number in summary.pending.items()]
    figures += f", pending: {', '.join(pending)}" if pending else ""
    return figures if summary.cost is None else f"{figures}, cost {dollars(summary.cost)}"


def _is_of(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _reason(error: Exception) -> str:
    """Return the system's error or its class, which do not show the URL."""
    cause: Any = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    strerror = getattr(cause, "strerror", None)
    return f"cannot be reached: {strerror or type(cause).__name__}"
