"""`harness run` and `harness.evaluate()`: run a model over problems.

command, start_or_resume: the command, its work, and `--dry-run`.
evaluate, evaluation: the public function with its arguments, and its result.
"""
