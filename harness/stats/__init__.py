"""Statistics: rates with intervals, paired tests, pass@k, curves."""
