"""CSV and Parquet: a row for each sample, made of its result alone.

In CSV, control characters are escaped and formulas are quoted, so that neither a terminal nor a
spreadsheet interprets text written by a model. Parquet keeps every text unchanged.
"""

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.run.summary.sample_facts import sample_facts
from harness.text import printable

TEXT, WHOLE, NUMBER, TRUTH, DATE = "text", "whole", "number", "truth", "date"
_OWN = ("run", "model", "mode", "prompt", "tags", "known_issues")
_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
ROWS_AT_A_TIME = 1_000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets (OWASP, CSV injection)."""


def _columns(*kinds: tuple[str, str]) -> dict[str, str]:
    return {name: kind for kind, names in kinds for name in names.split()}


FIELDS = _columns(
    (TEXT, "run model mode prompt sample problem_id"),
    (WHOLE, "index"),
    (TEXT, "title problem_hash platform difficulty tags"),
    (DATE, "release_date"),
    (TEXT, "known_issues verdict"),
    (TRUTH, "graded solved"),
    (WHOLE, "public_passed public_total hidden_passed hidden_total"),
    (NUMBER, "fraction"),
    (TRUTH, "overfit"),
    (TEXT, "stop_reason chosen_by extraction"),
    (WHOLE, "model_calls tool_calls malformed_tool_calls nudges cut_off written"),
    (TEXT, "tool_protocol"),
    (TRUTH, "fallback refused confined"),
    (WHOLE, "input_tokens cached_input_tokens output_tokens reasoning_tokens"),
    (NUMBER, "cost seconds"),
    (WHOLE, "peak_bytes"),
    (TEXT, "isolation code"),
)
"""The columns in order with their types; any value may be missing (None)."""
EFFICIENCY_FIELDS = _columns(
    (TEXT, "timing"),
    (NUMBER, "cpu_s beyond beyond_low beyond_high beyond_branches percentile"),
    (TEXT, "lack remark"),
)
"""Columns of timed solutions; see `harness.features.efficiency.scale.Efficiency`."""
SCORE_FIELDS = _columns((NUMBER, "score max_score"))
"""Columns of runs with problems that give points; see `harness.grading.verdict.Score`."""


def fields_of(run: Run) -> dict[str, str]:
    """Return the columns of a run, with those of efficiency and points only where it has some.

    Facts of a sample that are no field of its result have a column, too.
    """
    more: dict[str, str] = {}
    if any(result.score is not None for result in run.results):
        more |= SCORE_FIELDS
    if any(result.efficiency is not None for result in run.results):
        more |= EFFICIENCY_FIELDS
    more |= {fact.key: NUMBER for fact in sample_facts() if fact.exported}
    plain = {name: kind for name, kind in FIELDS.items() if name != "code"}
    return {**plain, **more, "code": FIELDS["code"]}


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
    values |= {fact.key: fact.value(result) for fact in sample_facts() if fact.exported}
    score = result.score
    values |= {
        "score": None if score is None else score.points,
        "max_score": None if score is None else score.maximum,
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
