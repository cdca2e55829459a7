"""`report.html` of a tuning: candidates with scores and their differences to the start.

It contains all it needs, loads nothing and runs no script. All texts are escaped.
"""

from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from harness.cache import write_whole
from harness.features.tune.outcome import CandidateOutcome, TuneOutcome
from harness.features.tune.view import train_words, tree
from harness.figures import percent
from harness.text import printable, printable_line

PAGE = "report.html"
PACKAGE = "harness.features.tune"
LONGEST_DIFF = 40_000
KINDS = {"+": "added", "-": "removed", "@": "place"}


def write_page(outcome: TuneOutcome, start: Mapping[str, str]) -> None:
    """Write the page into the tuning's directory.

    Args:
        outcome: the tuning.
        start: the start's templates by path.
    """
    write_whole(Path(outcome.path) / PAGE, page_of(outcome, start))


def page_of(outcome: TuneOutcome, start: Mapping[str, str]) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rows = [_row(depth, each, outcome, start) for depth, each in tree(outcome)]
    template = environment.get_template("tune.html.j2")
    return template.render(
        name=printable_line(Path(outcome.path).name),
        sentence=outcome.sentence,
        remark=printable_line(outcome.remark),
        split=outcome.split,
        evaluations=outcome.evaluations,
        proposals=outcome.proposals,
        rows=rows,
    )


def _row(
    depth: int, candidate: CandidateOutcome, outcome: TuneOutcome, start: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "depth": depth,
        "number": candidate.number,
        "name": "start" if candidate.parent is None else f"candidate {candidate.number}",
        "is_best": candidate.number == outcome.best,
        "train": train_words(candidate),
        "selection": "" if candidate.selection is None else percent(candidate.selection),
        "fault": printable_line(candidate.fault),
        "prompt": printable_line(candidate.prompt),
        "diff": _diff(candidate, start) if candidate.parent is not None else [],
        "texts": [(place, printable(text)) for place, text in start.items()]
        if candidate.parent is None
        else [],
    }


def _diff(candidate: CandidateOutcome, start: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the lines of the difference to the start, each with its kind."""
    lines: list[tuple[str, str]] = []
    for place, before in start.items():
        try:
            after = (Path(candidate.prompt) / place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        diff = unified_diff(
            before.splitlines(), after.splitlines(), f"start/{place}", place, lineterm=""
        )
        for line in diff:
            kind = "file" if line.startswith(("--- ", "+++ ")) else KINDS.get(line[:1], "same")
            lines.append((kind, printable(line)))
    whole = 0
    for number, (_, line) in enumerate(lines):
        whole += len(line)
        if whole > LONGEST_DIFF:
            return [*lines[:number], ("same", f"… {len(lines) - number:,} more lines")]
    return lines
