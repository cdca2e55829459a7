"""`harness serve`: the judge over HTTP."""
