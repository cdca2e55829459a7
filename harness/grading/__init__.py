"""Verdicts: outputs compared with expected ones, in the sandbox or by a checker."""
