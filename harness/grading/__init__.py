"""Grading of solutions: the judge, comparison rules, checkers and verdicts.

- `answer_comparison`: answers compared by a rule or a checker.
- `answer_judge`: judge of answers to value questions.
- `checker_code`: calls of a checker's functions in the sandbox.
- `checkers`: checkers, and their verdict on answers.
- `code_tests`: tests that are code.
- `example_check`: check of examples read from statements.
- `jobs`: many solutions judged at once.
- `judge`: judge of a solution.
- `literals`: Python literals read without executing them.
- `outcome`: result of one test.
- `recheck`: choice of the test that runs first.
- `reference_verdicts`: stored verdicts on references.
- `rules`: comparison rules.
- `sandbox_retry`: retries of sandbox failures.
- `verdict`: verdicts, test results and grades.
"""
