"""`harness show`, `ls` and `transcript`: show runs on a terminal."""
