"""A tuning on a terminal: the tree of candidates and the sentence."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from harness.features.tune.outcome import CandidateOutcome, TuneOutcome
from harness.figures import count, percent
from harness.terminal.rich_tables import words_table
from harness.text import printable_line

NARROW = 60
"""Most characters of a fault."""


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
