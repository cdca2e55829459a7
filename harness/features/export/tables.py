"""CSV and Parquet: one flat row per sample, for spreadsheets and data frames.

In CSV, control characters are escaped and formulas are quoted, so that neither a terminal nor a
spreadsheet interprets text written by a model. Parquet keeps every text unchanged.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.text import printable

TEXT, WHOLE, NUMBER, TRUTH, DATE = "text", "whole", "number", "truth", "date"
FIELDS = {
    "run": TEXT,
    "model": TEXT,
    "mode": TEXT,
    "prompt": TEXT,
    "sample": TEXT,
    "problem_id": TEXT,
    "index": WHOLE,
    "title": TEXT,
    "problem_hash": TEXT,
    "platform": TEXT,
    "difficulty": TEXT,
    "tags": TEXT,
    "release_date": DATE,
    "known_issues": TEXT,
    "verdict": TEXT,
    "graded": TRUTH,
    "solved": TRUTH,
    "public_passed": WHOLE,
    "public_total": WHOLE,
    "hidden_passed": WHOLE,
    "hidden_total": WHOLE,
    "fraction": NUMBER,
    "overfit": TRUTH,
    "stop_reason": TEXT,
    "chosen_by": TEXT,
    "extraction": TEXT,
    "model_calls": WHOLE,
    "tool_calls": WHOLE,
    "malformed_tool_calls": WHOLE,
    "nudges": WHOLE,
    "cut_off": WHOLE,
    "written": WHOLE,
    "tool_protocol": TEXT,
    "fallback": TRUTH,
    "refused": TRUTH,
    "confined": TRUTH,
    "input_tokens": WHOLE,
    "cached_input_tokens": WHOLE,
    "output_tokens": WHOLE,
    "reasoning_tokens": WHOLE,
    "cost": NUMBER,
    "seconds": NUMBER,
    "peak_bytes": WHOLE,
    "isolation": TEXT,
    "code": TEXT,
}
"""The columns in order with their types; any value may be missing (None)."""
EFFICIENCY_FIELDS = {
    "timing": TEXT,
    "cpu_s": NUMBER,
    "beyond": NUMBER,
    "beyond_low": NUMBER,
    "beyond_high": NUMBER,
    "beyond_branches": NUMBER,
    "percentile": NUMBER,
    "lack": TEXT,
    "remark": TEXT,
}
"""Columns of timed solutions; see `harness.efficiency.scale.Efficiency`."""
_OWN = ("run", "model", "mode", "prompt", "tags", "known_issues")
_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")


def fields_of(run: Run) -> dict[str, str]:
    """Return the columns of a run, with those of efficiency only if it was measured."""
    if all(result.efficiency is None for result in run.results):
        return FIELDS
    plain = {name: kind for name, kind in FIELDS.items() if name != "code"}
    return {**plain, **EFFICIENCY_FIELDS, "code": FIELDS["code"]}


def record(run: Run, result: SampleResult, fields: Mapping[str, str] = FIELDS) -> dict[str, Any]:
    """Return a sample's values by column, lists joined by semicolons.

    Args:
        run: the sample's run.
        result: the sample.
        fields: the run's columns, from `fields_of`.
    """
    usage, timed = result.usage, result.efficiency
    plain = [name for name in FIELDS if name not in {*_OWN, *_USAGE}]
    values = {name: getattr(result, name) for name in plain}
    values |= {name: None if usage is None else getattr(usage, name) for name in _USAGE}
    values |= {
        name: None if timed is None or getattr(timed, name) == "" else getattr(timed, name)
        for name in EFFICIENCY_FIELDS
    }
    values |= {
        "run": run.name,
        "model": str(run.spec["model"]),
        "mode": str(run.spec["mode"]),
        "prompt": str(run.manifest["prompt"]["name"]),
        "tags": ";".join(result.tags),
        "known_issues": ";".join(result.known_issues),
    }
    for name in ("verdict", "stop_reason", "chosen_by"):
        values[name] = str(values[name])
    return {name: values[name] for name in fields}


# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false


ROWS_AT_A_TIME = 1_000


def write_parquet(run: Run, path: Path) -> None:
    """Write the samples of a run as Parquet. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[str, Any] = {
        TEXT: pa.string(),
        WHOLE: pa.int64(),
        NUMBER: pa.float64(),
        TRUTH: pa.bool_(),
        DATE: pa.date32(),
    }
    fields = fields_of(run)
    schema = pa.schema([(name, types[kind]) for name, kind in fields.items()])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(run.results), ROWS_AT_A_TIME):
            some = run.results[start : start + ROWS_AT_A_TIME]
            rows = [record(run, each, fields) for each in some]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets (OWASP, CSV injection)."""


def csv_text(run: Run) -> Iterator[str]:
    """Yield the header, then a row per sample."""
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
