"""Tests that are code: `units` splits test code, `calls` writes values as code.

`examples` reads the examples of docstrings, `humaneval` and `mbpp` are sources.
"""
