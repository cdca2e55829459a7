"""Reading and writing of the files in a run directory."""
