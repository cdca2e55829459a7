"""TODO regrade."""
