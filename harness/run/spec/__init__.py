"""TODO spec."""
