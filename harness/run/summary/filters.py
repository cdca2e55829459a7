"""Filters of results by key, as `--filter-difficulty`, and how they are read."""

from collections.abc import Mapping
from datetime import date
from typing import Any, TypedDict

from pydantic import ValidationError

from harness.errors import UsageError
from harness.sources.selection import Selection
from harness.value_faults import fault_words

_FIELDS: Mapping[str, str] = {
    "filter_difficulty": "difficulties",
    "filter_platform": "platforms",
    "filter_tags": "tags",
    "min_release_date": "min_release_date",
    "max_release_date": "max_release_date",
    "exclude_known_issues": "exclude_known_issues",
}
"""The key of each filter, and its field of `Selection`."""


class Filters(TypedDict, total=False):
    """The filters by key, as in a run's spec."""

    filter_difficulty: list[str] | tuple[str, ...] | str
    filter_platform: list[str] | tuple[str, ...] | str
    filter_tags: list[str] | tuple[str, ...] | str
    min_release_date: str | date
    max_release_date: str | date
    exclude_known_issues: bool


def read_filters(values: Mapping[str, Any]) -> Selection:
    """Read filters by key; None and empty lists have no effect.

    Raises:
        UsageError: a filter is unknown, or a value is invalid.
    """
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _FIELDS:
            raise UsageError(f"{key!r} is not a filter; known are {', '.join(_FIELDS)}")
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
        message = "give a word, or a list of words" if several else fault_words(first)
        raise UsageError(f"{name} {first['input']!r}: {message}") from None
