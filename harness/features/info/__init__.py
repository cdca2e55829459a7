"""TODO info."""
