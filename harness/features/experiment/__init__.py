"""`harness experiment` and `harness.experiment()`: a grid of runs under one budget, ranked."""
