"""A tuning on a terminal and as `report.html`: the tree of candidates and the sentence.

The page contains all it needs, loads nothing and runs no script. All texts are escaped.
"""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.cache import write_whole
from harness.features.tune.outcome import CandidateOutcome, TuneOutcome
from harness.figures import count, percent
from harness.html_text import page_templates
from harness.terminal.rich_tables import words_table
from harness.text import printable, printable_line

NARROW = 60
"""Most characters of a fault."""
PAGE = "report.html"
PACKAGE = "harness.features.tune"
LONGEST_DIFF = 40_000
KINDS = {"+": "added", "-": "removed", "@": "place"}


def tune_view(outcome: TuneOutcome) -> RenderableType:
    """Show all candidates below the one that each was made from, and what it came to."""
    rows = [_row(depth, each, outcome) for depth, each in tree(outcome)]
    table = words_table(("candidate", "train", "selection", "changes"), rows)
    parts = ", ".join(f"{number} {part}" for part, number in outcome.split.items())
    sentence = (
        f"{parts} problems; {count(outcome.evaluations, 'evaluation')} in the search, "
        f"{count(outcome.proposals, 'proposal')}; train: of its first problems, and its parent's "
        "share of these"
    )
    return Group(table, Text(sentence), Text(f"\n{outcome.sentence}", style="bold"))


def tree(outcome: TuneOutcome) -> Iterator[tuple[int, CandidateOutcome]]:
    """Yield each candidate with its depth, below its parent."""
    below: dict[int | None, list[CandidateOutcome]] = {}
    for each in outcome.candidates:
        below.setdefault(each.parent, []).append(each)
    left = [(0, each) for each in reversed(below.get(None, []))]
    while left:
        depth, each = left.pop()
        yield depth, each
        left += [(depth + 1, child) for child in reversed(below.get(each.number, []))]


def train_words(candidate: CandidateOutcome) -> str:
    """Return the share of its first problems that a candidate solved, and its parent's."""
    if candidate.train is None:
        return ""
    before = "" if candidate.parent_train is None else f" (was {percent(candidate.parent_train)})"
    return f"{percent(candidate.train)}{before}"


def _row(depth: int, candidate: CandidateOutcome, outcome: TuneOutcome) -> list[str]:
    name = "start" if candidate.parent is None else str(candidate.number)
    star = " *" if candidate.number == outcome.best else ""
    selection = "" if candidate.selection is None else percent(candidate.selection)
    changes = printable_line(candidate.template)
    if candidate.fault:
        changes += f", not asked: {printable_line(candidate.fault)[:NARROW]}"
    return [f"{'  ' * depth}{name}{star}", train_words(candidate), selection, changes]


def write_page(outcome: TuneOutcome, start: Mapping[str, str]) -> None:
    """Write the page into the tuning's directory.

    Args:
        outcome: the tuning.
        start: the start's templates by path.
    """
    write_whole(Path(outcome.path) / PAGE, page_of(outcome, start))


def page_of(outcome: TuneOutcome, start: Mapping[str, str]) -> str:
    """Return the page as HTML."""
    rows = [_page_row(depth, each, outcome, start) for depth, each in tree(outcome)]
    return (
        page_templates(PACKAGE)
        .get_template("tune.html.j2")
        .render(
            name=printable_line(Path(outcome.path).name),
            sentence=outcome.sentence,
            remark=printable_line(outcome.remark),
            split=outcome.split,
            evaluations=outcome.evaluations,
            proposals=outcome.proposals,
            rows=rows,
        )
    )


def _page_row(
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
