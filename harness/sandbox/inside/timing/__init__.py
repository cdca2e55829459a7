"""Timed runs of solutions, beside each other on one core."""
