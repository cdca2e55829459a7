"""`harness run` and `harness.evaluate()`: a model on problems."""
