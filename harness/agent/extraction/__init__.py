"""Extraction of code and answers from a model's text."""
