"""Code and answers in what a model wrote.

`code` has this project's rules, `upstream` LiveCodeBench's; `answers` and `asserted_values` read
values.
"""
