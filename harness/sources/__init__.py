"""Where problems come from: one module a benchmark, and selection among what they hold.

`registry.load` reads the problems that a spec like `livecodebench:rows.jsonl` names, and
`selection.select` picks those a run works on. A new source is one module with a
`load(where, *, skip_bad_rows) -> Loaded` and one line in `benchmarks.LOADERS`.
"""
