"""Runs on disk as local web pages; read by offset and by pages, and kept up to date."""
