"""A comparison as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.features.compare.answer import sentences_of, title_words
from harness.features.compare.comparison import Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.run_names import names_of
from harness.features.compare.table_rows import rows_of, spend_columns, spend_rows
from harness.features.compare.view import flip_words, group_cells, statements
from harness.figures import count
from harness.run.summary.groups import FEWEST
from harness.text import printable_line

_PLAIN = re.compile(r"[\w .,;:()%+/'=?-]*")
_MARKUP = re.compile(r"(?<![^\W_])_|_(?![^\W_])|www|://")  # emphasis, addresses


def comparison_markdown(comparison: Comparison) -> str:
    """Format a comparison as Markdown; text that could be markup is put in code spans."""
    return "\n".join(_lines(comparison)) + "\n"


def code(text: str) -> str:
    """Format untrusted text as a code span on one line.

    A code span has no links, mentions, references, tags or entities. A backquote would end the
    span and a bar would end a table cell, even if escaped with a backslash; both are replaced by
    their hex codes, as are control characters.
    """
    safe = printable_line(text).replace("`", r"\x60").replace("|", r"\x7c").replace("\t", r"\t")
    return f"`{safe}`" if safe.strip() else ""


def prose(text: str) -> str:
    """Return a sentence as it is if nothing in it can be markup, else as a code span."""
    plain = _PLAIN.fullmatch(text) and not _MARKUP.search(text)
    return text if plain else code(text)


def _lines(comparison: Comparison) -> Iterator[str]:
    runs = comparison.runs
    names = {label: code(name) for label, name in names_of(comparison).items()}
    yield f"**{prose(title_words(comparison))}**"
    yield ""
    for versus in comparison.versus:
        yield " ".join(sentences_of(comparison, versus, names, prose))
        yield ""
    yield from _table(
        ("", *(names[side.label] for side in runs)),
        (
            (row.name.strip(), *(code(cell) if row.foreign else cell for cell in row.cells))
            for row in rows_of(comparison)
        ),
    )
    for versus in comparison.versus:
        yield from _versus_markdown(versus, len(comparison.versus), names)


def _versus_markdown(versus: Pairwise, comparisons: int, names: Mapping[str, str]) -> Iterator[str]:
    one, other = names[versus.baseline], names[versus.label]
    yield f"### {other} against {one}"
    yield ""
    lines = statements(versus, comparisons, names, prose, "**not comparable:**")
    yield from (f"- {line}" for line in lines)
    yield ""
    if versus.spend is not None and versus.spend.differences:
        yield from _table(spend_columns(versus.spend, names), spend_rows(versus.spend))
    for kind, groups in versus.groups.items():
        enough = [group for group in groups if group.problems >= FEWEST]
        if enough:
            yield from _table(
                (f"by {kind}", "problems", one, other, "difference", "95 % interval"),
                ((code(group.name), *group_cells(group)) for group in enough),
            )
        small = len(groups) - len(enough)
        if small:
            yield f"{count(small, 'group')} by {kind} with fewer than {FEWEST} problems left out."
            yield ""
    for label in (versus.baseline, versus.label):
        better = [flip for flip in versus.flips if flip.better == label]
        yield from _flips_markdown(names[label], better, names)


def _flips_markdown(name: str, flips: Sequence[Flip], names: Mapping[str, str]) -> Iterator[str]:
    if not flips:
        return
    number = count(len(flips), "problem")
    yield f"<details><summary>{name} did better on {number}</summary>"
    yield ""
    yield from _table(
        ("problem", "verdicts", "transcripts"),
        ((code(flip.problem), flip_words(flip, names), _commands(flip)) for flip in flips),
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
