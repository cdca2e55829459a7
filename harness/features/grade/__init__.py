"""Judge existing solutions: `harness grade`, `grade()`, `Grader` and `Sandbox`.

- `command`, `grade_run`: `harness grade`
- `library`: `grade` and `agrade`; `grader`: `Grader`; `sandbox`: `Sandbox`
- `solution_readers`, `solutions`: files of solutions, and their match to problems
- `grades`: graded solutions, their summary and tables
"""
