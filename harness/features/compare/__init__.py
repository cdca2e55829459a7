"""TODO compare."""
