"""Timed runs of solutions, interleaved on one core."""
