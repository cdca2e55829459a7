"""Tools that the model may call, and the workspace they use."""

REPORT_TESTS = 1
"""Failing tests that a report shows in full, unless it is set."""
