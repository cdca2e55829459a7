"""APPS: rows of the data set, and its folders."""
