"""The judge over HTTP, in a thread of the test's process, on a real socket."""

import asyncio
import contextlib
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import httpx2

from harness.closing import Closing
from harness.features.serve.server import (
    GracefulServer,
    ServerSettings,
    _listen,
    config_of,
    service_of,
)
from harness.problem import Problem
from harness.run.settings.spec import RunSpec, read_spec
from harness.sandbox.pool import SandboxPool

PATIENCE_S = 120.0


class _Quiet(GracefulServer):
    """Does not handle signals, which are for the tests."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class JudgeServer(Closing):
    """The server, listening until it is closed.

    Args:
        problems: problems that clients may name.
        workers: number of sandbox workers.
        flags: flags of the spec.
        settings: other fields of `ServerSettings`.
    """

    def __init__(
        self,
        problems: Sequence[Problem] = (),
        *,
        workers: int = 2,
        flags: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        spec: RunSpec = read_spec(None, flags or {})
        self._settings = replace(ServerSettings(spec, port=0), **settings)
        self._problems = problems
        self._workers = workers
        self._bound = _listen(self._settings.host, 0)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        self.place = "{}:{}".format(*self._bound.getsockname()[:2])
        self.url = f"http://{self.place}"
        self.client = httpx2.Client(base_url=self.url, timeout=PATIENCE_S)

    async def _live(self) -> None:
        async with SandboxPool(workers=self._workers) as pool:
            self.service = service_of(pool, self._problems, self._settings)
            app = self.service.app(self._settings.token)
            self.server = _Quiet(config_of(app), self._ready.set)
            await self.server.serve(sockets=[self._bound])

    def run_code(self, code: str, **more: Any) -> Any:
        """Run a program; return the answer."""
        body = {"code": code, "language": "python", **more}
        answer = self.client.post("/run_code", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def grade(self, **item: Any) -> Any:
        """Grade one solution; return the answer."""
        answer = self.client.post("/grade", json=item)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path: str, body: Any) -> tuple[int, str]:
        """Return the status and the reason of a refused request."""
        answer = self.client.post(path, json=body)
        return answer.status_code, answer.json()["detail"]

    def close(self) -> None:
        """Stop the server."""
        self.client.close()
        self.server.should_exit = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        self._bound.close()
