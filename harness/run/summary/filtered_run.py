"""A run of only the problems that match a selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from harness.errors import HarnessError
from harness.figures import count
from harness.run.summary.loaded_run import Run
from harness.sources.selection import Selection, matching
from harness.text import printable_line

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


Facts = Mapping[str, _FilterFacts]
"""Facts of problems by id."""


def filtered_together(runs: Sequence[Run], selection: Selection) -> list[Run]:
    """Filter several runs: a problem without a result in one is known by its result in another.

    Raises:
        UsageError, NothingSelectedError: as `filtered`.
    """
    if selection == EVERYTHING:
        return list(runs)
    known = {name: each for run in runs for name, each in _facts_of(run).items()}
    return [filtered(run, selection, known) for run in runs]


def filtered(run: Run, selection: Selection, known: Facts | None = None) -> Run:
    """Return a run of only the matching problems, as if others had not been selected.

    The facts of a problem come from its results. So problems without a result are left out;
    `filter_notes` of the run says how many.

    Args:
        run: the run.
        selection: which problems match.
        known: facts from the results of other runs, for problems without a result in this one.

    Raises:
        UsageError: no problem of the run has a requested value.
        NothingSelectedError: no problem of the run matches.
    """
    if selection == EVERYTHING:
        return run
    problems: Mapping[str, Any] = run.manifest["problems"]
    others = {name: each for name, each in (known or {}).items() if name in problems}
    facts = {**others, **_facts_of(run)}
    try:
        kept, undated = matching([*facts.values()], selection)
    except HarnessError as error:
        raise type(error)(f"{printable_line(str(run.path))}: {error}") from None
    names = {each.id for each in kept}
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


def _facts_of(run: Run) -> Facts:
    return {
        each.problem_id: _FilterFacts(
            *(each.problem_id, each.platform, each.difficulty),
            *(each.tags, each.release_date, each.known_issues),
        )
        for each in run.results
    }


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
