"""Grading of solutions: the judge, comparison rules, checkers and verdicts.

Start reading with `judge`; `jobs` judges many solutions, `answer_judge` value questions.
"""
