"""What only some problems need: contest packages, tests that are code, checkers, C++."""
