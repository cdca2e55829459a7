"""What the results of a run come to."""
