"""Connections to providers."""

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

KEEP_ALIVE_S = 60


def kept_alive(limits: "httpx2.Limits") -> "httpx2.AsyncHTTPTransport | None":
    """Return connections with TCP keep-alive: routers may drop one silent for minutes.

    None where the environment names a proxy, which such a transport would bypass.
    """
    from urllib.request import getproxies

    import httpx2

    if getproxies():
        return None

    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", KEEP_ALIVE_S), ("TCP_KEEPINTVL", KEEP_ALIVE_S)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return httpx2.AsyncHTTPTransport(limits=limits, socket_options=options)
