"""A comparison as GitHub Markdown, for an issue or a job summary."""

from collections.abc import Iterable, Iterator, Sequence

from harness.features.compare import answer
from harness.features.compare.comparison import Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.sentences import findings, flip_words
from harness.features.compare.table_rows import foreign, rows_of, spend_columns, spend_rows
from harness.features.compare.view import group_cells
from harness.text import count, printable_line


def comparison_markdown(comparison: Comparison) -> str:
    """Format a comparison as Markdown; untrusted text is put in code spans."""
    return "\n".join(_lines(comparison)) + "\n"


def code(text: str) -> str:
    """Format untrusted text as a code span on one line.

    A code span has no links, mentions, references, tags or entities. A backquote would end the
    span and a bar would end a table cell, even if escaped with a backslash; both are replaced by
    their hex codes, as are control characters.
    """
    safe = printable_line(text).replace("`", r"\x60").replace("|", r"\x7c").replace("\t", r"\t")
    return f"`{safe}`" if safe.strip() else ""


def _lines(comparison: Comparison) -> Iterator[str]:
    runs = comparison.runs
    names = answer.names_of(comparison)
    yield f"**{code(answer.title_words(comparison))}**"
    yield ""
    for versus in comparison.versus:
        safe = {label: code(name) for label, name in names.items()}
        told = answer.difference_words(versus, safe, len(comparison.versus))
        yield " ".join(filter(None, (told, answer.price_words(comparison, versus, safe))))
        yield ""
    yield from _table(
        ("", *(side.label for side in runs)),
        (
            (row.name.strip(), *(code(cell) if row.foreign else cell for cell in row.cells))
            for row in rows_of(comparison)
        ),
    )
    for versus in comparison.versus:
        yield from _versus(versus, len(comparison.versus))


def _versus(versus: Pairwise, comparisons: int) -> Iterator[str]:
    yield f"### {versus.label} against {versus.baseline}"
    yield ""
    yield from (f"- **not comparable:** {code(words)}" for words in versus.unlike)
    yield from (f"- also different: {code(words)}" for words in versus.differs)
    yield from (f"- {words}" for words in findings(versus, comparisons))
    if versus.spend is not None:
        said = versus.spend.sentence
        yield f"- {code(said) if foreign(versus.spend) else said}"
        yield from (f"- note: {words}" for words in versus.spend.notes)
    yield from (f"- note: {code(words)}" for words in versus.notes)
    yield ""
    if versus.spend is not None and versus.spend.differences:
        yield from _table(spend_columns(versus.spend), spend_rows(versus.spend))
    for kind, groups in versus.groups.items():
        columns = f"by {kind}", "problems", versus.baseline, versus.label
        yield from _table(
            (*columns, "difference", "95 % interval"),
            ((code(group.name), *group_cells(group)) for group in groups),
        )
    for label in (versus.baseline, versus.label):
        yield from _flips(label, [flip for flip in versus.flips if flip.better == label])


def _flips(label: str, flips: Sequence[Flip]) -> Iterator[str]:
    if not flips:
        return
    number = count(len(flips), "problem")
    yield f"<details><summary>{label} did better on {number}</summary>"
    yield ""
    yield from _table(
        ("problem", "verdicts", "transcripts"),
        ((code(flip.problem), code(flip_words(flip)), _commands(flip)) for flip in flips),
    )
    yield "</details>"
    yield ""


def _commands(flip: Flip) -> str:
    return "<br>".join(code(shown.command) for shown in (flip.a, flip.b) if shown.command)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(columns) - 1)])} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
