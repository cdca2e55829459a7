"""Grading of many solutions in one call: sandboxes, progress, interrupts."""
