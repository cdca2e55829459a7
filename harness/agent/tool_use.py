"""Whether a run's samples get their tools natively: all of them know what one has learnt."""

import asyncio
from contextlib import suppress

from harness.models.providers import ToolProtocol

PATIENCE_S = 0.25  # a refusal is immediate; an answer takes longer


class ToolUse:
    """How the agent loop of a run's samples calls tools.

    With `auto` it is natively, until the endpoint refuses tools. The first request with tools is
    sent before the others, so that one refusal is enough; the others wait for its answer, but not
    long.

    Args:
        protocol: as the run's settings say.
        patience_s: seconds that other requests wait for the answer to the first.
    """

    def __init__(self, protocol: ToolProtocol = "auto", *, patience_s: float = PATIENCE_S) -> None:
        self._protocol = protocol
        self._patience_s = patience_s
        self._asked = self._refused = False
        self._answered = asyncio.Event()

    async def is_native(self) -> bool:
        """Return whether a new sample begins with native tools."""
        if self._protocol != "auto" or self._refused:
            return self._protocol == "native"
        if not self._asked:
            self._asked = True
        elif not self._answered.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    await self._answered.wait()
        return not self._refused

    @property
    def may_change(self) -> bool:
        """Whether a sample may go on without tools if the endpoint refuses them."""
        return self._protocol == "auto"

    def heard(self, *, refused: bool) -> None:
        """Note the endpoint's answer to a request with tools."""
        self._refused = self._refused or refused
        self._answered.set()
