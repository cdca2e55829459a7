"""TODO walls."""
