"""`harness serve`: judge solutions over HTTP."""
