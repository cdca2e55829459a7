"""TODO observers."""
