"""Sources of problems, a module or folder per benchmark, and their selection.

`benchmarks.load` reads the problems that a spec like `livecodebench:rows.jsonl` names, and
`selection.select` picks those for a run. A new source is one module with a `load(where, *,
skip_bad_rows, watch) -> Loaded` and one line in `benchmarks.LOADERS`.
"""
