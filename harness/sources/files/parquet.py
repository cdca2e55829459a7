"""Rows of Parquet files."""

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import hashlib
from collections.abc import Iterator
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from harness.errors import DataError
from harness.sources.files.lines import MAX_LINE_BYTES, DataFile, Line, RowFile

MAGIC = b"PAR1"
BATCH_ROWS = 16
MAX_GROUP_BYTES = 4 << 30
"""Largest row group, uncompressed. The largest known has 0.2 GB; this refuses a bomb."""


class ParquetRows(RowFile):
    """Rows of a Parquet file. They cannot be read again cheaply: lines have no offset."""

    def __iter__(self) -> Iterator[Line]:
        """Read the file from its start.

        Raises:
            DataError: it is broken.
        """
        import pyarrow as pa
        from pyarrow import parquet

        number = 0
        try:
            with parquet.ParquetFile(self.path) as file:
                for group in range(file.num_row_groups):
                    size = file.metadata.row_group(group).total_byte_size
                    if size > MAX_GROUP_BYTES:
                        what = f"a row group of {size} bytes is more than {MAX_GROUP_BYTES}"
                        raise DataError(self.name, None, what)
                for batch in file.iter_batches(BATCH_ROWS):
                    for row in range(batch.num_rows):
                        number += 1
                        yield self._line(batch.slice(row, 1), number)
        except (pa.ArrowException, OSError) as error:
            what = " ".join(str(error).split())
            raise DataError(f"{self.name}:{number + 1}", None, f"broken Parquet: {what}") from None
        with self.path.open("rb") as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()
        self._file = DataFile.of(self.path, self.name, digest, self.path.stat().st_size)

    def _line(self, row: Any, number: int) -> Line:
        where = f"{self.name}:{number}"
        try:
            raw = to_json(row.to_pylist()[0])
        except (ValueError, OverflowError, PydanticSerializationError) as error:
            what = " ".join(str(error).split())[:200]
            raise DataError(where, None, f"cannot be made JSON: {what}") from None
        if len(raw) > MAX_LINE_BYTES:
            raise DataError(where, None, f"longer than {MAX_LINE_BYTES} bytes")
        return Line(self.path, self.name, number, None, raw)
