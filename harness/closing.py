"""Base class: leaving a `with` block calls `close()`."""

from types import TracebackType
from typing import Self


class Closing:
    """A base for what has `close()`, so that `with` may say when."""

    def close(self) -> None:
        """Let go of what it holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
