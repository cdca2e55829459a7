"""What a terminal shows of what a feature adds to results and summaries."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.console import RenderableType

from harness.registry import RUN_FEATURES, hooks
from harness.terminal.columns import Column


class PartView(NamedTuple):
    """What a terminal shows of a feature's field of results and summaries.

    Attributes:
        columns: columns of a table of samples, where a sample has such a field.
        cells: returns their texts; None if it says nothing.
        line: returns what follows the line of a sample.
        shared: its keys that `show --json` leaves out, as a problem's samples share them.
        share: returns its Beyond, between 0 and 1; None if there is none.
        table: returns the table of a summary's field.
    """

    columns: Sequence[Column]
    cells: Callable[[Any], Sequence[str] | None]
    line: Callable[[Any], str]
    shared: set[str]
    share: Callable[[Any], float | None]
    table: Callable[[Any], RenderableType]


def shown_parts(record: object) -> list[tuple[str, PartView, Any]]:
    """Return the features with a field of a result or summary: name, view, and the field."""
    parts = {key: getattr(record, key) for key in RUN_FEATURES}
    there = [key for key, part in parts.items() if part is not None]
    return [(key, view, parts[key]) for key, view in hooks("view", there).items()]
