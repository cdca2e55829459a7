"""TODO summary."""
