"""TODO external."""
