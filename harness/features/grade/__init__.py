"""TODO grade."""
