"""Compiling solutions in the sandbox, and keeping what was compiled."""
