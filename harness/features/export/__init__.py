"""`harness export`: a run in the formats of other programs.

tables: CSV and Parquet. junit: JUnit XML. atif: Harbor's trajectories.
livecodebench: LiveCodeBench's output files. inspect_log, inspect_events, inspect_messages:
Inspect's `.eval` log. messages: conversations as chat messages.
"""
