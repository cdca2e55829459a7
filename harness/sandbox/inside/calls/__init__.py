"""Calls from test code in one sandbox to a solution in another."""
