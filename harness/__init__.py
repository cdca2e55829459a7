"""Measures how well a language model programs, and how much better when it may iterate."""

from harness.version import __version__

__all__ = ["__version__"]
