"""Timing of correct solutions against the reference solutions of their problem."""
