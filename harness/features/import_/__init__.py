"""TODO import_."""
