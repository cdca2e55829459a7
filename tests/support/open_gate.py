"""A gate that lets every request through: it has no queue and no budget."""

from harness.models.protocol import ModelError, ModelTurn, Retry, Usage


class OpenGate:
    """A gate of a sample without a run."""

    dollars_left: float | None = None

    async def enter(self) -> None:
        pass

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        pass

    async def enter_again(self) -> None:
        pass

    def may_be_dropped(self) -> None:
        pass

    def recall(self, usage: Usage | None) -> None:
        pass

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        pass

    def comes_back(self, error: ModelError) -> bool:
        del error
        return False

    def refuse(self, error: ModelError) -> None:
        pass


class Broke(OpenGate):
    """A gate that lets so many requests through."""

    def __init__(self, requests: int, end: Exception) -> None:
        self._left = requests
        self._end = end
        self.recalled: list[Usage | None] = []

    async def enter(self) -> None:
        if not self._left:
            raise self._end
        self._left -= 1

    def recall(self, usage: Usage | None) -> None:
        self.recalled.append(usage)

    def refuse(self, error: ModelError) -> None:
        raise error
