"""Python solutions: their code compiled, what the text tells, and the preamble that runs before."""
