"""`harness import`: results that others published, as a run."""
