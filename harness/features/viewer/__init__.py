"""`harness view`: runs as local web pages."""
