"""`harness report`: one HTML page that loads nothing from other addresses."""
