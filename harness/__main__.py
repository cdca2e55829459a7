"""`python -m harness` is the console script."""

from harness.cli import main

main()
