"""Runs the command line: `python -m harness`."""

from harness.cli import main

main()
