"""`harness regrade`: grade a run's stored solutions again."""
