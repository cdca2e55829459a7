"""The live table of a run: frame, rows, counts, lines on what it waits for."""
