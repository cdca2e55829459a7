"""TODO show."""
