"""`harness grade RUN`: grade a run's stored solutions again."""
