"""Timing of correct solutions against the reference solutions of their problem.

Start reading with `measurement`. `paired_timing` and `mercury_protocol` are the two ways to time;
settings import their names here, without anything else.
"""

from typing import Literal

Timing = Literal["paired", "mercury"]
