"""`harness calibrate`: times of reference solutions."""
