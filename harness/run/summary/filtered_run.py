"""A run of only the problems that match a selection."""

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.figures import count
from harness.run.summary.loaded_run import Run
from harness.sources.selection import Selection, matching
from harness.text import printable_line

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class _FilterFacts:
    """The facts of a problem that filters use, taken from a result."""

    id: str
    platform: str
    difficulty: str | None
    tags: tuple[str, ...]
    release_date: date | None
    known_issues: tuple[str, ...]
    difficulty_word: str = ""


def filtered(run: Run, selection: Selection) -> Run:
    """Return a run of only the matching problems, as if others had not been selected.

    The facts of a problem come from its results. So problems without a result are left out;
    `filter_notes` of the run says how many.

    Raises:
        UsageError: no problem of the run has a requested value.
        NothingSelectedError: no problem of the run matches.
    """
    if selection == EVERYTHING:
        return run
    facts = {
        each.problem_id: _FilterFacts(
            *(each.problem_id, each.platform, each.difficulty),
            *(each.tags, each.release_date, each.known_issues),
        )
        for each in run.results
    }
    try:
        kept, undated = matching([*facts.values()], selection)
    except HarnessError as error:
        raise type(error)(f"{printable_line(str(run.path))}: {error}") from None
    names = {each.id for each in kept}
    problems: Mapping[str, Any] = run.manifest["problems"]
    unknown = sum(name not in facts for name in problems)
    manifest = {
        **run.manifest,
        "problems": {name: each for name, each in problems.items() if name in names},
    }
    manifest.pop("merged", None)
    notes = (
        *([f"{count(undated, 'problem')} without a release date left out"] if undated else []),
        *(
            [f"{count(unknown, 'problem')} without a result left out: nothing says what they are"]
            if unknown
            else []
        ),
    )
    return replace(
        run,
        manifest=manifest,
        results=tuple(each for each in run.results if each.problem_id in names),
        filtered_by=filter_words(selection),
        filter_notes=notes,
    )


def filter_words(selection: Selection) -> str:
    """Return a short description of a selection."""
    first, last = selection.min_release_date, selection.max_release_date
    parts = (
        *("/".join(values) for values in (selection.difficulties, selection.platforms) if values),
        *(f"tag {tag}" for tag in selection.tags),
        *([f"released from {first}"] if first else []),
        *([f"released to {last}"] if last else []),
        *(["no known issues"] if selection.exclude_known_issues else []),
    )
    return ", ".join(map(printable_line, parts))
