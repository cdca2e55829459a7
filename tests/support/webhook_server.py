"""A web server that accepts posts, and can be a proxy for plain HTTP."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Posted:
    """One request; `target` is a path, or a full address if the server was a proxy."""

    target: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hook:
    """The server: its address, the requests, and an event that ends a silent answer."""

    url: str
    posted: list[Posted]
    free: threading.Event
    changed: threading.Condition

    def arrived(self, count: int) -> None:
        """Wait until this many requests have arrived, which a client may have given up by then."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.posted) >= count, 60), self.posted


SILENT = 0
"""Used as a status for no answer."""


@contextmanager
def webhook_server(statuses: Sequence[int] = (200,)) -> Iterator[Hook]:
    """Run a server that answers with these statuses in order, repeating the last."""
    posted: list[Posted] = []
    free, changed = threading.Event(), threading.Condition()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with changed:
                status = statuses[min(len(posted), len(statuses) - 1)]
                headers = {name.lower(): value for name, value in self.headers.items()}
                posted.append(Posted(self.path, headers, json.loads(body)))
                changed.notify_all()
            if status == SILENT:
                free.wait(60)
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def do_GET(self) -> None:
            with changed:
                posted.append(Posted(self.path, {}, {}))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Hook(f"http://127.0.0.1:{server.server_port}", posted, free, changed)
    finally:
        free.set()
        server.shutdown()
        server.server_close()
        thread.join()
