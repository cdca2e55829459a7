"""Data files of benchmarks: lines, rows, Parquet, the hub, and catalogues of large files.

- `catalogue`: stored contents of large files.
- `deferred`: hidden tests and references that are read when needed.
- `download`: download of a file of the hub.
- `hub`: splits, choice and check of a data set's files.
- `json_text`: raw texts of JSON elements.
- `lines`: JSONL, line by line.
- `parquet`: Parquet, row by row.
- `rows`: loading of rows.
"""
