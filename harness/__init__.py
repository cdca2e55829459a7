"""Measures how well a language model programs, and how much better when it may iterate."""

from typing import TYPE_CHECKING, Any

from harness.version import __version__

if TYPE_CHECKING:
    from harness.runs.sandbox import Sandbox

__all__ = ["Sandbox", "__version__"]


def __getattr__(name: str) -> Any:
    """What is imported only where it is used: the command line is to start quickly."""
    if name == "Sandbox":
        from harness.runs.sandbox import Sandbox

        return Sandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
