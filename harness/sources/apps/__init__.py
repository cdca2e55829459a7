"""APPS: rows of the data set, and folders of its original archive."""
