"""What a person sees on a terminal: progress and tables."""
