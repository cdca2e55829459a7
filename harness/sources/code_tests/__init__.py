"""Tests that are code: `units` takes them apart, `calls` makes them of values."""
