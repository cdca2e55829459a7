"""Tests that are code: `units` splits test code, `calls` writes values as code.

`humaneval` and `mbpp` are sources.
"""
