"""Data files of benchmarks: lines, rows, Parquet, the hub, and a catalogue of what they hold."""
