"""Grading of solutions: the judge, comparison rules, checkers and verdicts."""
