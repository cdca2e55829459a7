"""`harness show`, `ls` and `transcript`: runs on a terminal."""
