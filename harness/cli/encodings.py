"""Output on terminals that cannot show every character."""

import codecs
import sys
from io import TextIOWrapper
from typing import Any, cast

READABLE = "harness.readable"
"""Error handler that writes ASCII for what an encoding lacks."""

_ALIKE = {
    "-": "─━╸",
    "|": "│┃",
    "+": "┏┳┓┡╇┩└┴┘╭╮╰╯├┤┬┼",
    "#": "█▉▊▋▌",
    "=": "▍▎▏",
    ".": "·░",
    "_": "▁",
    ">": "→",
    "<=": "≤",
    ">=": "≥",
    "+-": "±",
    "~": "…",  # one character: tables keep their columns
}
_ASCII = str.maketrans({each: plain for plain, alike in _ALIKE.items() for each in alike})


def make_outputs_readable() -> None:
    """Let stdout and stderr write any text, in whatever encoding they have."""
    codecs.register_error(READABLE, _readable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            cast("TextIOWrapper[Any]", stream).reconfigure(errors=READABLE)


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(_ASCII)
    return lacking.encode("ascii", "backslashreplace").decode(), error.end
