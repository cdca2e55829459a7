"""The page itself: one HTML document that holds all it needs and asks for nothing.

A policy in its head lets only the scripts run that this module wrote, each by its hash, and lets
nothing be loaded from anywhere: what a model or a data set wrote could do no harm even if it were
not escaped, which it is.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from harness.features.experiment.ranking import Ranking
from harness.features.report.changed_outcomes import changed_outcomes
from harness.features.report.first_screen import first_screen
from harness.features.report.pairs import pairings
from harness.features.report.run_labels import remarks, sides_of
from harness.features.report.sample_rows import sample_data
from harness.features.report.sections import sections_of
from harness.run.summary.loaded_run import Run
from harness.text import count, printable
from harness.version import __version__

PACKAGE = "harness.features.report"


DEFAULT_TITLE = "Report"


def report_page(
    runs: Sequence[Run],
    *,
    title: str = DEFAULT_TITLE,
    cutoff: date | None = None,
    ranking: Ranking | None = None,
) -> str:
    """The report of some runs, at least one, as an HTML document.

    Args:
        runs: those that are under way are shown as far as they are.
        title: of the page.
        cutoff: any day of the last month that the models were trained on.
        ranking: of the experiment that the runs are cells of, if they are.
    """
    sides = sides_of(runs)
    pairs = pairings(sides)
    screen = first_screen(sides, pairs)
    sections = sections_of(sides, pairs, None if cutoff is None else cutoff.replace(day=1), ranking)
    shown = [exhibit for section in sections for exhibit in section.exhibits]
    shown += [screen.chart] if screen.chart else []
    specs = {each.name: each.chart for each in shown if each.chart is not None}
    scripts = [*([chart_scripts()] if specs else []), own_script("report.js")]
    return _template().render(
        title=title,
        heading=_heading(title, screen.title, ranking),
        only=sides[0].run.filtered_by,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        sides=sides,
        screen=screen,
        changes=changed_outcomes(pairs),
        remarks=list(remarks(sides)),
        sections=sections,
        scripts=[_Safe(script) for script in scripts],
        policy=policy(scripts),
        style=_Safe(own_script("report.css")),
        charts=embedded(specs),
        samples=embedded(sample_data(sides)),
        total=sum(len(side.run.results) for side in sides),
    )


def _heading(title: str, told: str, ranking: Ranking | None) -> str:
    """The page's own title where one was given; else what was measured."""
    if title != DEFAULT_TITLE or not told:
        return title
    if ranking is None:
        return told
    cells = count(len(ranking.cells), "cell")
    return f"{Path(ranking.experiment).resolve().name}, {cells}: {told}"


@cache
def chart_scripts() -> str:
    """Vega, Vega-Lite and Vega-Embed, as vl-convert brings them; bundling takes two seconds."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])  # that which Altair writes for
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    return _within_script(f"(() => {{{bundle}\n}})();")  # its names stay its own


def own_script(name: str) -> str:
    """A file that goes into the page as it is."""
    text = (files(PACKAGE) / "templates" / name).read_text(encoding="utf-8")
    return _within_script(text)


def _within_script(text: str) -> str:
    """A script which cannot end its element before its end."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def embedded(value: Any) -> "_Safe":
    """A value as JSON that may stand within a script element, whatever texts it has.

    Only ASCII is written, and none of the letters that HTML gives a meaning. What is no number has
    no JSON, and becomes null.
    """
    from pydantic_core import to_json

    text = to_json(value, inf_nan_mode="null").decode()
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return _Safe("".join(map(_ascii, text)) if not text.isascii() else text)


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)


def policy(scripts: Sequence[str]) -> str:
    """The content security policy under which these scripts run and no other."""
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


class _Safe(str):
    """Text that goes into the page as it is, because it is ours or has been made fit."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _shown(value: object) -> object:
    """Texts as they are safe to be read: characters that are not seen are spelled out."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else printable(value)


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")
