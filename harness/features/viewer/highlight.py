"""Programs as HTML, with a class for each kind of token."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from markupsafe import Markup

from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.text import printable

LONGEST_COLOURED = 20_000
"""Most characters of a highlighted program; longer ones are shown plainly."""
LONGEST_LINE_COLOURED = 2_000


def language_of(spec: Mapping[str, Any]) -> str:
    """Return the language of a run's solutions."""
    name = spec.get("language")
    return name if isinstance(name, str) and name in LANGUAGES else PYTHON


@lru_cache(maxsize=256)
def coloured(code: str, language: str = PYTHON) -> Markup:
    """Return a program as escaped HTML, with a class for each kind of token.

    Args:
        code: the program.
        language: name of its language.
    """
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import (
        get_lexer_by_name,  # pyright: ignore[reportUnknownVariableType]
    )

    shown = printable(code)
    long = len(shown) > LONGEST_COLOURED
    if long or any(len(line) > LONGEST_LINE_COLOURED for line in shown.split("\n")):
        return Markup.escape(shown)
    lexer = cast("Any", get_lexer_by_name)(language, stripnl=False, ensurenl=False)
    formatter: Any = HtmlFormatter(nowrap=True)  # pyright: ignore[reportUnknownVariableType]
    return Markup(highlight(shown, lexer, formatter))  # noqa: S704 - pygments escapes
