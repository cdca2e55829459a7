"""CSV: a row a sample. Neither a spreadsheet nor a terminal acts on what a model wrote.

Control characters are spelled out; Parquet has every text as it was.
"""

import csv
import io
from collections.abc import Iterator
from datetime import date

from harness.features.export.tables import fields_of, record
from harness.run.summary.loaded_run import Run
from harness.text import printable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a cell begins with that a spreadsheet takes for a formula (OWASP, CSV injection)."""


def csv_text(run: Run) -> Iterator[str]:
    """The head, then a row a sample."""
    fields = fields_of(run)
    yield _line(list(fields))
    for result in run.results:
        yield _line([_cell(value) for value in record(run, result, fields).values()])


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case str():
            mark = "'" if value.startswith(FORMULA) else ""
            return mark + "\r\n".join(map(printable, value.split("\r\n")))
        case _:
            return value


def _line(cells: list[object] | list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()
