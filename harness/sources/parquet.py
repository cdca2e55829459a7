"""Parquet files, row by row, as if each row were a line of JSON.

The hub's data sets come as Parquet or as JSONL; a reader of rows need not know which.
"""

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import hashlib
from collections.abc import Iterator
from pathlib import Path

from pydantic_core import to_json

from harness.errors import DataError
from harness.sources.reading import DataFile, JsonLines, Line, open_regular

MAGIC = b"PAR1"
BATCH_ROWS = 64


class ParquetRows:
    """The rows of a Parquet file. There is no way back to one: their lines have no offset.

    Args:
        path: a regular file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: DataFile | None = None

    @property
    def file(self) -> DataFile:
        """What was read; known once the iteration has come to the end."""
        if self._file is None:
            raise RuntimeError("the file has not been read to its end")
        return self._file

    def __iter__(self) -> Iterator[Line]:
        """Read the file from its start.

        Raises:
            DataError: it is broken.
        """
        import pyarrow as pa
        from pyarrow import parquet

        number = 0
        try:
            with parquet.ParquetFile(self._path) as file:
                for batch in file.iter_batches(BATCH_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield Line(self._path, str(self._path), number, None, to_json(row))
        except (pa.ArrowException, OSError) as error:
            what = " ".join(str(error).split())
            raise DataError(f"{self._path}:{number + 1}", None, f"broken Parquet: {what}") from None
        with self._path.open("rb") as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()
        self._file = DataFile(path=str(self._path), sha256=digest, size=self._path.stat().st_size)


def open_rows(path: Path) -> JsonLines | ParquetRows:
    """A file's rows, told apart by what it starts with.

    Raises:
        UsageError: the path cannot be opened as a regular file.
    """
    with open_regular(path) as file:
        return ParquetRows(path) if file.read(len(MAGIC)) == MAGIC else JsonLines(path)
