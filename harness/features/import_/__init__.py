"""`harness import`: turn published results into a run."""
