"""Settings of one command, and how the user gave those that no flag gave."""

from collections.abc import Mapping
from typing import Any


class Given(dict[str, Any]):
    """Settings by key.

    Args:
        values: the settings.
        names: for each key that is no flag, where its value was given, as a user knows it.
    """

    def __init__(self, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
        super().__init__(values)
        self.names = dict(names)
