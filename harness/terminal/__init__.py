"""What a person sees: progress, tables, transcripts."""
