"""TODO batch."""
