"""Time limits of a request to a provider."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that one request may take.

    An answer that is not streamed is silent until it is done, hence the long silence.

    Attributes:
        connect_s: to connect.
        idle_s: without a byte.
        request_s: in all.
        retry_s: from a request's first failure to the end of its last wait.
    """

    connect_s: float = 15.0
    idle_s: float = 900.0
    request_s: float = 7_200.0
    retry_s: float = 1_800.0
