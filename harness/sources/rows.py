"""Former location of `harness.sources.files.rows`; kept until the next minor version."""

from harness.sources.files.rows import Loaded

__all__ = ["Loaded"]
