"""Names of the ways to time solutions, for settings: they need nothing else of efficiency."""

from typing import Literal

Timing = Literal["paired", "mercury"]
