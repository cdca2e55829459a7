"""Filters of results: difficulty, platform, tag, release date, known issues."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypedDict

from pydantic import ValidationError

from harness.errors import HarnessError, UsageError
from harness.run.spec.spec import fault_words
from harness.run.summary.loaded_run import Run
from harness.sources.selection import Selection, matching
from harness.text import count, printable_line


class Filters(TypedDict, total=False):
    """The filters by key, as in a run's spec."""

    filter_difficulty: list[str] | tuple[str, ...] | str
    filter_platform: list[str] | tuple[str, ...] | str
    filter_tags: list[str] | tuple[str, ...] | str
    min_release_date: str | date
    max_release_date: str | date
    exclude_known_issues: bool


_FIELDS: Mapping[str, str] = {
    "filter_difficulty": "difficulties",
    "filter_platform": "platforms",
    "filter_tags": "tags",
    "min_release_date": "min_release_date",
    "max_release_date": "max_release_date",
    "exclude_known_issues": "exclude_known_issues",
}
"""The key of each filter, and its field of `Selection`."""

EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts of a problem that filters use, taken from a result."""

    id: str
    platform: str
    difficulty: str | None
    tags: tuple[str, ...]
    release_date: date | None
    known_issues: tuple[str, ...]
    difficulty_word: str = ""


def read_filters(values: Mapping[str, Any]) -> Selection:
    """Read filters by key; None and empty lists have no effect.

    Raises:
        UsageError: a filter is unknown, or a value is invalid.
    """
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _FIELDS:
            raise UsageError(f"{key!r} is no filter; known are {', '.join(_FIELDS)}")
        if value is None or value in ([], ()):
            continue
        several = key.startswith("filter_")
        given[_FIELDS[key]] = [value] if several and isinstance(value, str) else value
    try:
        return Selection(**given)
    except ValidationError as error:
        first = error.errors()[0]
        names = {field: key for key, field in _FIELDS.items()}
        name = names.get(str(first["loc"][0]), "filter")
        several = name.startswith("filter_")
        words = "give a word, or a list of words" if several else fault_words(first)
        raise UsageError(f"{name} {first['input']!r}: {words}") from None


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
        each.problem_id: _Facts(
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
