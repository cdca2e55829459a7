"""`harness run` and `harness.evaluate()`: run a model over problems."""
