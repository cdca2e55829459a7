"""The run directory: its files, read and written."""
