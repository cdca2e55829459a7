"""Tests that are Python code, taken apart into single tests: `units`, and made of values: `calls`."""
