"""`harness run` and `harness.evaluate()`: run a model over problems.

command, start_or_resume: the command, its work, and `--dry-run`.
evaluate, evaluate_arguments: the public function with its result, and its arguments.
"""
