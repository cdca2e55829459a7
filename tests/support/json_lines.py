"""Rows as JSON lines."""

import json
from collections.abc import Iterable


def json_lines(rows: Iterable[object]) -> str:
    """Return a line for each row, as files of rows hold them."""
    return "".join(json.dumps(row) + "\n" for row in rows)
