"""LeetCode problems: greengerong's rows and LeetCodeDataset.

- `assertions`: tests from assertions.
- `dataset`: LeetCodeDataset's rows.
- `flow`: data flow of a reference.
- `leetcode`: greengerong's rows, and tests from their examples.
- `scopes`: functions as scopes.
- `starter`: starter code derived from a reference.
"""
