"""`harness export`: a run in the formats of other programs.

`command`: the command, and `harness.export_run`. `sample_rows`: CSV, Parquet. `junit`: JUnit XML.
`conversations`: chat messages, and Harbor's ATIF. `livecodebench`: LiveCodeBench's output files.
`inspect_log`, `inspect_events`: Inspect's `.eval` log. `published_rate`, `every_eval_ever`: a rate
to publish.
"""
