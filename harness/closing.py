"""Base class: leaving a `with` block calls `close()`."""

from types import TracebackType
from typing import Self


class Closing:
    """Base class of context managers with a `close()` method."""

    def close(self) -> None:
        """Release the resources."""
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
