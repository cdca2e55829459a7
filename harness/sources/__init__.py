"""Sources of problems, a module or folder per benchmark, and their selection.

A new source is one module with a `load(where, *, skip_bad_rows, watch) -> Loaded` and one line in
`harness.registry.LOADERS`.
"""
