"""Extraction of code and answers from a model's text.

`code` has this project's rules and LiveCodeBench's; `answers` reads values.
"""
