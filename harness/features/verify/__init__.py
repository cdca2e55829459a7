"""`harness verify`: judge a benchmark's references.

- `command`, `library`: load problems, judge the references that have no verdict, report
- `verification`: failures, slow references, missing tests
"""
