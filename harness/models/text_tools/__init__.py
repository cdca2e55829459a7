"""Tool calls that a model writes in its text, read from it."""
