"""`harness regrade`: a run's stored solutions, graded once more."""
