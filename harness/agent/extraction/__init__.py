"""TODO extraction."""
