"""`harness experiment`: a grid of runs under one budget, ranked."""
