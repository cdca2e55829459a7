"""Judge existing solutions: `harness grade`, `grade()`, `Grader` and `Sandbox`.

- `command`, `grade_solutions`, `view`: `harness grade`
- `library`: `grade` and `agrade`; `grader`: `Grader`; `sandbox`: `Sandbox`
- `solution_readers`: read files of solutions
- `solution`, `solution_match`: a read solution, and its match to a problem
- `grades`: graded solutions and their summary
"""
