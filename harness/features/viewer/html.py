"""Pages as HTML: every word that is not ours is escaped, whatever is in it."""

import shlex
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.efficiency.labels import cpu_time, rank
from harness.features.viewer.efficiency_axis import beyond_words
from harness.grading.verdict import INFRASTRUCTURE
from harness.text import count, dollars, interval, percent, printable, printable_line

LONGEST_LINE = 500
GOOD = frozenset({"accepted", "solved", "done"})
LIMITS = ("cost_limit", "token_limit")  # of the run: why a sample is pending
CALM = frozenset({"ungraded", "not_run", "cancelled", "interrupted", "pending", *LIMITS})
MINUTE, HOUR = 60, 3_600


def render(template: str, **values: Any) -> bytes:
    """A page. Lone surrogates, which UTF-8 cannot carry, become question marks."""
    return (
        _environment()
        .get_template(template, globals=FUNCTIONS)
        .render(**values)
        .encode("utf-8", "replace")
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("harness.features.viewer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"text": line, "words": words, "lines": printable}
    return made


def line(value: object) -> str:
    """A text on one line, visible and bounded."""
    text = str(value)
    shown = printable_line(text[:LONGEST_LINE])
    return f"{shown}…" if len(text) > LONGEST_LINE else shown


def words(value: object) -> str:
    """A word of ours as people write it: `wrong answer`."""
    return str(value).replace("_", " ")


def kind_of(state: object) -> str:
    """What colour a verdict or a state has."""
    word = str(state)
    if word in GOOD:
        return "good"
    if word in {"under_way", "running"}:
        return "running"
    if word in CALM:
        return "calm"
    return "warn" if word in {str(verdict) for verdict in INFRASTRUCTURE} else "bad"


def duration(seconds: float) -> str:
    """Seconds as people write them."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min {int(seconds % MINUTE)} s"
    return f"{int(seconds // HOUR)} h {int(seconds % HOUR // MINUTE)} min"


FUNCTIONS: dict[str, Any] = {
    "beyond_words": beyond_words,
    "count": count,
    "cpu_time": cpu_time,
    "dollars": dollars,
    "duration": duration,
    "interval": interval,
    "kind_of": kind_of,
    "percent": percent,
    "rank": rank,
    "shell": shlex.quote,
}
"""What the templates may call."""
