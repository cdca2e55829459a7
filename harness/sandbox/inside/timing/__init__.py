"""TODO timing."""
