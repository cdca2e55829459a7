"""Judging many solutions from one call: sandboxes, progress, interrupts."""
