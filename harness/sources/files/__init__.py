"""Data files of benchmarks: lines, rows, Parquet, the hub, and catalogues of large files."""
