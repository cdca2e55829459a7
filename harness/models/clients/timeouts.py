"""Timeouts of requests to providers."""

from typing import NamedTuple


class Timeouts(NamedTuple):
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
