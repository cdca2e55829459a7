"""Parquet: a row a sample, for data frames."""

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from pathlib import Path
from typing import Any

from harness.features.export.tables import DATE, NUMBER, TEXT, TRUTH, WHOLE, fields_of, record
from harness.run.summary.loaded_run import Run

ROWS_AT_A_TIME = 1_000


def write_parquet(run: Run, path: Path) -> None:
    """Write the samples. Raises OSError."""
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
