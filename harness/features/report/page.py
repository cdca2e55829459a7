"""`harness report`: one HTML document that contains all it needs and loads nothing.

A content security policy in its head allows only this module's scripts, each by its hash, and no
loading from any address. Text of a model or a data set could do no harm even if it were not
escaped, which it is.
"""

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from markupsafe import Markup

from harness.cache import cache_folder, write_whole
from harness.cli import completion
from harness.cli.settings_flags import RESULT_FILTERS, with_settings
from harness.errors import UsageError
from harness.features.experiment.experiment_file import FILE, read_experiment
from harness.features.experiment.ranking import Ranking, rank
from harness.features.report.changed_outcomes import changed_outcomes
from harness.features.report.figures import tokens
from harness.features.report.first_screen import first_screen
from harness.features.report.labelled_runs import LabelledRun, pairings, remarks, sides_of
from harness.features.report.sections import sections_of
from harness.figures import count, words
from harness.html_text import page_templates
from harness.run.store.results import SampleResult
from harness.run.summary.filtered_run import EVERYTHING, filtered_together
from harness.run.summary.filters import read_filters
from harness.run.summary.loaded_run import Run, read_run
from harness.sources.selection import Selection
from harness.terminal.consoles import console
from harness.text import printable, printable_line
from harness.tools.revision import Revision
from harness.version import __version__

COLUMNS = (
    *("run", "sample", "title", "difficulty", "platform", "verdict", "solved"),
    *("public_passed", "public_total", "hidden_passed", "hidden_total"),
    *("turns", "tokens", "cost", "seconds", "stop", "tags", "released", "issues"),
    *("chosen", "steps", "command", "code"),
)
"""Names of a row's values, in order; the script receives them too."""
EFFICIENCY = ("cpu_s", "percentile", "beyond", "beyond_low", "beyond_high", "lack", "remark")
"""Further values of a row if solutions of any run are timed."""
MOST_CODE = 4_000_000
"""Most characters of code in all; if there are more, the page contains no code."""
PACKAGE = "harness.features.report"
DEFAULT_TITLE = "Report"


def sample_data(sides: Sequence[LabelledRun]) -> dict[str, Any]:
    """Return all samples, with the facts that the page's filters need."""
    results = [result for side in sides for result in side.run.results]
    with_code = sum(len(result.code) for result in results) <= MOST_CODE
    timed = any(result.efficiency is not None for result in results)
    rows = [
        _row(number, side, result, with_code=with_code) + (_efficiency(result) if timed else [])
        for number, side in enumerate(sides)
        for result in side.run.results
    ]
    return {
        "columns": (*COLUMNS, *EFFICIENCY) if timed else COLUMNS,
        "runs": [side.label for side in sides],
        "with_code": with_code,
        "rows": rows,
    }


def _row(number: int, side: LabelledRun, result: SampleResult, *, with_code: bool) -> list[Any]:
    points = "" if result.score is None else f", {result.score}"
    return [
        number,
        printable_line(result.sample),
        printable_line(result.title),
        result.difficulty or "unknown",
        printable_line(result.platform) or "unknown",
        words(result.verdict),
        int(result.solved),
        *(result.public_passed, result.public_total),
        *(result.hidden_passed, result.hidden_total),
        result.model_calls,
        tokens(result),
        result.cost,
        round(result.seconds, 3),
        words(result.stop_reason) + ", answer cut off" * bool(result.cut_off) + points,
        [printable_line(tag) for tag in result.tags],
        None if result.release_date is None else result.release_date.isoformat(),
        [printable_line(issue) for issue in result.known_issues],
        words(result.chosen_by),
        [_step(step, result) for step in result.steps],
        printable_line(side.transcript(result.sample)),
        printable(result.code) if with_code else None,
    ]


def _efficiency(result: SampleResult) -> list[Any]:
    efficiency = result.efficiency
    values = (None if efficiency is None else getattr(efficiency, name) for name in EFFICIENCY)
    return [printable_line(each) if isinstance(each, str) else each for each in values]


def _step(step: Revision, result: SampleResult) -> str:
    """Describe a revision in a few words."""
    label = f"turn {step.turn}"
    if step.public_passed is not None:
        label += f", public tests {step.public_passed} of {result.public_total}"
    known = {True: "solved", False: "not solved", None: "not judged"}
    return f"{label}, {known[step.solved]}"


def report_page(
    runs: Sequence[Run],
    *,
    title: str = DEFAULT_TITLE,
    cutoff: date | None = None,
    ranking: Ranking | None = None,
) -> str:
    """Return the report of one or more runs as an HTML document.

    Args:
        runs: runs; unfinished ones are shown as far as they are.
        title: title of the page.
        cutoff: any day of the last month of the models' training.
        ranking: ranking of the experiment, if the runs are its variants.
    """
    sides = sides_of(runs)
    pairs = pairings(sides)
    screen = first_screen(sides, pairs)
    sections = sections_of(sides, pairs, None if cutoff is None else cutoff.replace(day=1), ranking)
    shown = [exhibit for section in sections for exhibit in section.exhibits]
    shown += [screen.chart] if screen.chart else []
    specs = {each.name: each.chart for each in shown if each.chart is not None}
    scripts = [*([chart_scripts()] if specs else []), own_script("report.js")]
    template = page_templates(PACKAGE, finalize=_shown).get_template("report.html.j2")
    return template.render(
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
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - bundled
        policy=policy(scripts),
        style=Markup(own_script("report.css")),  # noqa: S704 - bundled
        charts=embedded(specs),
        samples=embedded(sample_data(sides)),
        total=sum(len(side.run.results) for side in sides),
    )


def _heading(title: str, line: str, ranking: Ranking | None) -> str:
    """Return the user's title if one was given; else what was measured."""
    if title != DEFAULT_TITLE or not line:
        return title
    if ranking is None:
        return line
    variants = count(len(ranking.variants), "variant")
    return f"{Path(ranking.experiment).resolve().name}, {variants}: {line}"


@cache
def chart_scripts() -> str:
    """Return Vega, Vega-Lite and Vega-Embed from vl-convert.

    The first report with a version takes two seconds to make them, the others read the cache.
    """
    import altair as alt

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])  # the version that Altair writes for
    made_by = metadata.version("vl-convert-python")
    kept = cache_folder() / "charts" / f"vega-lite-{version}-vl-convert-{made_by}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    script = _within_script(f"(() => {{{bundle}\n}})();")  # no global names
    write_whole(kept, script)
    return script


def own_script(name: str) -> str:
    """Return a bundled file that goes into the page unescaped."""
    text = (files(PACKAGE) / "templates" / name).read_text(encoding="utf-8")
    return _within_script(text)


def _within_script(text: str) -> str:
    """Escape a script so that it cannot end its element early."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def embedded(value: Any) -> Markup:
    """Return a value as JSON that is safe within a script element.

    It is ASCII without characters that HTML gives a meaning. NaN and infinities, which JSON lacks,
    become null.
    """
    from pydantic_core import to_json

    text = to_json(value, inf_nan_mode="null").decode()
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    shown = text if text.isascii() else "".join(map(_ascii, text))
    return Markup(shown)  # noqa: S704 - escaped above


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy that allows only these scripts."""
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _shown(value: object) -> object:
    """Return texts with invisible characters spelled out."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else printable(value)


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    cutoff: str | None,
    title: str,
    only: Selection = EVERYTHING,
) -> None:
    """Write the report of some runs.

    Args:
        runs: directories of runs, or of one experiment.
        out: the file to write; an existing file is replaced.
        cutoff: last month of the models' training, such as `2024-05`.
        title: title of the page.
        only: filter of problems.

    Raises:
        UsageError: the cut-off is not a month, or the file cannot be written.
        RunDirectoryError: a directory is not a run.
    """
    month = None if cutoff is None else _month(cutoff)
    if out.is_dir():
        raise UsageError(f"{out} is a directory; -o takes the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: there is no directory {out.parent}")
    ranking = ranking_of(runs)
    if ranking is not None:
        begun = {variant.name: Path(variant.run) for variant in ranking.variants if variant.planned}
        names = read_experiment(runs[0]).variants  # in the grid's order: the baseline comes first
        runs = [begun[name] for name in names if name in begun]
        if not runs:
            raise UsageError(f"{ranking.experiment}: no variant has begun")
        if only != EVERYTHING:
            raise UsageError("filters go with runs: name the variants of the experiment as runs")
    runs_read = filtered_together([read_run(run) for run in runs], only)
    page = report_page(runs_read, title=title, cutoff=month, ranking=ranking)
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(out)
    except OSError as error:
        with suppress(OSError):  # on a read-only disk also where there is none
            draft.unlink(missing_ok=True)
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


def ranking_of(paths: Sequence[Path]) -> Ranking | None:
    """Return the ranking if the path is an experiment; None if the paths are runs.

    Raises:
        UsageError: an experiment is given together with other paths.
    """
    experiments = [path for path in paths if (path / FILE).is_file()]
    if not experiments:
        return None
    if len(paths) > 1:
        raise UsageError(f"{experiments[0]} is an experiment: name it alone, or name runs")
    return rank(experiments[0])


def _month(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError as error:
        raise UsageError(f"--cutoff {text!r} is not a month (YYYY-MM)") from error


@with_settings(*RESULT_FILTERS)
def report(
    settings: Mapping[str, Any],
    *,
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run directories, or one experiment's.",
            metavar="RUN...",
            autocompletion=completion.runs,
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The file to write.", metavar="FILE")
    ] = Path("report.html"),
    cutoff: Annotated[
        str | None,
        typer.Option(help="The last month the models were trained on.", metavar="YYYY-MM"),
    ] = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Report",
) -> None:
    """Write runs as one HTML file that opens offline: charts, comparison, a table of samples."""
    only = read_filters(settings)
    write_report(runs, out, cutoff=cutoff, title=title, only=only)
    console().print(f"report: {out}", soft_wrap=True)
