"""An agent that writes the right solution, whatever it is told."""

from speaking import call

call("write_solution", code="a, b = map(int, input().split())\nprint(a + b)\n")
