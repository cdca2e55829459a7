"""`harness compare` and `harness.compare()`: runs against a baseline."""
