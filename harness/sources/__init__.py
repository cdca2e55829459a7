"""Sources of problems, a module or folder per benchmark, and their selection.

A new source is one module with a `load(where, *, skip_bad_rows, watch) -> Loaded` and one line in
`benchmarks.LOADERS`.

- `apps`, `contests`, `leetcode`, `livecodebench`, `mercury`: benchmarks.
- `benchmarks`: `NAME[:WHERE]`, the table of sources, and those of plug-ins.
- `checkers`: checkers for problems with several right answers.
- `code_tests`: tests that are code; HumanEval and MBPP.
- `errata`: problems whose verdict cannot be trusted.
- `files`: data files, the hub and its cache.
- `fixture`: the bundled problems.
- `hub_datasets`: data sets on the hub.
- `jsonl`, `jsonl_code`, `jsonl_nodes`, `jsonl_shapes`: `jsonl:PATH`.
- `literals`: literals in a data set's Python source.
- `preambles`: code that runs before a solution.
- `problem_names`: ids and aliases.
- `public_split`: choice of public tests.
- `selection`: selection of a run's problems.
- `signature`: signature of a function, from its annotations.
- `statement_examples`: examples in LeetCode's statements.
"""
