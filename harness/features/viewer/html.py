"""Rendering of pages and programs as HTML; all values are escaped."""

import re
import shlex
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from jinja2 import Environment
from markupsafe import Markup

from harness.features.efficiency.efficiency_summary import (
    cpu_time,
    rank,
    score_interval,
    score_words,
)
from harness.features.efficiency.scale import Efficiency
from harness.figures import clock, count, dollars, interval, p_value, percent, quantity
from harness.grading.verdict import INFRASTRUCTURE
from harness.html_text import page_templates
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.run.store.pending import reason_text
from harness.text import printable, printable_line

LONGEST_LINE = 500
GOOD = frozenset({"accepted", "solved", "done"})
LIMITS = ("cost_limit", "token_limit")  # limits of a run, because of which samples are pending
CALM = frozenset({"ungraded", "not_run", "cancelled", "interrupted", "pending", *LIMITS})
NAME_PARTS = re.compile(r"[^-_/:.@+]*[-_/:.@+]?")
LONGEST_COLOURED = 20_000
"""Most characters of a highlighted program; longer ones are shown plainly."""
LONGEST_LINE_COLOURED = 2_000


def beyond_words(efficiency: Efficiency) -> str:
    """Return Beyond with its interval as text."""
    if efficiency.beyond is None:
        return "none"
    if efficiency.cpu_s is None:
        return f"{efficiency.beyond:.3f}, not timed: it failed"
    if efficiency.beyond_low is None or efficiency.beyond_high is None:
        return f"{efficiency.beyond:.3f}"
    return (
        f"{efficiency.beyond:.3f} ({score_interval(efficiency.beyond_low, efficiency.beyond_high)})"
    )


def render(template: str, **values: Any) -> bytes:
    """Render a page. Lone surrogates, which UTF-8 lacks, become question marks."""
    return (
        _environment()
        .get_template(template, globals=FUNCTIONS)
        .render(**values)
        .encode("utf-8", "replace")
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = page_templates("harness.features.viewer")
    made.filters |= {"text": line, "name": name, "words": words, "lines": printable}
    return made


def line(value: object) -> str:
    """Return a text on one line, printable and bounded."""
    text = str(value)
    shown = printable_line(text[:LONGEST_LINE])
    return f"{shown}…" if len(text) > LONGEST_LINE else shown


def name(value: object) -> Markup:
    """Return a name on one line that a browser may break after `-_/:.@+`, and not within words."""
    return Markup("<wbr>").join(part for part in NAME_PARTS.findall(line(value)) if part)


def words(value: object) -> str:
    """Replace the underscores of a word such as `wrong_answer` by spaces."""
    return str(value).replace("_", " ")


def kind_of(state: object) -> str:
    """Return the colour class of a verdict or state."""
    word = str(state)
    if word in GOOD:
        return "good"
    if word in {"under_way", "running"}:
        return "running"
    if word in CALM or word.startswith("impossible_"):
        return "calm"
    return "warn" if word in {str(verdict) for verdict in INFRASTRUCTURE} else "bad"


FUNCTIONS: dict[str, Any] = {
    "beyond_words": beyond_words,
    "count": count,
    "cpu_time": cpu_time,
    "dollars": dollars,
    "p_value": p_value,
    "quantity": quantity,
    "clock": clock,
    "interval": interval,
    "kind_of": kind_of,
    "percent": percent,
    "rank": rank,
    "reason_text": reason_text,
    "score_words": score_words,
    "shell": shlex.quote,
}
"""Functions available in templates."""


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
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]

    shown = printable(code)
    long = len(shown) > LONGEST_COLOURED
    if long or any(len(line) > LONGEST_LINE_COLOURED for line in shown.split("\n")):
        return Markup.escape(shown)
    lexer = cast("Any", get_lexer_by_name)(language, stripnl=False, ensurenl=False)
    formatter: Any = HtmlFormatter(nowrap=True)  # pyright: ignore[reportUnknownVariableType]
    return Markup(highlight(shown, lexer, formatter))  # noqa: S704 - pygments escapes
