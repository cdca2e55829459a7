"""`harness rm`: delete runs."""
