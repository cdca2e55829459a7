"""Options of every request: time limits, and the user's own headers.

The value of a user's header may be a secret. It is sent but never stored: `stored` leaves it out. A
variable's name is no secret, and is kept.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import UsageError
from harness.models.environment import Environment

KEYS = frozenset({"authorization", "x-api-key", "api-key"})
"""Headers that carry a key themselves."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110, section 5.6.2
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_OF_THE_CLIENT = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection"}
)
_SPELT = {"authorization": "Authorization", "user-agent": "User-Agent", "accept": "Accept"}
"""Headers that the SDKs set, in their spelling: the SDKs treat two spellings as different."""


def can_be_sent(name: str, value: str) -> bool:
    """Return whether HTTP can carry a header."""
    return _NAME.fullmatch(name) is not None and value.isascii() and value.isprintable()


def variable_of(header: str) -> str | None:
    """Return the environment variable that a header's value is read from, or None."""
    found = _VARIABLE.fullmatch(header.partition(":")[2].strip())
    return found and (found[1] or found[2])


def name_of(header: str) -> str:
    """Return the name of a header, in lower case."""
    return header.partition(":")[0].strip().lower()


def stored(header: str) -> str:
    """Return a header as it may be stored: without its value, unless that is a variable."""
    variable = variable_of(header)
    name = header.partition(":")[0].strip()
    return name if variable is None else f"{name}: ${variable}"


def check_header(header: str) -> str:
    """Return the header unchanged. One without a value may come from a stored run.

    Raises:
        ValueError: it cannot be sent; the message shows no value.
    """
    name, colon, value = header.partition(":")
    name = name.strip()
    if not can_be_sent(name, value.strip()) or (colon and not value.strip()):
        raise ValueError("give NAME:VALUE, in ASCII and with both")
    if name.lower() in _OF_THE_CLIENT:
        raise ValueError(f"the header {name} is set by the harness; leave it out")
    return header


def read_headers(headers: Iterable[str], environment: Environment) -> dict[str, str]:
    """Return the headers as they are sent.

    Raises:
        UsageError: one has no value, or its variable has none.
    """
    found: dict[str, str] = {}
    for header in headers:
        name, variable = header.partition(":")[0].strip(), variable_of(header)
        value = environment.text(variable) if variable else header.partition(":")[2].strip()
        if variable and not value:
            raise UsageError(f"--header {name}: the variable {variable} is not set")
        if not value:
            raise UsageError(
                f"--header {name[:100]}: the value is missing; no run keeps it, so give "
                f"--header '{name[:100]}: VALUE' again"
            )
        if not can_be_sent(name, value):
            raise UsageError(
                f"--header {name}: the value of {variable} is not valid in an HTTP header"
            )
        found[_SPELT.get(name.lower(), name)] = value
    return found


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of one request, in seconds.

    An answer that is not streamed is silent until it is done, hence the long idle timeout.

    Attributes:
        connect_s: time to connect.
        idle_s: time without a byte.
        request_s: time of the whole request.
        retry_s: time from a request's first failure to the end of its last wait.
    """

    connect_s: float = 15.0
    idle_s: float = 900.0
    request_s: float = 7_200.0
    retry_s: float = 1_800.0
