"""`harness export`: a run in other programs' formats."""
