"""TODO templates."""
