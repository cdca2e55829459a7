"""Python programs as HTML, with a class for each kind of token."""

from functools import lru_cache
from typing import Any, cast

from markupsafe import Markup

from harness.text import printable

LONGEST_COLOURED = 20_000
"""Most characters of a highlighted program; longer ones are shown plainly."""
LONGEST_LINE_COLOURED = 2_000


@lru_cache(maxsize=256)
def coloured(code: str) -> Markup:
    """Return a Python program as escaped HTML, with a class for each kind of token."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import (
        PythonLexer,  # pyright: ignore[reportUnknownVariableType]
    )

    shown = printable(code)
    long = len(shown) > LONGEST_COLOURED
    if long or any(len(line) > LONGEST_LINE_COLOURED for line in shown.split("\n")):
        return Markup.escape(shown)
    lexer = cast("Any", PythonLexer)(stripnl=False, ensurenl=False)
    formatter: Any = HtmlFormatter(nowrap=True)  # pyright: ignore[reportUnknownVariableType]
    return Markup(highlight(shown, lexer, formatter))  # noqa: S704 - pygments escapes
