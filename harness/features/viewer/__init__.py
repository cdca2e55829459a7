"""`harness view`: show runs as local web pages."""
