"""Differences between two runs, in words."""
