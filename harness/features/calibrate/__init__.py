"""TODO calibrate."""
