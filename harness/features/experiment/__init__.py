"""TODO experiment."""
