"""Summary of a run's results."""
