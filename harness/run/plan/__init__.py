"""TODO plan."""
