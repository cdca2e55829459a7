"""Honest numbers: rates with intervals, paired tests."""
