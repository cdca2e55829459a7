"""APPS: rows of the data set, and folders of its original archive.

- `apps`: rows.
- `apps_problem`: problem of a row or folder.
- `apps_tests`: tests of `input_output`.
- `folders`: folders of the archive.
- `statement_tests`: tests that a statement shows.
"""
