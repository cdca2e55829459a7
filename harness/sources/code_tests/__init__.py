"""Tests that are code: `units` splits test code, `calls` writes values as code.

`asserting`, `starts`, `names` and `pytest_use` say what is in test code. `humaneval`,
`mbpp` and `evalplus`, their larger form, are sources.
"""
