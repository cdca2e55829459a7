"""LeetCode problems: greengerong's rows and LeetCodeDataset.

- `assertions`: tests from assertions.
- `dataset`: LeetCodeDataset's rows.
- `example_tests`: tests from a statement's examples.
- `flow`: data flow of a reference.
- `leetcode`: greengerong's rows.
- `scopes`: functions as scopes.
- `starter`: starter code derived from a reference.
"""
