"""`harness report`: one HTML page without scripts from elsewhere."""
