"""Terminal output: progress and tables."""
