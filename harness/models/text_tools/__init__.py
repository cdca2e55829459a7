"""TODO text_tools."""
