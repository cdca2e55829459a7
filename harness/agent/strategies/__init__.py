"""Strategies for solving problems."""
