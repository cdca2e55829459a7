"""Judge existing solutions: `harness grade`, `grade()`, `Grader` and `Sandbox`.

- `command`, `grade_solutions`, `view`: `harness grade`
- `library`: `grade` and `agrade`; `grader`: `Grader`; `sandbox`: `Sandbox`
- `solution_readers`, `livecodebench_outputs`: read files of solutions
- `solution`, `solution_match`: a read solution, and its match to a problem
- `grades`, `graded_file`: graded solutions, their summary and their store
"""
